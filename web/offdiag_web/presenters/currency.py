"""Whether the results of a run are up to date, and how much of the run they cover."""

from __future__ import annotations

from datetime import datetime

from offdiag.store.evaluations import EvaluationWork
from offdiag.store.run_page import RunDetail, RunResults
from offdiag.store.staleness import StaleReason
from offdiag_web.presenters import numbers
from offdiag_web.presenters.chips import Caution, Chip
from offdiag_web.presenters.times import spell


def stale_caution(detail: RunDetail, *, now: datetime) -> Caution | None:
    """What the shown results were made with, what counts now, and what is done about it."""
    if detail.outdated is None or detail.results is None:
        return None
    facts, outdated = detail.results.facts, detail.outdated
    parts = []
    if StaleReason.TRUTH_REVISED in outdated.reasons:
        current = f"v{facts.newest_truth_number} is current"
        parts.append(f"Computed with truth v{facts.truth_number}; {current}.")
    if StaleReason.SUITE_CHANGED in outdated.reasons:
        current = f"{outdated.newest_suite_version} is current"
        parts.append(f"Computed with metric suite {facts.suite_version}; {current}.")
    if {StaleReason.COSTS_CHANGED, StaleReason.BASELINE_CHANGED} & set(outdated.reasons):
        parts.append("Its flags were raised under other costs or against another baseline.")
    if StaleReason.CURVES_MISSING in outdated.reasons:
        parts.append("Its curves have not been drawn yet.")
    if not parts:
        parts.append(f"Computed with truth v{facts.truth_number}, before scoring again failed.")
    return Caution(" ".join(parts), _what_is_done(outdated.work, now))


def _what_is_done(work: EvaluationWork | None, now: datetime) -> str:
    if work is None:
        return "Nobody has been asked to score this run again yet."
    waited = spell((now - work.asked_at).total_seconds())
    match work.state:
        case "todo":
            return f"Scoring again was asked for {waited} ago and waits as job {work.id}."
        case "doing":
            return f"It is being scored again as job {work.id}."
        case "dead":
            tried = numbers.plural(work.attempts, "attempt")
            return f"Scoring again failed as job {work.id} after {tried}."


def coverage_chip(results: RunResults | None) -> Chip | None:
    """How many of the predictions have a label to be scored with, None where all have."""
    if results is None or not results.facts.n_unlabelled:
        return None
    n_scored = results.facts.n_cases
    total = n_scored + results.facts.n_unlabelled
    share = numbers.fine_percent(n_scored, total)
    scored = f"{numbers.count(n_scored)} of {numbers.count(total)} ({share})"
    return Chip(f"scored on {scored}, the others have no label yet", "warning")
