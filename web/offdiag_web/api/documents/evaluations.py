"""Results as they travel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.values import MetricValue
from offdiag.flags.assessment import Assessment
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import CountedSets
from offdiag.metrics.multilabel.tally import tally_numbers
from offdiag.records import evaluation as records
from offdiag.records.base import Value
from offdiag.records.run import labels_document
from offdiag.services.evaluation.compute import CollapsedEvaluation
from offdiag.services.runs import HistoryEntry
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.flags import FlagRecord
from offdiag.store.run_page import RunDetail


def evaluation_answer(
    stored: StoredEvaluation, flags: list[records.RaisedFlag], *, badge: bool, may_hide: bool
) -> records.EvaluationAnswer:
    counted = stored.counted
    return records.EvaluationAnswer(
        run=stored.run_id,
        slice=stored.slice,
        labels=labels_document(counted.labels),
        orientation=SourceOrientation.ACTUAL_ROWS,
        matrix=counted.counts.tolist() if isinstance(counted, ConfusionMatrix) else None,
        set_counts=tally_numbers(counted.tally).tolist()
        if isinstance(counted, CountedSets)
        else None,
        n_cases=stored.n_labelled,
        n_unlabelled=stored.n_cases - stored.n_labelled,
        aggregate=values(stored.aggregate),
        per_class={key: list(map(Value.of, found)) for key, found in stored.per_class.items()},
        costs=values(stored.costs),
        flags=flags,
        badge=badge,
        may_hide=may_hide,
        suite_version=stored.suite_version,
        engine_version=stored.engine_version,
        input_digest=stored.input_digest,
        matrix_digest=stored.matrix_digest,
        computed_at=stored.computed_at,
    )


def collapsed_answer(
    stored: StoredEvaluation, found: CollapsedEvaluation, judgement: Assessment
) -> records.EvaluationAnswer:
    """A stored evaluation as it is with groups of its classes collapsed."""
    shown = replace(
        stored,
        counted=found.matrix,
        matrix_digest=found.matrix.digest,
        aggregate=found.values.aggregate,
        per_class={key: tuple(each) for key, each in found.values.per_class.items()},
        costs={},
    )
    answer = evaluation_answer(
        shown, judged(judgement), badge=judgement.badge, may_hide=judgement.may_hide
    )
    collapse = records.CollapsedGroups(
        classes=labels_document(found.classes), groups=Hierarchy(found.onto.groups).to_dict()
    )
    return answer.model_copy(update={"collapse": collapse})


def values(measured: Mapping[str, MetricValue]) -> dict[str, Value]:
    return {key: Value.of(value) for key, value in measured.items()}


def raised(flag: FlagRecord) -> records.RaisedFlag:
    """A flag of a stored run."""
    return records.RaisedFlag(
        rule=flag.content.rule,
        severity=flag.status.severity.value,
        class_label=flag.content.class_label,
        message=flag.content.message,
        evidence=dict(flag.content.evidence),
        state=flag.status.state.value,
    )


def judged(found: Assessment) -> list[records.RaisedFlag]:
    """What the rules say of a matrix that no flags are stored for; the gravest first."""
    gravest_first = sorted(found.verdicts, key=lambda verdict: -verdict.severity.rank)
    return [
        records.RaisedFlag(
            rule=verdict.rule,
            severity=verdict.severity.value,
            class_label=verdict.class_label,
            message=verdict.message,
            evidence=dict(verdict.evidence),
            state="open",
        )
        for verdict in gravest_first
    ]


def costs_answer(detail: RunDetail) -> records.RunCostAnswer:
    costs = None if detail.results is None else detail.results.costs
    return records.RunCostAnswer(
        run=detail.run.id,
        name=None if costs is None else costs.name,
        version=None if costs is None else costs.version,
        currency=None if costs is None else costs.currency,
        values={} if costs is None else values(costs.values),
    )


def history_answer(run_id: str, entries: Iterable[HistoryEntry]) -> records.HistoryAnswer:
    return records.HistoryAnswer(
        run=run_id,
        evaluations=[
            records.PastAnswer(
                id=entry.evaluation.id,
                slice=entry.evaluation.slice,
                truth_version=entry.evaluation.truth_number,
                suite_version=entry.evaluation.suite_version,
                engine_version=entry.evaluation.engine_version,
                n_cases=entry.evaluation.n_cases,
                n_labelled=entry.evaluation.n_labelled,
                is_current=entry.evaluation.is_current,
                computed_at=entry.evaluation.computed_at,
                metrics=values(entry.evaluation.metrics),
                differences=list(entry.differences),
            )
            for entry in entries
        ],
    )
