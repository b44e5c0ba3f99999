"""Reading the lines of a runs list for runs that were found by other means.

A line has a few aggregates, the worst class, and what the accuracy of the run hides.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    CompoundSelect,
    Row,
    Select,
    Subquery,
    Text,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal,
    null,
    select,
    union_all,
)
from sqlalchemy.orm import Session, aliased

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Derivation, FoundRun, RunState, WorstClass
from offdiag.domain.values import MetricValue
from offdiag.flags.catalogue import RULES
from offdiag.store.codec import damaged
from offdiag.store.evaluations import (
    VALUE_COLUMNS,
    EvaluationWork,
    evaluation_work,
    recorded_value,
)
from offdiag.store.flag_conditions import (
    COUNTS_IN_BADGE,
    IS_IN_SIGHT,
    SEVERITY_RANK,
    may_hide_minority,
)
from offdiag.store.flags import RUN_AS_A_WHOLE
from offdiag.store.models import (
    ConfusionMatrixRow,
    DatasetRow,
    EvaluationRow,
    FlagRow,
    LabelSetRow,
    MetricValueRow,
    PredictionChunkRow,
    ProjectRow,
    RunRow,
    TruthVersionRow,
)
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.runs import verdict_of

EVALUATIONS: BindParameter[Any] = bindparam("evaluations", expanding=True)
"""The evaluation ids of a page of runs."""
MOST_IN_BADGE = 2
IN_SIGHT, PROVED = 1.0, 2.0
"""Markers in the place of a value's number."""
FAILING_CLASS = AGGREGATE - 1
"""Marker in the place of a value's class index."""


@dataclass(frozen=True, slots=True)
class RunBadge:
    """What the accuracy of a run hides: the most severe few of `n_classes` classes that fail.

    None stands for the run as a whole, which always gives the same prediction. Flags that were
    dismissed for a reason are ignored. With `is_proved` False the accuracy may hide all of these
    classes (amber badge). Otherwise it hides them, and classes that it may hide are left out.
    """

    classes: tuple[str | None, ...]
    n_classes: int
    is_proved: bool


def with_class(badge: RunBadge | None, row: Row[*tuple[Any, ...]]) -> RunBadge:
    """The badge with the class of one more row of `failing_classes`."""
    before = badge or RunBadge((), round(row.support), is_proved=row.value == PROVED)
    label = row.label if _is_about_class(row.key) else None
    return replace(before, classes=(*before.classes, label))


def _is_about_class(rule: str) -> bool:
    known = RULES.get(rule)
    return known is None or known.per_class


def failing_classes() -> Select[*tuple[Any, ...]]:
    """The most severe classes of the badge of each run of `EVALUATIONS`, in the shape of values.

    The key is the rule, the support the total number of these classes, the value `PROVED` or
    `IN_SIGHT`; classes in sight are left out if others are proved.
    """
    failing = (
        select(
            EvaluationRow.id.label("evaluation_id"),
            FlagRow.class_label,
            func.min(FlagRow.rule).label("rule"),
            func.max(SEVERITY_RANK).label("severity"),
            func.max(case((IS_IN_SIGHT, IN_SIGHT), else_=PROVED)).label("proof"),
            func.min(FlagRow.id).label("first"),
        )
        .join(EvaluationRow, EvaluationRow.run_id == FlagRow.run_id)
        .where(EvaluationRow.id.in_(EVALUATIONS), COUNTS_IN_BADGE)
        .group_by(EvaluationRow.id, FlagRow.class_label)
        .subquery()
    )
    of_run = (failing.c.evaluation_id, failing.c.proof)
    ranked = select(
        failing,
        func.row_number()
        .over(
            partition_by=of_run,
            # Rules about the run as a whole have no class.
            order_by=(
                failing.c.class_label != RUN_AS_A_WHOLE,
                failing.c.severity.desc(),
                failing.c.first,
            ),
        )
        .label("place"),
        func.count().over(partition_by=of_run).label("n_classes"),
        func.max(failing.c.proof).over(partition_by=failing.c.evaluation_id).label("best_proof"),
    ).subquery()
    shape: dict[str, ColumnElement[Any]] = {
        "evaluation_id": ranked.c.evaluation_id,
        "key": ranked.c.rule,
        "value": ranked.c.proof,
        "class_index": literal(FAILING_CLASS),
    }
    return select(
        *(shape.get(column.key, null()).label(column.key) for column in VALUE_COLUMNS),
        ranked.c.n_classes.label("support"),
        ranked.c.class_label.label("label"),
    ).where(ranked.c.place <= MOST_IN_BADGE, ranked.c.proof == ranked.c.best_proof)


@dataclass(frozen=True, slots=True)
class EntryValues:
    """By evaluation: aggregates by key, the worst class, and the badge if there is one."""

    metrics: Mapping[int, Mapping[str, MetricValue]]
    worst: Mapping[int, WorstClass]
    badges: Mapping[int, RunBadge]


def entry_values(session: Session, evaluations: Sequence[int], keys: Sequence[str]) -> EntryValues:
    """What lines show of their evaluations, in at most one statement.

    `keys` are those of the aggregates in a line.
    """
    if not evaluations:
        return EntryValues({}, {}, {})
    metrics: dict[int, dict[str, MetricValue]] = {}
    worst: dict[int, WorstClass] = {}
    badges: dict[int, RunBadge] = {}
    row: Row[*tuple[Any, ...]]
    asked = {"evaluations": evaluations, "keys": keys}
    for row in session.execute(_shown(session.get_bind().dialect.name), asked):
        value = recorded_value(row)
        if row.class_index == FAILING_CLASS:
            badges[row.evaluation_id] = with_class(badges.get(row.evaluation_id), row)
        elif row.class_index == AGGREGATE:
            metrics.setdefault(row.evaluation_id, {})[row.key] = value
        else:
            worst[row.evaluation_id] = _worst_class(row)
    return EntryValues(metrics, worst, badges)


def worst_classes(session: Session, evaluations: Sequence[int]) -> dict[int, WorstClass]:
    """The class with the lowest recall by evaluation, in at most one statement."""
    if not evaluations:
        return {}
    found = _worst_classes(session.get_bind().dialect.name)
    return {
        row.evaluation_id: _worst_class(row)
        for row in session.execute(found, {"evaluations": evaluations})
    }


def _worst_class(row: Row[*tuple[Any, ...]]) -> WorstClass:
    if not isinstance(row.label, str):
        raise damaged(f"class {row.class_index} has no name.")
    support = None if row.support is None else round(row.support)
    return WorstClass(row.label, support, recorded_value(row))


@cache
def _shown(dialect: str) -> CompoundSelect[*tuple[Any, ...]]:
    """Every list executes this statement; building it takes as long as executing it."""
    aggregates = select(
        *VALUE_COLUMNS, literal(None).label("support"), literal(None).label("label")
    ).where(
        MetricValueRow.evaluation_id.in_(EVALUATIONS),
        MetricValueRow.class_index == AGGREGATE,
        MetricValueRow.key.in_(bindparam("keys", expanding=True)),
    )
    return union_all(_worst_classes(dialect), aggregates, failing_classes())


def _worst_classes(dialect: str) -> Select[*tuple[Any, ...]]:
    """The lowest recall of each evaluation, with the name of its class and its support.

    The support is NULL if it is a sum of weights.
    """
    ranked = lowest_first("recall", EVALUATIONS, at_most=1)
    return (
        select(
            *(ranked.c[column.key] for column in VALUE_COLUMNS),
            case((~RunRow.is_weighted, ranked.c.support)).label("support"),
            _name_at(ranked.c.class_index, dialect).label("label"),
        )
        .join(ConfusionMatrixRow, ConfusionMatrixRow.evaluation_id == ranked.c.evaluation_id)
        .join(LabelSetRow, LabelSetRow.id == ConfusionMatrixRow.label_set_id)
        .join(EvaluationRow, EvaluationRow.id == ranked.c.evaluation_id)
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
    )


def _name_at(class_index: ColumnElement[int], dialect: str) -> ColumnElement[str]:
    """One name from a label set: a page needs fifty names, not fifty times a thousand."""
    if dialect == "postgresql":
        return func.jsonb_extract_path_text(LabelSetRow.names, cast(class_index, Text))
    return func.json_extract(LabelSetRow.names, literal("$[") + cast(class_index, Text) + "]")


def lowest_first(
    key: str, evaluations: BindParameter[Any] | Collection[int], *, at_most: int
) -> Subquery:
    """Defined values of classes by a metric, with the support of the class.

    `rank` is 1 for the lowest of each evaluation, up to `at_most`; equal ones are in the order of
    `domain.values.worst_first`.
    """
    of_evaluation = MetricValueRow.evaluation_id
    # Only of those that may be among the lowest, the support is read: there may be thousands.
    place = func.rank().over(partition_by=of_evaluation, order_by=MetricValueRow.value)
    low = (
        select(*VALUE_COLUMNS, place.label("place"))
        .where(
            of_evaluation.in_(evaluations),
            MetricValueRow.key == key,
            MetricValueRow.class_index > AGGREGATE,
            MetricValueRow.value.is_not(None),
        )
        .subquery()
    )
    of_class = aliased(MetricValueRow)
    rank = func.row_number().over(
        partition_by=low.c.evaluation_id,
        order_by=(low.c.value, of_class.value.desc(), low.c.class_index),
    )
    ranked = (
        select(low, of_class.value.label("support"), rank.label("rank"))
        .join(
            of_class,
            and_(
                of_class.evaluation_id == low.c.evaluation_id,
                of_class.key == "support",
                of_class.class_index == low.c.class_index,
            ),
        )
        .where(low.c.place <= at_most)
        .subquery()
    )
    return select(ranked).where(ranked.c.rank <= at_most).subquery()


COST = "mean_cost"
"""Listed if it is the cost under the current cost matrix of the dataset."""
LISTED_METRICS = (
    "overall_accuracy",
    "balanced_accuracy",
    "mcc",
    "majority_baseline",
    "n_classes_actual",
    COST,
)

LISTED_OF_SETS = ("subset_accuracy", "hamming_loss", "example_jaccard", "micro_f1", "macro_f1")
"""The same for multi-label runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry(FoundRun):
    """One line of the list. `badge` is None if the accuracy hides nothing that is known.

    `truth_version` is that of the labels the run is scored with, or will be.
    """

    work: EvaluationWork | None
    badge: RunBadge | None = None

    @property
    def is_evaluated(self) -> bool:
        return self.n_samples is not None

    @property
    def n_cases(self) -> int:
        """The number of samples that the metrics are about; before evaluation, of predictions."""
        return self.n_predictions if self.n_samples is None else self.n_samples

    @property
    def derived_from(self) -> str | None:
        """The run from whose scores it was derived, None for a logged one."""
        return None if self.derivation is None else self.derivation.run_id


def logged_predictions() -> ColumnElement[int]:
    """The number of predictions of a run, which the run itself knows only once it is finished."""
    so_far = (
        select(func.coalesce(func.sum(PredictionChunkRow.n), 0))
        .where(PredictionChunkRow.run_id == RunRow.id)
        .correlate(RunRow)
        .scalar_subquery()
    )
    return case((RunRow.state == RunState.OPEN, so_far), else_=RunRow.n_predictions)


_COUNTED = frozenset({"n_predictions"})
_OF_RUN = tuple(
    each.name
    for each in fields(FoundRun)
    if each.name in RunRow.__table__.columns and each.name not in _COUNTED
)
FOUND_COLUMNS = (
    *(getattr(RunRow, name) for name in _OF_RUN),
    ProjectRow.name.label("project"),
    DatasetRow.name.label("dataset"),
    TruthVersionRow.number.label("truth_version"),
    logged_predictions().label("n_predictions"),
    RunRow.source_orientation,
    RunRow.derived_from,
    EvaluationRow.id.label("evaluation_id"),
    EvaluationRow.n_labelled.label("n_samples"),
    (EvaluationRow.n_cases - EvaluationRow.n_labelled).label("n_unlabelled"),
    EvaluationRow.hides_minority,
    may_hide_minority().label("may_hide_minority"),
)
"""The columns of a `FoundRun`, over run, dataset, project, label version and evaluation."""

RUN_COLUMNS = (
    *FOUND_COLUMNS,
    (EvaluationRow.cost_matrix_id == DatasetRow.default_cost_matrix_id).label("costs_count"),
)
"""The columns of a line of the list."""

_AS_SELECTED = (
    *_OF_RUN,
    *("project", "dataset", "truth_version", "n_predictions", "n_samples"),
    *("hides_minority", "may_hide_minority"),
)


def found_fields(row: Row[*tuple[Any, ...]]) -> dict[str, Any]:
    """The fields of a `FoundRun` by name, except its metrics, from a row of `FOUND_COLUMNS`."""
    derivation = None
    if row.derived_from is not None:
        derivation = Derivation(row.derived_from, row.derivation or {})
    return {name: getattr(row, name) for name in _AS_SELECTED} | {
        "state": RunState(row.state),
        "n_unlabelled": row.n_unlabelled or 0,
        "source": SourceOrientation(row.source_orientation),
        "orientation_verdict": verdict_of(row),
        "derivation": derivation,
    }


def run_entries(
    session: Session,
    rows: Sequence[Row[*tuple[Any, ...]]],
    *,
    metrics: Sequence[str] = LISTED_METRICS,
) -> tuple[RunEntry, ...]:
    """The lines for rows of `RUN_COLUMNS`, in the same order; at most two statements.

    `metrics` are the keys of the aggregates in a line.
    """
    evaluations = [row.evaluation_id for row in rows if row.evaluation_id is not None]
    found = entry_values(session, evaluations, metrics)
    work = evaluation_work(session, [row.id for row in rows if row.evaluation_id is None])
    return tuple(
        RunEntry(
            **found_fields(row),
            metrics={
                key: value
                for key, value in found.metrics.get(row.evaluation_id, {}).items()
                if key != COST or row.costs_count
            },
            worst_class=found.worst.get(row.evaluation_id),
            work=work.get(row.id),
            badge=found.badges.get(row.evaluation_id),
        )
        for row in rows
    )
