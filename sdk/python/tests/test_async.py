"""The sandbox for asyncio, against the real program."""

from __future__ import annotations

import asyncio
from typing import List

import pytest

from conftest import Marked
from fumehood import AsyncSandbox, RequestRefused, ServerGone


def test_run_exec_and_stream(to_itself: None) -> None:
    async def main() -> None:
        async with AsyncSandbox() as sandbox:
            assert "python" in sandbox.server["languages"]
            assert (await sandbox.run("print(6 * 7)", language="python")).stdout == "42\n"
            assert (await sandbox.exec(["pwd"], workspace=False)).stdout == "/workspace\n"
            seen: List[bytes] = []
            await sandbox.stream("print('x')", language="python", on_stdout=seen.append)
            assert b"".join(seen) == b"x\n"
            with pytest.raises(RequestRefused):
                await sandbox.run("1", language="nonsense")

    asyncio.run(main())


def test_twenty_at_once(to_itself: None) -> None:
    async def main() -> None:
        async with AsyncSandbox() as sandbox:
            runs = [sandbox.run(f"print({n} + 1)", language="python") for n in range(20)]
            outcomes = await asyncio.gather(*runs)
            assert [outcome.stdout for outcome in outcomes] == [f"{n + 1}\n" for n in range(20)]

    asyncio.run(main())


def test_a_cancelled_task_leaves_no_box(to_itself: None, marked: Marked) -> None:
    async def main() -> None:
        async with AsyncSandbox() as sandbox:
            task = asyncio.ensure_future(sandbox.exec(marked.argv, workspace=False))
            await asyncio.get_running_loop().run_in_executor(None, marked.wait_until, True)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.get_running_loop().run_in_executor(None, marked.wait_until, False)
            # The sandbox goes on.
            assert (await sandbox.exec(["true"], workspace=False)).success

    asyncio.run(main())


def test_a_task_that_waits_for_its_turn_can_be_cancelled(to_itself: None) -> None:
    async def main() -> None:
        async with AsyncSandbox(at_once=1) as sandbox:
            first = asyncio.ensure_future(sandbox.exec(["sleep", "1"], workspace=False))
            await asyncio.sleep(0.1)
            second = asyncio.ensure_future(sandbox.exec(["touch", "ran"]))
            await asyncio.sleep(0.1)
            second.cancel()
            assert (await first).success
            with pytest.raises(asyncio.CancelledError):
                await second
            listed = await sandbox.exec(["ls"])
            assert listed.stdout == "", "what was cancelled has run"

    asyncio.run(main())


def test_a_callback_that_raises_ends_the_run(to_itself: None) -> None:
    def on_stdout(data: bytes) -> None:
        raise KeyError("from the callback")

    async def main() -> None:
        async with AsyncSandbox() as sandbox:
            with pytest.raises(KeyError):
                await asyncio.wait_for(
                    sandbox.stream(
                        "import time\nprint(1, flush=True)\ntime.sleep(60)",
                        language="python",
                        on_stdout=on_stdout,
                    ),
                    20,
                )

    asyncio.run(main())


def test_a_sandbox_that_is_not_open_says_so(to_itself: None) -> None:
    async def main() -> None:
        with pytest.raises(ServerGone):
            await AsyncSandbox().run("1", language="python")

    asyncio.run(main())
