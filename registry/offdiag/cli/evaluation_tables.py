"""What a person wants to see of one evaluation, of classes or of sets of labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.table import Table

from offdiag.cli.set_tables import label_count_table, mass_table
from offdiag.cli.tables import MOST_CLASSES, aggregate_table, class_table, matrix_table
from offdiag.domain.values import MetricValue
from offdiag.metrics.counted import Counted, CountedSets


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
            yield mass_table(counted)
    elif is_read:
        yield matrix_table(counted)
    yield class_table(counted.labels.names, per_class)
    yield aggregate_table(aggregate)
