"""Two stored runs by every slice: which are judged, and which are left out."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag.comparison.churn import PairedOutcome
from offdiag.comparison.pair import PairComparison
from offdiag.services.comparisons.compare import RunComparison, compare_runs
from offdiag.services.comparisons.compute import Compared
from offdiag.services.examples.changed import changed_examples
from offdiag.services.lru_cache import LruCache
from offdiag.store.database import Database
from support.logging_runs import log
from support.optional import present
from support.sites import OUTCOMES, log_sites

SITES = {
    "x": (30, 0, 0, 30),
    "y": (20, 20, 20, 20),
    "z": (20, 20, 20, 20),
    "tiny": (1, 1, 0, 3),
}
"""As `support.sites.FOUND`: the first run is always right at x and a coin elsewhere."""


def _right_but_at_x() -> list[str]:
    """Answers that are all right but for 15 of 60 at site x."""
    actual = [
        true
        for counts in SITES.values()
        for n, (true, _) in zip(counts, OUTCOMES, strict=True)
        for _ in range(n)
    ]
    return ["well"] * 15 + actual[15:]


def log_both(database: Database) -> list[str]:
    given: tuple[dict[str, Any], ...] = ({}, {"y_pred": _right_but_at_x()})
    return [log_sites(database, SITES, **each).id for each in given]


def test_two_runs_are_compared_by_every_slice_of_their_samples(database: Database) -> None:
    first, second = log_both(database)

    found = present(compare_runs(database, [first, second]).by_slice)

    assert found.verdict.startswith("By accuracy, B is better overall and worse for site=x")
    by_name = {part.slice: part for part in found.slices}
    assert set(by_name) == {"site=x", "site=y", "site=z", "device=a", "device=b"}
    assert found.too_small == {"site=tiny": 5}
    alone = compare_runs(database, [first, second], slice_text="site=x")
    assert isinstance(alone.result, PairComparison)
    (accuracy,) = [each for each in alone.result.metrics if each.key == "overall_accuracy"]
    change = by_name["site=x"].change
    assert (change.first.value, change.second.value) == (1.0, 45 / 60)
    assert change.difference.value == accuracy.difference.value
    assert alone.by_slice is None
    recalls = {(part.slice, part.label): part.change for part in found.classes}
    assert set(recalls) == {(name, label) for name in by_name for label in ("ill", "well")}
    ill = recalls["site=x", "ill"]
    assert (ill.first.value, ill.second.value) == (1.0, 0.5)
    assert (ill.is_loss, recalls["site=x", "well"].outcome.is_separable) == (True, False)


def test_slices_that_are_hidden_are_not_compared(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = log_both(database)
    kept: LruCache[Compared] = LruCache(most=4)
    before = compare_runs(database, runs, kept=kept).by_slice
    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", "10")

    found = compare_runs(database, runs, kept=kept).by_slice

    assert before is not None
    assert found is not None
    assert found.n_suppressed == 2
    assert {part.slice for part in before.slices} - {part.slice for part in found.slices} == {
        "site=x"
    }
    assert found.too_small == {}


def log_first(database: Database, sites: list[str], *sizes: int) -> list[str]:
    """Ids of runs without errors, each on so many of the first samples."""
    actual = ["ill", "well"] * (len(sites) // 2)
    return [
        log(
            database,
            y_true=actual[:n],
            y_pred=actual[:n],
            dataset="shared",
            sample_ids=list(range(n)),
            slices={"site": sites[:n]},
        ).id
        for n in sizes
    ]


def test_what_is_small_among_the_shared_examples_is_hidden_too(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites = ["x"] * 60 + ["y"] * 40 + ["z"] * 14
    first, second = log_first(database, sites, 114, 103)
    plain = compare_runs(database, [first, second], on_shared=True).by_slice
    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", "10")

    found = compare_runs(database, [first, second], on_shared=True).by_slice

    assert present(plain).too_small == {"site=z": 3}
    assert found is not None
    assert [part.slice for part in found.slices] == ["site=x"]
    assert (found.too_small, found.n_suppressed) == ({}, 2)


def test_shared_examples_do_not_give_away_the_few_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites = ["x"] * 30 + ["y"] * 30 + ["x"] * 25 + ["y"] * 5
    most, some, few = log_first(database, sites, 90, 60, 86)

    def compared(*runs: str, part: str | None = None) -> RunComparison:
        return compare_runs(database, runs, slice_text=part, on_shared=True)

    assert compared(most, few).refusal is None
    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", "10")

    refusals = [
        compared(*runs, part=part).refusal
        for runs, part in (
            ((most, few), None),
            ((few, most), None),
            ((most, some), None),
            ((most, some), "site=x"),
            ((most, some), "site=y"),
        )
    ]

    assert [each is not None for each in refusals] == [True, True, False, True, True]
    assert present(refusals[0]).why == (
        "The shared examples are hidden: with all of A, figures of fewer than 10 others would "
        "follow."
    )
    listed = changed_examples(
        database, (most, few), outcome=PairedOutcome.BOTH_RIGHT, on_shared=True
    )
    assert listed.refusal == present(refusals[0])
    by_slice = present(compared(most, some).by_slice)
    assert (by_slice.slices, by_slice.n_suppressed) == ((), 2)


def test_what_three_runs_share_does_not_give_away_what_only_two_of_them_do(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 80 examples of A and B, C has 75: the figures of both comparisons differ by five."""
    predicted = [*range(100)], [*range(80), *range(200, 220)], [*range(75), *range(300, 320)]
    first, second, third = (
        log(
            database,
            y_true=["ill", "well"] * (len(ids) // 2) + ["ill"] * (len(ids) % 2),
            y_pred=["ill"] * len(ids),
            sample_ids=ids,
            slices={"site": ["x" if each % 2 else "y" for each in ids]},
        ).id
        for ids in predicted
    )

    def refusal(*runs: str, part: str | None = None) -> str | None:
        found = compare_runs(database, runs, slice_text=part, on_shared=True).refusal
        return None if found is None else found.why

    assert refusal(first, second, third) is None
    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", "5")
    assert refusal(first, second, third) is None
    assert refusal(first, second, third, part="site=x") == (
        "The shared examples of site=x are hidden: with those that A and B share, figures of "
        "fewer than 5 others would follow."
    )
    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", "6")
    assert refusal(third, first, second) == (
        "The shared examples are hidden: with those that B and C share, figures of fewer than 6 "
        "others would follow."
    )
    for two in ((first, second), (first, third), (second, third)):
        assert refusal(*two) is None
