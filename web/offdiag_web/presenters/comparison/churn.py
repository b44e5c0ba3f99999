"""Which examples changed, as a bar and as links to the examples themselves."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from offdiag.comparison import wording
from offdiag.comparison.pair import Fate, PairedFacts
from offdiag_web.addresses.compare import CompareAddress
from offdiag_web.charts.marks import Segment, churn_bar
from offdiag_web.presenters import numbers

FATE_TEXTS: dict[Fate, str] = {
    Fate.BOTH_RIGHT: "both right",
    Fate.ONLY_A: "only A right, B broke it",
    Fate.ONLY_B: "only B right, B fixed it",
    Fate.BOTH_WRONG: "both wrong",
}
_CSS = {
    Fate.BOTH_RIGHT: "churn-right",
    Fate.ONLY_A: "churn-a",
    Fate.ONLY_B: "churn-b",
    Fate.BOTH_WRONG: "churn-wrong",
}
_LETTERS = {Fate.ONLY_A: "A", Fate.ONLY_B: "B"}


@dataclass(frozen=True, slots=True)
class ChurnEntry:
    """One fate: its words, its number and where its examples are listed."""

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
    said = ", ".join(f"{FATE_TEXTS[fate]} {numbers.count(facts.churn.of(fate))}" for fate in Fate)
    return ChurnView(
        bar=churn_bar(
            [Segment(facts.churn.of(fate), _CSS[fate], _LETTERS.get(fate, "")) for fate in Fate],
            name=f"Of {numbers.plural(total, 'example')}: {said}",
        ),
        entries=tuple(
            ChurnEntry(
                FATE_TEXTS[fate],
                numbers.count(facts.churn.of(fate)),
                numbers.fine_percent(facts.churn.of(fate), total),
                address.examples_url(fate) if facts.churn.of(fate) else None,
                _CSS[fate],
            )
            for fate in Fate
        ),
        tests=tuple(_tests(facts)),
    )


def _tests(facts: PairedFacts) -> list[str]:
    exact, mid = (wording.p_text(p) for p in (facts.mcnemar.exact_p, facts.mcnemar.mid_p))
    found = [f"McNemar, do both get equally many right: exact {exact}, mid-p {mid}."]
    if facts.margins.chi2 is not None and facts.margins.p is not None:
        found.append(
            "Stuart-Maxwell, do both use the classes equally often: "
            f"χ² = {facts.margins.chi2:.1f}, {_degrees(facts.margins.df)}, "
            f"{wording.p_text(facts.margins.p)}."
        )
    if facts.symmetry.chi2 is not None and facts.symmetry.p is not None:
        found.append(
            "Bowker, do they exchange classes evenly: "
            f"χ² = {facts.symmetry.chi2:.1f}, {_degrees(facts.symmetry.df)}, "
            f"{wording.p_text(facts.symmetry.p)}."
        )
    return found


def _degrees(df: int) -> str:
    return f"{df} degree{'s' if df != 1 else ''} of freedom"
