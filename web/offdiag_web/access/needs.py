"""What a request needs: the rule, and the exceptions that views declare.

Looking needs a viewer and anything else an editor. A view that is forgotten is closed to whoever
has no role, never open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from offdiag.domain.access import Role

View = TypeVar("View", bound=Callable[..., Any])

_MARK = "__offdiag_needs__"
LOOKING = frozenset({"GET", "HEAD", "OPTIONS"})


class Rate(StrEnum):
    """How often something may be asked for; what limits mean stands in the settings."""

    FREE = "free"
    READ = "read"
    WRITE = "write"
    SIGN_IN = "sign-in"
    API = "api"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a view needs. `role` None lets anybody in.

    `everywhere` asks for the role in all projects, `in_person` for somebody who signed in with
    a browser rather than a program with a token.
    """

    role: Role | None
    everywhere: bool = False
    in_person: bool = False
    rate: Rate | None = None


def needs(
    role: Role, *, everywhere: bool = False, in_person: bool = False
) -> Callable[[View], View]:
    """Declare what a view needs instead of what its method says."""
    return _marked(Needs(role, everywhere, in_person))


def public(*, rate: Rate = Rate.FREE) -> Callable[[View], View]:
    """Declare that anybody may have a view."""
    return _marked(Needs(None, rate=rate))


def needs_of(view: Callable[..., Any], method: str) -> Needs:
    """What a view needs for a method."""
    declared = _declared(view)
    if declared is not None:
        return declared
    return Needs(Role.VIEWER if method in LOOKING else Role.EDITOR)


def rate_of(wanted: Needs, method: str, *, is_api: bool) -> Rate:
    """The limit that a request counts against."""
    if wanted.rate is not None:
        return wanted.rate
    if is_api:
        return Rate.API
    return Rate.READ if method in LOOKING else Rate.WRITE


def _marked(wanted: Needs) -> Callable[[View], View]:
    def mark(view: View) -> View:
        setattr(view, _MARK, wanted)
        return view

    return mark


def _declared(view: Callable[..., Any]) -> Needs | None:
    """The declaration, also below decorators that wrap a view."""
    inner: Callable[..., Any] | None = view
    while inner is not None:
        found = getattr(inner, _MARK, None)
        if isinstance(found, Needs):
            return found
        inner = getattr(inner, "__wrapped__", None)
    return None
