// What callers say, as the parameters of the protocol.

import { toContent } from "./content.js";

/** A size or a time: "512m", "30s", or a number of bytes or seconds. */
export type Limit = string | number;

/** What `run`, `exec` and `stream` share. */
export interface Options {
  /** Files for the box's private workspace, by their path in it. */
  files?: Record<string, string | Uint8Array>;
  /** The program's standard input. */
  stdin?: string | Uint8Array;
  /** Variables for the program. */
  env?: Record<string, string>;
  /** The directory that becomes the workspace, or false for an empty one. */
  workspace?: string | false;
  /** How it is mounted. */
  workspaceMode?: "ro" | "rw" | "overlay";
  /** A profile, or a policy as text or object that is laid on top of the one that holds. */
  policy?: string | Record<string, unknown>;
  /** A policy file in place of the project's. */
  policyFile?: string;
  timeout?: Limit;
  memory?: Limit;
  cpus?: number;
  pids?: number;
  disk?: Limit;
  outputLimit?: Limit;
  network?: "none" | "localhost";
  backend?: string;
  mounts?: { source: string; target: string; access?: "ro" | "rw" }[];
  /** Any other parameters of the protocol, as they are. */
  extra?: Record<string, unknown>;
  /** Ends the box when it is aborted; the promise is then rejected with its reason. */
  signal?: AbortSignal;
}

/** Options of `run`. */
export interface RunOptions extends Options {
  /** The language; otherwise the ending of `fileName` says it. */
  language?: string;
  fileName?: string;
  /** Arguments for the program. */
  args?: string[];
}

/** The parameters of `run`. */
export function ofCode(code: string | Uint8Array, options: RunOptions): Record<string, unknown> {
  const { language, fileName, args } = options;
  return { code: toContent(code), language, file_name: fileName, args, ...shared(options) };
}

/** The parameters of `exec`. */
export function ofCommand(argv: string[], options: Options): Record<string, unknown> {
  return { argv, ...shared(options) };
}

// What is undefined is left out when it is written as JSON.
function shared(options: Options): Record<string, unknown> {
  const { files, stdin, workspace, workspaceMode } = options;
  const contents = Object.entries(files ?? {}).map(([path, each]) => [path, toContent(each)]);
  return {
    files: files && Object.fromEntries(contents),
    stdin: stdin === undefined ? undefined : toContent(stdin),
    env: options.env,
    workspace:
      workspace === false || workspaceMode === undefined
        ? workspace
        : { directory: workspace ?? ".", mode: workspaceMode },
    policy: options.policy,
    policy_file: options.policyFile,
    timeout: options.timeout,
    memory: options.memory,
    cpus: options.cpus,
    pids: options.pids,
    disk: options.disk,
    output_limit: options.outputLimit,
    network: options.network,
    backend: options.backend,
    mounts: options.mounts,
    ...options.extra,
  };
}
