/**
 * Run code that nobody should trust.
 *
 * ```js
 * const sandbox = await Sandbox.open();
 * const outcome = await sandbox.run("print(6 * 7)", { language: "python" });
 * await sandbox.close();
 * ```
 */

export {
  BinaryNotFound,
  Cancelled,
  FumehoodError,
  InvalidParams,
  PolicyRefused,
  ProtocolError,
  RequestRefused,
  ServerGone,
} from "./errors.js";
export type { Change, Outcome, PhaseOutcome, Stats, Status, Violation } from "./outcome.js";
export type { Limit, Options, RunOptions } from "./params.js";
export { Sandbox } from "./sandbox.js";
export type { LanguageInfo, SandboxOptions, ServerInfo, StreamOptions } from "./sandbox.js";
export { StdioTransport } from "./transport.js";
export type { Call, OnEvent, StdioOptions, Transport } from "./transport.js";
