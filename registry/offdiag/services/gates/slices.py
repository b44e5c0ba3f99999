"""The slices and groups named by gate conditions, for stored runs and other predictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.slices import UNKNOWN, Slice
from offdiag.domain.values import Reason
from offdiag.errors import Forbidden
from offdiag.gate.conditions import ColumnGroups, Condition, MetricCondition, NotMeasured, Subject
from offdiag.gate.evaluate_conditions import TOO_FEW_EXAMPLES
from offdiag.inputs.labels import Codes
from offdiag.inputs.slice_columns import SliceColumns
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.groups.fairness import not_compared
from offdiag.metrics.pair_counts import count_pairs
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.services.evaluation.compute import of_predictions
from offdiag.services.evaluation.inputs import members_among, members_of
from offdiag.services.evaluation.slices import evaluation_of_slice, require_column
from offdiag.services.fairness import groups_of_run
from offdiag.services.gates.values import StoredRun, differences, values_with_costs
from offdiag.services.paired_runs import pair_evaluations
from offdiag.services.small_groups import SUPPRESSED, sizes_of_run, smallest_judged
from offdiag.store import runs, truths
from offdiag.store.database import Database, Session
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.slices import SliceChoices

_NOT_OF_WEIGHTS = NotMeasured(
    Reason.GROUPS_NOT_WEIGHTED.value,
    "groups are compared by counts; a condition on one group, written with @, is judged",
)


def with_slices(
    database: Database,
    subject: Subject,
    conditions: Sequence[Condition],
    *,
    run_ids: Sequence[str],
    costs: CostMatrix | None,
) -> Subject:
    """The subject with the slices and columns that the conditions name.

    `run_ids` are the run and, if there is one, its baseline, which is read only if a condition is
    about a difference. Raises `InvalidInput` and `UnknownKey` for columns and values that the
    samples do not have.
    """
    of_metrics = [each for each in conditions if isinstance(each, MetricCondition)]
    parts = {str(each.part): each.part for each in of_metrics if each.part is not None}
    compared = {str(each.part) for each in of_metrics if each.part and each.of_difference}
    min_size = smallest_judged()
    found = {
        text: _part(
            database,
            subject,
            part,
            run_ids=run_ids if text in compared else run_ids[:1],
            costs=costs,
            min_size=min_size,
        )
        for text, part in parts.items()
    }
    columns = _columns(database, run_ids[0], {each.by for each in of_metrics if each.by})
    return replace(subject, parts=found, groups=columns, min_size=min_size)


@dataclass(frozen=True, eq=False)
class SlicedPredictions:
    """The codes of n actual and predicted classes, and slices and scores of the same samples."""

    actual: Codes
    predicted: Codes
    columns: SliceColumns
    forecasts: Forecasts | None = None

    def matrix(self, labels: LabelSet, members: NDArray[np.bool_]) -> ConfusionMatrix:
        """The matrix of some of the samples."""
        counts = count_pairs(self.actual[members], self.predicted[members], n_classes=len(labels))
        return ConfusionMatrix(counts, labels)

    def forecasts_of(self, members: NDArray[np.bool_]) -> Forecasts | None:
        """The scores of some of the samples; None without scores."""
        found = self.forecasts
        if found is None:
            return None
        return replace(found, actual=found.actual[members], scores=found.scores[members])


def columns_named(conditions: Iterable[Condition]) -> frozenset[str]:
    """The slice columns that the conditions need."""
    of_metrics = [each for each in conditions if isinstance(each, MetricCondition)]
    terms = [term.name for each in of_metrics if each.part for term in each.part.terms]
    return frozenset([*terms, *(each.by for each in of_metrics if each.by)])


def with_columns(
    subject: Subject,
    conditions: Sequence[Condition],
    samples: SlicedPredictions,
    costs: CostMatrix | None,
) -> Subject:
    """`with_slices` for predictions that are not stored.

    Raises `InvalidInput` and `UnknownKey` for columns and values that the samples do not have.
    """
    of_metrics = [each for each in conditions if isinstance(each, MetricCondition)]
    levels = {name: column.choices for name, column in samples.columns.items()}
    choices, min_size = SliceChoices(levels, samples.columns), smallest_judged()
    parts: dict[str, Subject | NotMeasured] = {}
    for part in (each.part for each in of_metrics if each.part is not None):
        members = members_among(choices, part, n_samples=len(samples.actual))
        matrix = samples.matrix(subject.labels, members)
        parts[str(part)] = Subject(
            labels=subject.labels,
            values=values_with_costs(
                matrix, of_predictions(matrix, samples.forecasts_of(members)), costs
            ),
            asked=frozenset(),
            positive_label=subject.positive_label,
            min_size=min_size,
            counted=matrix,
        )
    groups = {
        each.by: _groups(subject.labels, samples, each.by, min_size)
        for each in of_metrics
        if each.by
    }
    return replace(subject, parts=parts, groups=groups, min_size=min_size)


def _groups(
    labels: LabelSet, samples: SlicedPredictions, name: str, min_size: int
) -> ColumnGroups:
    column = require_column(samples.columns, name)
    found = {level: samples.matrix(labels, column.has(level)) for level in column.choices}
    small = {level: each.total for level, each in found.items() if each.total < min_size}
    n_without_value = int(column.has(UNKNOWN).sum())
    return ColumnGroups(
        {level: each for level, each in found.items() if level not in small},
        "; ".join(not_compared(small, min_size=min_size, n_without_value=n_without_value)),
        do_overlap=column.of_tags,
    )


def _part(
    database: Database,
    subject: Subject,
    part: Slice,
    *,
    run_ids: Sequence[str],
    costs: CostMatrix | None,
    min_size: int,
) -> Subject | NotMeasured:
    try:
        evaluations = [evaluation_of_slice(database, each, str(part)) for each in run_ids]
    except Forbidden as error:
        return NotMeasured(SUPPRESSED, error.message)
    if evaluations[0].n_labelled == 0:
        return NotMeasured(TOO_FEW_EXAMPLES, f"{part} has no labelled example")
    with database.read() as session:
        stored = [
            StoredRun(runs.get_run(session, each.run_id), each, costs) for each in evaluations
        ]
        pair = None
        if len(stored) > 1:
            pair = pair_evaluations(
                session, *evaluations[::-1], members=_members(session, evaluations[0], part)
            )
    of_part = Subject(
        labels=subject.labels,
        values=stored[0].values,
        asked=frozenset(),
        positive_label=subject.positive_label,
        min_size=min_size,
        counted=evaluations[0].counted,
    )
    if pair is None:
        return of_part
    return replace(of_part, differences=differences(stored[0], stored[1], pair))


def _members(
    session: Session, evaluation: StoredEvaluation, part: Slice
) -> NDArray[np.bool_] | None:
    if evaluation.truth_version_id is None:
        return None
    return members_of(session, truths.get_truth(session, evaluation.truth_version_id), part)


def _columns(
    database: Database, run_id: str, names: Iterable[str]
) -> Mapping[str, ColumnGroups | NotMeasured]:
    with database.read() as session:
        run = runs.get_run(session, run_id)
        if run.is_weighted:
            sizes = sizes_of_run(session, run, k=0)
            for name in names:
                require_column({} if sizes is None else sizes.columns, name)
            return dict.fromkeys(names, _NOT_OF_WEIGHTS)
        found = {name: groups_of_run(session, run_id, name) for name in sorted(names)}
    return {
        name: ColumnGroups(each.groups, each.left_out, do_overlap=each.do_overlap)
        for name, each in found.items()
    }
