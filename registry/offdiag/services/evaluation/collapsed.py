"""The evaluation of a run with groups of its classes collapsed: made for whoever asks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from offdiag.domain.hierarchy import Collapse, Hierarchy, collapse_groups
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix, collapsed
from offdiag.services.evaluation.compute import EvaluatedValues, of_matrix
from offdiag.store import datasets, runs
from offdiag.store.database import Database
from offdiag.store.evaluations import StoredEvaluation


@dataclass(frozen=True)
class CollapsedEvaluation:
    """A matrix whose classes are those that are left, and every metric of it.

    `classes` are those that there were before.
    """

    classes: LabelSet
    onto: Collapse
    matrix: ConfusionMatrix
    values: EvaluatedValues


def collapse_matrix(
    matrix: ConfusionMatrix,
    *,
    labels: LabelSet,
    hierarchy: Hierarchy | None,
    groups: Iterable[str],
) -> CollapsedEvaluation:
    """Every metric of a matrix of `labels` with groups of its classes collapsed.

    Scores of single classes say nothing about groups, so metrics of scores are not among them,
    and neither are costs. Raises `InvalidInput` for unknown groups.
    """
    if hierarchy is None:
        raise InvalidInput(
            "the classes of this dataset are in no groups.",
            field="collapse",
            hint="Group them with set_hierarchy or `offdiag hierarchy`.",
        )
    onto = collapse_groups(labels, hierarchy, groups)
    smaller = collapsed(matrix, onto)
    return CollapsedEvaluation(labels, onto, smaller, of_matrix(smaller))


def collapse_evaluation(
    database: Database, stored: StoredEvaluation, groups: Iterable[str]
) -> CollapsedEvaluation:
    """An evaluation of a run with groups collapsed that the hierarchy of its dataset names.

    Raises `NotFound`, `InvalidInput` for unknown groups, and `Conflict` where cases have sets of
    labels.
    """
    with database.read() as session:
        run = runs.get_run(session, stored.run_id)
        known = datasets.get_dataset(session, run.dataset_id)
    return collapse_matrix(
        stored.matrix, labels=known.labels, hierarchy=known.hierarchy, groups=groups
    )
