"""Users as lines of a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.store.users import UserRecord
from offdiag_web.presenters.access.roles import RoleLine, role_lines
from offdiag_web.presenters.times import Moment, moment


@dataclass(frozen=True, slots=True)
class UserLine:
    """One user with their roles."""

    name: str
    display_name: str | None
    email: str | None
    roles: tuple[RoleLine, ...]
    is_disabled: bool
    signs_in_elsewhere: bool
    signed_in: Moment | None


def user_lines(users: Sequence[UserRecord], *, now: datetime) -> tuple[UserLine, ...]:
    """Users by name."""
    return tuple(
        UserLine(
            user.name,
            user.display_name,
            user.email,
            role_lines(user.grants),
            is_disabled=user.disabled_at is not None,
            signs_in_elsewhere=not user.has_password,
            signed_in=None if user.signed_in_at is None else moment(user.signed_in_at, now=now),
        )
        for user in users
    )
