"""An issue of a report as a piece of work."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from offdiag.errors import NotFound
from offdiag.reports.document import read_report, read_scope, report_document, summary_document
from offdiag.reports.headline import headline
from offdiag.reports.report import IssueFacts, Report, make_report, summary_of
from offdiag.services.reports.best_set import with_best_set
from offdiag.services.reports.costing import with_costs
from offdiag.services.reports.reading import dataset_in_scope, read_snapshot, with_leader
from offdiag.services.reports.slicing import with_slices
from offdiag.services.work.endings import NotYet
from offdiag.services.work.submit import submit_delivery
from offdiag.store import deliveries, reports
from offdiag.store.database import Database
from offdiag.store.reports import IssueRecord, IssueState, stored_file
from offdiag.store.session import Session

WAITS_FOR_RUNS = timedelta(minutes=10)
"""How long an issue waits for runs that are being scored and for the issue before it."""
_LOOK_AGAIN_S = 2.0
_LOOK_BACK = 5
"""Issues that another version of offdiag wrote may be unreadable; older ones than this are."""


def compute_report(database: Database, args: Mapping[str, Any]) -> Callable[[Session], None]:
    """Read the figures of an issue and write its files; the returned writer freezes them.

    Its deliveries are asked for in the same transaction. Raises `NotYet` while runs in scope
    are being scored, for ten minutes at most: a report right after a correction would
    otherwise have nothing to say about it.
    """
    now = database.clock()
    with database.read() as session:
        issue = _issue(session, int(args["issue"]))
        if issue.state is not IssueState.PENDING:
            return lambda _session: None
        may_wait = now - issue.created_at < WAITS_FOR_RUNS
        if may_wait and _is_overtaking(session, issue):
            raise NotYet("the issue before this one is not computed.", delay_s=_LOOK_AGAIN_S)
        scope = read_scope(issue.scope)
        previous = previous_report(session, issue)
        dataset = dataset_in_scope(session, scope)
        snapshot = read_snapshot(session, scope, since_truth=_truth_number(previous), now=now)
    if may_wait and snapshot.waiting:
        raise NotYet("runs are being scored.", delay_s=_LOOK_AGAIN_S)
    snapshot = with_costs(database, scope, dataset, snapshot)
    snapshot = with_slices(database, scope, snapshot)
    with database.read() as session:
        snapshot = with_leader(session, scope, snapshot)
        snapshot = with_best_set(session, scope, dataset, snapshot)
    facts = IssueFacts(
        project=issue.project,
        name=issue.name,
        number=issue.number,
        fire_time=issue.fire_time,
        covers_missed=issue.covers_missed,
        as_of=now,
    )
    return _writer(database, issue, make_report(facts, scope, snapshot, previous))


def give_up_report(session: Session, args: Mapping[str, Any], error: str) -> None:
    """Mark the issue as failed, with the error."""
    reports.mark_failed(session, int(args["issue"]), error)


def take_up_report(session: Session, args: Mapping[str, Any]) -> None:
    """Let a failed issue wait for its figures again."""
    reports.mark_pending(session, int(args["issue"]))


def previous_report(session: Session, issue: IssueRecord) -> Report | None:
    """The newest earlier issue of the series that was computed and can still be read."""
    computed = reports.issues_before(session, issue, IssueState.COMPUTED, limit=_LOOK_BACK)
    for earlier in computed:
        for file in reports.read_files(session, earlier.id, ["json"]):
            report = read_report(json.loads(file.content))
            if report is not None:
                return report
    return None


def _writer(database: Database, issue: IssueRecord, report: Report) -> Callable[[Session], None]:
    # The template engine is in the server extra, and only who computes reports needs it.
    from offdiag.reports.files import report_files

    digest = str(report_document(report)["data_digest"])
    first_sentence = headline(report)
    summary = summary_document(summary_of(report))
    files = [
        stored_file(file.content, kind=file.kind, content_type=file.content_type)
        for file in report_files(report)
    ]

    def write(session: Session) -> None:
        now = database.clock()
        is_frozen = reports.write_computed(
            session,
            issue.id,
            headline=first_sentence,
            data_digest=digest,
            summary=summary,
            files=files,
            now=now,
        )
        for target in issue.delivery if is_frozen else ():
            delivery_id = deliveries.insert_delivery(
                session, issue_id=issue.id, target=target, now=now
            )
            submit_delivery(session, delivery_id)

    return write


def _issue(session: Session, issue_id: int) -> IssueRecord:
    issue = reports.find_issue(session, issue_id)
    if issue is None:
        raise NotFound(f"there is no issue with the id {issue_id}.", field="issue")
    return issue


def _is_overtaking(session: Session, issue: IssueRecord) -> bool:
    """Whether the issue before this one is still to be computed."""
    return bool(reports.issues_before(session, issue, IssueState.PENDING, limit=1))


def _truth_number(previous: Report | None) -> int | None:
    if previous is None or previous.snapshot.truth is None:
        return None
    return previous.snapshot.truth.number
