"""What callers say, as the parameters of the protocol. What is ``None`` is not said."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._outcome import to_content

PathLike = Union[str, "os.PathLike[str]"]
Content = Union[str, bytes, bytearray]
Policy = Union[str, Mapping[str, Any]]
#: A size or a time: ``"512m"``, ``"30s"``, or a number of bytes or seconds.
Limit = Union[str, int, float]


def options(
    *,
    files: Optional[Mapping[str, Content]] = None,
    stdin: Optional[Content] = None,
    env: Optional[Mapping[str, str]] = None,
    workspace: Union[PathLike, bool, None] = None,
    workspace_mode: Optional[str] = None,
    policy: Optional[Policy] = None,
    policy_file: Optional[PathLike] = None,
    timeout: Optional[Limit] = None,
    memory: Optional[Limit] = None,
    cpus: Optional[float] = None,
    pids: Optional[int] = None,
    disk: Optional[Limit] = None,
    output_limit: Optional[Limit] = None,
    network: Optional[str] = None,
    backend: Optional[str] = None,
    mounts: Optional[Sequence[Mapping[str, str]]] = None,
    extra: Optional[Mapping[str, Any]] = None,
) -> Dict[str, Any]:
    """The parameters that ``run`` and ``exec`` share. ``extra`` holds any others, as they are."""
    params: Dict[str, Any] = {
        "env": dict(env) if env is not None else None,
        "policy": policy if policy is None or isinstance(policy, str) else dict(policy),
        "policy_file": os.fspath(policy_file) if policy_file is not None else None,
        "timeout": timeout,
        "memory": memory,
        "cpus": cpus,
        "pids": pids,
        "disk": disk,
        "output_limit": output_limit,
        "network": network,
        "backend": backend,
    }
    if files is not None:
        params["files"] = {path: to_content(content) for path, content in files.items()}
    if stdin is not None:
        params["stdin"] = to_content(stdin)
    if mounts is not None:
        params["mounts"] = [dict(mount) for mount in mounts]
    if workspace is False:
        params["workspace"] = False
    elif workspace is not None and workspace is not True:
        directory = os.fspath(workspace)
        params["workspace"] = (
            {"directory": directory, "mode": workspace_mode} if workspace_mode else directory
        )
    elif workspace_mode is not None:
        params["workspace"] = {"directory": ".", "mode": workspace_mode}
    params.update(extra or {})
    return {name: value for name, value in params.items() if value is not None}


def of_code(
    code: Content, language: Optional[str], file_name: Optional[str], args: Sequence[str]
) -> Dict[str, Any]:
    """The program of ``run``."""
    params: Dict[str, Any] = {"code": to_content(code)}
    if language is not None:
        params["language"] = language
    if file_name is not None:
        params["file_name"] = file_name
    if args:
        params["args"] = list(args)
    return params


def of_command(argv: Sequence[str]) -> Dict[str, Any]:
    """The program of ``exec``."""
    if isinstance(argv, str):
        raise TypeError('argv must be a list of texts, for example ["ls", "-l"]')
    words: List[str] = [os.fspath(word) for word in argv]
    return {"argv": words}
