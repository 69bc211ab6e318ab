"""Dictionaries as TOML, so that agreements and parties are read by the one reader there is."""

from __future__ import annotations

import datetime
import decimal
import json
import re
from typing import Any, Iterator, Mapping

from . import _native

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dumps(document: Mapping[str, Any]) -> str:
    """The text of a document: plain keys first, then tables, then lists of tables.

    >>> print(dumps({"release": {"id": "x", "epsilon": "1"}, "attribute": [{"name": "a\\n"}]}))
    [release]
    id = "x"
    epsilon = "1"
    <BLANKLINE>
    [[attribute]]
    name = "a\\n"
    <BLANKLINE>
    """
    return "\n".join(_lines(document, ())) + "\n"


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    later: list[tuple[str, Any]] = []
    for key, value in table.items():
        if not path and (isinstance(value, Mapping) or _is_list_of_tables(value)):
            later.append((key, value))
        else:
            yield f"{_key(key)} = {_value(value, (*path, key))}"
    for key, value in later:
        for part in value if isinstance(value, list) else [value]:
            yield ""
            name = _key(key)
            yield f"[[{name}]]" if isinstance(value, list) else f"[{name}]"
            yield from _lines(part, (*path, key))


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(it, Mapping) for it in value)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key must be text, not {key!r}")
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any, path: tuple[str, ...]) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return repr(value)
    # Exact decimals and ISO dates are text in an agreement: 0.1 means the decimal 0.1.
    if isinstance(value, (float, decimal.Decimal, datetime.date)):
        return _text(_native.value_text(value) or "")
    if isinstance(value, Mapping):
        items = (f"{_key(key)} = {_value(it, (*path, key))}" for key, it in value.items())
        return "{ " + ", ".join(items) + " }" if value else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(it, path) for it in value) + "]"
    place = ".".join(map(str, path))
    raise TypeError(f"{place}: {type(value).__name__} has no place in an agreement or a party")
