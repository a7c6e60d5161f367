// The way to a server of fumehood. Now a process of its own, spoken to over its standard streams.
// A transport knows calls, answers and notifications, and nothing of what they mean.

import { type ChildProcess, spawn } from "node:child_process";

import { BinaryNotFound, type ErrorObject, ServerGone, fromAnswer } from "./errors.js";

/** Told of each event while a call has no answer yet. */
export type OnEvent = (event: Record<string, unknown>) => void;

/** A call on its way. */
export interface Call {
  readonly id: number;
  readonly answer: Promise<unknown>;
}

/** What a sandbox needs of the way to its server. */
export interface Transport {
  /** Sends a call and gives a handle to its answer. */
  call(method: string, params: Record<string, unknown>, onEvent?: OnEvent): Call;
  /** Sends what needs no answer. Does nothing once the server is gone. */
  notify(method: string, params: Record<string, unknown>): void;
  /** Ends the server and everything that runs on it. */
  close(): Promise<void>;
}

/** Settings of a process of fumehood. */
export interface StdioOptions {
  /** The program; otherwise FUMEHOOD_BINARY or the PATH says where it is. */
  binary?: string;
  /** Where relative paths begin and the project's policy is looked for. */
  cwd?: string;
  /** Its environment; otherwise that of this process. */
  env?: Record<string, string | undefined>;
  /** How many runs there are at once; more of them wait for their turn. */
  atOnce?: number;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: unknown): void;
  onEvent: OnEvent | undefined;
}

interface Message {
  id?: number | null;
  method?: string;
  params?: { id: number; event: Record<string, unknown> };
  result?: unknown;
  error?: ErrorObject;
}

const NEWLINE = 10;

/** A process `fumehood rpc`. */
export class StdioTransport implements Transport {
  readonly #process: ChildProcess;
  readonly #closed: Promise<void>;
  readonly #calls = new Map<number, Waiting>();
  #next = 1;
  #pieces: Uint8Array[] = [];
  #gone: Error | undefined;

  constructor(options: StdioOptions = {}) {
    const binary = options.binary ?? process.env.FUMEHOOD_BINARY ?? "fumehood";
    const args = ["rpc"];
    if (options.atOnce !== undefined) args.push("--at-once", String(options.atOnce));
    this.#process = spawn(binary, args, {
      stdio: ["pipe", "pipe", "inherit"],
      cwd: options.cwd,
      env: options.env ?? process.env,
    });
    this.#closed = new Promise((resolve) => {
      this.#process.on("close", (code, signal) => {
        this.#end(gone(signal ? `it was ended by ${signal}` : `it ended with code ${code}`));
        resolve();
      });
      this.#process.on("error", (error) => {
        const step = "install fumehood, set FUMEHOOD_BINARY, or give { binary }";
        const message = `the program ${binary} cannot be started (${error.message}): ${step}`;
        this.#end(new BinaryNotFound(message, "binary_not_found", step));
        resolve();
      });
    });
    // A pipe that breaks is told by the end of the process.
    this.#process.stdin.on("error", () => {});
    this.#process.stdout.on("error", () => {});
    this.#process.stdout.on("data", (chunk) => this.#read(chunk));
  }

  /** The process of the server. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  call(method: string, params: Record<string, unknown>, onEvent?: OnEvent): Call {
    const id = this.#next++;
    if (this.#gone) return { id, answer: Promise.reject(this.#gone) };
    const answer = new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject, onEvent });
    });
    this.#write({ jsonrpc: "2.0", id, method, params });
    return { id, answer };
  }

  notify(method: string, params: Record<string, unknown>): void {
    if (!this.#gone) this.#write({ jsonrpc: "2.0", method, params });
  }

  async close(): Promise<void> {
    this.#end(gone("it was closed"));
    this.#process.stdin.end();
    const killer = setTimeout(() => this.#process.kill("SIGKILL"), 10_000);
    await this.#closed;
    clearTimeout(killer);
  }

  #write(message: unknown): void {
    this.#process.stdin.write(Buffer.from(`${JSON.stringify(message)}\n`));
  }

  #read(chunk: Uint8Array): void {
    let rest = chunk;
    for (;;) {
      const end = rest.indexOf(NEWLINE);
      if (end < 0) break;
      const line = Buffer.concat([...this.#pieces, rest.subarray(0, end)]).toString("utf8");
      this.#pieces = [];
      rest = rest.subarray(end + 1);
      try {
        this.#hear(JSON.parse(line) as Message);
      } catch (error) {
        this.#end(gone(`its answer could not be read: ${String(error)}`));
      }
    }
    if (rest.length > 0) this.#pieces.push(rest);
  }

  #hear(message: Message): void {
    if (message.method === "event" && message.params) {
      const { id, event } = message.params;
      const waiting = this.#calls.get(id);
      try {
        waiting?.onEvent?.(event);
      } catch (error) {
        // A callback that throws ends its run, and the caller gets what it threw.
        this.#calls.delete(id);
        waiting?.reject(error);
        this.notify("cancel", { id });
      }
      return;
    }
    const id = message.id ?? 0;
    const waiting = this.#calls.get(id);
    this.#calls.delete(id);
    if (message.error) waiting?.reject(fromAnswer(message.error));
    else waiting?.resolve(message.result);
  }

  #end(reason: Error): void {
    this.#gone ??= reason;
    for (const waiting of this.#calls.values()) waiting.reject(this.#gone);
    this.#calls.clear();
  }
}

function gone(reason: string): ServerGone {
  const step = "open another Sandbox";
  return new ServerGone(`the fumehood server is gone (${reason}): ${step}`, "server_gone", step);
}
