// Whole loops of the real Claude Agent SDK: a scripted model asks for tools, and what it is told in
// return is what a real one would be told. Nothing can leave the network namespace of these tests.

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { query as plainQuery } from "@anthropic-ai/claude-agent-sdk";

import { Gate, SHELLS, options, query } from "fumehood/claude";
import { PolicyRefused } from "fumehood";
import { ScriptedModel, say, use } from "./scripted-model.js";

const CODE = "mcp__fumehood__sandboxed_code_run";

const routes = readFileSync("/proc/net/route", "utf8").trim().split("\n").slice(1);
assert.deepEqual(routes, [], "these tests run without a network: use `cargo xtask sdk`");

/** Calls with a project and a state of its own: nothing of the user, no trace behind. */
async function withProject(act) {
  const place = mkdtempSync(join(tmpdir(), "fumehood-sdk-"));
  const [work, home, state, config] = ["work", "home", "state", "config"].map((name) => {
    mkdirSync(join(place, name));
    return join(place, name);
  });
  const env = { FUMEHOOD_STATE_DIR: state, FUMEHOOD_CONFIG_DIR: config };
  const ledger = () =>
    readFileSync(join(state, "ledger", "ledger.jsonl"), "utf8").trim().split("\n").map(JSON.parse);
  const decisions = () =>
    ledger()
      .filter(({ entry }) => entry === "tool")
      .map(({ agent, tool, verdict }) => `${agent} ${tool} ${verdict}`);
  const variables = (model) => ({
    PATH: process.env.PATH,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "none",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, "claude"),
  });
  /** Options for an agent that knows nothing of the user and asks the scripted model. */
  const agent = (model, more = {}) => ({
    cwd: work,
    maxTurns: 5,
    env: variables(model),
    ...more,
  });
  try {
    await act({ work, config, env, variables, agent, ledger, decisions });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Runs a query to its end and gives its result. */
async function run(messages) {
  let last;
  for await (const message of messages) last = message;
  assert.equal(last.type, "result", JSON.stringify(last));
  assert.equal(last.is_error, false, JSON.stringify(last));
  return last;
}

const limit = { timeout: 60_000 };
const python = (code) => [use(CODE, { language: "python", code })];

test("hello world runs in a box", limit, () =>
  withProject(async ({ env, agent, ledger, decisions }) => {
    const code = "import platform; print('hello world from', platform.node())";
    await ScriptedModel.during([python(code), [say("done")]], async (model) => {
      const result = await run(query({ prompt: "say hello", options: agent(model), env }));
      const { failed, text } = model.results().toolu_1;
      assert.ok(!failed && text.includes("hello world from"), text);
      assert.ok(!text.includes(`hello world from ${hostname()}\\`), text);
      assert.ok(!model.tools().some((tool) => SHELLS.includes(tool)), String(model.tools()));
      assert.ok(model.paths.every((path) => path.startsWith("/v1/messages")), String(model.paths));
      const tool = ledger().find(({ entry }) => entry === "tool");
      assert.equal(tool.session, result.session_id);
    });
    assert.deepEqual(decisions(), [`claude-agent-sdk ${CODE} allow`]);
    const ran = ledger().filter(({ entry }) => entry === "run");
    assert.deepEqual(ran.map(({ status, backend }) => [status, backend]), [["exited", "native"]]);
  }));

test("the built-in shell is denied, and that is recorded", limit, () =>
  withProject(async ({ work, env, agent, decisions }) => {
    const mark = join(work, "mark");
    const turns = [[use("Bash", { command: `touch ${mark}` })], [say("done")]];
    await ScriptedModel.during(turns, async (model) => {
      const base = agent(model, { tools: ["Bash"], allowedTools: ["Bash"] });
      await run(query({ prompt: "touch it", options: base, env }));
      assert.ok(model.results().toolu_1.failed);
      assert.ok(!model.tools().includes("Bash"));
    });
    assert.deepEqual(decisions(), ["claude-agent-sdk Bash deny"]);
    assert.ok(!existsSync(mark));
  }));

test("the gate denies a shell that is switched on", limit, () =>
  withProject(async ({ env, agent, decisions }) => {
    // This one needs no permission: without the gate it runs.
    const turns = [[use("Bash", { command: "echo it ran" })], [say("done")]];
    const switchedOn = { tools: ["Bash"], disallowedTools: [] };
    await ScriptedModel.during(turns, async (model) => {
      const guarded = { ...(await options(agent(model), { env })), ...switchedOn };
      await run(plainQuery({ prompt: "echo", options: guarded }));
      const { failed, text } = model.results().toolu_1;
      assert.ok(failed && text.includes("must run in a box"), text);
      assert.ok(model.tools().includes("Bash"));
    });
    assert.deepEqual(decisions(), ["claude-agent-sdk Bash deny"]);
    await ScriptedModel.during(turns, async (model) => {
      const guarded = { ...(await options(agent(model), { env })), ...switchedOn, hooks: {} };
      await run(plainQuery({ prompt: "echo", options: guarded }));
      const { text } = model.results().toolu_1;
      assert.ok(text.includes("it ran"), "the gate is what keeps it from running");
    });
  }));

test("an override holds for one query", limit, () =>
  withProject(async ({ work, env, agent }) => {
    const server = createServer((_, response) => response.end("served by the machine"));
    await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
    const { port } = server.address();
    const policy = `version: 1\nceiling: {net: ['host:${port}']}\n`;
    writeFileSync(join(work, "sandbox.policy.yaml"), policy);
    const fetch = `import urllib.request as r; print(r.urlopen('http://host:${port}').read().decode())`;
    const fetched = (sandboxPolicy) =>
      ScriptedModel.during([python(fetch), [say("done")]], async (model) => {
        await run(query({ prompt: "fetch it", options: agent(model), env, sandboxPolicy }));
        return model.results().toolu_1.text.includes("served by the machine");
      });
    try {
      assert.equal(await fetched(undefined), false);
      assert.equal(await fetched({ net: { mode: "allow", allow: [`host:${port}`] } }), true);
      assert.equal(await fetched(undefined), false);
      const past = { net: { mode: "allow", allow: ["example.com"] } };
      await assert.rejects(fetched(past), (error) => {
        assert.ok(error instanceof PolicyRefused && error.message.includes("the ceiling is"));
        return true;
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }));

test("the policy decides about other tools", limit, () =>
  withProject(async ({ work, config, env, agent, decisions }) => {
    // What is let through is for the user to say, not for the file of a project.
    writeFileSync(join(config, "policy.yaml"), "version: 1\ntools: {allow: [Write]}\n");
    writeFileSync(join(work, "sandbox.policy.yaml"), "version: 1\ntools: {deny: [Read]}\n");
    writeFileSync(join(work, "secret"), "the content");
    const asked = [];
    const canUseTool = async (tool) => {
      asked.push(tool);
      return { behavior: "deny", message: "not by us" };
    };
    const turns = [
      [use("Write", { file_path: join(work, "made"), content: "by the agent" }, "a")],
      [use("Read", { file_path: join(work, "secret") }, "b")],
      [use("WebFetch", { url: "http://x.test/", prompt: "?" }, "c")],
      [say("done")],
    ];
    await ScriptedModel.during(turns, async (model) => {
      const base = agent(model, { tools: ["Read", "Write", "WebFetch"], canUseTool });
      await run(query({ prompt: "go", options: base, env }));
      const { a, b, c } = model.results();
      assert.ok(!a.failed && readFileSync(join(work, "made"), "utf8") === "by the agent", a.text);
      assert.ok(b.failed && !b.text.includes("the content"), b.text);
      assert.ok(c.failed && c.text.includes("not by us"), c.text);
    });
    assert.deepEqual(asked, ["WebFetch"]);
    assert.deepEqual(decisions().map((line) => line.split(" ")[2]), ["allow", "deny", "pass"]);
  }));

test("a gate that cannot answer denies", limit, () =>
  withProject(async ({ work, env, decisions }) => {
    const verdict = async (more) =>
      (await new Gate({ cwd: work, env, ...more }).decide("Read", {})).verdict;
    assert.equal(await verdict({ agent: "mine" }), "pass");
    assert.deepEqual(decisions(), ["mine Read pass"]);
    assert.equal(await verdict({ sandboxPolicy: { tools: { deny: ["Read"] } } }), "deny");
    assert.equal(await verdict({ binary: "/no/such/program" }), "deny");
    writeFileSync(join(work, "sandbox.policy.yaml"), "version: 1\nnonsense: 1\n");
    assert.equal(await verdict({}), "deny");
  }));

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));

/** Installs this package, and nothing else, in a directory. */
function install(place) {
  for (const part of ["dist", "package.json"]) {
    const to = join(place, "node_modules", "fumehood", part);
    cpSync(join(PACKAGE, part), to, { recursive: true });
  }
}

test("the page tells the truth", limit, () =>
  withProject(async ({ work, env, variables, ledger }) => {
    const page = readFileSync(process.env.FUMEHOOD_AGENTS_PAGE, "utf8");
    const examples = page.split("```js\n").slice(1).map((part) => part.split("```")[0]);
    assert.equal(examples.length, 1);
    writeFileSync(join(work, "main.mjs"), examples[0]);
    install(work);
    const agents = join("node_modules", "@anthropic-ai");
    symlinkSync(join(PACKAGE, agents), join(work, agents));
    await ScriptedModel.during([python("print(229)"), [say("It is 229.")]], async (model) => {
      const { FUMEHOOD_BINARY } = process.env;
      const { stdout } = await promisify(execFile)(process.execPath, ["main.mjs"], {
        cwd: work,
        env: { ...variables(model), ...env, FUMEHOOD_BINARY },
      });
      assert.equal(stdout, "It is 229.\n".repeat(2));
      assert.ok(model.results().toolu_1.text.includes("229"));
    });
    assert.equal(ledger().filter(({ entry }) => entry === "run").length, 2);
  }));

test("the package needs no agent", limit, () =>
  withProject(async ({ work, env }) => {
    install(work);
    writeFileSync(
      join(work, "main.mjs"),
      `import { Sandbox } from "fumehood";
       import { query } from "fumehood/claude";
       const sandbox = await Sandbox.open();
       console.log((await sandbox.run("print(1)", { language: "python" })).stdout.trim());
       await sandbox.close();
       await query({ prompt: "x" }).next().catch((error) => console.log(error.kind));`,
    );
    const said = execFileSync(process.execPath, ["main.mjs"], {
      cwd: work,
      env: { ...process.env, ...env },
      encoding: "utf8",
    });
    assert.equal(said, "1\nagent_sdk_missing\n");
  }));
