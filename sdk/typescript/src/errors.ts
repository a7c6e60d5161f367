// Why there is no outcome. A program that fails has one; these are for what was never run.

/** Anything that fumehood could not do. `kind` is stable, `nextStep` is for people. */
export class FumehoodError extends Error {
  override name = "FumehoodError";
  readonly kind: string;
  readonly nextStep: string | undefined;

  constructor(message: string, kind = "failed", nextStep?: string) {
    super(message);
    this.kind = kind;
    this.nextStep = nextStep;
  }
}

/** The program `fumehood` is nowhere to be found, or cannot be started. */
export class BinaryNotFound extends FumehoodError {
  override name = "BinaryNotFound";
}

/** The process of fumehood ended, or was closed, while an answer was due. */
export class ServerGone extends FumehoodError {
  override name = "ServerGone";
}

/** The two sides do not understand each other: most likely their versions differ. */
export class ProtocolError extends FumehoodError {
  override name = "ProtocolError";
}

/** The request cannot be carried out as it is. */
export class RequestRefused extends FumehoodError {
  override name = "RequestRefused";
}

/** The policy does not allow what was asked for, or is not sound itself. */
export class PolicyRefused extends RequestRefused {
  override name = "PolicyRefused";
}

/** A parameter is missing, of another type, or not known. `field` names it. */
export class InvalidParams extends RequestRefused {
  override name = "InvalidParams";
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message, "invalid_params");
    this.field = field;
  }
}

/** The run was cancelled before it began. */
export class Cancelled extends FumehoodError {
  override name = "Cancelled";
}

/** The `error` of an answer. */
export interface ErrorObject {
  code: number;
  message: string;
  data?: { kind?: string; message?: string; next_step?: string | null; field?: string };
}

const KINDS: Record<string, typeof FumehoodError> = {
  policy: PolicyRefused,
  cancelled: Cancelled,
  protocol: ProtocolError,
  not_initialized: ProtocolError,
  closing: ServerGone,
  failed: FumehoodError,
};

/** The exception for the `error` of an answer. */
export function fromAnswer(error: ErrorObject): FumehoodError {
  const data = error.data ?? {};
  const message = data.message ?? error.message;
  if (error.code === -32602) return new InvalidParams(message, data.field);
  if (error.code !== -32000) return new ProtocolError(message, "protocol");
  const kind = data.kind ?? "failed";
  return new (KINDS[kind] ?? RequestRefused)(message, kind, data.next_step ?? undefined);
}
