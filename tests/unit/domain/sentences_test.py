"""Sentences of rules as pages and reports print them."""

import pytest

from offdiag.domain.sentences import MOST_NAMES, known_names, typeset


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (
            "Recall of '3' fell from 69 % to 0 % (CI -90 to -13 points).",
            "Recall of “3” fell from 69 % to 0 % (CI −90 to −13 points).",
        ),
        (
            "'-1' is never predicted; Cohen's kappa is 0.",
            "“-1” is never predicted; Cohen's kappa is 0.",
        ),
        ("Run r-1 of 2026-11-29.", "Run r-1 of 2026-11-29."),
    ],
)
def test_names_get_curly_quotes_and_numbers_their_sign(text: str, printed: str) -> None:
    assert typeset(text) == printed


def test_a_hint_lists_known_names_so_that_each_is_told_from_the_others() -> None:
    assert known_names("classes", ["a", "b, c", "\u202ed"]) == (
        "Known classes: a, “b, c”, \\u202ed."
    )
    many = known_names("classes", map(str, range(MOST_NAMES + 1)))
    assert many.endswith(f", {MOST_NAMES - 1}, ….")
