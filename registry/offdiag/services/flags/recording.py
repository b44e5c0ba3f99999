"""Writing what the rules say about a run, in the transaction that stores its evaluation."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from offdiag.flags.assessment import counts_in_badge
from offdiag.flags.catalogue import RULES
from offdiag.flags.lifecycle import FlagState, first_seen, gone, seen_again
from offdiag.flags.verdict import Verdict
from offdiag.services.flags.circumstances import JudgedBy
from offdiag.services.flags.steps import events_of, events_of_step, take
from offdiag.services.flags.verdicts import RunVerdicts
from offdiag.store import flags
from offdiag.store.flags import FlagContent, FlagRecord
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
    raised = [verdict for key, verdict in firing.items() if key not in known]
    renewed = [
        (
            verdict,
            take(
                known[key],
                partial(seen_again, severity=verdict.severity, why=_other_version(known[key])),
                now,
            ),
        )
        for key, verdict in firing.items()
        if key in known
    ]
    closed = [
        take(flag, partial(gone, why=_other_version(flag)), now)
        for key, flag in known.items()
        if key not in firing and flag.standing.state is not FlagState.CLOSED
    ]
    first = [first_seen(verdict.severity) for verdict in raised]
    ids = flags.insert_flags(
        session,
        run_id,
        [(_content(verdict), step.after) for verdict, step in zip(raised, first, strict=True)],
        evaluation_id=evaluation_id,
        now=now,
    )
    flags.update_seen_flags(
        session,
        [(taken.flag.id, _content(verdict), taken.after) for verdict, taken in renewed],
        evaluation_id=evaluation_id,
        now=now,
    )
    flags.update_standings(session, [(taken.flag.id, taken.after) for taken in closed], now=now)
    opened = [
        event
        for flag_id, step in zip(ids, first, strict=True)
        for event in events_of_step(flag_id, step, author=None, now=now)
    ]
    changed = [*(taken for _, taken in renewed), *closed]
    flags.insert_events(session, [*opened, *events_of(changed, author=None, now=now)])
    flags.record_judgement(
        session,
        evaluation_id,
        rules_digest=judged_by.rules_digest,
        cost_matrix_id=judged_by.cost_matrix_id,
        baseline_run_id=judged_by.baseline_run_id,
        hides_minority=found.hides_minority,
    )


def _other_version(flag: FlagRecord) -> str | None:
    """What the history says where the rule is no longer the one that raised the flag."""
    rule, before = RULES.get(flag.content.rule), flag.content.rule_version
    if rule is None or rule.version == before:
        return None
    return f"version {before} of {rule.id} before, version {rule.version} now"


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
        in_badge=counts_in_badge(verdict),
    )
