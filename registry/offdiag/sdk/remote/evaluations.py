"""The evaluation of a run that a server made, also with groups of its classes collapsed."""

from __future__ import annotations

import time

import numpy as np

from offdiag.domain.hierarchy import ALL_GROUPS, Collapse, Hierarchy, collapse_groups
from offdiag.domain.labels import LabelSet
from offdiag.errors import EvaluationPending
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.metrics.multilabel.tally import tally_of_numbers
from offdiag.sdk.evaluation import Evaluation
from offdiag.sdk.flag import Flag, Judgement
from offdiag.sdk.remote.patience import delays
from offdiag.sdk.remote.reading import Reader, label_set
from offdiag.wire.evaluations import CollapsedGroups, EvaluationAnswer


def evaluation(
    reader: Reader, run_id: str, *, timeout_s: float, part: str | None, groups: tuple[str, ...]
) -> Evaluation:
    """The evaluation of a run, asked for until it is there or the time is up."""
    give_up_at = time.monotonic() + timeout_s
    for delay_s in delays():
        try:
            return _evaluation(
                reader.get(
                    f"/runs/{run_id}/evaluation",
                    EvaluationAnswer,
                    slice=part,
                    collapse=list(groups) or None,
                )
            )
        except EvaluationPending:
            left_s = give_up_at - time.monotonic()
            if left_s <= 0:
                raise EvaluationPending(
                    f"run {run_id} was not evaluated within {timeout_s:g} s.",
                    field="timeout",
                    hint="See whether a worker runs, or wait longer; nothing is lost.",
                ) from None
            time.sleep(min(delay_s, left_s))
    raise AssertionError  # The delays never end.


def _evaluation(found: EvaluationAnswer) -> Evaluation:
    flags = tuple(
        Flag(each.rule, each.severity, each.class_label, each.message, each.evidence, each.state)
        for each in found.flags
    )
    collapse = None if found.collapse is None else _collapse(found.collapse)
    return Evaluation.of_values(
        _counted(found, collapse),
        aggregate={key: value.measured() for key, value in found.aggregate.items()},
        per_class={
            key: tuple(value.measured() for value in values)
            for key, values in found.per_class.items()
        },
        judgement=Judgement(flags, badge=found.badge, may_hide=found.may_hide),
        collapse=collapse,
    )


def _collapse(found: CollapsedGroups) -> Collapse:
    classes = label_set(found.classes)
    return collapse_groups(classes, Hierarchy.declared(found.groups, classes), [ALL_GROUPS])


def _counted(found: EvaluationAnswer, collapse: Collapse | None) -> Counted:
    labels = LabelSet(tuple(found.labels.names), found.labels.ordinal)
    if found.set_counts is not None:
        numbers = np.array(found.set_counts, dtype=np.int64)
        return CountedSets(tally_of_numbers(numbers, len(labels)), labels)
    left = labels if collapse is None else collapse.labels
    return ConfusionMatrix(np.array(found.matrix, dtype=np.int64), left)
