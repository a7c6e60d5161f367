// The tool gate: what becomes of a tool that an agent wants to use, as `fumehood hook` decides. Every
// answer is in the ledger. Whatever goes wrong means no.

import { resolve } from "node:path";

import type { CanUseTool, HookCallback, SDKMessage } from "@anthropic-ai/claude-agent-sdk";

import { finish } from "./finish.js";

/** A policy as in `sandbox.policy.yaml`, as text or object. */
export type Policy = string | Record<string, unknown>;

/** Which program and policy hold. */
export interface Chosen {
  /** The program; otherwise FUMEHOOD_BINARY or the PATH says where it is. */
  binary?: string;
  /** A policy file in place of the project's. */
  policyFile?: string;
  /** A built-in policy in place of files. */
  profile?: string;
  /** A policy on top of that one, as far as its ceiling allows. */
  sandboxPolicy?: Policy;
  /** Variables beside those of this process. */
  env?: Record<string, string>;
}

/** What becomes of a tool. `pass` means that no rule names it. */
export interface Decision {
  verdict: "allow" | "deny" | "pass";
  reason: string;
}

/** Settings of a gate. */
export interface GateOptions extends Chosen {
  /** The project whose policy holds. */
  cwd?: string;
  /** The name of the agent in the ledger. */
  agent?: string;
  /** Asked about tools that no rule names. Without it they are denied where permission is asked. */
  otherwise?: CanUseTool;
}

/** How many answers are remembered. */
const MOST = 1024;

/** The program that holds. */
export function binaryOf(chosen: Chosen): string {
  return chosen.binary ?? process.env.FUMEHOOD_BINARY ?? "fumehood";
}

/** The arguments of `fumehood mcp` and `fumehood hook generic` that name a policy. */
export function policyArguments({ policyFile, profile, sandboxPolicy }: Chosen): string[] {
  const args: string[] = [];
  if (policyFile !== undefined) args.push("--policy", resolve(policyFile));
  if (profile !== undefined) args.push("--profile", profile);
  if (sandboxPolicy !== undefined) {
    const text =
      typeof sandboxPolicy === "string"
        ? sandboxPolicy
        : JSON.stringify({ version: 1, ...sandboxPolicy }, undefined, 1);
    args.push("--override", text);
  }
  return args;
}

/** Asks `fumehood hook generic` before a tool is used, once for each use. */
export class Gate {
  readonly #options: GateOptions;
  readonly #cwd: string;
  readonly #decided = new Map<string, Promise<Decision>>();
  readonly #wanted = new Map<string, [string, Record<string, unknown>, string | undefined]>();

  constructor(options: GateOptions = {}) {
    this.#options = options;
    this.#cwd = resolve(options.cwd ?? ".");
  }

  /** The decision about a tool. It is in the ledger afterwards. One `use` is asked about once. */
  decide(
    tool: string,
    input: Record<string, unknown>,
    { use, session }: { use?: string; session?: string } = {},
  ): Promise<Decision> {
    const known = use === undefined ? undefined : this.#decided.get(use);
    if (known) return known;
    const decision = this.#ask(tool, input, session);
    if (use !== undefined) keep(this.#decided, use, decision);
    return decision;
  }

  /** For `canUseTool` of the Claude Agent SDK. */
  readonly canUseTool: CanUseTool = async (tool, input, context) => {
    const { verdict, reason } = await this.decide(tool, input, { use: context.toolUseID });
    if (verdict === "allow") return { behavior: "allow", updatedInput: input };
    const { otherwise } = this.#options;
    if (verdict === "pass" && otherwise) return otherwise(tool, input, context);
    return { behavior: "deny", message: reason };
  };

  /** For a `PreToolUse` hook of the Claude Agent SDK, which is asked about every tool, also about
   * those that need no permission there. */
  readonly preToolUse: HookCallback = async (question) => {
    if (question.hook_event_name !== "PreToolUse") return {};
    const input = question.tool_input as Record<string, unknown>;
    const { verdict, reason } = await this.decide(question.tool_name, input, {
      use: question.tool_use_id,
      session: question.session_id,
    });
    if (verdict === "pass") return {};
    return {
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: verdict,
        permissionDecisionReason: reason,
      },
    };
  };

  /** To be called with every message of a query. A tool that is switched off is refused by the agent
   * without a question to anybody; that it was wanted is recorded here. */
  async watch(message: SDKMessage): Promise<void> {
    if (message.type !== "assistant" && message.type !== "user") return;
    const blocks: unknown = message.message.content;
    for (const block of Array.isArray(blocks) ? blocks : []) {
      if (block.type === "tool_use") {
        keep(this.#wanted, block.id, [block.name, block.input ?? {}, message.session_id]);
      } else if (block.type === "tool_result") {
        const wanted = this.#wanted.get(block.tool_use_id);
        this.#wanted.delete(block.tool_use_id);
        if (!wanted) continue;
        const [name, input, session] = wanted;
        await this.decide(name, input, { use: block.tool_use_id, session });
      }
    }
  }

  async #ask(
    tool: string,
    input: Record<string, unknown>,
    session: string | undefined,
  ): Promise<Decision> {
    const agent = this.#options.agent ?? "claude-agent-sdk";
    const question = JSON.stringify({ tool, input, cwd: this.#cwd, agent, session });
    const args = ["hook", "generic", "--no-rewrite", ...policyArguments(this.#options)];
    try {
      const place = { cwd: this.#cwd, env: { ...process.env, ...this.#options.env } };
      const done = await finish(binaryOf(this.#options), args, question, place);
      if (done.code !== 0) return { verdict: "deny", reason: done.stderr.trim() };
      const { decision, reason } = JSON.parse(done.stdout) as { decision: string; reason: string };
      const verdict = decision === "allow" || decision === "pass" ? decision : "deny";
      return { verdict, reason: String(reason) };
    } catch (error) {
      const reason = `the gate could not answer (${String(error)}), so the tool is denied`;
      return { verdict: "deny", reason };
    }
  }
}

function keep<T>(memory: Map<string, T>, key: string, value: T): void {
  memory.set(key, value);
  const oldest = memory.keys().next();
  if (memory.size > MOST && !oldest.done) memory.delete(oldest.value);
}
