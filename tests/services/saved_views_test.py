"""Views of lists under names."""

from __future__ import annotations

import pytest

from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.services import saved_views
from offdiag.services.saved_views import remove_view, save_view, saved_view
from offdiag.store.database import Database
from offdiag.store.saved_views import views_of


def save(database: Database, name: str, *, page: str = "/runs", query: str = "q=x") -> str:
    return save_view(database, name=name, page=page, query=query, author="ana").slug


def test_a_view_is_found_by_its_address_and_in_the_list_of_its_page(database: Database) -> None:
    second, first = save(database, " b ", query="q=%C3%A4&sort=-mcc"), save(database, "a")
    save(database, "a", page="/flags")

    found = saved_view(database, second)

    assert (found.name, found.page, found.query) == ("b", "/runs", "q=%C3%A4&sort=-mcc")
    assert (found.author, found.created_at) == ("ana", found.created_at)
    with database.read() as session:
        listed = views_of(session, "/runs", limit=2)
    assert [view.slug for view in listed] == [first, second]


@pytest.mark.both_databases
def test_a_removed_view_is_gone_and_its_name_free(database: Database) -> None:
    slug = save(database, "flagged")
    remove_view(database, slug)

    with pytest.raises(NotFound):
        saved_view(database, slug)
    with pytest.raises(NotFound):
        remove_view(database, slug)
    assert save(database, "flagged")


def test_a_name_that_is_none_is_refused(database: Database) -> None:
    cases: list[str] = ["", "  ", "a\nb", "x" * 501]
    for name in cases:
        with pytest.raises(InvalidInput):
            save(database, name)


def test_a_query_too_long_is_refused(database: Database) -> None:
    with pytest.raises(InvalidInput, match="8,001 characters"):
        save(database, "long", query="x" * 8_001)


def test_there_are_not_more_views_than_a_list_can_show(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_views, "MOST_VIEWS", 2)
    save(database, "a")
    save(database, "b")

    with pytest.raises(Conflict, match="there are 2 views already"):
        save(database, "c")
