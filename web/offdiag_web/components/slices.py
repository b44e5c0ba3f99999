"""Choosing slices, and slices of a run as table rows: the value, the rest, and the gap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from offdiag.domain.number_text import p_in_column
from offdiag.domain.slices import slice_of
from offdiag.flags.warning import named
from offdiag.metrics.catalogue import CATALOGUE, MetricSpec, Scope
from offdiag.metrics.counted import Counted
from offdiag.metrics.metric_text import difference
from offdiag.metrics.slices.finder import RECALL, SUBSET_ACCURACY, SliceFindings, SliceGap
from offdiag.records.runs.slices import slice_text
from offdiag.services.evaluation.slice_counts import kept_findings
from offdiag_web.app.context import current_registry
from offdiag_web.charts.marks import IN_LIST, interval_mark
from offdiag_web.charts.svg import SIGNED_UNIT, UNIT, Extent
from offdiag_web.components import numbers
from offdiag_web.components.runs.rows import metric_column
from offdiag_web.urls.run import slice_url

WORST = 5
PARAMETER = "slice"
"""The name of the parameter in addresses."""
MOST_LEVELS = 50
"""Most values of a slice column that are offered as choices."""


@dataclass(frozen=True, slots=True)
class SliceChoice:
    """A slice that can be chosen."""

    text: str
    is_chosen: bool


def slice_choices(
    levels: Mapping[str, Sequence[str]], chosen: str | None
) -> tuple[SliceChoice, ...]:
    """Every value of every column, and the chosen slice, even if it has several terms."""
    texts = [
        str(slice_of([(name, level)]))
        for name, values in levels.items()
        if len(values) <= MOST_LEVELS
        for level in values
    ]
    if chosen and chosen not in texts:
        texts.append(chosen)
    return tuple(SliceChoice(text, text == chosen) for text in texts)


@dataclass(frozen=True, slots=True)
class SliceLine:
    """One metric of one slice. `columns` names the columns of the values in `name`."""

    name: str
    columns: str
    part: str
    metric: str
    value: str
    value_mark: Markup
    rest: str
    gap: str
    gap_mark: Markup
    p: str
    is_significant: bool
    confirmed: str
    examples_url: str


def slice_lines(
    found: SliceFindings,
    run_id: str,
    labels: Sequence[str],
    *,
    limit: int,
    keys: Sequence[str] | None = None,
    n_terms: int | None = None,
) -> tuple[SliceLine, ...]:
    """The worst slices of a run, most surprising first; only of `n_terms` columns if given."""
    worst = found.worst(limit if n_terms is None else None, keys)
    shown = [gap for gap in worst if n_terms in {None, len(gap.terms)}][:limit]
    return tuple(_line(gap, run_id, labels) for gap in shown)


def worst_slices(run_id: str, counted: Counted | None = None) -> tuple[SliceLine, ...]:
    """The few worst slices of a run; none if no slice is below the rest.

    Accuracy and averages of one slice express the same thing in several ways, so they share one
    line. `counted` are the counts of its evaluation, if the caller has them.
    """
    with current_registry().database.read() as session:
        findings = kept_findings(session, run_id, counted)
    if findings is None:
        return ()
    found = findings.found
    n_alike = sum(code is None for _, code in found.metrics)
    first: dict[tuple[frozenset[tuple[str, str]], int | None], SliceGap] = {}
    for gap in found.worst(WORST * max(n_alike, 1)):
        first.setdefault((frozenset(gap.terms), gap.code), gap)
    return tuple(_line(gap, run_id, findings.labels) for gap in list(first.values())[:WORST])


def statement(found: SliceFindings, labels: Sequence[str]) -> tuple[str, str] | None:
    """The first statement on a page of slices: in bold, and the rest; None without tests."""
    if not found.n_tests:
        return None
    worst = [each for each in found.worst(WORST) if each.is_significant]
    if not worst:
        tested = numbers.plural(found.n_tests, "test")
        return ("", f"No slice is significantly worse than the rest ({tested}).")
    first = next((each for each in worst if each.key == RECALL), worst[0])
    where = ", ".join(f"{name} {value}" for name, value in first.terms)
    of = _metric(first, labels)
    numbers_of = f"{of} {_value(first)} against {_rest(first)}"
    more = found.n_found - 1
    tail = f", and {numbers.plural(more, 'more finding')}" if more else ""
    return (f"Worse on {where}:", f"{numbers_of}{tail}.")


def _line(gap: SliceGap, run_id: str, labels: Sequence[str]) -> SliceLine:
    metric = _metric(gap, labels)
    part = slice_text(gap)
    name = ", ".join(value for _, value in gap.terms)
    label = None if gap.code is None else labels[gap.code]
    low, high = gap.gap_low, gap.gap_high
    # MCC and kappa range from -1 to 1 and are not shares.
    spec = _spec(gap)
    points = difference(gap.gap, spec)
    interval = ""
    if low is not None and high is not None:
        ends = (difference(end, spec).removesuffix(" pp") for end in (low, high))
        interval = f" ({' to '.join(ends)})"
    return SliceLine(
        name=name,
        columns=" × ".join(column for column, _ in gap.terms),
        part=part,
        metric=metric,
        value=_value(gap),
        value_mark=interval_mark(
            Extent(gap.value, gap.low, gap.high),
            scale=UNIT,
            name=f"{metric} {_value(gap)}; dashed: the rest, {numbers.metric(gap.rest)}",
            baseline=gap.rest,
            stands_out=gap.is_significant,
            canvas=IN_LIST,
        ),
        rest=_rest(gap),
        gap=f"{points}{interval}",
        gap_mark=interval_mark(
            Extent(gap.gap, low, high),
            scale=SIGNED_UNIT,
            name=f"{points}{interval}; dashed: no difference",
            baseline=0.0,
            stands_out=gap.is_significant,
            canvas=IN_LIST,
        ),
        p=p_in_column(gap.p_adjusted),
        is_significant=gap.is_significant,
        confirmed={True: "yes", False: "no", None: "–"}[gap.confirmed],
        examples_url=slice_url(run_id, part, label),
    )


def _metric(gap: SliceGap, labels: Sequence[str]) -> str:
    if gap.code is not None:
        return f"Recall of {named(labels[gap.code])}"
    return metric_column(gap.key).title


def _spec(gap: SliceGap) -> MetricSpec:
    if gap.code is not None:
        return CATALOGUE[Scope.PER_CLASS][gap.key]
    scope = Scope.MULTILABEL if gap.key == SUBSET_ACCURACY else Scope.AGGREGATE
    return CATALOGUE[scope][gap.key]


def _value(gap: SliceGap) -> str:
    if gap.hits is None:
        return numbers.metric(gap.value)
    return f"{numbers.count(gap.hits)} of {numbers.count(gap.cases)}"


def _rest(gap: SliceGap) -> str:
    if gap.rest_hits is None:
        return numbers.metric(gap.rest)
    return f"{numbers.count(gap.rest_hits)} of {numbers.count(gap.rest_cases)}"
