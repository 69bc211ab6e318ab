"""Ledgers: what was ever spent on a party's data."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from typing import NamedTuple, Optional, Union

from . import _native


class DataSet(NamedTuple):
    """What was spent on the data set ``name``; ε is text, an exact decimal.

    ``spent`` bounds what readers of the releases learn, and ``cap`` what that may ever be.
    ``towards_peer`` bounds what peers learn in runs with them, and ``cap_towards_peer`` what that may be,
    if there is such a cap. ``runs_without_epsilon`` are in neither sum.
    """

    name: str
    spent: str
    cap: Optional[str]
    towards_peer: str
    cap_towards_peer: Optional[str]
    runs_without_epsilon: int


class Run(NamedTuple):
    """A run in a ledger.

    ``id`` is its own; it made, or was to make, ``release`` from ``data_set`` with ``peer``, and began at ``time``.
    ``state`` is ``"finished"``, ``"aborted"`` (its ε stays spent) or ``"unfinished"`` (under way, or
    interrupted). ``epsilon`` is none where the model spends none. ``is_rehearsal``: it spent ε for a number
    with noise, and made no release.
    """

    id: str
    release: str
    data_set: str
    peer: str
    epsilon: Optional[str]
    state: str
    time: datetime
    is_rehearsal: bool


class Ledger:
    """A ledger as it lies in a file. Every line is checked whenever it is read.

    >>> import tempfile
    >>> ledger = Ledger.create(tempfile.mkdtemp() + "/ledger.jsonl")
    >>> ledger.data_sets, ledger.runs
    ({}, ())
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        #: The file.
        self.path = os.fspath(path)
        _native.read_ledger(self.path)

    @classmethod
    def create(cls, path: Union[str, "os.PathLike[str]"]) -> "Ledger":
        """Creates an empty ledger, for data on which nothing was ever spent."""
        _native.create_ledger(os.fspath(path))
        return cls(path)

    @property
    def head(self) -> str:
        """The hash of the last line: kept elsewhere, it shows whether last lines were removed."""
        return _native.read_ledger(self.path)[0]

    @property
    def data_sets(self) -> dict[str, DataSet]:
        """What was spent, by the names of data sets."""
        return {found[0]: DataSet(*found) for found in _native.read_ledger(self.path)[1]}

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs, the oldest first."""
        found = _native.read_ledger(self.path)[2]
        return tuple(Run(*run[:6], datetime.fromtimestamp(run[6], timezone.utc), run[7]) for run in found)

    def raise_cap(self, data_set: str, cap: Union[str, int, float], towards_peer: bool = False) -> None:
        """Raises the largest total ε that a data set may ever spend: for its owner to decide."""
        _native.raise_cap(self.path, data_set, _native.value_text(cap) or "", towards_peer)

    def acknowledge(self, peer: str, head: str) -> None:
        """Notes that the lines up to ``head``, which the peer has, are lost: what they spent is not counted any more."""
        _native.acknowledge(self.path, peer, head)

    def allow_rehearsal(self, data_set: str, peer: str) -> None:
        """Allows one more exact rehearsal on a data set with a peer: for the data's owner to decide."""
        _native.allow_rehearsal(self.path, data_set, peer)

    def __repr__(self) -> str:
        return f"<Ledger {self.path!r}>"
