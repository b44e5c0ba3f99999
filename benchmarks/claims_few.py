"""How often claims that depend on a few examples state a difference that does not exist.

Runs are drawn as in `claims.py`: each shares 60 % of its random numbers with the others, so all
are equally good. Rates are close to 1, classes rare and samples few, where intervals that hold for
many examples do not hold. Of unlike runs, one predicts a rare class seldom and the other often, or
each is better in another class, and intervals should hold the difference. All decisions are made
by functions of the library itself.

    python benchmarks/claims_few.py              some minutes on two cores
    python benchmarks/claims_few.py --only claims-unlike    only two unlike runs
    python benchmarks/claims_few.py --sets 10    a look; writes nothing
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import combinations, product

import numpy as np
from claims import (
    COVERED,
    LEVEL,
    SETS,
    SETS_OF_A_PAIR,
    SHARED,
    Cell,
    Rng,
    Section,
    Simulate,
    even,
    expected_counts,
    hold_level,
    labels_of,
    measure,
    name_of,
    percent,
    rare,
    run_cells,
    tail,
    tied,
    true_values,
)
from harness import Report
from numpy.typing import NDArray

from offdiag.comparison.pair import compare_unpaired
from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.break_even import choices, lever_on_cell, rays_of
from offdiag.metrics.costs.matrix import cost_matrix, zero_one_costs
from offdiag.metrics.groups.gaps import largest_difference, proportion_values, worst
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.many_runs.best_runs import metric_contest
from offdiag.metrics.many_runs.confidence_set import best_set_and_pairs
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from offdiag.metrics.pair_counts import count_pairs
from offdiag.metrics.paired.class_changes import recall_changes, sloped_changes
from offdiag.metrics.paired.difference import paired_cost_differences, paired_differences
from offdiag.metrics.paired.hypothesis_tests import cochran_of_counts
from offdiag.metrics.paired.joint_counts import joint_counts
from offdiag.metrics.paired.scores import score_differences
from offdiag.metrics.paired.simultaneous_tests import judge_together
from offdiag.metrics.paired.unpaired_runs import judge_unpaired
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.suite import Suite, evaluate_stack
from offdiag.services.what_if.leads import leads

RARE_IS_DEARER = 20.0
"""What an error on the rare class costs; errors on the other one cost 1."""
NOISE = 1.0
"""Standard deviation of a score; a class moves its own score by as much."""


def cost_ties(cell: Cell, rng: Rng) -> tuple[bool, bool, bool]:
    """Whether one run is said to cost less, and to cost least at any ratio of costs.

    The former is asked of the runs alone, and next to constant predictions.
    """
    actual, (first, second) = cell.draw(rng)
    labels = labels_of(cell)
    joint = joint_counts(actual=actual, first=first, second=second, labels=labels)
    costs = cost_matrix([[0.0, 1.0], [RARE_IS_DEARER, 0.0]], labels=labels)
    intervals = paired_cost_differences(joint, costs)
    costs_less, has_skill = (
        _excludes_0(interval.low, interval.high)
        for _, interval in (intervals["mean_cost"], intervals["skill_vs_trivial"])
    )
    equal = zero_one_costs(labels)
    lever = lever_on_cell(equal, 1, 0)
    if lever is None:
        raise RuntimeError("errors on the rare class cost nothing")
    stretches = choices(rays_of([joint.first_matrix, joint.second_matrix], equal, lever))
    found = leads(actual, (first, second), equal, lever, stretches, prevalence=None)
    return costs_less, has_skill, not found.is_open


OTHERS = ("kappa_quadratic", "markedness_multiclass", "mutual_information", "macro_precision")
"""Metrics that gates may compare with a baseline although they are not primary ones."""
OTHERS_OF_A_CLASS = ("informedness", "gmean", "lr_plus", "jaccard")
"""Such metrics of a class, here of the rarest one."""


def other_ties(cell: Cell, rng: Rng) -> tuple[bool, ...]:
    """Whether each other metric, of the matrix and of the rarest class, is called different."""
    actual, (first, second) = cell.draw(rng)
    labels = LabelSet(labels_of(cell).names, ordinal=True)
    joint = joint_counts(actual=actual, first=first, second=second, labels=labels)
    found, rarest = paired_differences(joint), int(np.argmin(joint.first_matrix.actual))
    ends = [found.aggregate_intervals[key].bounds.at() for key in OTHERS]
    ends += [found.per_class_intervals[key].bounds.at(rarest) for key in OTHERS_OF_A_CLASS]
    return tuple(_excludes_0(*each) for each in ends)


def area_ties(cell: Cell, rng: Rng) -> tuple[float]:
    """Whether the area under the ROC curve, or its average, is called different; NaN untested."""
    sizes = np.rint(np.multiply(cell.shares, cell.n)).astype(int)
    actual = np.repeat(np.arange(cell.n_classes, dtype=np.uint8), sizes)
    common = rng.normal(scale=NOISE, size=(len(actual), cell.n_classes))
    runs = []
    for _ in cell.recalls:
        own = rng.normal(scale=NOISE, size=common.shape)
        is_shared = rng.random((len(actual), 1)) < SHARED
        scores = np.where(is_shared, common, own) + np.eye(cell.n_classes)[actual]
        odds = np.exp(scores)
        table = (odds / odds.sum(axis=1, keepdims=True)).astype(np.float32)
        positive = 1 if cell.n_classes == 2 else None
        runs.append(Forecasts(actual, table, n_classes=cell.n_classes, positive=positive))
    (area, *_) = score_differences(*runs)
    return (np.nan if area.p is None else float(area.p < LEVEL),)


def group_ties(cell: Cell, rng: Rng) -> tuple[bool, bool]:
    """Whether a group is called worse than the overall rate, and whether any gap is proved."""
    rate = cell.recalls[0][0]
    sizes = np.full(len(cell.recalls), cell.n)
    groups = proportion_values(rng.binomial(sizes, rate), sizes)
    high, low = worst(groups).ci_high, largest_difference(groups).ci_low
    return high is not None and high < rate, low is not None and low > 0


def family_ties(cell: Cell, rng: Rng) -> tuple[bool]:
    """Whether Cochran's Q finds a difference among copies of two runs, half of them of each."""
    actual, (first, second) = Cell(cell.n, cell.shares, cell.recalls[:2]).draw(rng)
    n_copies = len(cell.recalls) // 2
    right = np.stack([first == actual] * n_copies + [second == actual] * n_copies).astype(np.int64)
    p = cochran_of_counts(right @ right.T).p
    return (p is not None and p < LEVEL,)


def _apart(cell: Cell, rng: Rng) -> list[ConfusionMatrix]:
    """The matrix of each run, on samples of its own."""
    matrices = []
    for recalls in cell.recalls:
        actual, (predicted,) = Cell(cell.n, cell.shares, (recalls,)).draw(rng)
        counts: NDArray[np.int64] = count_pairs(actual, predicted, n_classes=cell.n_classes)
        matrices.append(ConfusionMatrix(counts, labels_of(cell)))
    return matrices


def apart_ties(cell: Cell, rng: Rng) -> tuple[bool]:
    """Whether any primary metric of two runs on samples of their own is called different."""
    found = compare_unpaired(*_apart(cell, rng))
    return (any(each.outcome.is_separable for each in found.metrics),)


OF_RARE = ("recall", "precision", "f1")
"""Metrics of the rare class, of which two unlike runs have intervals, too."""


def unlike_misses(cell: Cell, rng: Rng) -> tuple[float, ...]:
    """Whether the interval of each difference between a cautious and an eager run misses it.

    Of all metrics of the matrix, then of the rare class; NaN without ends.
    """
    actual, (first, second) = cell.draw(rng)
    joint = joint_counts(actual=actual, first=first, second=second, labels=labels_of(cell))
    before, after = map(_suite, (joint.first_matrix, joint.second_matrix))
    test = judge_together(joint, _gaps(before, after))
    ends = [test.intervals(key, critical=test.alone).at() for key in COVERED]
    for key in OF_RARE:
        gap = after.per_class[key].value - before.per_class[key].value
        is_recall = key == "recall"
        found = recall_changes(joint.hits) if is_recall else sloped_changes(joint, key, gap)
        ends.append(found.alone.at(-1))
    return _missed(cell, ends)


def unlike_apart_misses(cell: Cell, rng: Rng) -> tuple[float, ...]:
    """The same for metrics of the matrix, if each run has samples of its own."""
    first, second = _apart(cell, rng)
    test = judge_unpaired(first, second, _gaps(_suite(first), _suite(second)))
    return _missed(cell, [test.intervals(key, critical=test.alone).at() for key in COVERED])


def _suite(matrix: ConfusionMatrix) -> Suite:
    return evaluate_stack(matrix.counts, ordinal=False)


def _gaps(before: Suite, after: Suite) -> dict[str, float]:
    return {
        key: float(after.aggregate[key].value - before.aggregate[key].value) for key in COVERED
    }


def _missed(cell: Cell, ends: Sequence[Interval]) -> tuple[float, ...]:
    return tuple(
        np.nan
        if each.low is None or each.high is None
        else float(not each.low <= true <= each.high)
        for each, true in zip(ends, _true_gaps(cell)[: len(ends)], strict=True)
    )


@cache
def _true_gaps(cell: Cell) -> tuple[float, ...]:
    """The differences without chance, in the order of the claims."""
    values = []
    for recalls in cell.recalls:
        suite = evaluate_stack(expected_counts(replace(cell, recalls=(recalls,))), ordinal=False)
        values.append(
            [float(suite.aggregate[key].value) for key in COVERED]
            + [float(suite.per_class[key].value[-1]) for key in OF_RARE]
        )
    return tuple(after - before for before, after in zip(*values, strict=True))


def unlike_of_more(cell: Cell, rng: Rng) -> tuple[float, ...]:
    """Whether the interval of a difference misses it, of three runs or more, all pairs together.

    NaN if a class has too few samples to test averages.
    """
    actual, predictions = cell.draw(rng)
    runs = PairedRuns(actual, tuple(predictions), labels_of(cell))
    true = [true_values(Cell(cell.n, cell.shares, (each,))) for each in cell.recalls]
    missed = []
    for key in COVERED:
        _, tests = best_set_and_pairs(metric_contest(runs, [key]), seed=0)
        outside = []
        if tests is not None:
            for first, second in combinations(range(runs.n_runs), 2):
                statistic = tests.statistic(first, second)
                reach = statistic.reach(tests.critical)
                if reach is not None:
                    gap = true[first][key] - true[second][key]
                    outside.append(abs(statistic.difference - gap) > reach)
        missed.append(float(any(outside)) if outside else np.nan)
    return tuple(missed)


def _excludes_0(low: float | None, high: float | None) -> bool:
    return (low is not None and low > 0) or (high is not None and high < 0)


def _of_pair(cell: Cell) -> str:
    return f"{name_of(cell)}, recall {cell.recalls[0][0]:g}"


def _of_unlike(cell: Cell) -> str:
    *before, last = (f"{found:g}" for *_, found in cell.recalls)
    return f"{name_of(cell)}, recall {', '.join(before)} and {last}"


def _of_groups(cell: Cell) -> str:
    return f"{len(cell.recalls)} groups of {cell.n:,}, rate {cell.recalls[0][0]:g}"


def _of_families(cell: Cell) -> str:
    return f"n {cell.n:,}, 2 times {len(cell.recalls) // 2} copies"


Claim = tuple[str, Simulate, Callable[[Cell], str], Sequence[Cell], tuple[str, ...]]
"""Table, simulation, name of a cell, cells, and the claims in its columns."""
CLAIMS: tuple[Claim, ...] = (
    (
        "costs",
        cost_ties,
        _of_pair,
        [tied(n, rare(share), 2, recall)
         for n, share, recall in product((20, 100, 1_000), (0.5, 0.1), (0.85, 0.97))],
        ("mean cost", "skill beside constant predictions", "cheapest at a ratio"),
    ),
    (
        "others",
        other_ties,
        _of_pair,
        [tied(n, shares, 2, recall) for n, shares, recall in (
            (20, even(2), 0.85), (20, rare(0.1), 0.85), (60, even(3), 0.9), (60, even(10), 0.97),
            (100, rare(0.05), 0.9))],
        ("weighted kappa", "markedness", "information", "macro precision",
         "informedness of a class", "G-mean of a class", "positive likelihood ratio of a class",
         "Jaccard index of a class"),
    ),
    (
        "areas",
        area_ties,
        name_of,
        [tied(n, shares, 2) for n, shares in (
            (100, rare(0.03)), (300, rare(5 / 300)), (1_000, rare(0.02)), (100, rare(0.5)),
            (100, (0.5, 0.47, 0.03)), (300, (0.6, 0.38, 0.02)), (300, even(3)))],
        ("area",),
    ),
    (
        "groups",
        group_ties,
        _of_groups,
        [tied(n, even(2), n_groups, rate) for n, n_groups, rate in (
            (200, 10, 0.99), (30, 20, 0.97), (12, 10, 0.9), (200, 2, 0.99), (1_000, 10, 0.5))],
        ("a group", "a gap"),
    ),
    (
        "families",
        family_ties,
        _of_families,
        [tied(n, even(2), n_runs) for n, n_runs in product((100, 1_000), (4, 10))],
        ("Cochran's Q",),
    ),
    (
        "apart",
        apart_ties,
        _of_pair,
        [tied(n, even(2), 2, recall) for n, recall in product((10, 30, 300), (0.8, 0.97))],
        ("any metric",),
    ),
)  # fmt: skip
UNLIKE_OF_MORE: Claim = (
    "unlike of more",
    unlike_of_more,
    _of_unlike,
    [Cell(n, rare(share), ((specific, seldom), (0.9, between), (0.82, often)))
     for n, share, specific, seldom, between, often in (
        (10_000, 0.006, 0.9985, 0.08, 0.4, 0.75), (5_000, 0.02, 0.995, 0.16, 0.45, 0.75),
        (2_000, 0.05, 0.985, 0.25, 0.5, 0.75), (1_000, 0.1, 0.98, 0.3, 0.55, 0.8),
        (200, 0.2, 0.96, 0.4, 0.6, 0.8))] + [
     Cell(n, tail(n_classes, share), tuple((*(frequent,) * (n_classes - 1), found)
                                           for frequent, found in recalls))
     for n, n_classes, share, recalls in (
        (300, 2, 0.04, ((0.95, 0.2), (0.9, 0.1), (0.8, 0.05))),
        (1_000, 3, 0.012, ((0.95, 0.2), (0.9, 0.1), (0.8, 0.05))),
        (300, 2, 0.04, ((0.95, 0.3), (0.95, 0.2), (0.9, 0.1), (0.9, 0.05), (0.8, 0.02))),
        (1_000, 2, 0.01, ((0.98, 0.92), (0.95, 0.95), (0.92, 0.98))))],
    COVERED,
)  # fmt: skip
UNLIKE: Claim = (
    "unlike",
    unlike_misses,
    _of_unlike,
    [Cell(n, rare(share), ((specific, seldom), (0.82, often)))
     for n, share, specific, seldom, often in (
        (10_000, 0.006, 0.9985, 0.04, 0.75), (10_000, 0.006, 0.9985, 0.08, 0.75),
        (500, 0.04, 0.995, 0.2, 0.9), (5_000, 0.02, 0.995, 0.16, 0.75),
        (2_000, 0.05, 0.985, 0.25, 0.75), (1_000, 0.1, 0.98, 0.3, 0.8),
        (200, 0.2, 0.96, 0.4, 0.8), (5_000, 0.002, 0.999, 0.2, 0.8))] + [
     Cell(n, tail(n_classes, share), tuple((*(frequent,) * (n_classes - 1), found)
                                           for frequent, found in recalls))
     for n, n_classes, share in ((100, 2, 0.12), (300, 2, 0.04), (1_000, 3, 0.012),
                                 (600, 10, 0.02), (1_000, 30, 0.012))
     for recalls in (((0.95, 0.2), (0.8, 0.05)), ((0.9, 0.1), (0.9, 0.1)))] + [
     Cell(n, rare(share), recalls)
     for n, share in ((1_000, 0.01), (1_000, 0.02))
     for recalls in (((0.97, 0.9), (0.9, 0.97)), ((0.97, 0.97), (0.9, 0.9)))],
    (*COVERED, *(f"{key} of the class" for key in OF_RARE)),
)  # fmt: skip
UNLIKE_APART: Claim = ("unlike apart", unlike_apart_misses, _of_unlike, UNLIKE[3], COVERED)


def report_claim(result: Report, pool: ProcessPoolExecutor, claim: Claim, n_sets: int) -> None:
    """A table of the cells; goals are the pooled rate of each claim."""
    table, simulate, name, cells, columns = claim
    rows, whole = [], []
    for cell, found in run_cells(pool, simulate, cells, n_sets):
        rates = dict(zip(columns, percent(np.nanmean(found, axis=0)), strict=True))
        rows.append({"cell": name(cell), "sets": len(found), **rates})
        whole.append(found)
    pooled = np.concatenate(whole)
    what = f"equally good, {table}"
    if table.startswith("unlike"):
        what = table.replace("unlike", "interval missed, unlike runs")
    for at, column in enumerate(columns):
        hold_level(result, f"few examples, {what}: {column}", pooled[:, at])
    result.tables[f"few {table}"] = rows


def report_few(result: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    result.fact("data sets of a cell", n_sets)
    for claim in CLAIMS:
        report_claim(result, pool, claim, n_sets)


def report_unlike(result: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    result.fact("data sets of a cell", n_sets)
    report_claim(result, pool, UNLIKE, n_sets)
    report_claim(result, pool, UNLIKE_APART, n_sets)
    report_claim(result, pool, UNLIKE_OF_MORE, n_sets)


RECORDS: Mapping[str, tuple[Section, ...]] = {
    "claims-few": (report_few,),
    "claims-unlike": (report_unlike,),
}
"""Sections that are measured and saved together, by the name of their result."""


if __name__ == "__main__":
    measure(RECORDS, SETS_OF_A_PAIR * SETS, about=__doc__)
