// A program that is given something, says something and ends.

import { spawn } from "node:child_process";

/** What a program left. */
export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** How long it may take. */
const TIMEOUT = 30_000;

/** Runs a program to its end. */
export function finish(
  binary: string,
  args: string[],
  input: string,
  place: { cwd: string | undefined; env: Record<string, string | undefined> },
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, args, { stdio: ["pipe", "pipe", "pipe"], ...place });
    const killer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT);
    const said: { stdout: Uint8Array[]; stderr: Uint8Array[] } = { stdout: [], stderr: [] };
    child.stdout.on("data", (chunk) => said.stdout.push(chunk));
    child.stderr.on("data", (chunk) => said.stderr.push(chunk));
    // One that does not listen says why when it ends.
    child.stdin.on("error", () => {});
    child.on("error", (error) => {
      clearTimeout(killer);
      reject(error);
    });
    child.on("close", (code) => {
      clearTimeout(killer);
      const [stdout, stderr] = [said.stdout, said.stderr].map((part) =>
        Buffer.concat(part).toString("utf8"),
      );
      resolve({ code, stdout: stdout ?? "", stderr: stderr ?? "" });
    });
    child.stdin.write(Buffer.from(input));
    child.stdin.end();
  });
}
