"""Events of a run, taken apart for the callbacks of a caller."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional

from ._outcome import to_bytes

OnOutput = Callable[[bytes], Any]
OnAny = Callable[[Mapping[str, Any]], Any]


def dispatch(
    on_stdout: Optional[OnOutput], on_stderr: Optional[OnOutput], on_event: Optional[OnAny]
) -> Callable[[Mapping[str, Any]], None]:
    """A function that gives each event to whom it concerns."""

    def tell(event: Mapping[str, Any]) -> None:
        if on_event is not None:
            on_event(event)
        if event.get("event") != "output":
            return
        wanted = on_stdout if event.get("stream") == "stdout" else on_stderr
        if wanted is not None:
            wanted(to_bytes(event["data"]))

    return tell
