"""Roles, and the state and creation of tokens and share links, as pages show them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from offdiag.domain.access import Role
from offdiag.domain.sentences import known_names
from offdiag.errors import Conflict, InvalidInput
from offdiag.store.sessions import TokenRecord
from offdiag.store.share_links import ShareLink
from offdiag_web.app.context import current_registry, signed_in_user
from offdiag_web.app.forms import once

EVERYWHERE = ""
"""The value with which forms name all projects."""

ROLE_MEANINGS = {
    Role.VIEWER: "view all data",
    Role.LABELER: "also propose labels",
    Role.LOGGER: "also log runs",
    Role.EDITOR: "also change flags, costs, labels, reports and baselines",
    Role.ADMIN: "also manage users and read the audit log",
}


def read_role(text: str) -> Role:
    """The role that a form names. Raises `InvalidInput`."""
    if text not in set(Role):
        raise InvalidInput(
            f"{text[:40]!r} is not a role.", field="role", hint=known_names("roles", Role)
        )
    return Role(text)


def read_project(text: str) -> str | None:
    """The project that a form names, None for all of them."""
    return None if text == EVERYWHERE else text


def sees_all() -> bool:
    """Whether the page shows the tokens and links of all users.

    It does to admins, and to the user of a registry without sign-in.
    """
    return signed_in_user().manages_users or not signed_in_user().is_signed_in


def shown_owner_id() -> int | None:
    """Id of the user whose tokens and links are shown and can be revoked; None for all users."""
    caller = signed_in_user().caller
    return None if sees_all() or caller is None else caller.user_id


def state_of(found: TokenRecord | ShareLink) -> str:
    """Why a token or link is invalid; empty if it is valid."""
    if found.revoked_at is not None:
        return "revoked"
    if found.owner_disabled:
        return "owner disabled"
    return "" if found.is_valid(current_registry().database.clock()) else "expired"


Made = TypeVar("Made")


def made_once(make: Callable[[], Made]) -> Made:
    """What `make` returns, unless the form of this request was sent before.

    Raises `Conflict` in that case, for example after reloading the response: what was created then
    cannot be shown again.
    """
    made: list[Made] = []

    def act() -> str:
        made.append(make())
        return ""  # `once` stores the result, and a secret must not be stored.

    once(act)
    if not made:
        raise Conflict(
            "this form was already sent, and what it created is shown only once.",
            hint="If you did not copy it, revoke it and create another one.",
        )
    return made[0]
