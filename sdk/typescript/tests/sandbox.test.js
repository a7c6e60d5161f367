// The package as it is published, against the real program.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import {
  BinaryNotFound,
  FumehoodError,
  InvalidParams,
  PolicyRefused,
  RequestRefused,
  Sandbox,
  ServerGone,
} from "../dist/index.js";
import { Marked, withSandbox } from "./common.js";

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte);

test("code runs and everything is told", () =>
  withSandbox(async (sandbox) => {
    const outcome = await sandbox.run("import sys; print(input(), sys.argv[1]); sys.exit(3)", {
      language: "python",
      stdin: "hello",
      args: ["there"],
      timeout: "20s",
      memory: "128m",
    });
    assert.equal(outcome.stdout, "hello there\n");
    assert.equal(outcome.exitCode, 3);
    assert.equal(outcome.status, "exited");
    assert.equal(outcome.success, false);
    assert.ok(outcome.stats.wallTime > 0);
    assert.equal(outcome.phases[0].stats.memoryPeak, outcome.memoryUsed);
    assert.ok(outcome.enforced.seccomp.strength);
    assert.equal(outcome.raw.exit_code, 3);
  }));

test("the server says what it is", () =>
  withSandbox(async (sandbox) => {
    assert.equal(sandbox.server.protocol, 1);
    assert.ok(sandbox.server.languages.includes("python"));
  }));

test("a time limit is an outcome", () =>
  withSandbox(async (sandbox) => {
    const outcome = await sandbox.run("while True: pass", { language: "python", timeout: 0.3 });
    assert.equal(outcome.status, "timeout");
    assert.equal(outcome.violations[0].kind, "timeout");
  }));

test("files and variables arrive", () =>
  withSandbox(async (sandbox) => {
    const outcome = await sandbox.run(
      "import os; print(open('in/data.bin', 'rb').read(), os.environ['NAME'])",
      {
        language: "python",
        files: { "in/data.bin": Uint8Array.of(255, 0) },
        env: { NAME: "value" },
      },
    );
    assert.equal(outcome.stdout, "b'\\xff\\x00' value\n", outcome.stderr);
  }));

test("a command works on a directory", () =>
  withSandbox(async (sandbox, work) => {
    const written = await sandbox.exec(["sh", "-c", "echo two > b.txt"]);
    assert.ok(written.success, written.stderr);
    assert.equal(readFileSync(join(work, "b.txt"), "utf8"), "two\n");
    const refused = await sandbox.exec(["touch", "c.txt"], { workspaceMode: "ro" });
    assert.ok(!refused.success && !existsSync(join(work, "c.txt")));
    const beside = await sandbox.exec(["touch", "d.txt"], { workspace: work, workspaceMode: "overlay" });
    assert.deepEqual(beside.changes.map((change) => change.path), ["d.txt"]);
    assert.ok(!existsSync(join(work, "d.txt")));
  }));

test("output arrives while it is written", () =>
  withSandbox(async (sandbox) => {
    const seen = [];
    let first;
    const begun = new Promise((resolve) => (first = resolve));
    let done = false;
    const running = sandbox
      .stream("import time\nprint('one')\ntime.sleep(1)\nprint('two')", {
        language: "python",
        onStdout: (data) => {
          seen.push(data);
          first();
        },
      })
      .then((outcome) => {
        done = true;
        return outcome;
      });
    await begun;
    assert.equal(done, false);
    assert.ok(!Buffer.concat(seen).toString().includes("two"));
    const outcome = await running;
    assert.equal(Buffer.concat(seen).toString(), "one\ntwo\n");
    assert.equal(outcome.stdout, "one\ntwo\n");
  }));

test("a callback that throws ends the run", () =>
  withSandbox(async (sandbox) => {
    const running = sandbox.stream("import time\nprint(1)\ntime.sleep(60)", {
      language: "python",
      onStdout: () => {
        throw new TypeError("from the callback");
      },
    });
    await assert.rejects(running, TypeError);
    assert.ok((await sandbox.exec(["true"], { workspace: false })).success);
  }));

test("twenty at once", () =>
  withSandbox(async (sandbox) => {
    const numbers = Array.from({ length: 20 }, (_, number) => number);
    const runs = numbers.map((n) => sandbox.run(`print(${n} * ${n})`, { language: "python" }));
    const outcomes = await Promise.all(runs);
    assert.deepEqual(outcomes.map((each) => each.stdout), numbers.map((n) => `${n * n}\n`));
  }));

test("bytes that are not text are whole, in and out", () =>
  withSandbox(async (sandbox) => {
    const outcome = await sandbox.exec(["cat"], { stdin: EVERY_BYTE, workspace: false });
    assert.deepEqual(new Uint8Array(outcome.stdoutBytes), EVERY_BYTE);
    assert.ok(outcome.stdout.includes("\ufffd"));
  }));

test("an override past the ceiling is refused, and a tighter one holds", () =>
  withSandbox(
    async (sandbox, work) => {
      const options = { language: "python", policy: { proc: { memory: "1g" } } };
      await assert.rejects(sandbox.run("1", options), (error) => {
        assert.ok(error instanceof PolicyRefused);
        assert.equal(error.kind, "policy");
        assert.match(error.message, /ceiling/);
        assert.match(error.nextStep, /ceiling/);
        return true;
      });
      writeFileSync(join(work, "secret.txt"), "secret");
      assert.equal((await sandbox.exec(["cat", "secret.txt"])).stdout, "secret");
      const policy = { fs: { deny: ["secret.txt"] } };
      assert.equal((await sandbox.exec(["cat", "secret.txt"], { policy })).stdout, "");
    },
    {},
    (work) => writeFileSync(join(work, "sandbox.policy.yaml"), "version: 1\nceiling:\n  memory: 256m\n"),
  ));

test("refusals have a kind", () =>
  withSandbox(async (sandbox) => {
    await assert.rejects(sandbox.run("1", { language: "pyhton" }), (error) => {
      assert.ok(error instanceof RequestRefused);
      assert.equal(error.kind, "unknown_language");
      return true;
    });
    await assert.rejects(sandbox.run("1", { language: "python", extra: { stream: 1 } }), (error) => {
      assert.ok(error instanceof InvalidParams);
      assert.equal(error.field, "stream");
      return true;
    });
  }));

test("languages, doctor and explain", () =>
  withSandbox(async (sandbox) => {
    const python = (await sandbox.languages()).find((each) => each.name === "python");
    assert.ok(python.works);
    assert.equal((await sandbox.doctor()).healthy, true);
    const answer = await sandbox.explain({ env: "AWS_SECRET_ACCESS_KEY" });
    assert.equal(answer.decision.allowed, false);
  }));

test("an aborted run leaves no box", () =>
  withSandbox(async (sandbox) => {
    const marked = new Marked();
    const controller = new AbortController();
    const running = sandbox.exec(marked.argv, { workspace: false, signal: controller.signal });
    await marked.waitUntil(true);
    controller.abort();
    await assert.rejects(running, { name: "AbortError" });
    await marked.waitUntil(false);
    assert.ok((await sandbox.exec(["true"], { workspace: false })).success);
    await assert.rejects(
      sandbox.exec(["true"], { signal: controller.signal }),
      { name: "AbortError" },
    );
  }));

test("closing leaves no box", () =>
  withSandbox(async (sandbox) => {
    const marked = new Marked();
    const running = assert.rejects(sandbox.exec(marked.argv, { workspace: false }), ServerGone);
    await marked.waitUntil(true);
    await sandbox.close();
    assert.ok(!marked.alive());
    await running;
    await assert.rejects(sandbox.run("1", { language: "python" }), ServerGone);
  }));

test("a killed server is told and leaves no box", () =>
  withSandbox(async (sandbox, _, transport) => {
    const marked = new Marked();
    const running = assert.rejects(sandbox.exec(marked.argv, { workspace: false }), (error) => {
      assert.ok(error instanceof ServerGone);
      assert.match(error.message, /SIGKILL/);
      return true;
    });
    await marked.waitUntil(true);
    process.kill(transport.pid, "SIGKILL");
    await running;
    await marked.waitUntil(false);
  }));

test("the readme tells the truth", () =>
  withSandbox(async (_, work) => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const code = readme.split("```js\n")[1].split("```")[0];
    const index = new URL("../dist/index.js", import.meta.url);
    const file = join(work, "readme.mjs");
    writeFileSync(file, code.replace('"fumehood"', JSON.stringify(index.href)));
    const own = {
      FUMEHOOD_STATE_DIR: join(work, "../state"),
      FUMEHOOD_CONFIG_DIR: join(work, "../config"),
    };
    const env = { ...process.env, ...own };
    const printed = execFileSync(process.execPath, [file], { cwd: work, env, encoding: "utf8" });
    assert.equal(printed, "42\n\n0\n1\n2\n");
  }));

test("a missing program is told, and so is another one", async () => {
  await assert.rejects(Sandbox.open({ binary: "/nowhere/fumehood" }), (error) => {
    assert.ok(error instanceof BinaryNotFound);
    assert.match(error.message, /FUMEHOOD_BINARY/);
    return true;
  });
  await assert.rejects(Sandbox.open({ binary: "/bin/true" }), FumehoodError);
});
