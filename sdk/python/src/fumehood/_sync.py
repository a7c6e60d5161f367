"""The sandbox for ordinary code. Thread-safe: many runs at once, from as many threads."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Sequence, Type, cast

from . import _params
from ._events import OnAny, OnOutput, dispatch
from ._outcome import Outcome
from ._params import Content, PathLike
from ._transport import OnEvent, StdioTransport, Transport

#: The version of the protocol that this package speaks.
PROTOCOL = 1


class Sandbox:
    """Runs code in boxes. One process of fumehood serves all runs of a sandbox.

    ``binary`` is the program; otherwise ``FUMEHOOD_BINARY`` or the ``PATH`` says where it is.
    ``cwd`` is where relative paths begin and the project's policy is looked for. ``at_once`` is
    how many runs there are at once; more of them wait for their turn.
    """

    def __init__(
        self,
        binary: Optional[PathLike] = None,
        *,
        cwd: Optional[PathLike] = None,
        env: Optional[Mapping[str, str]] = None,
        at_once: Optional[int] = None,
        transport: Optional[Transport] = None,
    ) -> None:
        self._transport: Transport = transport or StdioTransport(
            os.fspath(binary) if binary is not None else None,
            cwd=os.fspath(cwd) if cwd is not None else None,
            env=env,
            at_once=at_once,
        )
        try:
            #: What the server says of itself: version, capabilities, languages.
            self.server: Dict[str, Any] = self._ask(
                "initialize", {"protocol": PROTOCOL, "client": "fumehood-python"}
            )
        except BaseException:
            self._transport.close()
            raise

    def run(
        self,
        code: Content,
        *,
        language: Optional[str] = None,
        file_name: Optional[str] = None,
        args: Sequence[str] = (),
        **options: Any,
    ) -> Outcome:
        """Runs code. Options: ``files``, ``stdin``, ``env``, ``workspace``, ``workspace_mode``,
        ``policy``, ``policy_file``, ``timeout``, ``memory``, ``cpus``, ``pids``, ``disk``,
        ``output_limit``, ``network``, ``backend``, ``mounts``, and ``extra`` for any others of the
        protocol."""
        program = _params.of_code(code, language, file_name, args)
        return self._carry_out("run", {**program, **_params.options(**options)})

    def exec(self, argv: Sequence[str], **options: Any) -> Outcome:
        """Runs a command, with ``cwd`` as its workspace unless another one is named. Options as for
        :meth:`run`."""
        program = _params.of_command(argv)
        return self._carry_out("exec", {**program, **_params.options(**options)})

    def stream(
        self,
        code: Content,
        *,
        language: Optional[str] = None,
        file_name: Optional[str] = None,
        args: Sequence[str] = (),
        on_stdout: Optional[OnOutput] = None,
        on_stderr: Optional[OnOutput] = None,
        on_event: Optional[OnAny] = None,
        **options: Any,
    ) -> Outcome:
        """Runs code and hands on what it writes as it is written, as bytes. The callbacks are
        called in a thread of the sandbox: short ones, please. One that raises ends the run."""
        program = _params.of_code(code, language, file_name, args)
        params = {**program, **_params.options(**options), "stream": True}
        return self._carry_out("run", params, dispatch(on_stdout, on_stderr, on_event))

    def languages(self) -> List[Dict[str, Any]]:
        """Every language, and whether it works here."""
        return cast(List[Dict[str, Any]], self._ask("languages", {}))

    def doctor(self) -> Dict[str, Any]:
        """What this machine can give, and what to do about the rest."""
        return cast(Dict[str, Any], self._ask("doctor", {}))

    def explain(self, **question: Any) -> Dict[str, Any]:
        """Whether ``path=``, ``host=`` or ``env=`` is allowed, and which line says so."""
        return cast(Dict[str, Any], self._ask("policy.explain", question))

    def close(self) -> None:
        """Ends every box and the process of fumehood."""
        self._transport.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def _carry_out(
        self, method: str, params: Mapping[str, Any], on_event: Optional[OnEvent] = None
    ) -> Outcome:
        return Outcome.from_raw(self._ask(method, params, on_event))

    def _ask(
        self, method: str, params: Mapping[str, Any], on_event: Optional[OnEvent] = None
    ) -> Any:
        call = self._transport.call(method, params, on_event)
        try:
            return call.answer.result()
        except BaseException:
            # An interrupt while waiting: nobody wants the run any more.
            if not call.answer.done():
                self._transport.notify("cancel", {"id": call.id})
            raise
