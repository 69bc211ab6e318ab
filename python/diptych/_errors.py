"""What can go wrong, with the command's words and exit statuses."""

from __future__ import annotations

from typing import Optional


class Failure:
    """What every exception of this package has: the same words as the command ``diptych``.

    ``status`` is the exit status that the command would have, ``message`` what happened and where,
    and ``advice`` what to do about it, where the message does not say so already.
    """

    status: int = 1

    def __init__(self, message: str, advice: Optional[str] = None) -> None:
        super().__init__(message, advice)  # type: ignore[call-arg]
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        if self.advice is None:
            return self.message
        return f"{self.message}\n help: " + self.advice.replace("\n", "\n       ")


class DiptychError(Failure, Exception):
    """A run or a file that failed; all but :class:`Interrupted` are of this kind."""


class Failed(DiptychError):
    """The network or the machine failed, or a release was changed."""

    status = 1


class WrongInput(DiptychError, ValueError):
    """A file, a table or an argument that is not as it should be; nothing was spent."""

    status = 2


class PeerRefused(DiptychError):
    """The peer refused, broke the protocol, is not who it should be, or has agreed to something else."""

    status = 3


class FailedAfterSpending(DiptychError):
    """It failed on this side, or too few people or other labels are common, after the ledger was debited."""

    status = 4


class Interrupted(Failure, KeyboardInterrupt):
    """Somebody pressed Ctrl-C; says what was spent until then.

    It is a :class:`KeyboardInterrupt`, so ``except Exception`` does not swallow it.
    """

    status = 130


class NoLedgerWarning(UserWarning):
    """A release is made, and nobody adds up what releases of its data spend."""


def of_status(status: int, message: str, advice: Optional[str]) -> Failure:
    """The exception for an exit status."""
    for kind in (Failed, WrongInput, PeerRefused, FailedAfterSpending, Interrupted):
        if kind.status == status:
            return kind(message, advice)
    return Failed(message, advice)
