"""The result of a run, as types. ``raw`` keeps the object that fumehood gave."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field, fields
from typing import Any, Dict, List, Mapping, Optional, Type, TypeVar, Union

T = TypeVar("T")


def to_bytes(value: Union[str, Mapping[str, str], None]) -> bytes:
    """Bytes as they stand in JSON: a text, or ``{"base64": ...}``."""
    if value is None:
        return b""
    if isinstance(value, str):
        return value.encode("utf-8")
    return base64.b64decode(value["base64"])


def to_content(value: Union[str, bytes, bytearray]) -> Union[str, Dict[str, str]]:
    """The other way round."""
    if isinstance(value, str):
        return value
    return {"base64": base64.b64encode(bytes(value)).decode("ascii")}


def _known(kind: Type[T], raw: Mapping[str, Any]) -> T:
    """An object of a dataclass. Fields that a newer fumehood adds are left in ``raw``."""
    names = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in raw.items() if name in names})


@dataclass(frozen=True)
class Stats:
    """What a phase used, as the kernel counted it. Times are seconds, sizes bytes."""

    wall_time: float = 0.0
    user_time: float = 0.0
    system_time: float = 0.0
    cpu_percent: float = 0.0
    memory_peak: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    pids_peak: Optional[int] = None
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    context_switches: int = 0
    start_time: float = 0.0


@dataclass(frozen=True)
class Violation:
    """Something the program tried and did not get."""

    kind: str
    message: str


@dataclass(frozen=True)
class Change:
    """Something the program changed in an overlay workspace."""

    path: str
    kind: str = ""
    file: str = ""


@dataclass(frozen=True)
class PhaseOutcome:
    """The result of one phase: prepare, compile or run."""

    phase: str
    cached: bool
    status: str
    exit_code: Optional[int]
    execution_time: float
    stats: Stats


@dataclass(frozen=True)
class Outcome:
    """The result of a run, whether the program succeeded or not."""

    id: str
    success: bool
    status: str
    phase: str
    exit_code: Optional[int]
    signal: Optional[int]
    stdout_bytes: bytes
    stderr_bytes: bytes
    truncated: bool
    execution_time: float
    memory_used: int
    stats: Stats
    phases: List[PhaseOutcome]
    backend: str
    enforced: Dict[str, Any]
    violations: List[Violation]
    changes: List[Change]
    change_count: int
    overlay: Optional[str]
    error: Optional[str]
    policy_digest: str
    plan_digest: str
    raw: Dict[str, Any] = field(repr=False, compare=False)

    @property
    def stdout(self) -> str:
        """Standard output as text; what is not UTF-8 is replaced."""
        return self.stdout_bytes.decode("utf-8", "replace")

    @property
    def stderr(self) -> str:
        """Standard error as text; what is not UTF-8 is replaced."""
        return self.stderr_bytes.decode("utf-8", "replace")

    @classmethod
    def from_raw(cls, raw: Dict[str, Any]) -> Outcome:
        """The outcome in an answer of fumehood."""
        return cls(
            id=raw["id"],
            success=raw["success"],
            status=raw["status"],
            phase=raw["phase"],
            exit_code=raw.get("exit_code"),
            signal=raw.get("signal"),
            stdout_bytes=to_bytes(raw.get("stdout")),
            stderr_bytes=to_bytes(raw.get("stderr")),
            truncated=raw["truncated"],
            execution_time=raw["execution_time"],
            memory_used=raw["memory_used"],
            stats=_known(Stats, raw["stats"]),
            phases=[
                _known(PhaseOutcome, {**phase, "stats": _known(Stats, phase["stats"])})
                for phase in raw["phases"]
            ],
            backend=raw["backend"],
            enforced=raw["enforced"],
            violations=[_known(Violation, each) for each in raw["violations"]],
            changes=[_known(Change, each) for each in raw.get("changes", [])],
            change_count=raw.get("change_count", 0),
            overlay=raw.get("overlay"),
            error=raw.get("error"),
            policy_digest=raw["policy_digest"],
            plan_digest=raw["plan_digest"],
            raw=raw,
        )
