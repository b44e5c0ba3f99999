"""The list of metrics, and one metric with its definition and properties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from offdiag.metrics.catalogue import (
    CATALOGUE,
    DIRECTION_WORDS,
    LETTERS,
    SCOPE_TITLES,
    TRANSFORMATION_WORDS,
    MetricSpec,
    Scope,
    effect_words,
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


@dataclass(frozen=True, slots=True)
class Effect:
    """What something does to the value; `partner` is the metric that it becomes."""

    what: str
    words: str
    partner: str | None = None
    partner_url: str | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """One meaning of the key."""

    scope: str
    title: str
    symbol: str
    formula: str
    range: str
    direction: str
    version: int
    source: str
    notes: str
    undefined: tuple[tuple[str, str], ...]
    ignores: tuple[str, ...]
    effects: tuple[Effect, ...]
    names: tuple[tuple[str, str], ...]


def definitions(key: str) -> tuple[Definition, ...]:
    """All meanings of a key, those of a confusion matrix first.

    One that is told in the same words for another subject is not told twice.
    """
    found: list[Definition] = []
    for spec in specs_of(key):
        definition = _definition(spec)
        same = next((each for each in found if _tells_the_same(each, definition)), None)
        if same is None:
            found.append(definition)
        else:
            also = f"{same.scope}, and {definition.scope[0].lower()}{definition.scope[1:]}"
            found[found.index(same)] = replace(same, scope=also)
    return tuple(found)


def _tells_the_same(one: Definition, other: Definition) -> bool:
    """Whether two differ in nothing but their subject and the symmetries it has."""
    return replace(one, scope="", effects=()) == replace(other, scope="", effects=())


def specs_of(key: str) -> tuple[MetricSpec, ...]:
    """The entries of the catalogue under a key, none where it is unknown."""
    return tuple(CATALOGUE[scope][key] for scope in Scope if key in CATALOGUE[scope])


def definition_record(spec: MetricSpec) -> dict[str, object]:
    """A definition for machines; an open end of the range is null."""
    ends = [None if abs(end) == float("inf") else end for end in (spec.low, spec.high)]
    return {
        "key": spec.key,
        "scope": spec.scope.value,
        "title": spec.title,
        "formula": spec.formula,
        "low": ends[0],
        "high": ends[1],
        "better": spec.direction.value,
        "version": spec.version,
        "source": spec.source,
        "undefined_when": {reason.value: text for reason, text in spec.undefined_when.items()},
        "ignores": list(spec.ignores),
        "names_elsewhere": dict(spec.other_names),
    }


def _definition(spec: MetricSpec) -> Definition:
    return Definition(
        scope=SCOPE_TITLES[spec.scope],
        title=spec.title,
        symbol=spec.symbol,
        formula=spec.formula,
        range=range_words(spec).replace("-", "\N{MINUS SIGN}"),
        direction=DIRECTION_WORDS[spec.direction],
        version=spec.version,
        source=spec.source,
        notes=spec.notes,
        undefined=tuple((reason.value, text) for reason, text in spec.undefined_when.items()),
        ignores=spec.ignores,
        effects=tuple(_effects(spec)),
        names=tuple(spec.other_names.items()),
    )


def _effects(spec: MetricSpec) -> Iterator[Effect]:
    if spec.symmetry is None:
        return
    for transformation, what in TRANSFORMATION_WORDS.items():
        words, partner = effect_words(spec.symmetry, transformation)
        url = None if partner is None else MetricAddress(partner).url()
        yield Effect(what, words, partner, url)
    independent = spec.symmetry.prevalence_independent
    yield Effect(
        "more or fewer cases of one actual class", "unchanged" if independent else "changes"
    )
