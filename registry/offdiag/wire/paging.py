"""Long lists, page by page."""

from __future__ import annotations

from pydantic import Field

from offdiag.wire.bodies import Answered, Asked

MOST_ON_A_PAGE = 1_000
USUAL_ON_A_PAGE = 50


class Paged(Asked):
    """The part of a query that says which page of a list is wanted."""

    limit: int = Field(default=USUAL_ON_A_PAGE, ge=1, le=MOST_ON_A_PAGE)
    page_token: str | None = Field(
        default=None,
        min_length=1,
        max_length=4_000,
        description="`next_page_token` of the page before, asked for with the same query.",
    )


class Page(Answered):
    """The part of an answer that says whether there is more."""

    next_page_token: str | None = Field(description="None on the last page.")
