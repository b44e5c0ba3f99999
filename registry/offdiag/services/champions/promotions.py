"""Promotions: choosing the champion of a dataset, and the candidate for the next one.

A champion is approved with a reason. A run that fails the gate with which it was checked is
approved only if the caller insists. Decisions are never changed: a new record moves a role to
another run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.number_text import beside
from offdiag.domain.runs import PromotionRole, RunState
from offdiag.domain.texts import require_reason
from offdiag.domain.values import reason_text
from offdiag.errors import Conflict, InvalidInput
from offdiag.gate.conditions import MetricCondition, parse_condition
from offdiag.gate.evaluate_conditions import Finding
from offdiag.services.champions.leaders import primary_metric
from offdiag.services.gates.gate import GateResult, gate_run
from offdiag.settings import Settings
from offdiag.store import datasets, runs, truths
from offdiag.store.database import Database, Session
from offdiag.store.datasets import DatasetRecord, dataset_named
from offdiag.store.evaluations import StoredEvaluation, current_evaluation
from offdiag.store.promotions import (
    PromotionRecord,
    add_promotion,
    decided_promotions,
    lock_decisions,
    promotions_in_force,
)
from offdiag.store.run_page import read_run
from offdiag.store.runs import RunRecord

MOST_LISTED = 100
RECORDED_METRICS = ("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1", "mean_cost")
"""Metrics recorded with a decision, besides the primary metric of the dataset."""


@dataclass(frozen=True, slots=True)
class DatasetPromotions:
    """The champion and candidate of a dataset, and all decisions, newest first."""

    dataset: DatasetRecord
    champion: PromotionRecord | None
    candidate: PromotionRecord | None
    history: tuple[PromotionRecord, ...]


def approve(
    database: Database,
    run_id: str,
    *,
    reason: str,
    author: str | None,
    gate: GateResult | None = None,
    although_gate_fails: bool = False,
    instead_of: str | None = None,
) -> PromotionRecord:
    """Make an evaluated run the champion of its dataset, replacing the previous one.

    If it was the candidate, the dataset has none afterwards. `instead_of` names the champion known
    when this was decided, "" for none. Raises `NotFound`, `InvalidInput` without a reason, and
    `Conflict` for a run that is not evaluated, for one that failed `gate` unless
    `although_gate_fails`, and if the champion is another run than `instead_of`.
    """
    why = require_reason(reason)
    if gate is not None and not gate.passed and not although_gate_fails:
        failed = [_failed_text(finding) for finding in gate.findings if not finding.passed]
        raise Conflict(
            f"run {run_id} fails the gate: {'; '.join(failed)}.",
            field="gate",
            hint="Approve another run, or approve it although the gate fails.",
        )
    with database.write() as session:
        run, evaluation = _evaluated(session, run_id)
        same = _repeated(session, run, PromotionRole.CHAMPION, (why, author), instead_of)
        if same is not None:
            return same
        _require_holder(session, run.dataset_id, PromotionRole.CHAMPION, instead_of)
        candidate = _in_force(session, run.dataset_id, PromotionRole.CANDIDATE)
        if candidate is not None and candidate.run_id == run_id:
            add_promotion(
                session,
                dataset_id=run.dataset_id,
                role=PromotionRole.CANDIDATE,
                run=None,
                reason=None,
                author=author,
                now=database.clock(),
            )
        return _promote(
            session,
            run,
            evaluation,
            role=PromotionRole.CHAMPION,
            reason=why,
            author=author,
            gate=gate,
            now=database.clock(),
        )


def _failed_text(finding: Finding) -> str:
    """ "recall[mel] >= 0.9 (measured 0.511765)", or why there is no value."""
    condition = finding.condition
    if isinstance(condition, MetricCondition) and finding.measured is not None:
        return f"{condition.text} (measured {beside(finding.measured, condition.threshold)})"
    why = "" if finding.reason is None else f" ({reason_text(finding.reason)})"
    return f"{condition.text}{why}"


def propose(
    database: Database,
    run_id: str,
    *,
    reason: str | None = None,
    author: str | None,
    gate: GateResult | None = None,
    instead_of: str | None = None,
) -> PromotionRecord:
    """Make an evaluated run the candidate of its dataset, replacing the previous one.

    `instead_of` names the candidate known when this was decided, "" for none. Raises `NotFound`,
    and `Conflict` for a run that is not evaluated or is already the champion, and if the candidate
    is another run than `instead_of`.
    """
    why = None if reason is None else require_reason(reason)
    with database.write() as session:
        run, evaluation = _evaluated(session, run_id)
        same = _repeated(session, run, PromotionRole.CANDIDATE, (why, author), instead_of)
        if same is not None:
            return same
        _require_holder(session, run.dataset_id, PromotionRole.CANDIDATE, instead_of)
        champion = _in_force(session, run.dataset_id, PromotionRole.CHAMPION)
        if champion is not None and champion.run_id == run_id:
            raise Conflict(
                f"run {run_id} is the champion of its dataset.",
                field="run",
                hint="Propose another run.",
            )
        return _promote(
            session,
            run,
            evaluation,
            role=PromotionRole.CANDIDATE,
            reason=why,
            author=author,
            gate=gate,
            now=database.clock(),
        )


def require_run_of(database: Database, run_id: str, *, project: str, dataset: str) -> None:
    """Raise `NotFound` for an unknown run, and `InvalidInput` for a run of another dataset."""
    with database.read() as session:
        run = read_run(session, run_id).run
    if (run.project, run.dataset) != (project, dataset):
        raise InvalidInput(
            f"run {run.id} is on dataset {run.dataset!r} of project {run.project!r}.",
            field="run",
            hint="Name a run of this dataset.",
        )


def check_gate(
    database: Database, run_id: str, conditions: Sequence[str], settings: Settings
) -> GateResult | None:
    """The result of gate conditions for an evaluated run; None without conditions.

    Raises `InvalidInput` for a condition that cannot be read, and what `gate_run` raises.
    """
    if not conditions:
        return None
    return gate_run(
        database,
        run_id,
        [parse_condition(text) for text in conditions],
        settings=settings,
        timeout_s=settings.jobs.lease_s,
    )


def promote(
    database: Database,
    role: PromotionRole,
    run_id: str,
    *,
    reason: str | None,
    author: str | None,
    conditions: Sequence[str],
    although_gate_fails: bool,
    settings: Settings,
) -> PromotionRecord:
    """Approve or propose a run after `check_gate`. Raises what these functions raise."""
    gate = check_gate(database, run_id, conditions, settings)
    if role is PromotionRole.CANDIDATE:
        return propose(database, run_id, reason=reason, author=author, gate=gate)
    return approve(
        database,
        run_id,
        reason=reason or "",
        author=author,
        gate=gate,
        although_gate_fails=although_gate_fails,
    )


def withdraw(
    database: Database,
    *,
    project: str,
    dataset: str,
    role: PromotionRole,
    reason: str | None = None,
    author: str | None,
    run_id: str | None = None,
) -> PromotionRecord | None:
    """Withdraw a role from the run that has it; None if no run has it.

    For a champion a reason is required. Raises `NotFound`, `InvalidInput`, and `Conflict` if
    `run_id` names a run that does not have the role.
    """
    needs_reason = role is PromotionRole.CHAMPION or reason is not None
    why = require_reason(reason) if needs_reason else None
    with database.write() as session:
        known = dataset_named(session, project=project, name=dataset)
        held = _require_holder(session, known.id, role, run_id)
        if held is None:
            return None
        return add_promotion(
            session,
            dataset_id=known.id,
            role=role,
            run=None,
            reason=why,
            author=author,
            now=database.clock(),
        )


def promotions_of(database: Database, *, project: str, dataset: str) -> DatasetPromotions:
    """Champion, candidate and history of a dataset. Raises `NotFound`."""
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        found, history = decided_promotions(session, known.id, limit=MOST_LISTED)
        return DatasetPromotions(
            known,
            found.get(PromotionRole.CHAMPION),
            found.get(PromotionRole.CANDIDATE),
            tuple(history),
        )


def _evaluated(session: Session, run_id: str) -> tuple[RunRecord, StoredEvaluation]:
    run = runs.get_run(session, run_id)
    evaluation = current_evaluation(session, run_id)
    if run.state is not RunState.EVALUATED or evaluation is None:
        raise Conflict(
            f"run {run_id} is {run.state.value}.",
            field="run",
            hint="A run is approved or proposed once it is evaluated.",
        )
    return run, evaluation


def _in_force(session: Session, dataset_id: int, role: PromotionRole) -> PromotionRecord | None:
    return promotions_in_force(session, [dataset_id]).get(dataset_id, {}).get(role)


def _repeated(
    session: Session,
    run: RunRecord,
    role: PromotionRole,
    said: tuple[str | None, str | None],
    instead_of: str | None,
) -> PromotionRecord | None:
    """The decision in force if it is this one, made since `instead_of` was seen in the role.

    `said` are its reason and its author, whose name has to be known.
    """
    lock_decisions(session, run.dataset_id)
    held = _in_force(session, run.dataset_id, role)
    if held is None or held.author is None or instead_of in {None, held.run_id}:
        return None
    return held if (held.run_id, held.reason, held.author) == (run.id, *said) else None


def _require_holder(
    session: Session, dataset_id: int, role: PromotionRole, known: str | None
) -> PromotionRecord | None:
    """The holder of a role, until this transaction changes it.

    Raises `Conflict` if it is not the `known` run, "" for no run.
    """
    lock_decisions(session, dataset_id)
    held = _in_force(session, dataset_id, role)
    holder = "" if held is None else held.run_id or ""
    if known is None or known == holder:
        return held
    changed = f"run {known} is no longer the {role.value}"
    if not known:
        changed = f"run {holder} became the {role.value} since this was decided"
    raise Conflict(
        f"{changed}.",
        field="run",
        hint=f"It is {holder} now." if known and holder else "Look again, then decide.",
    )


def _promote(
    session: Session,
    run: RunRecord,
    evaluation: StoredEvaluation,
    *,
    role: PromotionRole,
    reason: str | None,
    author: str | None,
    gate: GateResult | None,
    now: datetime,
) -> PromotionRecord:
    truth_id = evaluation.truth_version_id
    truth = None if truth_id is None else truths.get_truth(session, truth_id)
    keys = {primary_metric(datasets.get_dataset(session, run.dataset_id)), *RECORDED_METRICS}
    values = {**evaluation.aggregate, **evaluation.costs}
    return add_promotion(
        session,
        dataset_id=run.dataset_id,
        role=role,
        run=(run.id, run.name),
        reason=reason,
        author=author,
        now=now,
        truth_number=None if truth is None else truth.number,
        metrics={key: values[key] for key in sorted(keys & values.keys())},
        gate=None if gate is None else gate.to_dict(),
        is_weighted=run.is_weighted,
    )
