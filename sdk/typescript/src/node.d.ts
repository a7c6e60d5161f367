// The few parts of Node that this package uses. Declared here so that building it needs nothing
// but the compiler; files of declarations are not part of what is published.

declare module "node:child_process" {
  export interface Readable {
    on(event: "data", listener: (chunk: Uint8Array) => void): this;
    on(event: "end" | "error", listener: () => void): this;
  }
  export interface Writable {
    write(chunk: Uint8Array): boolean;
    end(): void;
    on(event: "error", listener: (error: Error) => void): this;
  }
  export interface ChildProcess {
    readonly pid?: number;
    readonly stdin: Writable;
    readonly stdout: Readable;
    kill(signal?: string): boolean;
    ref(): void;
    unref(): void;
    on(event: "error", listener: (error: Error) => void): this;
    on(
      event: "close" | "exit",
      listener: (code: number | null, signal: string | null) => void,
    ): this;
  }
  export function spawn(
    command: string,
    args: readonly string[],
    options: {
      stdio: ["pipe", "pipe", "pipe"];
      cwd?: string;
      env?: Record<string, string | undefined>;
    },
  ): ChildProcess & { readonly stderr: Readable };
  export function spawn(
    command: string,
    args: readonly string[],
    options: {
      stdio: ["pipe", "pipe", "inherit"];
      cwd?: string;
      env?: Record<string, string | undefined>;
    },
  ): ChildProcess;
}

declare module "node:path" {
  export function resolve(...parts: string[]): string;
}

declare const process: { env: Record<string, string | undefined> };

interface NodeBuffer extends Uint8Array {
  toString(encoding?: "utf8" | "base64"): string;
}

declare const Buffer: {
  from(data: string, encoding?: "utf8" | "base64"): NodeBuffer;
  from(data: Uint8Array): NodeBuffer;
  concat(parts: readonly Uint8Array[]): NodeBuffer;
};
