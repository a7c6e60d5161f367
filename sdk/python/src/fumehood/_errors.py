"""Why there is no outcome. A program that fails has one; these are for what was never run."""

from __future__ import annotations

from typing import Any, Mapping, Optional


class FumehoodError(Exception):
    """Anything that fumehood could not do. ``kind`` is stable, ``next_step`` is for people."""

    def __init__(
        self, message: str, *, kind: str = "failed", next_step: Optional[str] = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.next_step = next_step


class BinaryNotFound(FumehoodError):
    """The program ``fumehood`` is nowhere to be found, or cannot be started."""


class ServerGone(FumehoodError):
    """The process of fumehood ended, or was closed, while an answer was due."""


class ProtocolError(FumehoodError):
    """The two sides do not understand each other: most likely their versions differ."""


class RequestRefused(FumehoodError):
    """The request cannot be carried out as it is."""


class PolicyRefused(RequestRefused):
    """The policy does not allow what was asked for, or is not sound itself."""


class InvalidParams(RequestRefused):
    """A parameter is missing, of another type, or not known. ``field`` names it."""

    def __init__(self, message: str, *, field: Optional[str] = None) -> None:
        super().__init__(message, kind="invalid_params")
        self.field = field


class Cancelled(FumehoodError):
    """The run was cancelled before it began."""


def from_answer(error: Mapping[str, Any]) -> FumehoodError:
    """The exception for the ``error`` of an answer."""
    code = error.get("code")
    data = error.get("data") or {}
    message = str(data.get("message") or error.get("message") or "no reason was given")
    if code == -32602:
        return InvalidParams(message, field=data.get("field"))
    if code != -32000:
        return ProtocolError(message, kind="protocol")
    kind = str(data.get("kind", "failed"))
    known = {
        "policy": PolicyRefused,
        "cancelled": Cancelled,
        "protocol": ProtocolError,
        "not_initialized": ProtocolError,
        "closing": ServerGone,
        "failed": FumehoodError,
    }
    return known.get(kind, RequestRefused)(message, kind=kind, next_step=data.get("next_step"))
