"""Evaluations of single-label and multi-label runs, and advice, as tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from offdiag.advice.recommendation import Advice, Counsel
from offdiag.cli.output import label, number
from offdiag.domain import number_text
from offdiag.domain.sentences import visible
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.metrics.weighted.counts import WeightedCounts

MOST_CLASSES = 20
"""A matrix with more classes is not readable on a terminal; JSON has all of it."""
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
    """A table with these rows, whose plain text is made visible; `right` are numeric columns."""
    table = open_table(
        title=None if title is None else visible(title),
        caption=None if caption is None else visible(caption),
    )
    for name in columns:
        table.add_column(Text(visible(name)), justify="right" if name in right else "left")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(visible(cell)) for cell in row))
    return table


def _unfolded(text: str | None) -> Text | None:
    """A line above or below a table, which may be wider than the table."""
    return None if text is None else Text(text, no_wrap=True, overflow="ignore")


def matrix_table(matrix: ConfusionMatrix) -> Table:
    """Counts with both axes named."""
    return _square_table(
        matrix.labels.names,
        [list(map(str, counts)) for counts in matrix.counts.tolist()],
        {"support": list(map(str, matrix.actual.tolist()))},
        title=f"Confusion matrix: actual class down, predicted class across, n = {matrix.total}",
    )


def weight_table(counted: WeightedCounts) -> Table:
    """Sums of weights with both axes named, and the numbers of examples."""
    return _square_table(
        counted.labels.names,
        [[f"{each:.6g}" for each in sums] for sums in counted.sums.tolist()],
        {
            "examples": list(map(str, counted.actual_samples.tolist())),
            "effective": [f"{each:.1f}" for each in counted.class_effective.tolist()],
        },
        title="Sums of sample weights: actual class down, predicted class across",
        caption=f"{number_text.count(counted.total, 'example')}, effective sample size "
        f"{counted.n_effective:.1f}; all metrics are weighted",
    )


def _square_table(
    labels: Sequence[str],
    cells: Sequence[Sequence[str]],
    further: Mapping[str, Sequence[str]],
    *,
    title: str,
    caption: str | None = None,
) -> Table:
    """Cells by actual and predicted class, correct ones bold, and further columns."""
    names = [label(name) for name in labels]
    table = open_table(title=title, caption=caption)
    table.add_column(Text("actual ↓  predicted →"))
    for name in names:
        table.add_column(Text(name), justify="right")
    for name in further:
        table.add_column(name, justify="right", style="dim")
    for code, (name, row) in enumerate(zip(names, cells, strict=True)):
        texts = [
            Text(text, style="bold" if place == code else "") for place, text in enumerate(row)
        ]
        table.add_row(Text(name), *texts, *(column[code] for column in further.values()))
    return table


def class_table(
    names: Sequence[str],
    per_class: Mapping[str, Sequence[MetricValue]],
    *,
    keys: Sequence[str] = PER_CLASS_KEYS,
    of_labels: bool = False,
) -> Table:
    """The values of `keys` that exist; `per_class` is by key, in label order."""
    keys = [key for key in keys if key in per_class]
    return filled_table(
        ("label" if of_labels else "class", *keys),
        (
            (label(name), *(number(key, per_class[key][code]) for key in keys))
            for code, name in enumerate(names)
        ),
        right=keys,
        title="Labels" if of_labels else "Classes, one-vs-rest",
    )


def aggregate_table(aggregate: Mapping[str, MetricValue], *, of_labels: bool = False) -> Table:
    """All metrics of the whole matrix, with notes about their intervals."""
    has_remarks = any(value.remark for value in aggregate.values())
    about = ("about the interval",) if has_remarks else ()
    return filled_table(
        ("metric", "value", *about),
        (
            (key, number(key, value), *((value.remark or "",) if about else ()))
            for key, value in aggregate.items()
        ),
        title=f"Metrics of all {'labels' if of_labels else 'classes'}",
    )


def facts_table(title: str, facts: Mapping[str, str]) -> Table:
    """Names with their values."""
    table = Table(
        title=_unfolded(visible(title)),
        title_justify="left",
        show_header=False,
        box=None,
        padding=(0, 2),
    )
    for name, value in facts.items():
        table.add_row(Text(name, style="dim"), Text(visible(value)))
    return table


_CELLS = ("tp", "fn", "fp", "tn")


def fraction_table(counted: CountedSets) -> Table:
    """The multi-label matrix with both axes named and two decimals."""
    return _square_table(
        counted.labels.names,
        [
            [number_text.number(mass, decimals=2, decimals_from_100=2) for mass in masses]
            for masses in counted.matrix.cells.tolist()
        ],
        {},
        title="Fractional multi-label confusion matrix: actual label down, predicted label "
        f"across, n = {counted.matrix.n_samples}",
        caption="fractional shares, Algorithm 1",
    )


def label_count_table(counted: CountedSets) -> Table:
    """The two-by-two table of each label, one per line."""
    cells = counted.tally.labels.one_vs_rest()
    counts = zip(*(getattr(cells, key).tolist() for key in _CELLS), strict=True)
    return filled_table(
        ("label", *_CELLS),
        (
            (label(name), *(str(int(count)) for count in row))
            for name, row in zip(counted.labels.names, counts, strict=True)
        ),
        right=_CELLS,
        title=f"Each label: in the true set, in the predicted set, n = {counted.total}",
    )


def evaluation_tables(
    counted: Counted,
    aggregate: Mapping[str, MetricValue],
    per_class: Mapping[str, Sequence[MetricValue]],
) -> Iterable[Table]:
    """The matrix if it is readable, the values of each class, and those of all together."""
    is_read = counted.n_classes <= MOST_CLASSES
    of_labels = isinstance(counted, CountedSets)
    if isinstance(counted, CountedSets):
        yield label_count_table(counted)
        if is_read:
            yield fraction_table(counted)
    elif isinstance(counted, WeightedCounts):
        if is_read:
            yield weight_table(counted)
    elif is_read:
        yield matrix_table(counted)
    yield class_table(counted.labels.names, per_class, of_labels=of_labels)
    yield aggregate_table(aggregate, of_labels=of_labels)


def advice_tables(advice: Advice) -> Iterable[Table]:
    """Which metrics to report and which not, with the reasons."""
    yield _table("Recommended", advice.report, with_question=True)
    if advice.avoid:
        yield _table("Not recommended", advice.avoid, with_question=False)
    if advice.cautions:
        yield filled_table(("",), ((caution,) for caution in advice.cautions), title="Cautions")


def _table(title: str, counsels: Sequence[Counsel], *, with_question: bool) -> Table:
    question = ("question",) if with_question else ()
    return filled_table(
        ("metric", *question, "why"),
        (
            (each.name, *((each.question,) if question else ()), " ".join(each.why))
            for each in counsels
        ),
        title=title,
    )
