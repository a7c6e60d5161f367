"""The tool gate: what becomes of a tool that an agent wants to use, as ``fumehood hook`` decides.

Every answer is in the ledger. Whatever goes wrong means no.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import OrderedDict
from typing import Any, Awaitable, Callable, Dict, List, Mapping, NamedTuple, Optional

from ._errors import FumehoodError
from ._params import PathLike, Policy
from ._transport import find_binary

#: How long an answer may take, in seconds.
TIMEOUT = 30
#: How many answers are remembered.
MOST = 1024


class Decision(NamedTuple):
    """What becomes of a tool: ``verdict`` is ``allow``, ``deny`` or ``pass``, which means that no
    rule names it."""

    verdict: str
    reason: str


#: What an agent asks whom the policy does not answer.
Otherwise = Callable[[str, Dict[str, Any], Any], Awaitable[Any]]


def policy_arguments(
    policy_file: Optional[PathLike], profile: Optional[str], sandbox_policy: Optional[Policy]
) -> List[str]:
    """The arguments of ``fumehood mcp`` and ``fumehood hook generic`` that name a policy."""
    arguments: List[str] = []
    if policy_file is not None:
        arguments += ["--policy", os.path.abspath(os.fspath(policy_file))]
    if profile is not None:
        arguments += ["--profile", profile]
    if sandbox_policy is not None:
        text = sandbox_policy
        if not isinstance(text, str):
            text = json.dumps({"version": 1, **text}, indent=1)
        arguments += ["--override", text]
    return arguments


class Gate:
    """Asks ``fumehood hook generic`` before a tool is used, once for each use.

    ``cwd`` is the project whose policy holds. ``otherwise`` is asked about tools that no rule
    names, as a ``can_use_tool`` of the Claude Agent SDK; without it they are denied there.
    """

    def __init__(
        self,
        binary: Optional[PathLike] = None,
        *,
        cwd: Optional[PathLike] = None,
        env: Optional[Mapping[str, str]] = None,
        policy_file: Optional[PathLike] = None,
        profile: Optional[str] = None,
        sandbox_policy: Optional[Policy] = None,
        agent: str = "claude-agent-sdk",
        otherwise: Optional[Otherwise] = None,
    ) -> None:
        self._command = [
            find_binary(os.fspath(binary) if binary is not None else None),
            *["hook", "generic", "--no-rewrite"],
            *policy_arguments(policy_file, profile, sandbox_policy),
        ]
        self._cwd = os.path.abspath(os.fspath(cwd) if cwd is not None else ".")
        self._env = {**os.environ, **(env or {})}
        self._agent = agent
        self._otherwise = otherwise
        self._decided: "OrderedDict[str, Decision]" = OrderedDict()
        self._wanted: "OrderedDict[str, Any]" = OrderedDict()

    def ask(self, tool: str, input: Mapping[str, Any], session: Optional[str] = None) -> Decision:
        """The decision about a tool. It is in the ledger afterwards."""
        question = {"tool": tool, "input": dict(input), "cwd": self._cwd, "agent": self._agent}
        if session is not None:
            question["session"] = session
        try:
            answered = subprocess.run(
                self._command,
                input=json.dumps(question).encode("utf-8"),
                capture_output=True,
                timeout=TIMEOUT,
                cwd=self._cwd,
                env=self._env,
                check=False,
            )
            if answered.returncode != 0:
                return Decision("deny", answered.stderr.decode("utf-8", "replace").strip())
            answer = json.loads(answered.stdout)
            verdict, reason = str(answer["decision"]), str(answer["reason"])
        except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError) as error:
            return Decision("deny", f"the gate could not answer ({error}), so the tool is denied")
        if verdict not in ("allow", "pass"):
            verdict = "deny"
        return Decision(verdict, reason)

    async def decide(
        self,
        tool: str,
        input: Mapping[str, Any],
        *,
        use: Optional[str] = None,
        session: Optional[str] = None,
    ) -> Decision:
        """The same without blocking. One ``use`` of a tool is asked about once."""
        known = self._decided.get(use) if use is not None else None
        if known is not None:
            return known
        from anyio.to_thread import run_sync

        decision = await run_sync(lambda: self.ask(tool, input, session))
        if use is not None:
            _keep(self._decided, use, decision)
        return decision

    async def can_use_tool(self, tool: str, input: Dict[str, Any], context: Any) -> Any:
        """For ``can_use_tool`` of the Claude Agent SDK."""
        from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny

        decision = await self.decide(tool, input, use=context.tool_use_id)
        if decision.verdict == "allow":
            return PermissionResultAllow(updated_input=input)
        if decision.verdict == "pass" and self._otherwise is not None:
            return await self._otherwise(tool, input, context)
        return PermissionResultDeny(message=decision.reason)

    async def pre_tool_use(self, question: Any, use: Optional[str], context: Any) -> Any:
        """For a ``PreToolUse`` hook of the Claude Agent SDK, which is asked about every tool, also
        about those that need no permission there."""
        decision = await self.decide(
            question["tool_name"],
            question["tool_input"],
            use=question.get("tool_use_id") or use,
            session=question.get("session_id"),
        )
        if decision.verdict == "pass":
            return {}
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": decision.verdict,
                "permissionDecisionReason": decision.reason,
            }
        }

    async def watch(self, message: Any) -> None:
        """To be called with every message of a query. A tool that is switched off is refused by the
        agent without a question to anybody; that it was wanted is recorded here."""
        blocks = getattr(message, "content", None)
        for block in blocks if isinstance(blocks, list) else ():
            name, use = getattr(block, "name", None), getattr(block, "id", None)
            if isinstance(name, str) and isinstance(use, str):
                session = getattr(message, "session_id", None)
                _keep(self._wanted, use, (name, getattr(block, "input", None) or {}, session))
            answered = getattr(block, "tool_use_id", None)
            if answered is not None and answered in self._wanted:
                name, input, session = self._wanted.pop(answered)
                await self.decide(name, input, use=answered, session=session)


def _keep(memory: "OrderedDict[str, Any]", key: str, value: Any) -> None:
    memory[key] = value
    while len(memory) > MOST:
        memory.popitem(last=False)


def missing() -> FumehoodError:
    """What is said where the Claude Agent SDK is not installed."""
    step = "pip install 'fumehood[claude]'"
    message = f"the package claude-agent-sdk is not installed: {step}"
    return FumehoodError(message, kind="agent_sdk_missing", next_step=step)
