"""The sandbox for ordinary code, against the real program."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path
from typing import List

import pytest

from conftest import Marked
from fumehood import (
    BinaryNotFound,
    FumehoodError,
    InvalidParams,
    PolicyRefused,
    RequestRefused,
    Sandbox,
    ServerGone,
)


def test_code_runs_and_everything_is_told(sandbox: Sandbox) -> None:
    outcome = sandbox.run(
        "import sys; print(input(), sys.argv[1]); sys.exit(3)",
        language="python",
        stdin="hello",
        args=["there"],
        timeout="20s",
        memory="128m",
    )
    assert (outcome.stdout, outcome.exit_code) == ("hello there\n", 3)
    assert (outcome.success, outcome.status, outcome.phase) == (False, "exited", "run")
    assert outcome.backend == "native" and outcome.stats.wall_time > 0
    assert outcome.phases[0].stats.memory_peak == outcome.memory_used
    assert outcome.raw["id"] == outcome.id


def test_the_server_says_what_it_is(sandbox: Sandbox) -> None:
    assert sandbox.server["protocol"] == 1
    assert "python" in sandbox.server["languages"]
    assert sandbox.server["capabilities"]["at_once"] >= 4


def test_a_time_limit_is_an_outcome(sandbox: Sandbox) -> None:
    outcome = sandbox.run("while True: pass", language="python", timeout=0.3)
    assert (outcome.status, outcome.success) == ("timeout", False)
    assert outcome.violations[0].kind == "timeout"


def test_files_and_variables_arrive(sandbox: Sandbox) -> None:
    outcome = sandbox.run(
        "import os, helper; print(open('in/data.bin', 'rb').read(), helper.x, os.environ['NAME'])",
        language="python",
        files={"in/data.bin": b"\xff\x00", "helper.py": "x = 7"},
        env={"NAME": "value", "PYTHONPATH": "/workspace"},
    )
    assert outcome.stdout == "b'\\xff\\x00' 7 value\n", outcome.stderr


def test_files_outside_of_the_workspace_are_refused(sandbox: Sandbox) -> None:
    with pytest.raises(RequestRefused) as refused:
        sandbox.run("1", language="python", files={"../escape": "x"})
    assert refused.value.kind == "path" and refused.value.next_step


def test_a_command_works_on_a_directory(sandbox: Sandbox, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("one")
    outcome = sandbox.exec(["sh", "-c", "cat a.txt; echo two > b.txt"], workspace=project)
    assert outcome.stdout == "one" and outcome.success, outcome.stderr
    assert (project / "b.txt").read_text() == "two\n"
    outcome = sandbox.exec(["touch", "c.txt"], workspace=project, workspace_mode="ro")
    assert not outcome.success and not (project / "c.txt").exists()
    outcome = sandbox.exec(["touch", "d.txt"], workspace=project, workspace_mode="overlay")
    assert [change.path for change in outcome.changes] == ["d.txt"]
    assert outcome.overlay and not (project / "d.txt").exists()


def test_output_arrives_while_it_is_written(sandbox: Sandbox) -> None:
    seen: List[bytes] = []
    errors: List[bytes] = []
    first = threading.Event()

    def on_stdout(data: bytes) -> None:
        seen.append(data)
        first.set()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(
            sandbox.stream,
            "import sys, time\nprint('one', flush=True)\ntime.sleep(1)\nprint('two')\n"
            "print('bad', file=sys.stderr)",
            language="python",
            on_stdout=on_stdout,
            on_stderr=errors.append,
        )
        assert first.wait(20)
        assert b"two" not in b"".join(seen) and not running.done()
        outcome = running.result(20)
    assert b"".join(seen) == b"one\ntwo\n" == outcome.stdout_bytes
    assert b"".join(errors) == b"bad\n"


def test_a_callback_that_raises_ends_the_run(sandbox: Sandbox) -> None:
    def on_stdout(data: bytes) -> None:
        raise KeyError("from the callback")

    begun = time.monotonic()
    with pytest.raises(KeyError):
        sandbox.stream(
            "import time\nprint(1, flush=True)\ntime.sleep(60)",
            language="python",
            on_stdout=on_stdout,
        )
    assert time.monotonic() - begun < 20
    assert sandbox.exec(["true"], workspace=False).success


def test_twenty_at_once(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(20) as pool:
        codes = [f"import time; time.sleep(0.2); print({n} * {n})" for n in range(20)]
        outcomes = list(pool.map(lambda code: sandbox.run(code, language="python"), codes))
    assert [outcome.stdout for outcome in outcomes] == [f"{n * n}\n" for n in range(20)]
    assert len({outcome.id for outcome in outcomes}) == 20


def test_more_than_may_run_at_once_wait(to_itself: None) -> None:
    with Sandbox(at_once=1) as sandbox, ThreadPoolExecutor(3) as pool:
        begun = time.monotonic()
        runs = [pool.submit(sandbox.exec, ["sleep", "0.3"], workspace=False) for _ in range(3)]
        assert all(run.result(20).success for run in runs)
        assert time.monotonic() - begun > 0.85


def test_output_that_is_not_text_is_whole(sandbox: Sandbox) -> None:
    code = "import sys; sys.stdout.buffer.write(bytes(range(256)))"
    outcome = sandbox.run(code, language="python")
    assert outcome.stdout_bytes == bytes(range(256))
    assert "\ufffd" in outcome.stdout
    seen: List[bytes] = []
    sandbox.stream(code, language="python", on_stdout=seen.append)
    assert b"".join(seen) == bytes(range(256))


def test_input_that_is_not_text_is_whole(sandbox: Sandbox) -> None:
    outcome = sandbox.exec(["cat"], stdin=bytes(range(256)), workspace=False)
    assert outcome.stdout_bytes == bytes(range(256))


def test_an_override_past_the_ceiling_is_refused(to_itself: None) -> None:
    Path("sandbox.policy.yaml").write_text("version: 1\nceiling:\n  memory: 256m\n")
    with Sandbox() as sandbox:
        with pytest.raises(PolicyRefused) as refused:
            sandbox.run("1", language="python", policy={"proc": {"memory": "1g"}})
        assert "ceiling" in str(refused.value)
        assert refused.value.kind == "policy" and "ceiling" in (refused.value.next_step or "")
        with pytest.raises(PolicyRefused):
            sandbox.run("1", language="python", memory="1g")
        outcome = sandbox.run(
            "print(1)", language="python", policy={"proc": {"memory": "128m"}}
        )
        assert outcome.stdout == "1\n"


def test_an_override_tightens(sandbox: Sandbox) -> None:
    Path("secret.txt").write_text("secret")
    seen = sandbox.exec(["cat", "secret.txt"])
    assert seen.stdout == "secret"
    hidden = sandbox.exec(["cat", "secret.txt"], policy={"fs": {"deny": ["secret.txt"]}})
    assert hidden.stdout == "" and not hidden.success
    text = sandbox.exec(["cat", "secret.txt"], policy="version: 1\nfs:\n  deny: [secret.txt]\n")
    assert text.stdout == ""
    written = sandbox.exec(["touch", "new.txt"], policy="strict")
    assert not written.success and not Path("new.txt").exists()


def test_refusals_have_a_kind_and_a_next_step(sandbox: Sandbox) -> None:
    with pytest.raises(RequestRefused) as refused:
        sandbox.run("1", language="pyhton")
    assert refused.value.kind == "unknown_language" and "python" in str(refused.value)
    with pytest.raises(RequestRefused) as refused:
        sandbox.run("1", language="python", memory="banana")
    assert refused.value.kind == "limit"
    with pytest.raises(InvalidParams) as wrong:
        sandbox.run("1", language="python", extra={"stream": "yes"})
    assert wrong.value.field == "stream"
    with pytest.raises(TypeError):
        sandbox.exec("ls -l")


def test_languages_doctor_and_explain(sandbox: Sandbox) -> None:
    python = [each for each in sandbox.languages() if each["name"] == "python"]
    assert python[0]["works"] and "py" in python[0]["extensions"]
    assert sandbox.doctor()["healthy"]
    answer = sandbox.explain(host="example.com", port=443)
    assert answer["decision"]["allowed"] is False


def test_closing_leaves_no_box(to_itself: None, marked: Marked) -> None:
    sandbox = Sandbox()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(sandbox.exec, marked.argv, workspace=False)
        marked.wait_until(alive=True)
        sandbox.close()
        assert not marked.alive()
        with pytest.raises(ServerGone):
            running.result(10)
    with pytest.raises(ServerGone):
        sandbox.run("1", language="python")


def test_a_killed_server_is_told_and_leaves_no_box(to_itself: None, marked: Marked) -> None:
    sandbox = Sandbox()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(sandbox.exec, marked.argv, workspace=False)
        marked.wait_until(alive=True)
        os.kill(sandbox._transport.pid, signal.SIGKILL)  # type: ignore[attr-defined]
        with pytest.raises(ServerGone) as gone:
            running.result(10)
    assert "gone" in str(gone.value) and gone.value.next_step
    marked.wait_until(alive=False)
    with pytest.raises(ServerGone):
        sandbox.run("1", language="python")
    sandbox.close()


def test_the_readme_tells_the_truth(to_itself: None, capsys: pytest.CaptureFixture[str]) -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    code = readme.split("```python\n")[1].split("```")[0]
    # The callback prints from another thread of the same process.
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == "42\n\n0\n1\n2\n"


def test_the_package_is_typed() -> None:
    assert (resources.files("fumehood") / "py.typed").is_file()


def test_a_missing_program_is_told(to_itself: None) -> None:
    with pytest.raises(BinaryNotFound) as missing:
        Sandbox(binary="/nowhere/fumehood")
    assert "FUMEHOOD_BINARY" in str(missing.value)


def test_another_program_is_told(to_itself: None) -> None:
    with pytest.raises(FumehoodError):
        Sandbox(binary="/bin/true")
