"""The list of all metrics: what each is called, where it lies and what leaves it unchanged."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.metrics.catalogue import CATALOGUE, MetricSpec, Scope
from offdiag.metrics.catalogue.describing import (
    LETTERS,
    SCOPE_TITLES,
    range_words,
)
from offdiag_web.urls.metrics import MetricAddress

METRIC_COLUMNS = ("scope", "key", "title", "formula", "low", "high", "better", "version", "source")
LETTER_WORDS = {
    "T": "actual and predicted swapped",
    "L": "positive and negative class swapped",
    "S": "every answer inverted",
    "F": "classes and answers inverted",
    "P": "classes of other sizes",
}


@dataclass(frozen=True, slots=True)
class GlossaryLine:
    """One metric; `withstands` has one entry for each letter, None where it does not apply."""

    key: str
    url: str
    title: str
    symbol: str
    formula: str
    range: str
    direction: str
    withstands: tuple[bool | None, ...]


@dataclass(frozen=True, slots=True)
class GlossaryGroup:
    """The metrics of one kind of subject."""

    anchor: str
    title: str
    lines: tuple[GlossaryLine, ...]


@dataclass(frozen=True, slots=True)
class GlossaryView:
    """What the page shows; `query` is what was searched for."""

    query: str
    groups: tuple[GlossaryGroup, ...]
    n_found: int


def glossary_view(query: str) -> GlossaryView:
    """All metrics whose key, name, formula or names elsewhere hold every word of `query`."""
    words = query.lower().split()
    groups = []
    for scope in Scope:
        lines = tuple(_line(spec) for spec in CATALOGUE[scope].values() if _is_meant(spec, words))
        if lines:
            groups.append(GlossaryGroup(scope.value, SCOPE_TITLES[scope], lines))
    return GlossaryView(query, tuple(groups), sum(len(group.lines) for group in groups))


def metric_row(spec: MetricSpec) -> tuple[str | float, ...]:
    """A line of the CSV, in the order of `METRIC_COLUMNS`."""
    return (
        *(spec.scope.value, spec.key, spec.title, spec.formula, spec.low, spec.high),
        *(spec.direction.value, spec.version, spec.source),
    )


def _is_meant(spec: MetricSpec, words: list[str]) -> bool:
    known = " ".join(
        (spec.key, spec.title, spec.symbol, spec.formula, spec.notes, *spec.other_names.values())
    ).lower()
    return all(word in known for word in words)


def _line(spec: MetricSpec) -> GlossaryLine:
    symmetry = spec.symmetry
    return GlossaryLine(
        key=spec.key,
        url=MetricAddress(spec.key).url(),
        title=spec.title,
        symbol=spec.symbol,
        formula=spec.formula,
        range=range_words(spec).replace("-", "\N{MINUS SIGN}"),
        direction=spec.direction.value,
        withstands=tuple(
            None if symmetry is None else bool(getattr(symmetry, name))
            for name in LETTERS.values()
        ),
    )
