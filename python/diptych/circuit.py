"""Any Bristol Fashion circuit, run between two peers."""

from __future__ import annotations

import os
from typing import Optional, Sequence, Union

from . import _native
from ._connection import connection
from ._progress import OnProgress, listener

_Path = Union[str, "os.PathLike[str]"]


def run(
    file: _Path,
    inputs: Sequence[int],
    *,
    role: str,
    identity: _Path,
    peer: str,
    listen: Optional[str] = None,
    connect: Optional[str] = None,
    p1_inputs: Sequence[int] = (0,),
    garbler: str = "p1",
    reveal: str = "both",
    max_gates: int = 1 << 26,
    max_port_bits: int = 1 << 22,
    wait_seconds: int = 60,
    passphrase: Optional[str] = None,
    on_progress: OnProgress = None,
) -> Optional[list[int]]:
    """Runs a circuit with a peer that has the same file; returns its outputs as numbers.

    ``inputs`` are ours, in their order: bit 0 of a number is the first wire. ``p1_inputs`` says which
    inputs of the circuit are P1's, counted from 0; the others are P2's. Nothing is returned where only
    the peer learns the outputs (``reveal="p1"`` or ``"p2"``).

    >>> run("adder64.txt", [1], role="p3", identity="key.pem", peer="", listen="127.0.0.1:0")
    Traceback (most recent call last):
    ...
    diptych.WrongInput: a role is "p1" or "p2"
    """
    outputs = _native.circuit(
        os.fspath(file),
        [f"{number:x}" for number in inputs],
        connection(role, identity, peer, listen, connect, wait_seconds, passphrase),
        list(p1_inputs),
        garbler,
        reveal,
        (max_gates, max_port_bits),
        listener(on_progress),
    )
    return None if outputs is None else [int(output, 16) for output in outputs]
