"""Writing what the rules say about a run, in the transaction that stores its evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from offdiag.flags.assessment import hides_minority
from offdiag.flags.lifecycle import FlagState, Step, first_seen, gone, seen_again
from offdiag.flags.verdict import Verdict
from offdiag.services.flags.circumstances import JudgedBy
from offdiag.services.flags.verdicts import RunVerdicts
from offdiag.store import flags
from offdiag.store.flags import FlagContent, FlagEvent
from offdiag.store.session import Session


def record_verdicts(
    session: Session,
    *,
    run_id: str,
    evaluation_id: int,
    found: RunVerdicts,
    judged_by: JudgedBy,
    now: datetime,
) -> None:
    """Update the flags of a run: raise new ones, renew those that still fire, close the rest.

    A flag is found by rule and class, so evaluating a run again never raises one twice.
    """
    known = {
        (flag.content.rule, flag.content.class_label): flag
        for flag in flags.flags_of_run(session, run_id, for_update=True)
    }
    firing = {(verdict.rule, verdict.class_label): verdict for verdict in found.verdicts}
    raised = [(v, first_seen(v.severity)) for key, v in firing.items() if key not in known]
    renewed = [
        (known[key].id, v, seen_again(known[key].standing, v.severity))
        for key, v in firing.items()
        if key in known
    ]
    closed = [
        (flag.id, gone(flag.standing))
        for key, flag in known.items()
        if key not in firing and flag.standing.state is not FlagState.CLOSED
    ]
    ids = flags.insert_flags(
        session,
        run_id,
        [(_content(verdict), step.after) for verdict, step in raised],
        evaluation_id=evaluation_id,
        now=now,
    )
    flags.update_seen_flags(
        session,
        [(flag_id, _content(verdict), step.after) for flag_id, verdict, step in renewed],
        evaluation_id=evaluation_id,
        now=now,
    )
    flags.update_standings(session, [(flag_id, step.after) for flag_id, step in closed], now=now)
    steps = [
        *((flag_id, step) for flag_id, (_, step) in zip(ids, raised, strict=True)),
        *((flag_id, step) for flag_id, _, step in renewed),
        *closed,
    ]
    flags.insert_events(session, events_of_steps(steps, author=None, now=now))
    flags.record_judgement(
        session,
        evaluation_id,
        rules_digest=judged_by.rules_digest,
        cost_matrix_id=judged_by.cost_matrix_id,
        baseline_run_id=judged_by.baseline_run_id,
        hides_minority=found.hides_minority,
    )


def events_of_steps(
    steps: Iterable[tuple[int, Step]], *, author: str | None, now: datetime
) -> list[FlagEvent]:
    """What is to be told of steps that flags, given by id, have taken."""
    return [
        FlagEvent(flag_id, now, author, step.kind, step.text)
        for flag_id, step in steps
        if step.kind is not None
    ]


def _content(verdict: Verdict) -> FlagContent:
    plain = verdict.to_dict()
    return FlagContent(
        rule=verdict.rule,
        rule_version=verdict.version,
        class_label=verdict.class_label,
        message=verdict.message,
        evidence=plain["evidence"],
        fired=plain["fired"],
        thresholds=plain["thresholds"],
        in_badge=hides_minority([verdict]),
    )
