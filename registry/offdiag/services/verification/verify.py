"""Verification of a registry: invariants are checked and results recomputed from predictions.

The registry can also be compared with a ledger of what was acknowledged, kept outside it. The
logging job appends a line to it after each successful call: the client key, a space, and the
content digest of the run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from offdiag.domain.runs import StaleReason
from offdiag.errors import InvalidInput
from offdiag.metrics.custom import custom_suffix
from offdiag.services.flags.rules import rules_in_force
from offdiag.services.verification.checks import (
    REFUSED,
    Finding,
    FindingKind,
    Verification,
    check_definitions,
    check_run,
    check_truths,
    unreadable,
)
from offdiag.services.verification.derived import wrong_editions
from offdiag.store import health, runs
from offdiag.store.database import Database, Session
from offdiag.store.health import Breach, integrity_problems
from offdiag.store.outdated import stale_runs
from offdiag.store.retention import complete_runs
from offdiag.store.schema import missing_parts

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A run whose storage was acknowledged to a client."""

    client_key: str
    digest: str


def read_ledger(path: Path) -> list[LedgerEntry]:
    """The entries of a ledger; empty lines are skipped.

    Raises `InvalidInput` naming the first line that is not an entry.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{str(path)!r} cannot be read: {error}.", field="ledger", hint="Check the path."
        ) from None
    entries = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        parts = line.strip().rsplit(maxsplit=1)
        if len(parts) != 2 or not _DIGEST.fullmatch(parts[1]):
            raise InvalidInput(
                f"line {number} of {path.name} is not an entry.",
                field="ledger",
                hint="Write a client key, a space and 64 hexadecimal digits.",
            )
        entries.append(LedgerEntry(*parts))
    return entries


def missing_from(session: Session, entries: list[LedgerEntry]) -> list[Finding]:
    """The entries that are missing from the registry, or stored with other content."""
    stored = runs.content_by_client_key(session, [entry.client_key for entry in entries])
    findings = []
    for entry in entries:
        digests = stored.get(entry.client_key, ())
        if not digests:
            sentence = "it was acknowledged and is not there."
        elif entry.digest not in digests:
            sentence = "it holds other content than was acknowledged."
        else:
            continue
        findings.append(Finding(FindingKind.LOST, f"client key {entry.client_key}", sentence))
    return findings


OF_VERSIONS = frozenset(
    {StaleReason.SUITE_CHANGED, StaleReason.RULES_CHANGED, StaleReason.CURVES_MISSING}
)
"""Reasons that an upgrade gives, for which a worker queues runs once it is upgraded too."""
SAMPLE_FROM = 2_000
"""Registries with fewer runs are checked completely, with or without a sample."""
ONE_IN = 20


def verify(
    database: Database,
    *,
    sample: Random | None = None,
    ledger: Sequence[LedgerEntry] = (),
    on_run: Callable[[str], None] = lambda _run_id: None,
) -> Verification:
    """Check all invariants, and recompute the results of runs.

    With a `sample`, one run in twenty of a large registry is recomputed, drawn with it; without,
    all are. Each run is one short transaction, so other work can continue meanwhile. Nothing is
    changed. `on_run` is called after each run. Raises `InvalidInput` for unusable thresholds.
    """
    rules_in_force()  # In the check of a run, the error would be taken for damage.
    with database.read() as session:
        findings = [*_broken_rules(session), *missing_from(session, list(ledger))]
        for check in (_editions, check_definitions, check_truths):
            findings += _attempted(check, session)
        complete = complete_runs(session)
        stale = {
            run.run_id: run.reasons for run in stale_runs(session, metrics_suffix=custom_suffix())
        }
        unasked = health.unasked_runs(session, list(stale))
    outdated = {run_id for run_id in unasked if OF_VERSIONS.issuperset(stale[run_id])}
    findings += [
        Finding(
            FindingKind.UNCHECKED if run_id in outdated else FindingKind.STUCK,
            run_id,
            "its results are outdated and no re-evaluation is queued.",
        )
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
        n_outdated=len(outdated),
        findings=tuple(findings),
    )


def _chosen(run_ids: list[str], sample: Random | None) -> list[str]:
    if sample is None or len(run_ids) < SAMPLE_FROM:
        return run_ids
    return sorted(sample.sample(run_ids, len(run_ids) // ONE_IN))


def _broken_rules(session: Session) -> list[Finding]:
    problems = [
        *integrity_problems(session),
        *(f"it has no {part}" for part in missing_parts(session.connection())),
    ]
    return [
        *(Finding(FindingKind.DAMAGED, "database", f"{problem}.") for problem in problems),
        *_as_findings(FindingKind.INCOMPLETE, health.incomplete_runs(session)),
        *_as_findings(FindingKind.STUCK, health.runs_without_results(session)),
        *_as_findings(FindingKind.STUCK, health.stuck_work(session)),
    ]


def _editions(session: Session) -> list[Finding]:
    return [
        Finding(FindingKind.DAMAGED, subject, sentence)
        for subject, sentence in wrong_editions(session)
    ]


def _attempted(check: Callable[[Session], list[Finding]], session: Session) -> Iterable[Finding]:
    """What a check finds; rows that it cannot even read are a finding, too."""
    try:
        return check(session)
    except REFUSED as error:
        return [Finding(FindingKind.DAMAGED, "database", unreadable(error))]


def _as_findings(kind: FindingKind, breaches: Iterable[Breach]) -> Iterable[Finding]:
    return (Finding(kind, breach.subject, breach.sentence) for breach in breaches)
