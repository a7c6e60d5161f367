"""Whole loops of the real Claude Agent SDK: a scripted model asks for tools, and what it is told in
return is what a real one would be told. Nothing can leave the network namespace of these tests."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Dict, Iterator, List

import claude_agent_sdk
import pytest
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage
from claude_agent_sdk import query as plain_query

from fumehood import PolicyRefused, Sandbox
from fumehood.claude import SHELLS, Gate, options, query
from scripted_model import Block, ScriptedModel, say, use

CODE = "mcp__fumehood__sandboxed_code_run"


@pytest.fixture(autouse=True)
def loopback_only() -> None:
    routes = Path("/proc/net/route").read_text().splitlines()[1:]
    assert routes == [], "these tests run without a network: use `cargo xtask sdk`"


@pytest.fixture
def agent(tmp_path: Path) -> Any:
    """Options for an agent that knows nothing of the user and asks the scripted model."""

    def made(model: ScriptedModel, **more: Any) -> ClaudeAgentOptions:
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        env = variables(model, home)
        return ClaudeAgentOptions(env=env, cwd=os.getcwd(), max_turns=5, **more)

    return made


def variables(model: ScriptedModel, home: Path) -> Dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "none",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / "claude"),
    }


async def _all(messages: Any) -> List[Any]:
    return [message async for message in messages]


def run(messages: Any) -> ResultMessage:
    """Runs a query to its end and gives its result."""
    last = asyncio.run(asyncio.wait_for(_all(messages), 60))[-1]
    assert isinstance(last, ResultMessage) and not last.is_error, last
    return last


def ledger() -> List[Dict[str, Any]]:
    path = Path(os.environ["FUMEHOOD_STATE_DIR"]) / "ledger" / "ledger.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def decisions() -> List[Any]:
    lines = [line for line in ledger() if line["entry"] == "tool"]
    return [(line["agent"], line["tool"], line["verdict"]) for line in lines]


def python(code: str) -> List[Block]:
    return [use(CODE, {"language": "python", "code": code})]


def test_hello_world_runs_in_a_box(agent: Any) -> None:
    turns = python("import platform; print('hello world from', platform.node())"), [say("done")]
    with ScriptedModel(*turns) as model:
        result = run(query(prompt="say hello", options=agent(model)))
        failed, text = model.results()["toolu_1"]
        assert not failed and "hello world from" in text
        assert f"hello world from {os.uname().nodename}\\" not in text
        assert set(model.tools()).isdisjoint(SHELLS)
        assert {path.split("?")[0] for path in model.paths} == {"/v1/messages"}
    assert decisions() == [("claude-agent-sdk", CODE, "allow")]
    (tool,) = [line for line in ledger() if line["entry"] == "tool"]
    assert tool["session"] == result.session_id
    (ran,) = [line for line in ledger() if line["entry"] == "run"]
    assert ran["status"] == "exited" and ran["backend"] == "native"


@pytest.mark.filterwarnings("ignore::claude_agent_sdk.types.CanUseToolShadowedWarning")
def test_the_built_in_shell_is_denied_and_that_is_recorded(agent: Any, tmp_path: Path) -> None:
    mark = tmp_path / "work" / "mark"
    turns = [use("Bash", {"command": f"touch {mark}"})], [say("done")]
    with ScriptedModel(*turns) as model:
        run(query(prompt="touch it", options=agent(model, tools=["Bash"], allowed_tools=["Bash"])))
        assert model.results()["toolu_1"][0]
        assert "Bash" not in model.tools()
    assert decisions() == [("claude-agent-sdk", "Bash", "deny")]
    assert not mark.exists()


@pytest.mark.filterwarnings("ignore::claude_agent_sdk.types.CanUseToolShadowedWarning")
@pytest.mark.parametrize("allowed", [[], ["Bash"]])
def test_the_gate_denies_a_shell_that_is_switched_on(agent: Any, allowed: List[str]) -> None:
    # This one needs no permission: without the gate it runs.
    turns = [use("Bash", {"command": "echo it ran"})], [say("done")]
    with ScriptedModel(*turns) as model:
        guarded = options(agent(model))
        guarded.tools, guarded.disallowed_tools, guarded.allowed_tools = ["Bash"], [], allowed
        run(plain_query(prompt="echo", options=guarded))
        failed, text = model.results()["toolu_1"]
        assert failed and "must run in a box" in text, text
        assert "Bash" in model.tools()
    assert decisions() == [("claude-agent-sdk", "Bash", "deny")]
    with ScriptedModel(*turns) as model:
        guarded = options(agent(model))
        guarded.tools, guarded.disallowed_tools, guarded.allowed_tools = ["Bash"], [], allowed
        guarded.hooks = None
        run(plain_query(prompt="echo", options=guarded))
        assert "it ran" in model.results()["toolu_1"][1], "the gate is what keeps it from running"


@pytest.fixture
def port() -> Iterator[int]:
    """A server of this machine, which boxes reach only if they may."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"served by the machine")

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def test_an_override_holds_for_one_query(agent: Any, port: int) -> None:
    Path("sandbox.policy.yaml").write_text(f"version: 1\nceiling: {{net: ['host:{port}']}}\n")
    fetch = "import urllib.request as r; print(r.urlopen('http://host:%d').read().decode())"
    turns = python(fetch % port), [say("done")]

    def fetched(**more: Any) -> str:
        with ScriptedModel(*turns) as model:
            run(query(prompt="fetch it", options=agent(model), **more))
            return model.results()["toolu_1"][1]

    allowed = {"net": {"mode": "allow", "allow": [f"host:{port}"]}}
    assert "served by the machine" not in fetched()
    assert "served by the machine" in fetched(sandbox_policy=allowed)
    assert "served by the machine" not in fetched()
    past = {"net": {"mode": "allow", "allow": ["example.com"]}}
    with pytest.raises(PolicyRefused, match="the ceiling is"):
        fetched(sandbox_policy=past)


def test_the_policy_decides_about_other_tools(agent: Any) -> None:
    # What is let through is for the user to say, not for the file of a project.
    config = Path(os.environ["FUMEHOOD_CONFIG_DIR"])
    config.mkdir()
    (config / "policy.yaml").write_text("version: 1\ntools: {allow: [Write]}\n")
    Path("sandbox.policy.yaml").write_text("version: 1\ntools: {deny: [Read]}\n")
    Path("secret").write_text("the content")
    write = {"file_path": str(Path("made").absolute()), "content": "by the agent"}
    read = {"file_path": str(Path("secret").absolute())}
    asked = []

    async def own(tool: str, input: Any, context: Any) -> Any:
        from claude_agent_sdk import PermissionResultDeny

        asked.append(tool)
        return PermissionResultDeny(message="not by us")

    fetch = use("WebFetch", {"url": "http://x.test/", "prompt": "?"}, "c")
    turns = [use("Write", write, "a")], [use("Read", read, "b")], [fetch], [say("done")]
    with ScriptedModel(*turns) as model:
        base = agent(model, tools=["Read", "Write", "WebFetch"], can_use_tool=own)
        run(query(prompt="go", options=base))
        results = model.results()
    assert not results["a"][0] and Path("made").read_text() == "by the agent"
    assert results["b"][0] and "the content" not in results["b"][1]
    assert results["c"][0] and "not by us" in results["c"][1]
    assert asked == ["WebFetch"]
    assert [verdict for _, _, verdict in decisions()] == ["allow", "deny", "pass"]


def test_a_gate_that_cannot_answer_denies(tmp_path: Path) -> None:
    assert Gate(agent="mine").ask("Read", {}).verdict == "pass"
    assert Gate().ask("Read", {}, "s1").verdict == "pass"
    assert decisions() == [("mine", "Read", "pass"), ("claude-agent-sdk", "Read", "pass")]
    deny = {"tools": {"deny": ["Read"]}}
    assert Gate(sandbox_policy=deny).ask("Read", {}).verdict == "deny"
    Path("sandbox.policy.yaml").write_text("version: 1\nnonsense: 1\n")
    broken = Gate().ask("Read", {})
    assert broken.verdict == "deny" and "nonsense" in broken.reason
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho nonsense\n")
    other.chmod(0o755)
    assert Gate(other).ask("Read", {}).verdict == "deny"


def test_the_package_needs_no_agent() -> None:
    code = """
import sys
sys.modules["claude_agent_sdk"] = None
import fumehood.claude
assert fumehood.Sandbox().run("print(1)", language="python").stdout == "1\\n"
try:
    fumehood.claude.options()
except fumehood.FumehoodError as error:
    print(error.kind, error.next_step)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "agent_sdk_missing pip install 'fumehood[claude]'"


def page() -> List[str]:
    """The examples in Python of the page on agents."""
    text = Path(os.environ["FUMEHOOD_AGENTS_PAGE"]).read_text()
    return [part.split("```")[0] for part in text.split("```python\n")[1:]]


def test_the_page_tells_the_truth_about_the_agent(tmp_path: Path) -> None:
    (example,) = [code for code in page() if "fumehood.claude" in code]
    with ScriptedModel(python("print(229)"), [say("It is 229.")]) as model:
        env = {**os.environ, **variables(model, tmp_path)}
        command = [sys.executable, "-c", example]
        ran = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
        assert (ran.returncode, ran.stdout) == (0, "It is 229.\n" * 2), ran.stderr
        assert "229" in model.results()["toolu_1"][1]
    assert len([line for line in ledger() if line["entry"] == "run"]) == 2


def test_the_page_tells_the_truth_about_functions() -> None:
    (example,) = [code for code in page() if "RUN_CODE" in code]
    scope: Dict[str, Any] = {}
    exec(example, scope)
    name = scope["RUN_CODE"]["function"]["name"]
    asked = json.dumps({"language": "python", "code": "print(6 * 7)"})
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": asked}}
    with Sandbox() as sandbox:
        (told,) = scope["answers"](sandbox, {"role": "assistant", "tool_calls": [call]})
        assert scope["answers"](sandbox, {"role": "assistant", "content": "done"}) == []
    assert (told["role"], told["tool_call_id"]) == ("tool", "call_1")
    assert json.loads(told["content"])["stdout"] == "42\n"


def test_the_page_tells_the_truth_about_claude_code(tmp_path: Path) -> None:
    text = Path(os.environ["FUMEHOOD_AGENTS_PAGE"]).read_text().split("\n## Claude Code\n")[1]
    commands = text.split("```text\n")[1].split("```")[0]
    assert "claude mcp add" in commands and "fumehood hook install" in commands
    programs = tmp_path / "bin"
    programs.mkdir()
    # The agent's package brings the whole of Claude Code along.
    claude = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
    (programs / "claude").symlink_to(claude)
    (programs / "fumehood").symlink_to(os.environ["FUMEHOOD_BINARY"])
    shell = use("Bash", {"command": "hostname; echo $((6 * 7)) > made; cat made"}, "a")
    tool = use("mcp__fumehood__sandboxed_shell_run", {"command": "cat made"}, "b")
    with ScriptedModel([shell], [tool], [say("done")]) as model:
        env = {**os.environ, **variables(model, tmp_path)}
        env["PATH"] = f"{programs}:{env['PATH']}"
        script = f"set -e\n{commands}\nclaude -p go --max-turns 5 < /dev/null\n"
        ran = subprocess.run(["sh", "-c", script], capture_output=True, env=env, timeout=60)
        assert ran.returncode == 0 and ran.stdout.endswith(b"done\n"), ran
        results = model.results()
    assert results["a"] == (False, json.dumps("fumehood\n42")), "the box has a name of its own"
    assert not results["b"][0] and "42" in results["b"][1]
    assert [verdict for _, _, verdict in decisions()] == ["rewrite", "allow"]
