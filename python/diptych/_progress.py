"""How far a run has come."""

from __future__ import annotations

import logging
from typing import Callable, NamedTuple, Optional

_log = logging.getLogger("diptych")


class Progress(NamedTuple):
    """A line for people, or how many items of a phase are done.

    ``line`` is empty where this is about a ``phase``, of which ``done`` items of ``total`` are done; 0 where
    their number is not known.

    >>> print(Progress("", "counting", 3, 10))
    counting: 3 of 10
    >>> print(Progress("read 10 records"))
    read 10 records
    """

    #: A line about what is going on; empty where this is about a phase.
    line: str
    phase: str = ""
    done: int = 0
    #: How many items the phase has; 0 where that is not known.
    total: int = 0

    def __str__(self) -> str:
        if self.line:
            return self.line
        return f"{self.phase}: {self.done} of {self.total}" if self.total else self.phase


OnProgress = Optional[Callable[[Progress], object]]


def listener(on_progress: OnProgress) -> Callable[[str, str, int, int], None]:
    """What the native half calls. Lines also go to the logger ``diptych``."""

    def told(line: str, phase: str, done: int, total: int) -> None:
        if line:
            _log.info("%s", line)
        if on_progress is not None:
            on_progress(Progress(line, phase, done, total))

    return told
