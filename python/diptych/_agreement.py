"""Agreements: what two organisations sign before a release."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional, Sequence, Union

from . import _native, _toml

#: A column of :meth:`Agreement.new`: a list of values, a taxonomy, a range of numbers, or the keys of an
#: attribute as they stand in an agreement.
ColumnLike = Union[Sequence[str], Mapping[str, Any], range, str]


class Phase(NamedTuple):
    """What one party exchanges in a part of a run.

    ``name`` is that of the phase, or ``"total"``. ``bytes_sent`` and ``bytes_received`` are those of messages,
    before TLS, ``messages_sent`` their number, and ``rounds`` how often this party waits for an answer.
    """

    name: str
    bytes_sent: int
    bytes_received: int
    messages_sent: int
    rounds: int


class Expected(NamedTuple):
    """A run that leads to a release of so many ``rows``: its ``phases``, and their ``total``."""

    rows: int
    phases: tuple[Phase, ...]
    total: Phase


class Forecast(NamedTuple):
    """What a run will exchange: with a tree of ``usual`` size, and with a ``large`` one, which few runs exceed."""

    usual: Expected
    large: Expected


class Agreement:
    """A complete and consistent agreement; there are no others.

    >>> agreement = Agreement.new(
    ...     {"job": {"Any_Job": ["Engineer", "Writer"]}, "age": range(18, 66), "ill": ["yes", "no"]},
    ...     class_column="ill", id="illnesses", epsilon="1", max_records=1000)
    >>> agreement
    <Agreement 'illnesses': local, ε 1, SHA-256 ...>
    >>> agreement.attributes
    {'job': 'categorical', 'age': 'numeric'}

    Every problem is told at once, each with a remedy:

    >>> Agreement.from_dict({"release": {"id": "x", "epsilon": 1.0}})
    Traceback (most recent call last):
    ...
    diptych.WrongInput: ...
    """

    def __init__(self, native: _native.Agreement) -> None:
        self._native = native

    @classmethod
    def from_file(cls, path: Union[str, "os.PathLike[str]"]) -> "Agreement":
        """Reads an agreement in TOML, and the taxonomy files that it names."""
        return cls(_native.Agreement.load(os.fspath(path)))

    @classmethod
    def from_dict(
        cls, agreement: Mapping[str, Any], beside: Union[str, "os.PathLike[str]"] = "."
    ) -> "Agreement":
        """An agreement from the keys that a file would have; taxonomy files are looked for ``beside``.

        Places in messages are those of the TOML that the dictionary makes.
        """
        text = _toml.dumps(agreement)
        return cls(_native.Agreement.parse("agreement", text, os.fspath(beside)))

    @classmethod
    def new(
        cls,
        columns: Mapping[str, ColumnLike],
        *,
        class_column: str,
        id: str,
        epsilon: Union[str, int, float] = "1",
        max_records: int = 1_000_000,
        partition: str = "local",
        parties: Optional[Mapping[str, Mapping[str, str]]] = None,
        owners: Optional[Mapping[str, str]] = None,
        identifier: Optional[str] = None,
        **release: Any,
    ) -> "Agreement":
        """A new agreement on these columns; further keys of ``[release]`` are given by their names.

        A column is a list of values, a taxonomy as nested dictionaries and lists, a ``range`` of whole
        numbers, the name of a built-in taxonomy such as ``"builtin:countries"``, or a dictionary with
        ``kind`` as in an agreement. The class column is a list of values. Values must be public
        knowledge: do not take them from the data.

        A release by two parties has ``parties`` (``p1`` and ``p2``, each with ``name`` and
        ``fingerprint``); a vertical one also has ``owners``, which party has which column, and an
        ``identifier``, the column by which both find the same person.

        >>> agreement = Agreement.new(
        ...     {"job": ["Engineer", "Writer"], "salary": range(18, 100), "approved": ["Y", "N"]},
        ...     class_column="approved", id="loans", partition="vertical", identifier="id",
        ...     owners={"job": "p1", "salary": "p2"}, specializations=3,
        ...     parties={"p1": {"name": "Bank", "fingerprint": "sha256:" + "b1" * 32},
        ...              "p2": {"name": "Loan company", "fingerprint": "sha256:" + "1c" * 32}})
        >>> agreement.partition
        'vertical'
        """
        columns = dict(columns)
        if class_column not in columns:
            raise KeyError(f"class_column {class_column!r} is not among the columns")
        classes: dict[str, Any] = {"column": class_column, "values": _values(columns.pop(class_column))}
        owners = dict(owners or {})
        if class_column in owners:
            classes["owner"] = owners.pop(class_column)
        attributes = []
        for name, column in columns.items():
            attribute: dict[str, Any] = {"name": name, **_attribute(name, column)}
            if name in owners:
                attribute["owner"] = owners[name]
            attributes.append(attribute)
        document: dict[str, Any] = {
            "release": {
                "id": id,
                "partition": partition,
                "epsilon": _native.value_text(epsilon),
                "max_records": max_records,
                **release,
            }
        }
        if parties is not None:
            document["parties"] = {role: dict(party) for role, party in parties.items()}
        if identifier is not None:
            document["id"] = {"column": identifier, "normalize": ["trim", "uppercase"]}
        return cls.from_dict({**document, "class": classes, "attribute": attributes})

    def check(self) -> list[str]:
        """Sees that a run would not be refused; returns lines that say what to expect of it.

        >>> print(doctest_agreement().check()[0])
        Rows: about ... where values are replaced 3 times (leaves of a usual tree times classes); no
        release has more than ...
        """
        return self._native.check()

    def outlook(self, records: Optional[int] = None) -> list[str]:
        """What a release of so many records will look like. With your own number, keep the lines to yourself."""
        return self._native.outlook(records)

    def words(self) -> str:
        """The page that both sign: the agreement in plain words.

        >>> "What is promised to every person in the data" in doctest_agreement().words()
        True
        """
        return self._native.words()

    def forecast(
        self,
        party: str,
        records: int,
        peer_records: Optional[int] = None,
        common_records: Optional[int] = None,
        again: bool = False,
    ) -> Forecast:
        """What one party's side of a run will exchange, byte for byte, for trees of usual and large size.

        ``records`` are this party's; the peer is taken to have as many, and all to be common, unless
        something else is said. ``again``: both have finished a run together before.

        >>> forecast = doctest_agreement("vertical").forecast("p1", 1000)
        >>> forecast.usual.total.rounds > 10 and forecast.usual.total.bytes_sent > 10_000
        True
        """

        def expected(found: tuple[int, list[tuple[str, int, int, int, int]]]) -> Expected:
            rows, phases = found
            *parts, total = (Phase(*phase) for phase in phases)
            return Expected(rows, tuple(parts), total._replace(name="total"))

        found = self._native.forecast(party, records, peer_records, common_records, again)
        usual, large = map(expected, found)
        return Forecast(usual, large)

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical form, in hexadecimal: both parties must see the same."""
        return self._native.hash

    @property
    def canonical(self) -> str:
        """The one way to write this agreement, in JSON."""
        return self._native.canonical()

    @property
    def id(self) -> str:
        """The release's name."""
        return self._native.id

    @property
    def partition(self) -> str:
        """``"vertical"``, ``"horizontal"`` or ``"local"``."""
        return self._native.partition

    @property
    def epsilon(self) -> Optional[str]:
        """The privacy budget, exactly; none where the model spends none."""
        return self._native.epsilon

    @property
    def class_column(self) -> str:
        """The column that the release is to tell about."""
        return self._native.class_column

    @property
    def attributes(self) -> dict[str, str]:
        """The other columns, each with its kind."""
        return dict(self._native.attributes)

    @property
    def parties(self) -> dict[str, tuple[str, str]]:
        """Name and fingerprint of ``p1`` and ``p2``; empty for a release by one party."""
        return dict(zip(("p1", "p2"), self._native.parties))

    @property
    def remarks(self) -> list[str]:
        """On what stands in the file and has no effect."""
        return self._native.remarks

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Agreement) and self.canonical == other.canonical

    def __hash__(self) -> int:
        return hash(self.canonical)

    def __repr__(self) -> str:
        epsilon = f"ε {self.epsilon}" if self.epsilon else "no ε"
        return f"<Agreement {self.id!r}: {self.partition}, {epsilon}, SHA-256 {self.hash[:12]}…>"


def of(agreement: Union[Agreement, str, "os.PathLike[str]"]) -> Agreement:
    """An agreement, or the one in a file."""
    if isinstance(agreement, Agreement):
        return agreement
    return Agreement.from_file(agreement)


def _values(column: ColumnLike) -> list[str]:
    if isinstance(column, (str, range, Mapping)):
        raise TypeError("the class column is a list of values")
    return list(column)


def _attribute(name: str, column: ColumnLike) -> dict[str, Any]:
    if isinstance(column, range):
        if len(column) == 0 or column.step <= 0:
            raise ValueError(f"column {name!r}: an empty range, or one that goes down")
        return {"kind": "numeric", "min": column[0], "max": column[-1], "step": column.step}
    if isinstance(column, str):
        return {"kind": "categorical", "taxonomy": column}
    if isinstance(column, Mapping):
        if "kind" in column:
            return dict(column)
        return {"kind": "categorical", "taxonomy": column}
    return {"kind": "categorical", "taxonomy": {f"Any_{name}": list(column)}}


def doctest_agreement(partition: str = "local") -> Agreement:
    """A small agreement for examples."""
    two: dict[str, Any] = {
        "parties": {
            "p1": {"name": "Bank", "fingerprint": "sha256:" + "b1" * 32},
            "p2": {"name": "Loan company", "fingerprint": "sha256:" + "1c" * 32},
        },
        "owners": {"job": "p1", "age": "p2"},
        "identifier": "id",
    }
    return Agreement.new(
        {"job": ["Engineer", "Writer"], "age": range(18, 66), "ill": ["yes", "no"]},
        class_column="ill",
        id="illnesses",
        max_records=10_000,
        specializations=3,
        partition=partition,
        **(two if partition == "vertical" else {}),
    )
