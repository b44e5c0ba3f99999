"""Fairness of a run between groups: its counts by the values of a slice column, and criteria."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.domain.slices import UNKNOWN
from offdiag.errors import InvalidInput
from offdiag.inputs.partial_labels import is_labelled
from offdiag.inputs.slice_columns import SliceColumns
from offdiag.metrics.counted import Unweighted, count_samples, counted
from offdiag.metrics.groups.fairness import ClassFairness, class_fairness, not_compared
from offdiag.metrics.groups.gaps import outcomes_of
from offdiag.metrics.weighted.counts import of_weights
from offdiag.services.evaluation.inputs import require_closed, truth_that_counts
from offdiag.services.evaluation.slices import require_column
from offdiag.services.small_groups import GroupSizes, smallest_judged, suppressed_below
from offdiag.store import datasets, logged_counts, predictions, runs, slices, truths
from offdiag.store.database import Database, Session
from offdiag.store.runs import RunRecord


@dataclass(frozen=True)
class RunGroups:
    """The labelled samples of a run by the values of one column, in the order of the column.

    `groups` are those that are large enough. `too_small` groups have fewer than `min_size`
    labelled samples, and are named with their size; of the `n_suppressed` groups not even the name
    is shown. `n_without_value` labelled samples have no value and are in no group; if it is None,
    they are a suppressed group. Groups overlap if samples have several values, such as tags.
    """

    run: RunRecord
    column: str
    labels: LabelSet
    positive_label: str | None
    groups: Mapping[str, Unweighted]
    too_small: Mapping[str, int]
    n_suppressed: int
    min_size: int
    suppressed_below: int
    do_overlap: bool
    n_without_value: int | None

    @property
    def left_out(self) -> str:
        """Which groups and examples are left out, as a clause; empty if none are."""
        clauses = not_compared(
            self.too_small,
            min_size=self.min_size,
            n_suppressed=self.n_suppressed,
            suppressed_below=self.suppressed_below,
            n_without_value=self.n_without_value,
        )
        return "; ".join(clauses)


def groups_of_run(session: Session, run_id: str, name: str) -> RunGroups:
    """Count a run by the values of a slice column.

    Raises `NotFound`, `Conflict` for a run that is still open or has sample weights, `UnknownKey`
    for a column that its samples do not have, and `InvalidInput` for a column with too many
    values.
    """
    run = runs.get_run(session, run_id)
    require_closed(run)
    if run.is_weighted:
        raise of_weights("A comparison of groups")
    dataset = datasets.get_dataset(session, run.dataset_id)
    k, min_size = suppressed_below(), smallest_judged()
    found, sizes = _counted(session, run, dataset.labels, name, k=k)
    column = sizes.columns[name]
    hidden = sizes.hidden(name)
    shown = {level: each for level, each in found.items() if level not in hidden}
    return RunGroups(
        run,
        name,
        dataset.labels,
        dataset.positive_label,
        groups={level: each for level, each in shown.items() if each.total >= min_size},
        too_small={level: each.total for level, each in shown.items() if each.total < min_size},
        n_suppressed=sum(level in hidden for level in (*found, UNKNOWN)),
        min_size=min_size,
        suppressed_below=k,
        do_overlap=column.of_tags,
        n_without_value=None
        if UNKNOWN in hidden
        else int(sizes.labelled[column.has(UNKNOWN)].sum()),
    )


def _counted(
    session: Session, run: RunRecord, labels: LabelSet, name: str, *, k: int
) -> tuple[dict[str, Unweighted], GroupSizes]:
    """The run's counts for every value of a column, and the sizes of all groups."""
    if not run.has_predictions:
        cases = logged_counts.find_counted_samples(session, run.id)
        columns: SliceColumns = {} if cases is None else cases.slices
        column = require_column(columns, name)
        assert cases is not None  # noqa: S101  # It has the column.
        by_level: dict[str, Unweighted] = {
            level: cases.matrix(labels, column.has(level)) for level in column.choices
        }
        return by_level, GroupSizes(columns, cases.sizes, k)
    truth = truth_that_counts(session, run)
    assert truth is not None  # noqa: S101  # Finishing predictions sets it.
    columns = slices.slice_columns(session, truth.root_id)
    column = require_column(columns, name)
    actual = truths.truth_codes(session, truth.id)
    size = len(labels)
    predicted = predictions.in_truth_order(
        session, [run.id], n_samples=len(actual), n_classes=size
    )[run.id]
    labelled = is_labelled(actual, size)
    by_level = {}
    for level in column.choices:
        members = column.has(level) & labelled
        counts = count_samples(actual[members], predicted[members], n_classes=size)
        by_level[level] = counted(counts, labels)
    return by_level, GroupSizes(columns, labelled.astype(np.int64), k)


MOST_CLASSES = 100
"""Most classes that are compared, each against the rest, without one being named."""


@dataclass(frozen=True)
class RunFairness:
    """All criteria for each class against the rest; of two classes, for the positive one."""

    groups: RunGroups
    by_class: Mapping[str, ClassFairness]


def fairness_of_run(
    database: Database, run_id: str, column: str, *, class_label: str | None = None
) -> RunFairness:
    """Compare a run between the groups of a column, on the newest labels.

    With two classes, compares on the positive one; with more, on each against the rest, or on the
    one that is named. Raises what `groups_of_run` raises, and `InvalidInput` for a column of tags,
    an unknown class, and too many classes if none is named.
    """
    with database.read() as session:
        groups = groups_of_run(session, run_id, column)
    if groups.do_overlap:
        raise InvalidInput(
            f"groups of {column!r} overlap, so they are not compared.",
            field="by",
            hint="Name a column with one value for each example.",
        )
    labels = groups.labels
    wanted: tuple[str, ...] = labels.names
    if class_label is not None:
        labels.code_of(class_label, field_name="class")
        wanted = (class_label,)
    elif groups.positive_label is not None:
        wanted = (groups.positive_label,)
    elif len(wanted) > MOST_CLASSES:
        raise InvalidInput(
            f"there are {len(wanted):,} classes.",
            field="class",
            hint=f"Name one; at most {MOST_CLASSES} are compared at once.",
        )
    outcomes = [outcomes_of(each) for each in groups.groups.values()]
    return RunFairness(
        groups,
        {name: class_fairness(outcomes, labels.index[name]) for name in wanted}
        if outcomes
        else {},
    )
