"""Verifying a registry: rules that always hold, and results computed again from predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

from offdiag.metrics.suite import SUITE_VERSION
from offdiag.services.verification.definitions import check_definitions
from offdiag.services.verification.findings import Finding, FindingKind, Verification
from offdiag.services.verification.ledger import LedgerEntry, missing_from
from offdiag.services.verification.runs import check_run
from offdiag.services.verification.truths import check_truths
from offdiag.store import health
from offdiag.store.database import Database
from offdiag.store.health import Breach, integrity_problems
from offdiag.store.retention import complete_runs
from offdiag.store.session import Session
from offdiag.store.staleness import stale_runs

SAMPLE_FROM = 2_000
"""Registries with fewer runs are checked as a whole, sample or not."""
ONE_IN = 20


def verify(
    database: Database,
    *,
    sample: Random | None = None,
    ledger: Sequence[LedgerEntry] = (),
    on_run: Callable[[str], None] = lambda _run_id: None,
) -> Verification:
    """Check everything that must hold, and compute the results of runs again.

    With a `sample`, one run in twenty of a large registry is computed again, drawn with it;
    else all are. Each run is one short transaction, so work may go on meanwhile. Nothing is
    changed. `on_run` is called after each run.
    """
    with database.read() as session:
        findings = [*_broken_rules(session), *missing_from(session, list(ledger))]
        findings += [*check_definitions(session), *check_truths(session)]
        complete = complete_runs(session)
        stale = [run.run_id for run in stale_runs(session, suite_version=SUITE_VERSION)]
        unasked = health.unasked_runs(session, stale)
    findings += [
        Finding(FindingKind.STUCK, run_id, "its results are out of date and nobody was asked.")
        for run_id in unasked
    ]
    chosen = _chosen(complete, sample)
    for run_id in chosen:
        with database.read() as session:
            findings += check_run(session, run_id)
        on_run(run_id)
    return Verification(
        n_runs=len(complete),
        n_recomputed=len(chosen),
        n_waiting=len(stale) - len(unasked),
        findings=tuple(findings),
    )


def _chosen(run_ids: list[str], sample: Random | None) -> list[str]:
    if sample is None or len(run_ids) < SAMPLE_FROM:
        return run_ids
    return sorted(sample.sample(run_ids, len(run_ids) // ONE_IN))


def _broken_rules(session: Session) -> list[Finding]:
    problems = integrity_problems(session)
    return [
        *(Finding(FindingKind.DAMAGED, "database", f"{problem}.") for problem in problems),
        *_as_findings(FindingKind.INCOMPLETE, health.incomplete_runs(session)),
        *_as_findings(FindingKind.STUCK, health.runs_without_results(session)),
        *_as_findings(FindingKind.STUCK, health.stuck_work(session)),
    ]


def _as_findings(kind: FindingKind, breaches: Iterable[Breach]) -> Iterable[Finding]:
    return (Finding(kind, breach.subject, breach.sentence) for breach in breaches)
