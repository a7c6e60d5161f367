/**
 * fumehood for the Claude Agent SDK: code runs in boxes, and the policy decides about other tools.
 *
 * ```js
 * import { query } from "fumehood/claude";
 *
 * for await (const message of query({ prompt: "What is the 50th prime?" })) console.log(message);
 * ```
 *
 * Importing this needs nothing; `query` needs `npm install @anthropic-ai/claude-agent-sdk`.
 */

import { resolve } from "node:path";

import type {
  McpStdioServerConfig,
  Options,
  SDKMessage,
  SDKUserMessage,
} from "@anthropic-ai/claude-agent-sdk";

import { BinaryNotFound, FumehoodError, PolicyRefused } from "./errors.js";
import { finish } from "./finish.js";
import { type Chosen, Gate, binaryOf, policyArguments } from "./gate.js";

export { Gate } from "./gate.js";
export type { Chosen, Decision, GateOptions, Policy } from "./gate.js";

/** The name of the MCP server: its tools are `mcp__fumehood__…`. */
export const SERVER = "fumehood";

/** Built-in tools that run commands outside of any box. */
export const SHELLS: readonly string[] = [
  "Bash",
  "BashOutput",
  "KillShell",
  "Monitor",
  "PowerShell",
  "REPL",
];

/** Settings of the server, and of the queries that use it. */
export interface Sandboxed extends Chosen {
  /** The workspace of all runs. Without it they share a private directory as long as the query lasts. */
  workspace?: string;
}

/** Variables that say where fumehood keeps its things. An agent may pass on few variables. */
const PLACES = /^(FUMEHOOD|XDG)_/;

/** An entry for `mcpServers`. */
export function mcpServer(sandboxed: Sandboxed = {}): McpStdioServerConfig {
  const { workspace } = sandboxed;
  const place = workspace === undefined ? ["--session"] : ["--workspace", resolve(workspace)];
  const own = Object.entries(process.env).filter(([name]) => PLACES.test(name));
  return {
    type: "stdio",
    command: binaryOf(sandboxed),
    args: ["mcp", ...place, ...policyArguments(sandboxed)],
    env: { ...(Object.fromEntries(own) as Record<string, string>), ...sandboxed.env },
  };
}

/**
 * Options with the tools of fumehood and behind its gate.
 *
 * What `base` says holds, but: built-in tools that run commands are gone, built-in tools are none
 * unless `base.tools` names them, and settings files are left out unless `base.settingSources` names
 * them. `base.canUseTool` is asked about tools that no rule of the policy names. `sandboxPolicy` is
 * laid on top of the policy, as far as its ceiling allows; what goes past it is a `PolicyRefused`.
 */
export async function options(
  base: Options = {},
  { gate, ...sandboxed }: Sandboxed & { gate?: Gate } = {},
): Promise<Options> {
  const guard = gate ?? gateOf(base, sandboxed);
  const server = mcpServer(sandboxed);
  await attempt(server, base.cwd);
  const tools = base.tools ?? [];
  const refused = base.disallowedTools ?? [];
  return {
    ...base,
    tools: Array.isArray(tools) ? tools.filter((tool) => !SHELLS.includes(tool)) : tools,
    disallowedTools: [...refused, ...SHELLS.filter((tool) => !refused.includes(tool))],
    mcpServers: { ...base.mcpServers, [SERVER]: server },
    strictMcpConfig: true,
    settingSources: base.settingSources ?? [],
    canUseTool: guard.canUseTool,
    hooks: {
      ...base.hooks,
      PreToolUse: [
        { hooks: [guard.preToolUse], timeout: 60, onFailure: "block" },
        ...(base.hooks?.PreToolUse ?? []),
      ],
    },
  };
}

/** What `query` takes: what the one of the Claude Agent SDK takes, with plain options. */
export interface QueryParams extends Sandboxed {
  prompt: string | AsyncIterable<SDKUserMessage>;
  options?: Options;
}

/** `query` of the Claude Agent SDK with `options` around its options. `sandboxPolicy` holds for this
 * query alone. */
export async function* query({
  prompt,
  options: base = {},
  ...sandboxed
}: QueryParams): AsyncGenerator<SDKMessage, void> {
  const sdk = await agent();
  const gate = gateOf(base, sandboxed);
  const guarded = await options(base, { ...sandboxed, gate });
  for await (const message of sdk.query({ prompt, options: guarded })) {
    await gate.watch(message);
    yield message;
  }
}

function gateOf(base: Options, sandboxed: Sandboxed): Gate {
  const cwd = sandboxed.workspace ?? base.cwd;
  return new Gate({ ...sandboxed, cwd, otherwise: base.canUseTool });
}

async function agent(): Promise<typeof import("@anthropic-ai/claude-agent-sdk")> {
  try {
    return await import("@anthropic-ai/claude-agent-sdk");
  } catch (error) {
    const step = "npm install @anthropic-ai/claude-agent-sdk";
    const message = `the Claude Agent SDK cannot be loaded (${String(error)}): ${step}`;
    throw new FumehoodError(message, "agent_sdk_missing", step);
  }
}

/** Whether the server starts. An agent would go on without it, and nobody would know why. */
async function attempt(server: McpStdioServerConfig, cwd: string | undefined): Promise<void> {
  const env = { ...process.env, ...server.env };
  const done = await finish(server.command, server.args ?? [], "", { cwd, env }).catch((error) => {
    const step = "install fumehood, set FUMEHOOD_BINARY, or give { binary }";
    const message = `the program ${server.command} cannot be started (${String(error)}): ${step}`;
    throw new BinaryNotFound(message, "binary_not_found", step);
  });
  if (done.code !== 0) throw new PolicyRefused(done.stderr.trim(), "policy");
}
