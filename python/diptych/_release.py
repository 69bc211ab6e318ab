"""Releases: what was published, and what it promises."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

from . import _native
from ._agreement import Agreement
from ._errors import Failure, WrongInput

#: What may be passed on of a release's directory.
_PUBLIC = ("release.csv", "manifest.json", "report.html", "release-compact.csv")


class Promise(NamedTuple):
    """What is promised to every person in the data.

    ``epsilon`` and ``delta`` are exact decimals; where the promise is another one, ``words`` say it.
    """

    epsilon: Optional[str]
    delta: Optional[str]
    words: Optional[str]

    def __str__(self) -> str:
        if self.words is not None:
            return self.words
        return f"ε = {self.epsilon}, δ ≤ {float(self.delta or 0):.2g}"


class Step(NamedTuple):
    """A value that was replaced by finer ones, everywhere in the table.

    The ``value`` of column ``attribute`` was divided ``into`` these.
    """

    attribute: str
    value: str
    into: tuple[str, ...]


class Release:
    """A release as it lies in a directory.

    ``directory`` is where it lies, ``manifest`` what its parties signed, and ``agreement`` that under which
    it was made.

    >>> release = doctest_release()
    >>> release
    <Release 'illnesses': 4 rows, ε = 1, δ ≤ 0>
    >>> release.tree
    (Step(attribute='job', value='Any_job', into=('Engineer', 'Writer')),)
    >>> list(release.to_dict())
    ['job', 'ill', 'count']
    >>> release.verify()[1]
    'release    4 rows, as the manifest says'
    """

    def __init__(self, directory: Union[str, "os.PathLike[str]"], _kept: Any = None) -> None:
        self.directory = Path(directory)
        # A temporary directory lives as long as the release that lies in it.
        self._kept = _kept
        manifest, table, agreement = _native.open(os.fspath(directory))
        self.manifest: dict[str, Any] = json.loads(manifest)
        self._csv: bytes = table
        #: The agreement under which it was made.
        self.agreement = Agreement(_native.Agreement.from_canonical(agreement))

    @classmethod
    def load(cls, directory: Union[str, "os.PathLike[str]"]) -> "Release":
        """Reads a release. Whether it is what its parties signed, :meth:`verify` tells."""
        return cls(directory)

    def verify(self, ledger: Union[str, "os.PathLike[str]", None] = None) -> list[str]:
        """Checks hashes, signatures and every row; returns what was found, and raises if anything does not fit.

        With ``ledger``, also whether the ledger still has the line in which the release was entered.
        """
        return _native.verify(os.fspath(self.directory), None if ledger is None else os.fspath(ledger))

    @property
    def tree(self) -> tuple[Step, ...]:
        """The specializations, in the order in which they were made."""
        cuts = self.manifest["cuts"]
        return tuple(Step(cut["attribute"], cut["value"], tuple(cut["into"])) for cut in cuts)

    @property
    def divided(self) -> dict[str, Optional[int]]:
        """Into how many values each column was divided; ``None`` if it was not, and has one value in every row.

        >>> doctest_release().divided
        {'job': 2}
        """
        values: dict[str, Optional[int]] = dict.fromkeys(self.agreement.attributes)
        for step in self.tree:
            values[step.attribute] = (values[step.attribute] or 1) + len(step.into) - 1
        return values

    @property
    def promise(self) -> Promise:
        """What the manifest promises."""
        # The first manifests had no part of their own for it.
        stated = self.manifest.get("promise", self.manifest)
        return Promise(stated.get("epsilon"), stated.get("delta"), stated.get("words"))

    def to_dict(self) -> dict[str, list[Any]]:
        """The table by columns: values as text, counts as whole numbers.

        >>> import polars  # doctest: +SKIP
        >>> polars.DataFrame(release.to_dict())  # doctest: +SKIP
        """
        columns = _columns(self._csv)
        count = list(columns)[-1]
        columns[count] = [int(number) for number in columns[count]]
        return columns

    def to_pandas(self) -> Any:
        """The table as a data frame of pandas: a row for each combination of values, with its count.

        >>> frame = doctest_release().to_pandas()
        >>> list(frame.columns), frame["count"].dtype.kind
        (['job', 'ill', 'count'], 'i')
        """
        import pandas  # type: ignore[import-untyped,unused-ignore]

        return pandas.DataFrame(self.to_dict())

    def rows(
        self, concrete: bool = False, seed: Union[bytes, str, None] = None, undivided: bool = False
    ) -> Any:
        """One row for each person that the release counts, as a data frame of pandas.

        With ``concrete``, values are drawn inside those of the release, uniformly, and numbers are numbers
        (NaN where missing; dates are text): for programs that want records. They tell no more than the release, and are as made up as they
        look precise: means, spreads and correlations inside a released value are not those of the data.
        Columns that were not divided (see :attr:`divided`) are left out then, unless ``undivided`` asks for
        them. The same ``seed`` (32 bytes, or 64 hexadecimal digits) draws the same rows.

        >>> rows = doctest_release().rows()
        >>> list(rows.columns)
        ['job', 'ill']
        """
        import pandas  # type: ignore[import-untyped,unused-ignore]

        if seed is not None and not concrete:
            raise WrongInput("a seed is for concrete rows", "say concrete=True, or leave the seed out")
        if undivided and not concrete:
            raise WrongInput("undivided is for concrete rows", "leave it out: other rows have all columns")
        drawn: Optional[bytes] = None
        if concrete:
            drawn = bytes.fromhex(seed) if isinstance(seed, str) else seed
            drawn = secrets.token_bytes(32) if drawn is None else drawn
            if len(drawn) != 32:
                raise WrongInput("a seed has 32 bytes")
        columns = _columns(_native.rows(os.fspath(self.directory), drawn, undivided))
        frame = pandas.DataFrame(columns)
        if concrete:
            for name, kind in self.agreement.attributes.items():
                if kind == "numeric" and name in frame:
                    # A number that is missing is the word for it, where the agreement makes it a value.
                    frame[name] = pandas.to_numeric(frame[name].where(frame[name] != "missing"))
        return frame

    def report(
        self,
        out: Union[str, "os.PathLike[str]", None] = None,
        private: bool = False,
        error_bars: Union[str, "os.PathLike[str]", None] = None,
    ) -> Path:
        """Writes the release as a page for people, and returns where it lies: ``report.html`` beside it, unless ``out`` is given.

        With ``private`` the page adds what the run cost this party, and is for it alone. ``error_bars`` names
        a file for the rows with the ends of their error bars. A release that does not verify gets no page.

        >>> doctest_release().report().name
        'report.html'
        """
        place = None if out is None else os.fspath(out)
        bars = None if error_bars is None else os.fspath(error_bars)
        return Path(_native.report(os.fspath(self.directory), place, private, bars))

    def save(self, directory: Union[str, "os.PathLike[str]"]) -> "Release":
        """Copies what is public of it to a new directory; nothing of ``private/`` is."""
        place = Path(directory)
        place.mkdir(parents=True, exist_ok=False)
        for name in _PUBLIC:
            if (self.directory / name).is_file():
                shutil.copyfile(self.directory / name, place / name)
        return Release(place)

    def _repr_html_(self) -> str:
        try:
            page = _native.picture(os.fspath(self.directory))
        except Exception as error:  # a notebook shows what is wrong in place of a picture
            words = str(error) if isinstance(error, Failure) else repr(error)
            return f"<pre>{html.escape(repr(self))}\n{html.escape(words)}</pre>"
        # A page of its own, so that its style touches nothing else; it needs no script.
        return (
            f'<iframe sandbox srcdoc="{html.escape(page)}" title="{html.escape(repr(self))}" '
            'style="width:100%;height:30rem;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        rows = self.manifest["release"]["rows"]
        return f"<Release {self.agreement.id!r}: {rows} rows, {self.promise}>"


def _columns(table: bytes) -> dict[str, list[Any]]:
    header, *records = csv.reader(io.StringIO(table.decode(), newline=""))
    values = [list(column) for column in zip(*records)] if records else [[] for _ in header]
    return dict(zip(header, values))


def doctest_release() -> Release:
    """A small release for examples."""
    import warnings

    from . import local

    agreement = Agreement.new(
        {"job": ["Engineer", "Writer"], "ill": ["yes", "no"]},
        class_column="ill",
        id="illnesses",
        max_records=10_000,
        specializations=1,
    )
    people = {"job": ["Engineer", "Writer"] * 500, "ill": ["no"] * 700 + ["yes"] * 300}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return local(agreement, people)


def temporary() -> tuple[str, Any]:
    """A directory that is removed with the object that stands for it."""
    kept = tempfile.TemporaryDirectory(prefix="diptych-")
    return os.path.join(kept.name, "release"), kept
