"""The slices and groups of a stored run that conditions of a gate are about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.slices import Slice
from offdiag.errors import Forbidden
from offdiag.gate.conditions import (
    ColumnGroups,
    Condition,
    MetricCondition,
    NotMeasured,
    Subject,
)
from offdiag.gate.evaluate_conditions import TOO_FEW_EXAMPLES
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.paired.joint import JointCounts
from offdiag.services.evaluation.inputs import members_of
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.groups.gate_values import StoredRun, differences
from offdiag.services.groups.run_groups import groups_of_run
from offdiag.services.shared_samples import NotPaired, pair_evaluations
from offdiag.services.small_groups import SUPPRESSED, smallest_judged
from offdiag.store import runs, truths
from offdiag.store.database import Database
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.session import Session


def with_slices(
    database: Database,
    subject: Subject,
    conditions: Sequence[Condition],
    *,
    run_ids: Sequence[str],
    costs: CostMatrix | None,
) -> Subject:
    """The subject with the slices and columns that the conditions name.

    `run_ids` are the run and, if there is one, its baseline, which is read only where a
    difference is asked for. Raises `InvalidInput` and `UnknownKey` for columns and values that
    the samples do not have.
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
    )
    if pair is None:
        return of_part
    gaps = differences(
        stored[0].values,
        stored[1].values,
        joint=pair if isinstance(pair, JointCounts) else None,
        not_paired=pair.why if isinstance(pair, NotPaired) else None,
        costs=costs,
    )
    return replace(of_part, differences=gaps)


def _members(
    session: Session, evaluation: StoredEvaluation, part: Slice
) -> NDArray[np.bool_] | None:
    if evaluation.truth_version_id is None:
        return None
    return members_of(session, truths.get_truth(session, evaluation.truth_version_id), part)


def _columns(database: Database, run_id: str, names: Iterable[str]) -> dict[str, ColumnGroups]:
    with database.read() as session:
        found = {name: groups_of_run(session, run_id, name) for name in sorted(names)}
    return {
        name: ColumnGroups(each.groups, each.left_out, do_overlap=each.do_overlap)
        for name, each in found.items()
    }
