"""Sentences about confused labels: found where they are planted, rarely where nothing is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import fisher_exact, hypergeom

from offdiag.domain.labels import LabelSet
from offdiag.metrics.multilabel_runs import confused as module
from offdiag.metrics.multilabel_runs.confused import (
    Confusion,
    confused_labels,
    evidence_text,
    sentence,
    upper_p,
)

NAMES = LabelSet(("sea", "sky", "sand", "boat"))


def planted(n: int = 500, *, share: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """Errors of 3 %, but for sea, which often becomes sky where sand is present."""
    rng = np.random.default_rng(2)
    actual = rng.random((n, 4)) < (0.5, 0.4, 0.4, 0.2)
    predicted = actual ^ (rng.random(actual.shape) < 0.03)
    hit = actual[:, 0] & ~actual[:, 1] & actual[:, 2] & (rng.random(n) < share)
    predicted[hit, 0], predicted[hit, 1] = False, True
    return actual, predicted


def test_a_replacement_and_the_label_that_causes_it_are_told_with_their_counts() -> None:
    actual, predicted = planted()
    first, *others = confused_labels(actual, predicted, NAMES)

    assert sentence(first) == "sea is predicted as sky when sand is present"
    meant = actual[:, 0] & ~actual[:, 1]
    both = meant & ~predicted[:, 0] & predicted[:, 1]
    assert first.evidence_when is not None
    assert first.evidence_when.errors_with == (both & actual[:, 2]).sum()
    assert first.evidence_when.n_with == (meant & actual[:, 2]).sum()
    assert first.evidence_when.errors_without == (both & ~actual[:, 2]).sum()
    assert f"{first.evidence_when.errors_with} of" in evidence_text(first)
    assert [each.kind for each in others[:1]] == [Confusion.MISSED]
    assert (others[0].label, others[0].other) == ("sea", "sand")


@pytest.mark.parametrize("kind", [Confusion.REPLACED, Confusion.MISSED, Confusion.ADDED])
def test_p_is_that_of_fishers_test_times_holms_factor_and_the_share(kind: Confusion) -> None:
    found = next(each for each in confused_labels(*planted(), NAMES) if each.kind is kind)
    seen = found.evidence
    table = [
        [seen.errors_with, seen.n_with - seen.errors_with],
        [seen.errors_without, seen.n_without - seen.errors_without],
    ]

    p = fisher_exact(np.array(table), alternative="greater")[1]

    assert seen.p == pytest.approx(p)
    # The surest of twelve pairs has all of Holm's factor.
    assert seen.p_adjusted == pytest.approx(min(1.0, 12 * 4 * p))


def test_p_is_the_upper_tail_of_the_hypergeometric_in_every_small_table() -> None:
    total, first, second, both = np.indices((10, 10, 10, 10)).reshape(4, -1)
    is_table = (total > 0) & (np.maximum(0, first + second - total) <= both)
    is_table &= (first <= total) & (second <= total) & (both <= np.minimum(first, second))
    tables = [each[is_table] for each in (both, first, second, total)]

    expected = hypergeom.sf(tables[0] - 1, tables[3], tables[1], tables[2])

    np.testing.assert_allclose(upper_p(*tables), expected, rtol=1e-12)


def test_p_of_large_tables_is_neither_zero_nor_one_too_early() -> None:
    first, second, total = np.full(4, 40_000), np.full(4, 30_000), np.full(4, 200_000)
    both = np.array([0, 5_900, 6_100, 6_700])

    expected = hypergeom.sf(both - 1, total, first, second)

    np.testing.assert_allclose(upper_p(both, first, second, total), expected, rtol=1e-7)


def test_errors_that_do_not_depend_on_labels_are_rarely_told() -> None:
    rng = np.random.default_rng(7)
    claimed = 0
    for _ in range(200):
        actual = rng.random((200, 4)) < 0.4
        predicted = actual ^ (rng.random(actual.shape) < 0.2)
        claimed += bool(confused_labels(actual, predicted, NAMES))
    assert claimed <= 16  # of 200 at 5 %, two standard errors above


def test_blocks_of_samples_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    actual, predicted = planted()
    whole = confused_labels(actual, predicted, NAMES)
    monkeypatch.setattr(module, "BLOCK", 17)

    assert confused_labels(actual, predicted, NAMES) == whole


@pytest.mark.parametrize("shape", [(0, 4), (5, 1), (3, 4)])
def test_nothing_is_told_of_almost_nothing(shape: tuple[int, int]) -> None:
    sets = np.ones(shape, np.bool_)
    labels = LabelSet(NAMES.names[: shape[1]])

    assert confused_labels(sets, ~sets, labels) == ()
