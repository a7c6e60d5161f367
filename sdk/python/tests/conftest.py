"""The program under test, and a look at the machine from outside of all boxes."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path
from typing import Iterator

import pytest

from fumehood import Sandbox


@pytest.fixture(autouse=True)
def to_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user: neither their ledger nor their settings nor their directory."""
    assert os.environ.get("FUMEHOOD_BINARY"), "FUMEHOOD_BINARY must name the program under test"
    monkeypatch.setenv("FUMEHOOD_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("FUMEHOOD_CONFIG_DIR", str(tmp_path / "config"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)


@pytest.fixture
def sandbox(to_itself: None) -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


class Marked:
    """A command that can be recognized among all processes of the machine."""

    def __init__(self) -> None:
        self.name = f"marked-{uuid.uuid4().hex}"
        self.argv = ["sh", "-c", "echo begun; sleep 600; true", self.name]

    def alive(self) -> bool:
        for directory in Path("/proc").iterdir():
            try:
                # A process that cannot be read is not ours.
                command = (directory / "cmdline").read_bytes()
            except OSError:
                continue
            if self.name.encode() in command and b"sleep 600" in command:
                return True
        return False

    def wait_until(self, alive: bool) -> None:
        for _ in range(200):
            if self.alive() == alive:
                return
            time.sleep(0.05)
        raise AssertionError(f"{self.name}: alive is not {alive} after 10 s")


@pytest.fixture
def marked() -> Marked:
    return Marked()
