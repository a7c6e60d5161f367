"""Run code that nobody should trust.

>>> from fumehood import Sandbox                                    # doctest: +SKIP
>>> with Sandbox() as sandbox:                                      # doctest: +SKIP
...     print(sandbox.run("print(6 * 7)", language="python").stdout)
42
"""

from ._async import AsyncSandbox
from ._errors import (
    BinaryNotFound,
    Cancelled,
    FumehoodError,
    InvalidParams,
    PolicyRefused,
    ProtocolError,
    RequestRefused,
    ServerGone,
)
from ._outcome import Change, Outcome, PhaseOutcome, Stats, Violation
from ._sync import Sandbox

__all__ = [
    "AsyncSandbox",
    "BinaryNotFound",
    "Cancelled",
    "Change",
    "FumehoodError",
    "InvalidParams",
    "Outcome",
    "PhaseOutcome",
    "PolicyRefused",
    "ProtocolError",
    "RequestRefused",
    "Sandbox",
    "ServerGone",
    "Stats",
    "Violation",
]

__version__ = "0.1.0"
