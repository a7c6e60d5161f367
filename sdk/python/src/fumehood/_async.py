"""The sandbox for asyncio. Cancelling a task ends its box."""

from __future__ import annotations

import asyncio
import os
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Sequence, Type, cast

from . import _params
from ._errors import ServerGone
from ._events import OnAny, OnOutput, dispatch
from ._outcome import Outcome
from ._params import Content, PathLike
from ._sync import PROTOCOL
from ._transport import OnEvent, StdioTransport, Transport


class AsyncSandbox:
    """Runs code in boxes, many at once. To be used with ``async with``; the arguments are those of
    :class:`fumehood.Sandbox`."""

    def __init__(
        self,
        binary: Optional[PathLike] = None,
        *,
        cwd: Optional[PathLike] = None,
        env: Optional[Mapping[str, str]] = None,
        at_once: Optional[int] = None,
        transport: Optional[Transport] = None,
    ) -> None:
        self._settings: Dict[str, Any] = {
            "binary": os.fspath(binary) if binary is not None else None,
            "cwd": os.fspath(cwd) if cwd is not None else None,
            "env": env,
            "at_once": at_once,
        }
        self._transport = transport
        #: What the server says of itself: version, capabilities, languages.
        self.server: Dict[str, Any] = {}

    async def open(self) -> AsyncSandbox:
        """Starts the server; ``async with`` does so by itself."""
        loop = asyncio.get_running_loop()
        if self._transport is None:
            self._transport = await loop.run_in_executor(
                None, lambda: StdioTransport(**self._settings)
            )
        try:
            self.server = await self._ask(
                "initialize", {"protocol": PROTOCOL, "client": "fumehood-python"}
            )
        except BaseException:
            await self.close()
            raise
        return self

    async def run(
        self,
        code: Content,
        *,
        language: Optional[str] = None,
        file_name: Optional[str] = None,
        args: Sequence[str] = (),
        **options: Any,
    ) -> Outcome:
        """As :meth:`fumehood.Sandbox.run`."""
        program = _params.of_code(code, language, file_name, args)
        return await self._carry_out("run", {**program, **_params.options(**options)})

    async def exec(self, argv: Sequence[str], **options: Any) -> Outcome:
        """As :meth:`fumehood.Sandbox.exec`."""
        program = _params.of_command(argv)
        return await self._carry_out("exec", {**program, **_params.options(**options)})

    async def stream(
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
        """As :meth:`fumehood.Sandbox.stream`; the callbacks are called in the event loop."""
        program = _params.of_code(code, language, file_name, args)
        params = {**program, **_params.options(**options), "stream": True}
        return await self._carry_out("run", params, dispatch(on_stdout, on_stderr, on_event))

    async def languages(self) -> List[Dict[str, Any]]:
        """Every language, and whether it works here."""
        return cast(List[Dict[str, Any]], await self._ask("languages", {}))

    async def doctor(self) -> Dict[str, Any]:
        """What this machine can give, and what to do about the rest."""
        return cast(Dict[str, Any], await self._ask("doctor", {}))

    async def explain(self, **question: Any) -> Dict[str, Any]:
        """Whether ``path=``, ``host=`` or ``env=`` is allowed, and which line says so."""
        return cast(Dict[str, Any], await self._ask("policy.explain", question))

    async def close(self) -> None:
        """Ends every box and the process of fumehood."""
        if self._transport is not None:
            await asyncio.get_running_loop().run_in_executor(None, self._transport.close)

    async def __aenter__(self) -> AsyncSandbox:
        return await self.open()

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def _carry_out(
        self, method: str, params: Mapping[str, Any], tell: Optional[OnEvent] = None
    ) -> Outcome:
        return Outcome.from_raw(await self._ask(method, params, tell))

    async def _ask(
        self, method: str, params: Mapping[str, Any], tell: Optional[OnEvent] = None
    ) -> Any:
        if self._transport is None:
            raise ServerGone(
                "the sandbox is not open: use `async with AsyncSandbox()`", kind="server_gone"
            )
        loop = asyncio.get_running_loop()
        failed: "asyncio.Future[None]" = loop.create_future()

        def in_loop(event: Mapping[str, Any]) -> None:
            assert tell is not None
            try:
                tell(event)
            except Exception as error:  # noqa: BLE001 - it belongs to whoever awaits this
                if not failed.done():
                    failed.set_exception(error)

        def on_event(event: Mapping[str, Any]) -> None:
            loop.call_soon_threadsafe(in_loop, event)

        call = self._transport.call(method, params, on_event if tell is not None else None)
        answer = asyncio.wrap_future(call.answer)
        try:
            await asyncio.wait({answer, failed}, return_when=asyncio.FIRST_COMPLETED)
            if failed.done():
                failed.result()
            return await answer
        finally:
            if not answer.done():
                answer.cancel()
                self._transport.notify("cancel", {"id": call.id})
            if not failed.done():
                failed.cancel()
