"""The errors offdiag raises on purpose.

Every error says what happened, which field and value caused it, and what to do next. The web
application, the command line and the SDK show the same parts in their own form, so the parts
are kept as data instead of being baked into one string.
"""

from __future__ import annotations

import errno
from typing import ClassVar, Final

NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What the system says of a full disk, a used-up quota and a limit on the size of files."""


class OffdiagError(Exception):
    """Base of all errors a caller may want to catch.

    `code` is the stable, machine-readable name of the kind of error, `kind` that of a narrower one
    within it, if any; `field` the input that caused it, `hint` the way out.
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
        """The one shape in which every interface reports an error."""
        kind = {} if self.kind is None else {"kind": self.kind}
        return {
            "code": self.code,
            **kind,
            "message": self.message,
            "field": self.field,
            "hint": self.hint,
        }


class InvalidInput(OffdiagError, ValueError):
    """The caller passed something that cannot be meant."""

    code = "invalid_input"


class Malformed(InvalidInput):
    """The input cannot even be read; what it asks for was never looked at."""

    code = "malformed"


class TooLarge(InvalidInput):
    """The input is larger than anybody needs, or would be once it is unpacked."""

    code = "too_large"


class NotFound(OffdiagError, LookupError):
    """The named thing does not exist."""

    code = "not_found"


class UnknownKey(NotFound, KeyError):
    """A mapping of results has no such metric or class; the hint names similar ones."""

    code = "unknown_key"


class Conflict(OffdiagError):
    """The request contradicts what is already stored; nothing was changed."""

    code = "conflict"


class KeyUsed(Conflict):
    """A client key belongs to a run that holds, or is described as, something else."""

    kind = "key_used"


class Stale(Conflict):
    """What the caller saw and decided about has changed since; nothing was changed."""

    code = "stale"


class NotSignedIn(OffdiagError):
    """The caller is unknown: there is no session or token, or it is no longer valid."""

    code = "not_signed_in"


class Forbidden(OffdiagError):
    """It is known who asks, and they may not do this; nothing was changed."""

    code = "forbidden"


class TooManyRequests(OffdiagError):
    """The same was tried too often; `retry_after_s` says when to try again."""

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
    """The database has no room left on its disk; nothing was half written."""

    code = "storage_full"


class ServerUnavailable(DatabaseUnavailable):
    """The server of the registry cannot be reached, or is too busy to answer."""

    code = "server_unavailable"


class SpoolFull(StorageFull):
    """There is no room for predictions that wait to be sent; none of them was half written."""

    code = "spool_full"


class SchemaMismatch(OffdiagError):
    """The database has another schema version than this program needs."""

    code = "schema_mismatch"


class EvaluationFailed(OffdiagError):
    """The worker gave up on a run; the message holds its last error."""

    code = "evaluation_failed"


class EvaluationPending(OffdiagError, TimeoutError):
    """The evaluation of a run did not arrive in the time the caller was ready to wait."""

    code = "evaluation_pending"


class MissingExtra(OffdiagError, ModuleNotFoundError):
    """A library that comes with an extra of offdiag is not installed; the hint installs it."""

    code = "missing_extra"


class LabelNote(UserWarning):
    """Labels or scores were accepted as they came, but may not be meant that way: see which."""


class NotEvaluated(UserWarning):
    """Runs are not evaluated yet, so that what is shown does not have their results."""


class NotFoundBySlices(UserWarning):
    """Runs with sample weights have no metrics of slices, so a search by slices misses them."""


class UnknownName(UserWarning):
    """No runs were found, and no project or dataset has the name that was asked for."""


class RunKept(UserWarning):
    """A run, or content of samples, waits in the spool for `offdiag sync` to store it."""
