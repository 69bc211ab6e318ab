"""How every conversation without a release reaches its peer."""

from __future__ import annotations

import os
from typing import Any, Optional, Union


def connection(
    role: str,
    identity: Union[str, "os.PathLike[str]"],
    peer: str,
    listen: Optional[str],
    connect: Optional[str],
    wait_seconds: int,
    passphrase: Optional[str],
) -> dict[str, Any]:
    """How the native half takes it."""
    return {
        "role": role,
        "identity": os.fspath(identity),
        "passphrase": passphrase,
        "peer": peer,
        "listen": listen,
        "connect": connect,
        "wait_seconds": wait_seconds,
    }
