"""Tables as analysts hold them: a file, a data frame of any library, or plain columns."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping
from typing import Any, Iterable, Protocol, Union, runtime_checkable

from . import _native


@runtime_checkable
class ArrowStream(Protocol):
    """Whatever speaks Arrow's C interface: tables of pyarrow, polars, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


#: A CSV file, a data frame or table of pandas, polars, pyarrow or anything else that has
#: ``__arrow_c_stream__``, or a dictionary of columns.
TableLike = Union[str, "os.PathLike[str]", ArrowStream, Mapping[str, Iterable[Any]]]


def read(table: TableLike, wanted: Iterable[str]) -> Union[str, _native.Table]:
    """A table as the native half takes it; only the wanted columns are looked at."""
    if isinstance(table, (str, os.PathLike)):
        return os.fspath(table)
    if isinstance(table, _native.Table):
        return table
    wanted = set(wanted)
    if _is_pandas(table):
        return _from_pandas(table, wanted)
    if hasattr(table, "__arrow_c_stream__"):
        return _native.Table.from_stream(table.__arrow_c_stream__(), [])
    if isinstance(table, Mapping):
        return _plain(table.items(), wanted)
    raise TypeError(
        f"{type(table).__name__} is not a table: give the path of a CSV file, a data frame of pandas or "
        "polars, a table of pyarrow, or a dictionary of columns"
    )


def _plainly(name: str) -> str:
    """A column's name as it is compared."""
    return unicodedata.normalize("NFC", name.strip())


def _is_pandas(table: Any) -> bool:
    return type(table).__module__.split(".")[0] == "pandas" and hasattr(table, "columns")


def _from_pandas(frame: Any, wanted: set[str]) -> _native.Table:
    names = [str(name) for name in frame.columns]
    present = [place for place, name in enumerate(names) if _plainly(name) in wanted]
    # Columns of odd types that nobody wants must not fail.
    if hasattr(frame, "__arrow_c_stream__"):
        part = frame.iloc[:, present].reset_index(drop=True)
        also = [name for place, name in enumerate(names) if place not in present]
        try:
            return _native.Table.from_stream(part.__arrow_c_stream__(), also)
        except (ImportError, ValueError, TypeError):
            # pandas needs pyarrow for it, and pyarrow refuses columns of mixed types.
            pass
    return _plain(((name, frame.iloc[:, place]) for place, name in enumerate(names)), wanted)


def _plain(columns: Iterable[tuple[str, Any]], wanted: set[str]) -> _native.Table:
    def values(name: str, column: Any) -> Any:
        if _plainly(name) not in wanted:
            return None
        # Times of numpy would become numbers.
        if getattr(getattr(column, "dtype", None), "kind", "") == "M":
            return list(column)
        # Arrays and series have their own kinds of numbers; lists of them have Python's.
        return column.tolist() if hasattr(column, "tolist") else column

    return _native.Table.from_columns([(str(name), values(str(name), it)) for name, it in columns])
