"""Who may do what where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.access import (
    EVERYTHING,
    Caller,
    CallerKind,
    Grant,
    Role,
    may,
    may_anywhere,
    narrowed,
    projects_of,
)

PROJECTS = ("alpha", "beta")
roles = st.sampled_from(list(Role))
places = st.sampled_from([None, *PROJECTS])
grants = st.lists(st.builds(Grant, roles, places), max_size=4).map(tuple)


def somebody(*given_grants: Grant) -> Caller:
    return Caller(CallerKind.USER, "ana", given_grants)


def test_each_role_allows_what_the_one_before_it_allows() -> None:
    for held in Role:
        allowed = [role for role in Role if may(somebody(Grant(held)), role, "alpha")]

        assert allowed == list(Role)[: held.rank + 1]


def test_a_role_in_one_project_says_nothing_about_another_or_all() -> None:
    ana = somebody(Grant(Role.ADMIN, "alpha"))

    assert may(ana, Role.ADMIN, "alpha")
    assert not may(ana, Role.VIEWER, "beta")
    assert not may(ana, Role.VIEWER, None)
    assert may_anywhere(ana, Role.ADMIN)


@pytest.mark.parametrize("role", list(Role))
def test_nobody_and_somebody_without_a_role_may_nothing(role: Role) -> None:
    for who in (None, somebody()):
        assert not may(who, role, None)
        assert not may(who, role, "alpha")
        assert not may_anywhere(who, role)
    assert projects_of(somebody(), role) == frozenset()


def test_whoever_may_everything_sees_all_projects() -> None:
    assert projects_of(somebody(*EVERYTHING), Role.ADMIN) is None


@given(grants, roles)
def test_what_is_seen_is_what_is_allowed(held: tuple[Grant, ...], role: Role) -> None:
    ana = somebody(*held)

    seen = projects_of(ana, role)

    for project in PROJECTS:
        assert (seen is None or project in seen) == may(ana, role, project)
    assert (seen is None) == may(ana, role, None)
    assert may_anywhere(ana, role) == (seen is None or bool(seen))


@given(grants, roles, places, roles, places)
def test_a_token_never_allows_more_than_its_owner_nor_than_it_was_made_for(
    held: tuple[Grant, ...], limit: Role, where: str | None, role: Role, project: str | None
) -> None:
    ceiling = Grant(limit, where)
    token = somebody(*narrowed(held, ceiling))

    if may(token, role, project):
        assert may(somebody(*held), role, project)
        assert may(somebody(ceiling), role, project)
    elif may(somebody(ceiling), role, project):
        assert not may(somebody(*held), role, project)
