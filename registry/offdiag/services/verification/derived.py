"""Checks of what is stored beside results so that pages need not derive it: flags, report lists.

Texts may be worded differently by each version of offdiag, so only those of this one are compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from offdiag.domain.slices import parse_slice
from offdiag.flags.lifecycle import FlagState
from offdiag.reports.document import read_report, summary_document
from offdiag.reports.headline import headline
from offdiag.reports.report import summary_of
from offdiag.services.evaluation.inputs import EvaluationInputs
from offdiag.services.flags.rules import rules_in_force
from offdiag.services.flags.verdicts import content_of, judge_run, read_rule_inputs
from offdiag.store import flags, logged_counts, reports
from offdiag.store.database import Session
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.flags import FlagContent
from offdiag.store.outdated import stale_runs
from offdiag.store.slices import slice_choices
from offdiag.version import offdiag_version

_OF_SLICES = "F16"
"""Its flags are of the slice columns that there were when the run was evaluated."""


def wrong_flags(
    session: Session, inputs: EvaluationInputs, stored: StoredEvaluation
) -> Iterator[tuple[str, str]]:
    """Flags of a run that its current results do not raise like this, and what is wrong.

    Flags of other rules, thresholds, costs or baselines than now are outdated, and not compared.
    """
    rules, run = rules_in_force(), inputs.run
    raised = {
        (flag.content.rule, flag.content.class_label, flag.content.slice): flag
        for flag in flags.flags_of_run(session, run.id)
        if flag.status.state is not FlagState.CLOSED
    }
    for flag in raised.values():
        if flag.content.slice is not None and not _is_known(session, inputs, flag.content.slice):
            yield _named(flag.content), "is about a slice that no slice column gives."
    if stored.engine_version != offdiag_version() or stale_runs(
        session, rules_digest=rules.evaluated_by, run_ids=[run.id]
    ):
        return
    judged_by = read_rule_inputs(session, run, truth_id=stored.truth_version_id, rules=rules)
    found = judge_run(inputs.counted, judged_by.rule_inputs)
    firing = {
        (verdict.rule, verdict.class_label, verdict.slice): (
            content_of(verdict),
            verdict.severity,
        )
        for verdict in found.verdicts
    }
    said = {
        key: (flag.content, flag.status.severity)
        for key, flag in raised.items()
        if flag.content.rule != _OF_SLICES
    }
    for key in firing | said:
        if said.get(key) != firing.get(key):
            content, _ = firing.get(key) or said[key]
            yield _named(content), "is not what the results give."
    if stored.hides_minority != found.hides_minority:
        yield "the badge", "is not what the results give."


def _named(content: FlagContent) -> str:
    of_class = "" if content.class_label is None else f" of {content.class_label!r}"
    on_slice = "" if content.slice is None else f" on {content.slice}"
    return f"the flag {content.rule}{of_class}{on_slice}"


def _is_known(session: Session, inputs: EvaluationInputs, text: str) -> bool:
    """Whether the slice columns of the samples, or of the counts, have the values of a slice."""
    terms = parse_slice(text).terms
    counted = logged_counts.find_counted_samples(session, inputs.run.id)
    if counted is not None:
        levels = {name: column.choices for name, column in counted.slices.items()}
    elif inputs.truth is not None:
        levels = dict(slice_choices(session, inputs.truth.root_id, ()).levels)
    else:
        levels = {}
    return all(term.value in levels.get(term.name, ()) for term in terms)


def wrong_editions(session: Session) -> Iterator[tuple[str, str]]:
    """What lists show of editions and their files do not say; damaged files are left to others."""
    for edition in reports.computed_editions(session):
        subject = f"report {edition.name} {edition.number}"
        for file in reports.read_files(session, edition.id, ["json"]):
            if not file.is_intact:
                continue
            document = json.loads(file.content)
            if document.get("data_digest") != edition.data_digest:
                yield subject, "its digest of the figures is not that of its json file."
            report = read_report(document)
            if report is None or report.snapshot.engine_version != offdiag_version():
                continue
            if headline(report) != edition.headline:
                yield subject, "its first sentence is not that of its json file."
            if summary_document(summary_of(report)) != edition.summary:
                yield subject, "its summary is not that of its json file."
