"""Two runs side by side: differences, churn and matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace

from markupsafe import Markup

from offdiag.comparison.pair import PairComparison, PairedFacts, PairedOutcome
from offdiag.domain.number_text import p_value
from offdiag.store.compared_runs import ComparedRun
from offdiag_web.charts.marks import BarPart, churn_bar
from offdiag_web.components import numbers
from offdiag_web.components.classes import busiest_class, window_around
from offdiag_web.components.controls import Segment
from offdiag_web.components.matrix import MatrixView, matrix_view
from offdiag_web.components.values import Notes
from offdiag_web.pages.compare.differences import (
    ClassTable,
    MetricTable,
    class_table,
    metric_table,
)
from offdiag_web.pages.compare.matrix import (
    LARGEST_TABLE,
    DifferenceMatrix,
    LargestChange,
    difference_matrix,
    largest_changes,
    shared_scale,
)
from offdiag_web.urls.compare import CompareAddress, MatrixChoice
from offdiag_web.urls.matrix import MatrixAddress

PAIRED_OUTCOME_TEXTS: dict[PairedOutcome, str] = {
    PairedOutcome.BOTH_RIGHT: "both right",
    PairedOutcome.ONLY_A: "only A right, B broke it",
    PairedOutcome.ONLY_B: "only B right, B fixed it",
    PairedOutcome.BOTH_WRONG: "both wrong",
}
_CSS = {
    PairedOutcome.BOTH_RIGHT: "churn-right",
    PairedOutcome.ONLY_A: "churn-a",
    PairedOutcome.ONLY_B: "churn-b",
    PairedOutcome.BOTH_WRONG: "churn-wrong",
}
_LETTERS = {PairedOutcome.ONLY_A: "A", PairedOutcome.ONLY_B: "B"}


@dataclass(frozen=True, slots=True)
class ChurnEntry:
    """One outcome: its words, its number and where its examples are listed."""

    text: str
    count: str
    share: str
    url: str | None
    css: str


@dataclass(frozen=True, slots=True)
class ChurnView:
    """The bar and its legend, and the tests on it in words."""

    bar: Markup
    entries: tuple[ChurnEntry, ...]
    tests: tuple[str, ...]


def churn_view(facts: PairedFacts, address: CompareAddress) -> ChurnView:
    """Present the churn of two runs with at least one example."""
    total = facts.churn.total
    said = ", ".join(
        f"{PAIRED_OUTCOME_TEXTS[outcome]} {numbers.count(facts.churn.of(outcome))}"
        for outcome in PairedOutcome
    )
    return ChurnView(
        bar=churn_bar(
            [
                BarPart(facts.churn.of(outcome), _CSS[outcome], _LETTERS.get(outcome, ""))
                for outcome in PairedOutcome
            ],
            name=f"Of {numbers.plural(total, 'example')}: {said}",
        ),
        entries=tuple(
            ChurnEntry(
                PAIRED_OUTCOME_TEXTS[outcome],
                numbers.count(facts.churn.of(outcome)),
                numbers.fine_percent(facts.churn.of(outcome), total),
                address.examples_url(outcome) if facts.churn.of(outcome) else None,
                _CSS[outcome],
            )
            for outcome in PairedOutcome
        ),
        tests=tuple(_tests(facts)),
    )


_WEIGHTED = (
    "Examples have weights: exact tests, which count examples, are not made. Differences are "
    "tested by the linearized variance of a survey."
)


def _tests(facts: PairedFacts) -> list[str]:
    if facts.mcnemar is None:
        return [_WEIGHTED]
    exact, mid = (p_value(p) for p in (facts.mcnemar.exact_p, facts.mcnemar.mid_p))
    found = [f"McNemar, do both get equally many right: exact {exact}, mid-p {mid}."]
    margins, symmetry = facts.margins, facts.symmetry
    if margins is not None and margins.chi2 is not None and margins.p is not None:
        found.append(
            "Stuart-Maxwell, do both use the classes equally often: "
            f"χ² = {margins.chi2:.1f}, {_degrees(margins.df)}, {p_value(margins.p)}."
        )
    if symmetry is not None and symmetry.chi2 is not None and symmetry.p is not None:
        found.append(
            "Bowker, do they exchange classes evenly: "
            f"χ² = {symmetry.chi2:.1f}, {_degrees(symmetry.df)}, {p_value(symmetry.p)}."
        )
    return found


def _degrees(df: int) -> str:
    return f"{df} degree{'s' if df != 1 else ''} of freedom"


_MATRIX_TEXTS: dict[MatrixChoice, str] = {"a": "A", "b": "B", "diff": "B − A"}


@dataclass(frozen=True, slots=True)
class PairView:
    """Everything below the verdict of two runs.

    One of `difference` and `matrix` is shown, neither of multi-label runs; `changes` are listed
    where the matrix is a window.
    """

    metrics: MetricTable
    churn: ChurnView | None
    classes: ClassTable
    matrices: tuple[Segment, ...]
    difference: DifferenceMatrix | None
    matrix: MatrixView | None
    changes: tuple[LargestChange, ...]
    notes: tuple[str, ...]


def pair_view(
    pair: PairComparison, runs: tuple[ComparedRun, ...], address: CompareAddress
) -> PairView:
    """Present a pair as its address asks for."""
    notes = Notes()
    is_large = len(pair.labels) > LARGEST_TABLE
    return PairView(
        metrics=metric_table(pair, notes),
        churn=None if pair.paired is None else churn_view(pair.paired, address),
        classes=class_table(pair, address, notes),
        matrices=tuple(
            Segment(
                _MATRIX_TEXTS[choice],
                replace(address, matrix=choice).url(),
                choice == address.matrix,
            )
            for choice in _MATRIX_TEXTS
        ),
        difference=difference_matrix(pair)
        if address.matrix == "diff" and pair.matrices is not None
        else None,
        matrix=_one_of_both(pair, runs, address),
        changes=largest_changes(pair) if is_large and pair.matrices is not None else (),
        notes=tuple(notes.texts),
    )


def _one_of_both(
    pair: PairComparison, runs: tuple[ComparedRun, ...], address: CompareAddress
) -> MatrixView | None:
    """The matrix of A or of B, coloured so that a look from one to the other compares them."""
    matrices = pair.matrices
    if address.matrix == "diff" or matrices is None:
        return None
    at = 0 if address.matrix == "a" else 1
    codes = None
    if len(pair.labels) > LARGEST_TABLE:
        codes = window_around(matrices[0], busiest_class(matrices[0]))
    scale = shared_scale(matrices)[at]
    return matrix_view(matrices[at], MatrixAddress(runs[at].id), codes, shared=scale)
