"""fumehood for the Claude Agent SDK: code runs in boxes, and the policy decides about other tools.

    from fumehood.claude import query

    async for message in query(prompt="What is the 50th prime?"):
        print(message)

Importing this needs nothing; using it needs ``pip install 'fumehood[claude]'``.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Mapping, Optional

from ._errors import FumehoodError, PolicyRefused
from ._gate import TIMEOUT, Decision, Gate, missing, policy_arguments
from ._params import PathLike, Policy
from ._transport import find_binary

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions

__all__ = ["SERVER", "SHELLS", "Decision", "Gate", "mcp_server", "options", "query"]

#: The name of the MCP server: its tools are ``mcp__fumehood__…``.
SERVER = "fumehood"

#: Built-in tools that run commands outside of any box.
SHELLS = ("Bash", "BashOutput", "KillShell", "Monitor", "PowerShell", "REPL")

#: Variables that say where fumehood keeps its things. An agent may pass on few variables.
_PLACES = ("FUMEHOOD_", "XDG_")


def mcp_server(
    *,
    binary: Optional[PathLike] = None,
    workspace: Optional[PathLike] = None,
    policy_file: Optional[PathLike] = None,
    profile: Optional[str] = None,
    sandbox_policy: Optional[Policy] = None,
    env: Optional[Mapping[str, str]] = None,
) -> Dict[str, Any]:
    """An entry for ``mcp_servers``. Without ``workspace`` runs share a private directory for as long
    as the query lasts."""
    place = ["--session"] if workspace is None else ["--workspace", os.path.abspath(workspace)]
    own = {name: value for name, value in os.environ.items() if name.startswith(_PLACES)}
    return {
        "type": "stdio",
        "command": find_binary(os.fspath(binary) if binary is not None else None),
        "args": ["mcp", *place, *policy_arguments(policy_file, profile, sandbox_policy)],
        "env": {**own, **(env or {})},
    }


def options(
    base: Optional["ClaudeAgentOptions"] = None,
    *,
    sandbox_policy: Optional[Policy] = None,
    workspace: Optional[PathLike] = None,
    policy_file: Optional[PathLike] = None,
    profile: Optional[str] = None,
    binary: Optional[PathLike] = None,
    env: Optional[Mapping[str, str]] = None,
    gate: Optional[Gate] = None,
) -> "ClaudeAgentOptions":
    """Options with the tools of fumehood and behind its gate.

    What ``base`` says holds, but: built-in tools that run commands are gone, built-in tools are
    none unless ``base.tools`` names them, and settings files are left out unless
    ``base.setting_sources`` names them. ``base.can_use_tool`` is asked about tools that no rule of
    the policy names. ``sandbox_policy`` is laid on top of the policy, as far as its ceiling allows;
    what goes past it raises :class:`~fumehood.PolicyRefused`.
    """
    try:
        from claude_agent_sdk import ClaudeAgentOptions, HookMatcher
    except ImportError as error:
        raise missing() from error
    base = base if base is not None else ClaudeAgentOptions()
    if not isinstance(base.mcp_servers, dict):
        raise TypeError("mcp_servers must be a dict, so that fumehood can be added to it")
    chosen: Dict[str, Any] = {
        "binary": binary,
        "policy_file": policy_file,
        "profile": profile,
        "sandbox_policy": sandbox_policy,
        "env": env,
    }
    place = workspace if workspace is not None else base.cwd
    if gate is None:
        gate = Gate(cwd=place, otherwise=base.can_use_tool, **chosen)
    server = mcp_server(workspace=workspace, **chosen)
    _try(server, base.cwd)
    tools = base.tools if base.tools is not None else []
    if isinstance(tools, list):
        tools = [tool for tool in tools if tool not in SHELLS]
    hooks: Dict[Any, Any] = dict(base.hooks or {})
    ours = HookMatcher(hooks=[gate.pre_tool_use], timeout=2 * TIMEOUT, on_failure="block")
    hooks["PreToolUse"] = [ours, *hooks.get("PreToolUse", [])]
    refused = [tool for tool in SHELLS if tool not in base.disallowed_tools]
    return replace(
        base,
        tools=tools,
        disallowed_tools=[*base.disallowed_tools, *refused],
        mcp_servers={**base.mcp_servers, SERVER: server},  # type: ignore[dict-item]
        strict_mcp_config=True,
        setting_sources=base.setting_sources if base.setting_sources is not None else [],
        can_use_tool=gate.can_use_tool,
        hooks=hooks,
    )


#: Within `query` the word means its parameter.
_guarded = options


async def query(
    *,
    prompt: Any,
    options: Optional["ClaudeAgentOptions"] = None,
    sandbox_policy: Optional[Policy] = None,
    workspace: Optional[PathLike] = None,
    policy_file: Optional[PathLike] = None,
    profile: Optional[str] = None,
    binary: Optional[PathLike] = None,
    env: Optional[Mapping[str, str]] = None,
) -> AsyncIterator[Any]:
    """``claude_agent_sdk.query`` with :func:`options` made of ``options``, which are plain ones.
    ``sandbox_policy`` holds for this query alone."""
    try:
        import claude_agent_sdk
    except ImportError as error:
        raise missing() from error
    from anyio.to_thread import run_sync

    chosen: Dict[str, Any] = {
        "binary": binary,
        "policy_file": policy_file,
        "profile": profile,
        "sandbox_policy": sandbox_policy,
        "env": env,
    }
    base = options if options is not None else claude_agent_sdk.ClaudeAgentOptions()
    place = workspace if workspace is not None else base.cwd
    gate = Gate(cwd=place, otherwise=base.can_use_tool, **chosen)
    guarded = await run_sync(lambda: _guarded(base, workspace=workspace, gate=gate, **chosen))
    async for message in claude_agent_sdk.query(prompt=prompt, options=guarded):
        await gate.watch(message)
        yield message


def _try(server: Mapping[str, Any], cwd: Optional[PathLike]) -> None:
    """Whether the server starts. An agent would go on without it, and nobody would know why."""
    try:
        tried = subprocess.run(
            [server["command"], *server["args"]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            cwd=cwd,
            env={**os.environ, **server["env"]},
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        message = f"`fumehood mcp` cannot be started ({error}): see `fumehood doctor`"
        raise FumehoodError(message, next_step="see `fumehood doctor`") from error
    if tried.returncode != 0:
        raise PolicyRefused(tried.stderr.decode("utf-8", "replace").strip(), kind="policy")
