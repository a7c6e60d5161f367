// The result of a run, as types. `raw` keeps the object that fumehood gave.

import { type Content, toBytes, toText } from "./content.js";

/** What a phase used, as the kernel counted it. Times are seconds, sizes bytes. */
export interface Stats {
  wallTime: number;
  userTime: number;
  systemTime: number;
  cpuPercent: number;
  memoryPeak: number;
  readBytes: number;
  writtenBytes: number;
  pidsPeak: number | null;
  stdoutBytes: number;
  stderrBytes: number;
  contextSwitches: number;
  startTime: number;
}

/** Something the program tried and did not get. */
export interface Violation {
  kind: string;
  message: string;
}

/** Something the program changed in an overlay workspace. */
export interface Change {
  path: string;
  kind: string;
  file: string;
}

/** How a run ended. */
export type Status =
  | "exited"
  | "signaled"
  | "timeout"
  | "oom"
  | "output_limit"
  | "disk_limit"
  | "cancelled"
  | "refused"
  | "failed";

/** The result of one phase: prepare, compile or run. */
export interface PhaseOutcome {
  phase: string;
  cached: boolean;
  status: Status;
  exitCode: number | null;
  executionTime: number;
  stats: Stats;
}

/** The result of a run, whether the program succeeded or not. */
export interface Outcome {
  id: string;
  success: boolean;
  status: Status;
  phase: string;
  exitCode: number | null;
  signal: number | null;
  /** Standard output as text; what is not UTF-8 is replaced. */
  stdout: string;
  /** Standard error as text; what is not UTF-8 is replaced. */
  stderr: string;
  /** Standard output as it is. */
  stdoutBytes: Uint8Array;
  /** Standard error as it is. */
  stderrBytes: Uint8Array;
  truncated: boolean;
  executionTime: number;
  memoryUsed: number;
  stats: Stats;
  phases: PhaseOutcome[];
  backend: string;
  enforced: Record<string, { strength: string; detail: string }>;
  violations: Violation[];
  changes: Change[];
  changeCount: number;
  overlay: string | null;
  error: string | null;
  policyDigest: string;
  planDigest: string;
  /** The object that fumehood gave. */
  raw: Record<string, unknown>;
}

/** Names as they are written here. Maps whose names are data are left as they are. */
function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([name, each]) => {
    const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return [camel, name === "enforced" ? each : renamed(each)];
  });
  return Object.fromEntries(entries);
}

/** The outcome in an answer of fumehood. */
export function fromRaw(raw: Record<string, unknown>): Outcome {
  const stdoutBytes = toBytes(raw.stdout as Content);
  const stderrBytes = toBytes(raw.stderr as Content);
  return {
    ...(renamed(raw) as Outcome),
    stdout: toText(stdoutBytes),
    stderr: toText(stderrBytes),
    stdoutBytes,
    stderrBytes,
    raw,
  };
}
