// The sandbox: many runs at once on one process of fumehood.

import { type Content, toBytes } from "./content.js";
import { type Outcome, fromRaw } from "./outcome.js";
import { type Options, type RunOptions, ofCode, ofCommand } from "./params.js";
import { type OnEvent, type StdioOptions, StdioTransport, type Transport } from "./transport.js";

/** The version of the protocol that this package speaks. */
const PROTOCOL = 1;

/** Settings of a sandbox. */
export interface SandboxOptions extends StdioOptions {
  /** Another way to a server. */
  transport?: Transport;
}

/** Options of `stream`. */
export interface StreamOptions extends RunOptions {
  onStdout?: (data: Uint8Array) => void;
  onStderr?: (data: Uint8Array) => void;
  /** Every event, as fumehood gives it. */
  onEvent?: OnEvent;
}

/** What the server says of itself. */
export interface ServerInfo {
  protocol: number;
  version: string;
  capabilities: Record<string, unknown>;
  languages: string[];
}

/** A language, and whether it works here. */
export interface LanguageInfo {
  name: string;
  title: string;
  aliases: string[];
  extensions: string[];
  works: boolean;
  detail: string;
  remedy: string | null;
}

/** Runs code in boxes. Open one with {@link Sandbox.open}. */
export class Sandbox {
  readonly #transport: Transport;
  /** What the server says of itself. */
  readonly server: ServerInfo;

  private constructor(transport: Transport, server: ServerInfo) {
    this.#transport = transport;
    this.server = server;
  }

  /** Starts a process of fumehood. */
  static async open(options: SandboxOptions = {}): Promise<Sandbox> {
    const transport = options.transport ?? new StdioTransport(options);
    try {
      const params = { protocol: PROTOCOL, client: "fumehood-typescript" };
      const server = await transport.call("initialize", params).answer;
      return new Sandbox(transport, server as ServerInfo);
    } catch (error) {
      await transport.close();
      throw error;
    }
  }

  /** Runs code. */
  async run(code: string | Uint8Array, options: RunOptions = {}): Promise<Outcome> {
    return this.#carryOut("run", ofCode(code, options), options.signal);
  }

  /** Runs a command, with `cwd` as its workspace unless another one is named. */
  async exec(argv: string[], options: Options = {}): Promise<Outcome> {
    return this.#carryOut("exec", ofCommand(argv, options), options.signal);
  }

  /** Runs code and hands on what it writes as it is written. A callback that throws ends it. */
  async stream(code: string | Uint8Array, options: StreamOptions = {}): Promise<Outcome> {
    const { onStdout, onStderr, onEvent } = options;
    const tell: OnEvent = (event) => {
      onEvent?.(event);
      if (event.event !== "output") return;
      const wanted = event.stream === "stdout" ? onStdout : onStderr;
      wanted?.(toBytes(event.data as Content));
    };
    const params = { ...ofCode(code, options), stream: true };
    return this.#carryOut("run", params, options.signal, tell);
  }

  /** Every language, and whether it works here. */
  async languages(): Promise<LanguageInfo[]> {
    return (await this.#transport.call("languages", {}).answer) as LanguageInfo[];
  }

  /** What this machine can give, and what to do about the rest. */
  async doctor(): Promise<Record<string, unknown>> {
    return (await this.#transport.call("doctor", {}).answer) as Record<string, unknown>;
  }

  /** Whether a path, a host or a variable is allowed, and which line says so. */
  async explain(
    question: ({ path: string } | { host: string; port?: number } | { env: string }) & {
      policy?: string | Record<string, unknown>;
    },
  ): Promise<Record<string, unknown>> {
    const answer = this.#transport.call("policy.explain", question).answer;
    return (await answer) as Record<string, unknown>;
  }

  /** Ends every box and the process of fumehood. */
  async close(): Promise<void> {
    await this.#transport.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #carryOut(
    method: string,
    params: Record<string, unknown>,
    signal?: AbortSignal,
    tell?: OnEvent,
  ): Promise<Outcome> {
    signal?.throwIfAborted();
    const { id, answer } = this.#transport.call(method, params, tell);
    if (!signal) return fromRaw((await answer) as Record<string, unknown>);
    let abort = (): void => {};
    const aborted = new Promise<never>((_, reject) => {
      abort = () => {
        this.#transport.notify("cancel", { id });
        reject(signal.reason as Error);
      };
    });
    signal.addEventListener("abort", abort, { once: true });
    try {
      return fromRaw((await Promise.race([answer, aborted])) as Record<string, unknown>);
    } finally {
      signal.removeEventListener("abort", abort);
      // Whoever aborted does not wait for the answer, whatever it is.
      answer.catch(() => {});
    }
  }
}
