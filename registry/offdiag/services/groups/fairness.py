"""Fairness of a run between the groups of a slice column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from offdiag.errors import InvalidInput
from offdiag.metrics.groups.fairness import ClassFairness, class_fairness
from offdiag.metrics.groups.gaps import outcomes_of
from offdiag.services.groups.run_groups import RunGroups, groups_of_run
from offdiag.store.database import Database

MOST_CLASSES = 100
"""Classes that are looked at, each against the rest, without one being named."""


@dataclass(frozen=True)
class RunFairness:
    """All criteria for each class against the rest, or for the positive class of two."""

    groups: RunGroups
    by_class: Mapping[str, ClassFairness]


def fairness_of_run(
    database: Database, run_id: str, column: str, *, class_label: str | None = None
) -> RunFairness:
    """Compare the groups of a column, on the newest labels.

    Of two classes the positive one is looked at, of more each against the rest, or the one that
    is named. Raises what `groups_of_run` raises, and `InvalidInput` for a column of tags, an
    unknown class and too many classes without one.
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
