"""One party's side of a release whose people are in shards on a Ray cluster.

Each shard of the agreement (``[scale] shards = N``) is a Ray actor; records are read where Ray places the
work, part by part, and none of them is in the driver, which leads the run: agreement, ledger, choices, noise,
signatures. In a vertical release every actor has a connection of its own to the peer's shard, and where who
is common is shown the driver also holds the coded columns of the common people, without identifiers. In a
horizontal release actors answer the driver with counts and connect to nobody.

What goes through Ray (records on the way to their shards, shares, coded columns) is private: the cluster
must be the organisation's own, and nobody else's may reach it. The peer has a cluster of its own, or none; only
leads and shards of the same number speak across, over TLS, as the agreement pins it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any, Iterable, Optional, Union

from . import _agreement, _native, _tables, _toml
from ._agreement import Agreement
from ._errors import DiptychError, Failed, Interrupted, WrongInput
from ._progress import OnProgress, listener
from ._release import Release

__all__ = ["run"]

_Path = Union[str, "os.PathLike[str]"]
#: A party file, or the text of one with its name and the directory from which its paths are counted.
_Given = tuple[Optional[str], Optional[tuple[str, str, str]]]

#: How often a wait looks whether the run was stopped, and how long shards that were told may take then.
_LOOK, _PARTING = 0.2, 10.0
#: How long actors may take to find room, and records to reach their shards.
_ROOM, _DEALING = 300.0, 3600.0


def run(
    agreement: Union[Agreement, _Path],
    party: Union[Mapping[str, Any], _Path],
    partitions: Union[Iterable[Any], Any],
    *,
    on_progress: OnProgress = None,
    compact: bool = False,
    record: bool = False,
    passphrase: Optional[str] = None,
    shards_at_once: Optional[int] = None,
    actor_options: Optional[Mapping[str, Any]] = None,
    new_ledger: bool = False,
) -> Release:
    """Runs one party's side of a release by two, with every shard in a Ray actor.

    ``partitions`` are the party's records: a Ray Dataset, or a list of paths (Parquet or CSV, read where
    the work is placed), of tables as :func:`diptych.run` takes them, or of references to such tables.
    ``party`` and ``new_ledger`` are as for :func:`diptych.run`. In a vertical release every machine of the cluster must have
    the identity (and its passphrase file) at the same path; a ``passphrase`` that is given here goes to the
    actors through Ray. The party's address needs a port: the shard with number n listens, or connects, n + 1
    ports above. A peer that does not use this function says ``shard_ports=True`` to :func:`diptych.run`, or
    ``--shard-ports`` to the command. Nothing of that is needed horizontally.

    All shards are in work at once unless ``shards_at_once`` says less. ``actor_options`` go to Ray, for
    example ``{"num_cpus": 2}``; the cluster needs room for all actors at a time. Lost work is repeated by
    Ray only while records are read: an actor that dies later ends the run as any fault does, and the
    ledger says what was spent.
    """
    ray = _ray()
    agreement = _agreement.of(agreement)
    canonical = agreement.canonical
    given = _given(party)
    role = _native.party_role(*given)
    terms = json.loads(canonical)
    # Shards that meet nobody need no key.
    of_actors = None if terms["release"]["partition"] == "horizontal" else passphrase
    cluster = _Cluster(ray, canonical, role, given, of_actors, dict(actor_options or {}))
    try:
        records = cluster.read(partitions)
        cluster.start(terms.get("scale", {}).get("shards", 0))
        place = _native.run(
            agreement._native,
            *given,
            None,
            (compact, record, shards_at_once or 1 << 16, True),
            new_ledger,
            (records, cluster.open, cluster.call),
            None,
            passphrase,
            listener(on_progress),
        )
    finally:
        cluster.end()
    return Release(place)


def _ray() -> Any:
    try:
        import ray  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise ImportError("diptych.ray needs Ray, which is not installed: pip install 'diptych[ray]'") from error
    return ray


def _given(party: Union[Mapping[str, Any], _Path]) -> _Given:
    """The party as the native half takes it: text, which every machine can read, and where its paths begin."""
    if isinstance(party, Mapping):
        return None, ("party", _toml.dumps(party), os.getcwd())
    path = os.path.abspath(os.fspath(party))
    try:
        with open(path, encoding="utf-8") as file:
            return None, (path, file.read(), os.path.dirname(path))
    except (OSError, UnicodeDecodeError) as error:
        raise WrongInput(f"{path} cannot be read: {error}") from error


def _anywhere(part: Any) -> Any:
    """A part of the records; a path means the same wherever it is read."""
    if isinstance(part, (str, os.PathLike)) and "://" not in os.fspath(part):
        return os.path.abspath(os.fspath(part))
    return part


def _read(canonical: str, role: str, part: Any) -> tuple[int, bytes]:
    """Reads a part of the records: their number, and their bytes."""
    agreement = _native.Agreement.from_canonical(canonical)
    wanted = agreement.wanted(True)
    if isinstance(part, (str, os.PathLike)) and os.fspath(part).endswith((".parquet", ".pq")):
        import pyarrow.parquet  # type: ignore[import-untyped,import-not-found,unused-ignore]

        file = pyarrow.parquet.ParquetFile(part)
        part = file.read(columns=[name for name in file.schema_arrow.names if _tables._plainly(name) in wanted])
    return _native.partition(agreement, role, _tables.read(part, wanted))


def _deal(canonical: str, role: str, part: bytes, opening: bytes, shards: int) -> Any:
    """Deals a part of the records to the shards."""
    dealt = _native.deal(_native.Agreement.from_canonical(canonical), role, part, opening)
    # Ray takes a single return as it is.
    return dealt if shards > 1 else dealt[0]


class _Shard:
    """An actor: one shard."""

    def __init__(self, canonical: str, given: _Given, passphrase: Optional[str]) -> None:
        self._worker = _native.Worker(_native.Agreement.from_canonical(canonical), *given, passphrase)

    def ready(self) -> None:
        """There was room."""

    def take(self, opening: bytes, *dealt: bytes) -> None:
        self._worker.take(opening, list(dealt))

    def meet(self, shard: int) -> None:
        try:
            self._worker.meet(shard)
        except Interrupted as stopped:
            # Ray would take it for its own interrupt.
            raise Failed(stopped.message, stopped.advice) from None

    def serve(self, call: bytes) -> bytes:
        return self._worker.serve(call)

    def stop(self) -> None:
        self._worker.stop()


class _Cluster:
    """A party's shards, as its lead reaches them through Ray."""

    def __init__(
        self, ray: Any, canonical: str, role: str, given: _Given, passphrase: Optional[str], options: dict[str, Any]
    ) -> None:
        self._ray, self._canonical, self._role = ray, canonical, role
        self._given, self._passphrase = given, passphrase
        # One call at a time, and beside it the word that ends it. Nothing is begun again: a shard that is
        # lost is a run that is lost.
        self._options = {**options, "max_concurrency": 2, "max_restarts": 0, "max_task_retries": 0}
        self._parts: list[Any] = []
        self._actors: list[Any] = []
        self._parting = float("inf")

    def read(self, partitions: Any) -> int:
        """Reads all parts wherever Ray likes; returns how many records there are."""
        if hasattr(partitions, "to_arrow_refs"):
            partitions = partitions.to_arrow_refs()
        elif isinstance(partitions, (str, os.PathLike, Mapping)) or hasattr(partitions, "columns"):
            raise WrongInput("partitions are a list of tables or paths, or a Ray Dataset", "put it into a list")
        read = self._ray.remote(_read).options(num_returns=2)
        parts = [read.remote(self._canonical, self._role, _anywhere(part)) for part in partitions]
        self._parts = [bytes_of_part for _, bytes_of_part in parts]
        return sum(self._get([records for records, _ in parts], None))

    def start(self, shards: int) -> None:
        """Starts the actors, before the peer is met: nobody shall wait for room that there is not."""
        actor = self._ray.remote(_Shard).options(**self._options)
        self._actors = [actor.remote(self._canonical, self._given, self._passphrase) for _ in range(shards)]
        problem = f"Ray found no room for {shards} actors within {_ROOM:.0f} s: add machines, or lower actor_options"
        self._get([one.ready.remote() for one in self._actors], None, _ROOM, problem)

    def open(self, opening: bytes, shards: int, stopped: _native.Stopped) -> None:
        """Deals the records, and lets every shard meet the peer's, if shards meet."""
        deal = self._ray.remote(_deal).options(num_returns=shards)
        dealt = [deal.remote(self._canonical, self._role, part, opening, shards) for part in self._parts]
        pieces = dealt if shards > 1 else [[piece] for piece in dealt]
        taken = [
            one.take.remote(opening, *(piece[number] for piece in pieces))
            for number, one in enumerate(self._actors)
        ]
        # Ray forgets the records once the shards have them.
        self._parts = []
        problem = f"the records did not reach their shards within {_DEALING:.0f} s: see Ray's logs"
        self._get(taken, stopped, _DEALING, problem)
        # Only now that all of them are well: a shard that stayed away would tell the peer which it is.
        self._get([one.meet.remote(number) for number, one in enumerate(self._actors)], stopped)

    def call(self, shard: int, call: bytes, stopped: _native.Stopped) -> bytes:
        """Brings a call to a shard, and its reply back."""
        answer: bytes = self._get([self._actors[shard].serve.remote(call)], stopped)[0]
        return answer

    def end(self) -> None:
        """Ends all actors, whose connections end with them."""
        for actor in self._actors:
            try:
                self._ray.kill(actor)
            except Exception:  # One that is gone already, or a cluster that is.
                continue
        self._actors, self._parts = [], []

    def _get(
        self,
        due: list[Any],
        stopped: Optional[_native.Stopped],
        within: float = float("inf"),
        problem: str = "",
    ) -> list[Any]:
        """What comes of work that is under way; the first failure ends the wait."""
        left, limit = list(due), time.monotonic() + within
        results: dict[Any, Any] = {}
        while left:
            done, left = self._ray.wait(left, timeout=_LOOK)
            for one in done:
                results[one] = self._result(one, stopped)
            if left and time.monotonic() > limit:
                raise Failed(problem)
            if left and stopped is not None and stopped.is_set():
                self._tell_to_stop()
                if time.monotonic() > self._parting:
                    raise Interrupted("stopped; a shard did not end when it was told to")
        return [results[one] for one in due]

    def _tell_to_stop(self) -> None:
        """Tells all actors, once: the time that they get begins with it."""
        if self._parting == float("inf"):
            self._parting = time.monotonic() + _PARTING
            for actor in self._actors:
                actor.stop.remote()

    def _result(self, one: Any, stopped: Optional[_native.Stopped]) -> Any:
        try:
            return self._ray.get(one)
        except self._ray.exceptions.RayTaskError as error:
            if stopped is not None and stopped.is_set():
                raise Interrupted("stopped while shards were at work") from None
            # The words of the package, without those of Ray around them.
            if isinstance(error.cause, (DiptychError, Interrupted)):
                raise error.cause from None
            raise
