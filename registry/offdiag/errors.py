"""The errors that offdiag raises on purpose.

Every error says what happened, which field and value caused it, and what to do next. The web
application, the command line and the SDK show these parts in their own form, so an error stores
them separately instead of as one string.
"""

from __future__ import annotations

import errno
from typing import ClassVar, Final

NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""System error numbers for a full disk, an exhausted quota and a file size limit."""


class OffdiagError(Exception):
    """Base of all errors that a caller may want to catch.

    * `code`: the stable, machine-readable name of the kind of error.
    * `kind`: the name of a narrower kind within it, or None.
    * `message`: what happened.
    * `field`: the input that caused it, or None.
    * `hint`: what to do next, or None.
    """

    code: ClassVar[str] = "error"
    kind: ClassVar[str | None] = None

    def __init__(self, message: str, *, field: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.hint = hint

    def __str__(self) -> str:
        prefix = f"{self.field}: " if self.field else ""
        suffix = f" {self.hint}" if self.hint else ""
        return f"{prefix}{self.message}{suffix}"

    def to_dict(self) -> dict[str, str | None]:
        """The form in which every interface reports an error."""
        kind = {} if self.kind is None else {"kind": self.kind}
        return {
            "code": self.code,
            **kind,
            "message": self.message,
            "field": self.field,
            "hint": self.hint,
        }


class InvalidInput(OffdiagError, ValueError):
    """An argument or a file is invalid."""

    code = "invalid_input"
    _value: tuple[str, str] = ("", "")
    index: int | None = None
    """The index of the invalid value among many, if the error is about one of them."""

    @classmethod
    def of_value(
        cls, what: str, index: int, problem: str, *, field: str | None, hint: str | None
    ) -> InvalidInput:
        """The error that `what`, at this index of an argument, has a `problem`."""
        error = cls(f"{what} at index {index} {problem}", field=field, hint=hint)
        error._value, error.index = (what, problem), index
        return error

    def at(self, index: int, place: str | None = None) -> InvalidInput:
        """The same about the value at another index, named as a `place` such as a line."""
        what, problem = self._value
        error = self.of_value(what, index, problem, field=self.field, hint=self.hint)
        if place is not None:
            error.message = f"{what} {place} {problem}"
        return error


class Malformed(InvalidInput):
    """The input cannot be read at all, so the request in it was not considered."""

    code = "malformed"


class TooLarge(InvalidInput):
    """The input exceeds a size limit, or would exceed it once it is unpacked."""

    code = "too_large"


class NotFound(OffdiagError, LookupError):
    """A run or another resource with this name does not exist."""

    code = "not_found"


class UnknownKey(NotFound, KeyError):
    """A mapping of results has no such metric or class; the hint names similar ones."""

    code = "unknown_key"


class Conflict(OffdiagError):
    """The request contradicts stored data; nothing was changed."""

    code = "conflict"


class KeyUsed(Conflict):
    """A client key belongs to a run with other content or another description."""

    kind = "key_used"


class Stale(Conflict):
    """What the caller saw and decided about has changed since; nothing was changed."""

    code = "stale"


class NotSignedIn(OffdiagError):
    """The caller is unknown: there is no session or token, or it is no longer valid."""

    code = "not_signed_in"


class Forbidden(OffdiagError):
    """The caller is known, but does not have the permission; nothing was changed."""

    code = "forbidden"


class TooManyRequests(OffdiagError):
    """The same request was made too often; `retry_after_s` says when to try again."""

    code = "too_many_requests"

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: int,
        field: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, field=field, hint=hint)
        self.retry_after_s = retry_after_s


class DatabaseUnavailable(OffdiagError):
    """The database cannot be reached, read or written at the moment."""

    code = "database_unavailable"


class StorageFull(DatabaseUnavailable):
    """The disk of the database is full; nothing was partially written."""

    code = "storage_full"


class ServerUnavailable(DatabaseUnavailable):
    """The server of the registry cannot be reached, or is too busy to respond."""

    code = "server_unavailable"


class SpoolFull(StorageFull):
    """There is no room for predictions in the offline queue; none was partially written."""

    code = "spool_full"


class SchemaMismatch(OffdiagError):
    """The schema version of the database is not the one that this program needs."""

    code = "schema_mismatch"


class DamagedData(OffdiagError, ValueError):
    """Stored data cannot be decoded, because it was changed or lost outside offdiag."""

    code = "damaged_data"


class EvaluationFailed(OffdiagError):
    """The evaluation of a run failed repeatedly; the message contains the last error."""

    code = "evaluation_failed"


class EvaluationPending(OffdiagError, TimeoutError):
    """The evaluation of a run did not arrive within the timeout."""

    code = "evaluation_pending"


class MissingExtra(OffdiagError, ModuleNotFoundError):
    """A library that comes with an extra of offdiag is not installed; the hint installs it."""

    code = "missing_extra"


class LabelNote(UserWarning):
    """Labels or scores were accepted, but may have been meant differently; the text says which."""


class NotEvaluated(UserWarning):
    """Runs are not evaluated yet, so their results are missing from what is shown."""


class NotFoundBySlices(UserWarning):
    """Runs with sample weights have no metrics of slices, so a search by slices misses them."""


class MoreRunsMatch(UserWarning):
    """More runs match a search than it returns unless `max_results` is given."""


class OutOfRange(UserWarning):
    """A filter compares a metric with a number that it cannot have, as 80 for 0.8."""


class UnknownName(UserWarning):
    """No runs were found, and no project or dataset has the name that was asked for."""


class RunKept(UserWarning):
    """A run, or content of samples, waits in the offline queue until `offdiag sync` stores it."""
