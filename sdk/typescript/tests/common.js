// The program under test, and a look at the machine from outside of all boxes.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { Sandbox, StdioTransport } from "../dist/index.js";

assert.ok(process.env.FUMEHOOD_BINARY, "FUMEHOOD_BINARY must name the program under test");

/** Calls with a directory of its own and a sandbox in it: nothing of the user, no trace behind. */
export async function withSandbox(use, options = {}, prepare = () => {}) {
  const place = mkdtempSync(join(tmpdir(), "fumehood-sdk-"));
  const work = join(place, "work");
  mkdirSync(work);
  prepare(work);
  const own = {
    FUMEHOOD_STATE_DIR: join(place, "state"),
    FUMEHOOD_CONFIG_DIR: join(place, "config"),
  };
  const env = { ...process.env, ...own };
  let sandbox;
  try {
    const transport = new StdioTransport({ cwd: work, env, ...options });
    sandbox = await Sandbox.open({ transport });
    await use(sandbox, work, transport);
  } finally {
    await sandbox?.close();
    rmSync(place, { recursive: true, force: true });
  }
}

/** A command that can be recognized among all processes of the machine. */
export class Marked {
  name = `marked-${randomUUID()}`;
  argv = ["sh", "-c", "echo begun; sleep 600; true", this.name];

  alive() {
    return readdirSync("/proc").some((entry) => {
      try {
        // A process that cannot be read is not ours.
        const command = readFileSync(`/proc/${entry}/cmdline`, "utf8");
        return command.includes(this.name) && command.includes("sleep 600");
      } catch {
        return false;
      }
    });
  }

  async waitUntil(alive) {
    for (let tries = 0; tries < 200; tries++) {
      if (this.alive() === alive) return;
      await sleep(50);
    }
    assert.fail(`${this.name}: alive is not ${alive} after 10 s`);
  }
}
