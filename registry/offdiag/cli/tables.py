"""Evaluations, of classes and of sets of labels, and advice as tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from offdiag.advice.recommendation import Advice, Counsel
from offdiag.cli.output import label, number, printable
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.metrics.weighted.counts import WeightedCounts

MOST_CLASSES = 20
"""A matrix of more classes is no longer read on a terminal; JSON has all of it."""
PER_CLASS_KEYS = ("support", "predicted", "recall", "precision", "f1")


def open_table(*, title: str | None = None, caption: str | None = None) -> Table:
    """An empty table without boxes, so that wide ones fit."""
    return Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        title=_unfolded(title),
        title_justify="left",
        caption=_unfolded(caption),
        caption_justify="left",
    )


def filled_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    right: Collection[str] = (),
    title: str | None = None,
    caption: str | None = None,
) -> Table:
    """A table with these lines, in which plain text is made printable; `right` are numbers."""
    table = open_table(
        title=None if title is None else printable(title),
        caption=None if caption is None else printable(caption),
    )
    for name in columns:
        table.add_column(Text(printable(name)), justify="right" if name in right else "left")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(printable(cell)) for cell in row))
    return table


def _unfolded(text: str | None) -> Text | None:
    """A line over or under a table may be wider than a narrow table."""
    return None if text is None else Text(text, no_wrap=True, overflow="ignore")


def matrix_table(matrix: ConfusionMatrix) -> Table:
    """Counts with both axes named."""
    names = [label(name) for name in matrix.labels.names]
    table = open_table(
        title=f"Confusion matrix: actual class down, predicted class across, n = {matrix.total}"
    )
    table.add_column(Text("actual ↓  predicted →"))
    for name in names:
        table.add_column(Text(name), justify="right")
    table.add_column("support", justify="right", style="dim")
    rows = zip(names, matrix.counts.tolist(), matrix.actual.tolist(), strict=True)
    for code, (name, counts, support) in enumerate(rows):
        cells = [
            Text(str(count), style="bold" if place == code else "")
            for place, count in enumerate(counts)
        ]
        table.add_row(Text(name), *cells, str(support))
    return table


def weight_table(counted: WeightedCounts) -> Table:
    """Sums of weights with both axes named, and how many examples there are."""
    names = [label(name) for name in counted.labels.names]
    table = open_table(
        title="Sums of sample weights: actual class down, predicted class across",
        caption=f"{counted.total} examples, effective sample size {counted.n_effective:.1f}; "
        "all metrics are weighted",
    )
    table.add_column(Text("actual ↓  predicted →"))
    for name in names:
        table.add_column(Text(name), justify="right")
    table.add_column("examples", justify="right", style="dim")
    table.add_column("effective", justify="right", style="dim")
    rows = zip(
        names,
        counted.sums.tolist(),
        counted.actual_samples.tolist(),
        counted.class_effective.tolist(),
        strict=True,
    )
    for code, (name, sums, samples, effective) in enumerate(rows):
        cells = [
            Text(f"{each:.6g}", style="bold" if place == code else "")
            for place, each in enumerate(sums)
        ]
        table.add_row(Text(name), *cells, str(samples), f"{effective:.1f}")
    return table


def class_table(
    names: Sequence[str],
    per_class: Mapping[str, Sequence[MetricValue]],
    *,
    keys: Sequence[str] = PER_CLASS_KEYS,
) -> Table:
    """The values of `keys`, as far as they exist; `per_class` is by key, in label order."""
    keys = [key for key in keys if key in per_class]
    table = open_table(title="Classes, one-vs-rest")
    table.add_column("class")
    for key in keys:
        table.add_column(key, justify="right")
    for code, name in enumerate(names):
        table.add_row(
            Text(label(name)), *(Text(number(key, per_class[key][code])) for key in keys)
        )
    return table


def aggregate_table(aggregate: Mapping[str, MetricValue]) -> Table:
    """All metrics of the whole matrix, with notes about their intervals."""
    table = open_table(title="Metrics of all classes")
    table.add_column("metric")
    table.add_column("value")
    said = {key: value.remark for key, value in aggregate.items()}
    if any(said.values()):
        table.add_column("about the interval")
    for key, value in aggregate.items():
        cells = [Text(number(key, value))]
        if any(said.values()):
            cells.append(Text(said[key] or ""))
        table.add_row(key, *cells)
    return table


def facts_table(title: str, facts: Mapping[str, str]) -> Table:
    """Names with their values."""
    table = Table(
        title=_unfolded(printable(title)),
        title_justify="left",
        show_header=False,
        box=None,
        padding=(0, 2),
    )
    for name, value in facts.items():
        table.add_row(Text(name, style="dim"), Text(printable(value)))
    return table


_CELLS = ("tp", "fn", "fp", "tn")


def fraction_table(counted: CountedSets) -> Table:
    """The multi-label matrix with both axes named and two decimals."""
    names = [label(name) for name in counted.labels.names]
    table = open_table(
        title="Fractional multi-label confusion matrix: actual label down, predicted label "
        f"across, n = {counted.matrix.n_samples}",
        caption="fractional shares, Algorithm 1",
    )
    table.add_column(Text("actual ↓  predicted →"))
    for name in names:
        table.add_column(Text(name), justify="right")
    for code, (name, masses) in enumerate(zip(names, counted.matrix.cells.tolist(), strict=True)):
        cells = [
            Text(f"{mass:.2f}", style="bold" if place == code else "")
            for place, mass in enumerate(masses)
        ]
        table.add_row(Text(name), *cells)
    return table


def label_count_table(counted: CountedSets) -> Table:
    """The two-by-two table of each label, a line each."""
    cells = counted.tally.labels.one_vs_rest()
    table = open_table(
        title=f"Each label: in the true set, in the predicted set, n = {counted.total}"
    )
    table.add_column("label")
    for key in _CELLS:
        table.add_column(key, justify="right")
    counts = zip(*(getattr(cells, key).tolist() for key in _CELLS), strict=True)
    for name, row in zip(counted.labels.names, counts, strict=True):
        table.add_row(Text(label(name)), *(str(int(count)) for count in row))
    return table


def evaluation_tables(
    counted: Counted,
    aggregate: Mapping[str, MetricValue],
    per_class: Mapping[str, Sequence[MetricValue]],
) -> Iterable[Table]:
    """The matrix where it can be read, the values of each class, and those of all together."""
    is_read = counted.n_classes <= MOST_CLASSES
    if isinstance(counted, CountedSets):
        yield label_count_table(counted)
        if is_read:
            yield fraction_table(counted)
    elif isinstance(counted, WeightedCounts):
        if is_read:
            yield weight_table(counted)
    elif is_read:
        yield matrix_table(counted)
    yield class_table(counted.labels.names, per_class)
    yield aggregate_table(aggregate)


def advice_tables(advice: Advice) -> Iterable[Table]:
    """Which metrics to report and which not, with the reasons."""
    yield _table("Recommended", advice.report, with_question=True)
    if advice.avoid:
        yield _table("Not recommended", advice.avoid, with_question=False)
    if advice.cautions:
        cautions = open_table(title="Cautions")
        cautions.add_column("")
        for caution in advice.cautions:
            cautions.add_row(Text(printable(caution)))
        yield cautions


def _table(title: str, counsels: Sequence[Counsel], *, with_question: bool) -> Table:
    table = open_table(title=title)
    table.add_column("metric")
    if with_question:
        table.add_column("question")
    table.add_column("why")
    for counsel in counsels:
        question = [Text(printable(counsel.question))] if with_question else []
        table.add_row(
            Text(printable(counsel.name)), *question, Text(printable(" ".join(counsel.why)))
        )
    return table
