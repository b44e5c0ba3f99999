"""What a request works with: the registry as the caller may see it, and the current user."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, cast

from flask import current_app, g, has_request_context

from offdiag.domain.access import Principal, PrincipalKind, Role, may, may_anywhere
from offdiag.errors import Forbidden
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web.app.caches import OpenFlags


@dataclass(frozen=True, slots=True)
class Registry:
    """The one registry an application shows."""

    KEY: ClassVar[str] = "offdiag"

    settings: Settings
    database: Database
    open_flags: OpenFlags


def current_registry() -> Registry:
    """The registry as whoever sends the request may see it."""
    return cast(Registry, g.get("registry") or current_app.extensions[Registry.KEY])


def narrow_registry(database: Database) -> None:
    """Let the rest of a request see no more than `database`."""
    g.registry = replace(current_registry(), database=database)


@dataclass(frozen=True, slots=True)
class Reader:
    """Whoever asks, for templates and pages. `principal` None is somebody who did not sign in."""

    principal: Principal | None

    @property
    def may_look(self) -> bool:
        """Whether there is anything they may see."""
        return may_anywhere(self.principal, Role.VIEWER)

    @property
    def is_signed_in(self) -> bool:
        """Whether they gave a name and a proof of it."""
        return self.principal is not None and self.principal.kind is not PrincipalKind.LOCAL

    @property
    def name(self) -> str:
        return "" if self.principal is None else self.principal.name

    @property
    def manages_users(self) -> bool:
        return self.is_signed_in and may(self.principal, Role.ADMIN, None)

    @property
    def reads_audit(self) -> bool:
        return may_anywhere(self.principal, Role.ADMIN)


def reader() -> Reader:
    """Whoever sends this request; nobody before the door decided, and outside of requests."""
    if not has_request_context():
        return Reader(None)
    return cast(Reader, g.get("reader") or Reader(None))


def signed_in() -> Principal:
    """Whoever is signed in. Raises `Forbidden` where nobody is asked to."""
    principal = reader().principal
    if principal is None or principal.user_id is None:
        raise Forbidden(
            "nobody signs in to this registry.",
            hint="offdiag user and offdiag token do what this page does.",
        )
    return principal
