"""The way to a server of fumehood. Now a process of its own, spoken to over its standard streams.

A transport knows calls, answers and notifications, and nothing of what they mean.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import threading
from concurrent.futures import Future
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol

from ._errors import BinaryNotFound, ServerGone, from_answer

#: What a call is told while it has no answer yet: the event, as fumehood gives it.
OnEvent = Callable[[Mapping[str, Any]], None]


class Transport(Protocol):
    """What a sandbox needs of the way to its server."""

    def call(
        self, method: str, params: Mapping[str, Any], on_event: Optional[OnEvent] = None
    ) -> "Call":
        """Sends a call and gives a handle to its answer."""

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Sends what needs no answer."""

    def close(self) -> None:
        """Ends the server and everything that runs on it."""


class Call:
    """A call on its way."""

    def __init__(self, id: int, on_event: Optional[OnEvent]) -> None:
        self.id = id
        self.on_event = on_event
        self.answer: "Future[Any]" = Future()


def find_binary(named: Optional[str]) -> str:
    """The program: as named, in ``FUMEHOOD_BINARY``, or on the ``PATH``."""
    wanted = named or os.environ.get("FUMEHOOD_BINARY") or "fumehood"
    found = shutil.which(wanted)
    if found is None:
        raise BinaryNotFound(
            f"the program {wanted} was not found: install fumehood, set FUMEHOOD_BINARY, "
            "or give Sandbox(binary=...)",
            kind="binary_not_found",
            next_step="install fumehood, set FUMEHOOD_BINARY, or give Sandbox(binary=...)",
        )
    return found


class StdioTransport:
    """A process ``fumehood rpc``, and a thread that reads what it says."""

    def __init__(
        self,
        binary: Optional[str] = None,
        *,
        cwd: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        at_once: Optional[int] = None,
    ) -> None:
        command: List[str] = [find_binary(binary), "rpc"]
        if at_once is not None:
            command += ["--at-once", str(at_once)]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=cwd,
                env=dict(env) if env is not None else None,
            )
        except OSError as error:
            raise BinaryNotFound(
                f"{command[0]} cannot be started ({error}): check that it is the program fumehood",
                kind="binary_not_found",
            ) from error
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._calls: Dict[int, Call] = {}
        self._gone: Optional[str] = None
        self._reader = threading.Thread(target=self._read, name="fumehood", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process of the server."""
        return self._process.pid

    def call(
        self, method: str, params: Mapping[str, Any], on_event: Optional[OnEvent] = None
    ) -> Call:
        call = Call(next(self._ids), on_event)
        with self._lock:
            if self._gone is not None:
                raise self._error()
            self._calls[call.id] = call
        try:
            self._write({"jsonrpc": "2.0", "id": call.id, "method": method, "params": params})
        except BaseException:
            with self._lock:
                self._calls.pop(call.id, None)
            raise
        return call

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def close(self) -> None:
        with self._lock:
            self._gone = self._gone or "it was closed"
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        try:
            stdin.close()
        except OSError:
            pass
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if threading.current_thread() is not self._reader:
            self._reader.join(timeout=10)
        stdout.close()

    def _write(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"
        stdin = self._process.stdin
        assert stdin is not None
        with self._writing:
            try:
                stdin.write(line)
                stdin.flush()
            except (OSError, ValueError) as error:
                raise self._error() from error

    def _error(self) -> ServerGone:
        return ServerGone(
            f"the fumehood server is gone ({self._gone or 'it does not listen any more'}): "
            "open another Sandbox",
            kind="server_gone",
            next_step="open another Sandbox",
        )

    def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        try:
            for line in stdout:
                self._hear(json.loads(line))
            reason = f"it ended with code {self._process.wait()}"
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait forever
            reason = f"its answer could not be read: {error!r}"
        with self._lock:
            self._gone = self._gone or reason
            waiting, self._calls = list(self._calls.values()), {}
        for call in waiting:
            _settle(call, error=self._error())

    def _hear(self, message: Mapping[str, Any]) -> None:
        if message.get("method") == "event":
            params = message["params"]
            with self._lock:
                call = self._calls.get(params["id"])
            if call is not None and call.on_event is not None:
                try:
                    call.on_event(params["event"])
                except Exception as error:  # noqa: BLE001 - it belongs to whoever made the call
                    self._fail(call, error)
            return
        with self._lock:
            call = self._calls.pop(message.get("id") or 0, None)
        if call is None:
            return
        if "error" in message:
            _settle(call, error=from_answer(message["error"]))
        else:
            _settle(call, result=message.get("result"))

    def _fail(self, call: Call, error: Exception) -> None:
        """A callback that raises ends its run, and the caller gets what it raised."""
        with self._lock:
            self._calls.pop(call.id, None)
        _settle(call, error=error)
        try:
            self.notify("cancel", {"id": call.id})
        except ServerGone:
            pass


def _settle(call: Call, result: Any = None, error: Optional[BaseException] = None) -> None:
    # Whoever waited may have given up meanwhile.
    if not call.answer.set_running_or_notify_cancel():
        return
    if error is not None:
        call.answer.set_exception(error)
    else:
        call.answer.set_result(result)
