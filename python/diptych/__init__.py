"""Two organisations publish one differentially private table over data that neither shows the other.

An :class:`Agreement` says what is released and promised; :func:`local` makes a release of one's own
table, :func:`run` one party's side of a release by two; a :class:`Release` is what comes out.

>>> import diptych
>>> agreement = diptych.Agreement.new(
...     {"job": ["Engineer", "Writer"], "age": range(18, 66), "ill": ["yes", "no"]},
...     class_column="ill", id="illnesses", epsilon="1", max_records=10_000)
>>> people = {"job": ["Engineer", "Writer"] * 500, "age": [20, 30, 40, 50] * 250,
...           "ill": ["no"] * 700 + ["yes"] * 300}
>>> import tempfile; place = tempfile.mkdtemp()
>>> release = diptych.local(agreement, people, out=f"{place}/release",
...                         ledger=f"{place}/ledger.jsonl", new_ledger=True, cap="3", data_set="patients")
>>> release.promise.epsilon
'1'
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Iterable, NamedTuple, Optional, Union

from . import _agreement, _native, _release, _tables, _toml, circuit
from ._agreement import Agreement, Expected, Forecast, Phase
from ._connection import connection
from ._errors import (
    DiptychError,
    Failed,
    FailedAfterSpending,
    Failure,
    Interrupted,
    NoLedgerWarning,
    PeerRefused,
    WrongInput,
)
from ._ledger import DataSet, Ledger, Run
from ._progress import OnProgress, Progress, listener
from ._release import Promise, Release, Step
from ._tables import TableLike

#: The version of the package, which is that of the command.
__version__ = _native.VERSION

__all__ = [
    "Agreement",
    "DataSet",
    "DiptychError",
    "Expected",
    "Failed",
    "FailedAfterSpending",
    "Failure",
    "Forecast",
    "Interrupted",
    "Ledger",
    "NoLedgerWarning",
    "PeerRefused",
    "Phase",
    "Progress",
    "Promise",
    "PsiResult",
    "Rehearsal",
    "Release",
    "Run",
    "Step",
    "WrongInput",
    "__version__",
    "circuit",
    "keygen",
    "local",
    "psi",
    "rehearse",
    "report",
    "run",
]

# People write and read diptych.WrongInput, wherever it is defined.
for _kind in (
    DiptychError,
    Failed,
    FailedAfterSpending,
    Failure,
    Interrupted,
    NoLedgerWarning,
    PeerRefused,
    WrongInput,
):
    _kind.__module__ = __name__

_Path = Union[str, "os.PathLike[str]"]


def local(
    agreement: Union[Agreement, _Path],
    table: TableLike,
    *,
    ledger: Optional[_Path] = None,
    new_ledger: bool = False,
    cap: Union[str, int, float, None] = None,
    data_set: Optional[str] = None,
    out: Optional[_Path] = None,
    compact: bool = False,
    problems: Optional[_Path] = None,
    identity: Optional[_Path] = None,
    passphrase: Optional[str] = None,
    on_progress: OnProgress = None,
) -> Release:
    """Makes a release alone, over one table.

    The table is a data frame of pandas or polars, a table of pyarrow, a dictionary of columns, or the
    path of a CSV file. With ``ledger`` the whole ε is entered before the data is used, under the name
    ``data_set`` (that of the file, unless given), and refused if it would pass ``cap``. Without one,
    nobody counts how often the same data is released, and this warns. The first release makes the ledger,
    with ``new_ledger``; a ledger that is missing later is an error.

    The release goes to the directory ``out``, or to a temporary one that is gone with the object that is
    returned. ``problems`` names a file in which everything is listed that does not fit (it holds data).
    With ``identity``, a file that ``diptych keygen`` made, the release is signed, and its
    :meth:`~Release.verify` tells by whom; ``passphrase`` opens a key that is under one.

    >>> from diptych._agreement import doctest_agreement
    >>> agreement = doctest_agreement()
    >>> local(agreement, {"job": ["Engineer"], "age": ["old"], "ill": ["no"]})
    Traceback (most recent call last):
    ...
    diptych.WrongInput: the table, row 1: column `age` (field 2): `old` is not a number: ...
    """
    agreement = _agreement.of(agreement)
    native = _tables.read(table, agreement._native.wanted(False))
    entered = None
    if ledger is None:
        if new_ledger or cap is not None or data_set is not None:
            raise WrongInput("new_ledger, cap and data_set are for a ledger", "name one with ledger=FILE")
        warnings.warn(
            "no ledger is given: nobody adds up what releases of this data spend (ledger=FILE, cap=EPS)",
            NoLedgerWarning,
            stacklevel=2,
        )
    else:
        if cap is None:
            raise WrongInput("a ledger needs the largest total ε that the data may ever spend", "give it with cap=EPS")
        if data_set is None and not isinstance(native, str):
            raise WrongInput("without a file, the ledger needs a name for the data", "give it with data_set=NAME")
        entered = (os.fspath(ledger), new_ledger, _native.value_text(cap) or "", data_set)
    place, kept = _release.temporary() if out is None else (os.fspath(out), None)
    listing = None if problems is None else os.fspath(problems)
    signer = None if identity is None else os.fspath(identity)
    _native.local(
        agreement._native, native, place, compact, entered, listing, signer, passphrase, listener(on_progress)
    )
    return Release(place, kept)


def run(
    agreement: Union[Agreement, _Path],
    party: Union[Mapping[str, Any], _Path],
    table: Optional[TableLike] = None,
    *,
    on_progress: OnProgress = None,
    compact: bool = False,
    record: bool = False,
    problems: Optional[_Path] = None,
    passphrase: Optional[str] = None,
    shards_at_once: int = 1,
    shard_ports: bool = False,
    new_ledger: bool = False,
) -> Release:
    """Runs one party's side of a release by two; both end with the same table.

    ``party`` is a party file, or a dictionary with its keys: ``role``, ``identity``, ``listen`` or
    ``connect``, ``ledger``, ``cap``, ``data_set``, ``out``, and those that have defaults. A ``table`` is
    used in place of the party's ``data``. The first run on the data makes the ledger, with ``new_ledger``.

    Other threads of the program go on meanwhile. Ctrl-C ends the run in order: the peer is told, the
    ledger says what was spent, and :class:`Interrupted` is raised. From the moment when the release is
    signed nothing ends it any more. An exception of ``on_progress`` ends the run in the same way.

    Where people are matched in shards, ``shards_at_once`` says how many are in work at a time, and ``shard_ports``
    that they meet at ports of their own, as they do if either party runs with :mod:`diptych.ray`.

    >>> import diptych
    >>> from diptych._agreement import doctest_agreement
    >>> agreement = doctest_agreement("vertical")
    >>> run(agreement, {"role": "p1", "identity": "nobody.pem", "listen": "127.0.0.1:0", "cap": "1",
    ...                 "ledger": "ledger.jsonl", "out": "release", "data_set": "people"}, {})
    Traceback (most recent call last):
    ...
    diptych.WrongInput: cannot read nobody.pem: No such file or directory (os error 2)
     help: make one: diptych keygen --name NAME --out nobody.pem
    """
    agreement = _agreement.of(agreement)
    native = None if table is None else _tables.read(table, agreement._native.wanted(True))
    place = _native.run(
        agreement._native,
        *_party(party),
        native,
        (compact, record, shards_at_once, shard_ports),
        new_ledger,
        None,
        None if problems is None else os.fspath(problems),
        passphrase,
        listener(on_progress),
    )
    return Release(place)


def _party(party: Union[Mapping[str, Any], _Path]) -> tuple[Optional[str], Optional[tuple[str, str, str]]]:
    """A party as the native half takes it: a file, or the text of one."""
    if isinstance(party, Mapping):
        return None, ("party", _toml.dumps(party), "")
    return os.fspath(party), None


class Rehearsal(NamedTuple):
    """What a rehearsal told this party; not for publishing.

    ``records`` are this party's and ``peer_records`` the peer's, if that is shown. ``common`` is how many
    people are in both tables: with noise, and then possibly negative, if ``noisy``. ``differing`` is how
    many of them have another label at the peer, if the agreement compares labels.
    """

    records: int
    peer_records: Optional[int]
    common: int
    differing: Optional[int]
    noisy: bool


def rehearse(
    agreement: Union[Agreement, _Path],
    party: Union[Mapping[str, Any], _Path],
    table: Optional[TableLike] = None,
    *,
    on_progress: OnProgress = None,
    problems: Optional[_Path] = None,
    passphrase: Optional[str] = None,
    new_ledger: bool = False,
) -> Rehearsal:
    """Counts with the peer how many people are in both tables, before a run, if the agreement allows it.

    The peer must do the same at the same time. A noisy rehearsal spends a small ε; an exact one spends none,
    and is allowed once. The arguments are those of :func:`run`.

    >>> from diptych._agreement import doctest_agreement
    >>> rehearse(doctest_agreement("vertical"), "nowhere.toml")
    Traceback (most recent call last):
    ...
    diptych.WrongInput: ...nowhere.toml...
    """
    agreement = _agreement.of(agreement)
    native = None if table is None else _tables.read(table, agreement._native.wanted(True))
    listing = None if problems is None else os.fspath(problems)
    told = _native.rehearse(
        agreement._native, *_party(party), native, new_ledger, listing, passphrase, listener(on_progress)
    )
    return Rehearsal(*told)


def report(
    release: Union[Release, _Path],
    out: Optional[_Path] = None,
    private: bool = False,
    error_bars: Optional[_Path] = None,
) -> Path:
    """Writes a release as a page for people: see :meth:`Release.report`."""
    found = release if isinstance(release, Release) else Release.load(release)
    return found.report(out, private, error_bars)


class PsiResult(NamedTuple):
    """What a set intersection told.

    ``rows`` are the places of one's own identifiers that are common, in one order on which both agree, and
    ``size`` is how many are common; each is none where it was not asked for. ``reached`` is whether at least
    ``threshold`` are, if there was one. ``peer_size`` is how many identifiers the peer has.
    """

    rows: Optional[list[int]]
    size: Optional[int]
    reached: Optional[bool]
    peer_size: int


def _identifier(row: int, value: Any) -> str:
    """As ``run`` reads it from a table, by the same function, and nothing that is missing."""
    # Missing values of data frames are not equal to themselves, or do not say.
    try:
        missing = value is None or bool(value != value)
    except TypeError:
        missing = True
    if missing:
        raise WrongInput(f"row {row} has no identifier", "leave out rows without one")
    text = _native.value_text(value)
    return str(value) if text is None else text


def psi(
    identifiers: Iterable[Any],
    *,
    role: str,
    identity: _Path,
    peer: str,
    listen: Optional[str] = None,
    connect: Optional[str] = None,
    normalize: str = "trim,nfc,uppercase",
    cardinality: bool = False,
    threshold: Optional[int] = None,
    matching: Optional[str] = None,
    largest_set: int = 1 << 24,
    wait_seconds: int = 60,
    run_seconds: Optional[int] = None,
    passphrase: Optional[str] = None,
    on_progress: OnProgress = None,
) -> PsiResult:
    """Finds which identifiers two parties have in common, and shows no others.

    Both learn how many the other has and which of their own are common; with ``cardinality`` only how
    many are, with ``threshold`` only whether at least so many are. ``peer`` is the fingerprint that
    :func:`keygen` returned there. The other arguments are those of ``diptych psi --help``.

    >>> psi(["a1", "A1 "], role="p1", identity="key.pem", peer="sha256:" + "1c" * 32,
    ...     listen="127.0.0.1:0")
    Traceback (most recent call last):
    ...
    diptych.WrongInput: 1 record(s) repeat the identifier of another after trim, nfc, uppercase: rows 1 and 2; ...
    """
    if cardinality and threshold is not None:
        raise WrongInput("cardinality and threshold exclude each other", "leave one of them out")
    mode = "cardinality" if cardinality else "intersection" if threshold is None else "threshold"
    if isinstance(identifiers, str) or hasattr(identifiers, "columns"):
        raise WrongInput("identifiers are a list or one column", "give a list, or table[\"column\"]")
    texts = [_identifier(row, it) for row, it in enumerate(identifiers, 1)]
    found = _native.psi(
        texts,
        connection(role, identity, peer, listen, connect, wait_seconds, passphrase),
        normalize,
        mode,
        threshold,
        matching,
        largest_set,
        run_seconds,
        listener(on_progress),
    )
    return PsiResult(*found)


def keygen(name: str, path: _Path, passphrase: Optional[str] = None) -> str:
    """Makes an identity and returns its fingerprint, which is public: give it to your partner.

    The file is as secret as a password, unless its key is put under a passphrase.

    >>> import tempfile
    >>> keygen("Bank", tempfile.mkdtemp() + "/bank.pem")
    'sha256:...'
    """
    return _native.keygen(name, os.fspath(path), passphrase)

