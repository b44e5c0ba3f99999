"""The optional libraries that each extra installs, and the error for a missing one."""

from __future__ import annotations

from importlib.util import find_spec
from types import TracebackType
from typing import Final

from offdiag.errors import MissingExtra

LIBRARIES: Final = {
    "local": ("sqlalchemy", "alembic", "scipy", "pandas", "PIL"),
    "server": ("flask", "waitress", "apscheduler", "argon2", "jinja2", "structlog"),
    "postgres": ("psycopg",),
    "sql": ("duckdb",),
    "notify": ("apprise",),
    "plot": ("matplotlib",),
    "oidc": ("authlib",),
    "procrastinate": ("procrastinate",),
    "team": ("gunicorn",),
    "demo": ("sklearn",),
}
"""The libraries of each extra by their import names; an extra may include other extras."""

_EXTRA_OF = {library: extra for extra, libraries in LIBRARIES.items() for library in libraries}


def has_extra(extra: str) -> bool:
    """Whether the libraries of an extra are installed."""
    return all(find_spec(library) is not None for library in LIBRARIES[extra])


def require_extra(extra: str) -> None:
    """Raise `MissingExtra` for the first library of an extra that is not installed."""
    for library in LIBRARIES[extra]:
        if find_spec(library) is None:
            raise _missing(library, extra)


def missing_extra(error: BaseException | None) -> MissingExtra | None:
    """The error that names the extra, if `error` is a failed import of one of its libraries."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    library = error.name.partition(".")[0]
    return _missing(library, _EXTRA_OF[library]) if library in _EXTRA_OF else None


def _missing(library: str, extra: str) -> MissingExtra:
    hint = f"Run: pip install 'offdiag[{extra}]'"
    if library == "sqlalchemy":
        hint += "; to log and read runs, the address of a server in OFFDIAG_URL is enough"
    error = MissingExtra(f"{library} is not installed.", hint=hint)
    error.name = library
    return error


class _OptionalImport:
    """`with optional: import pandas` raises `MissingExtra` where pandas is not installed."""

    __slots__ = ()

    def __enter__(self) -> None:
        """Do nothing: only leaving the block matters."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        missing = missing_extra(error)
        if missing is not None:
            raise missing from None


optional: Final = _OptionalImport()
