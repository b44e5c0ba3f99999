"""The task of jobs that compute an edition of a report.

It counts slices that have not been counted before, and tests which runs may be the best by the
metric that ranks them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np

from offdiag.comparison.many import best_by_metric
from offdiag.domain.runs import Task
from offdiag.domain.slices import parse_slice
from offdiag.errors import Forbidden, NotFound
from offdiag.inputs.labels import Codes
from offdiag.metrics.aggregates import AGGREGATES
from offdiag.metrics.many_runs.best_runs import cost_contest, metric_contest
from offdiag.metrics.many_runs.confidence_set import BestSet, Contest, confidence_sets
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from offdiag.metrics.multilabel.sets import is_known, without_room
from offdiag.metrics.multilabel_runs.judged_sets import set_contest
from offdiag.metrics.multilabel_runs.paired import has_slopes, paired_sets
from offdiag.reports.changes import ranked
from offdiag.reports.document import read_report, read_scope, report_document, summary_document
from offdiag.reports.headline import headline
from offdiag.reports.report import (
    LONGEST_HISTORY,
    EditionFacts,
    Report,
    is_same_dataset,
    make_report,
    scored_runs,
    summary_of,
)
from offdiag.reports.scope import ReportScope, is_of_costs
from offdiag.reports.snapshot import MOST_SLICED, BestOfManyFigures, BestSetFigures, Snapshot
from offdiag.services.evaluation.compute import INTERVAL_SEED
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.jobs.attempts import NotYet
from offdiag.services.jobs.submit import submit_delivery
from offdiag.services.reports.alerts import values_on_slices
from offdiag.services.reports.snapshot import (
    costs_in_scope,
    costs_of,
    dataset_in_scope,
    figures_in_scope,
    read_snapshot,
    slices_with_costs,
    with_costs,
    with_leader,
    with_weights,
)
from offdiag.services.small_groups import suppressed_below
from offdiag.store import deliveries, reports, truths
from offdiag.store.database import Database, Session
from offdiag.store.datasets import DatasetRecord
from offdiag.store.logged_counts import runs_with_slice_columns
from offdiag.store.predictions import in_truth_order
from offdiag.store.reports import EditionRecord, EditionState, stored_file
from offdiag.store.runs import chosen_here_among
from offdiag.store.truths import numbered_truth


def with_slices(database: Database, scope: ReportScope, snapshot: Snapshot) -> Snapshot:
    """The snapshot with the slices in scope of its best runs.

    Counting a slice stores its evaluation for later. Uploaded matrices have no samples that could
    be sliced, and runs from counts have only the slices they were counted by. Raises
    `InvalidInput` for a slice that the dataset does not have.
    """
    if not scope.slices:
        return snapshot
    best = ranked(snapshot.runs, scope.ranking_metric)
    slices = [parse_slice(text) for text in scope.slices]
    names = sorted({term.name for part in slices for term in part.terms})
    with database.read() as session:
        known = runs_with_slice_columns(session, [run.id for run in best], names)
    run_ids = [run.id for run in best if run.id in known][:MOST_SLICED]
    suppressed = set()
    for run_id in run_ids:
        for text in scope.slices:
            try:
                evaluation_of_slice(database, run_id, text)
            except Forbidden:
                suppressed.add(text)
    shown = [text for text in scope.slices if text not in suppressed]
    with database.read() as session:
        dataset = dataset_in_scope(session, scope)
        figures = figures_in_scope(session, scope, dataset, run_ids=run_ids, slices=shown)
    return replace(
        snapshot,
        slices=slices_with_costs(database, scope, figures, snapshot.costs),
        n_suppressed=len(suppressed),
    )


def with_conditions_on_slices(
    database: Database, scope: ReportScope, snapshot: Snapshot
) -> Snapshot:
    """The snapshot with the values of every run for conditions on slices."""
    conditions = [each for each in scope.alerts if each.is_of_slices]
    if not conditions:
        return snapshot
    costs = costs_of(database, scope, snapshot.costs)
    values = {
        run.id: values_on_slices(database, conditions, run.id, run.input_digest, costs)
        for run in snapshot.runs
    }
    return replace(snapshot, on_slices=values)


MOST_CANDIDATES = 50
"""If there are more runs, the highest are candidates: others are unlikely to be best in a draw."""
MOST_PREDICTIONS = 200_000_000
"""Most predictions of all runs together for comparing them: a fifth of a gigabyte."""


def with_best_set(
    session: Session, scope: ReportScope, dataset: DatasetRecord, snapshot: Snapshot
) -> Snapshot:
    """The snapshot with the runs that may be the best, if two or more can be paired.

    With three or more, the value of the best run is corrected for its having been chosen.
    """
    truth = snapshot.truth
    if truth is None or len(snapshot.runs) < 2:
        return snapshot
    # Tests require samples that all count the same.
    runs = [run.id for run in snapshot.runs if not run.has_weights]
    chosen_here = chosen_here_among(session, runs)
    ids = [run_id for run_id in runs if run_id not in chosen_here]
    of_sets = dataset.task is Task.MULTILABEL
    n_codes = truth.n_samples * (len(dataset.labels) if of_sets else 1)
    if n_codes * len(ids) > MOST_PREDICTIONS:
        return snapshot
    version = numbered_truth(session, dataset_id=dataset.id, number=truth.number)
    if version is None:
        return snapshot
    size = len(dataset.labels)
    actual = truths.truth_codes(session, version.id)
    found = in_truth_order(session, ids, n_samples=len(actual), n_classes=size)
    if of_sets:
        contest, tested = _contest_of_sets(scope, dataset, actual, found)
        return _with_contest(snapshot, contest, tested)
    labelled = actual < size
    codes = {run_id: each[labelled] for run_id, each in found.items()}
    paired = {run_id: each for run_id, each in codes.items() if len(each) and each.max() < size}
    if len(paired) < 2:
        return snapshot
    together = PairedRuns(actual[labelled], tuple(paired.values()), dataset.labels)
    best_of_many = _best_of_many(scope, snapshot, together, tuple(paired))
    snapshot = replace(snapshot, best_of_many=best_of_many)
    return _with_contest(snapshot, _contest(session, scope, dataset, together), tuple(paired))


def _with_contest(
    snapshot: Snapshot, contest: Contest | None, run_ids: tuple[str, ...]
) -> Snapshot:
    if contest is None:
        return snapshot
    ((sets,),) = confidence_sets([contest], seed=INTERVAL_SEED)
    return replace(snapshot, best_set=_figures(sets, run_ids))


def _contest_of_sets(
    scope: ReportScope, dataset: DatasetRecord, actual: Codes, found: Mapping[str, Codes]
) -> tuple[Contest | None, tuple[str, ...]]:
    """Multi-label runs with a set for every labelled sample, by the metric that ranks them."""
    size, metric = len(dataset.labels), scope.ranking_metric
    labelled = is_known(actual, size)
    sets = {run_id: each[labelled] for run_id, each in found.items()}
    paired = {run_id: each for run_id, each in sets.items() if is_known(each, size).all()}
    if len(paired) < 2 or not labelled.any() or not has_slopes(metric):
        return None, ()
    actual, *predicted = (
        without_room(each, size) for each in (actual[labelled], *paired.values())
    )
    runs = paired_sets(actual, *predicted, labels=dataset.labels)
    return set_contest(runs, [metric]), tuple(paired)


def _best_of_many(
    scope: ReportScope, snapshot: Snapshot, runs: PairedRuns, run_ids: tuple[str, ...]
) -> BestOfManyFigures | None:
    """The best run with its corrected value; None if a candidate cannot be paired."""
    metric = scope.ranking_metric
    ids = [
        run.id
        for run in ranked(snapshot.runs, metric)
        if run.metrics[metric].value is not None and not run.has_weights
    ][:MOST_CANDIDATES]
    if not set(ids) <= set(run_ids):
        return None
    chosen = tuple(runs.predictions[run_ids.index(run_id)] for run_id in ids)
    candidates = replace(runs, predictions=chosen)
    found = best_by_metric(candidates, [metric]).get(metric)
    if found is None:
        return None
    return BestOfManyFigures(ids[found.run], found.n_runs, found.corrected)


def _contest(
    session: Session, scope: ReportScope, dataset: DatasetRecord, runs: PairedRuns
) -> Contest | None:
    """The runs by the metric that ranks them; None for metrics that need more than matrices."""
    metric = scope.ranking_metric
    if metric in AGGREGATES and AGGREGATES[metric].has_gradient:
        return metric_contest(runs, [metric])
    costs = costs_in_scope(session, scope, dataset) if is_of_costs(metric) else None
    # On the same samples all costs rank alike, except relative ones, which may be undefined.
    if costs is None or metric not in {"mean_cost", "total_cost"}:
        return None
    return cost_contest(runs, costs.costs)


def _figures(sets: BestSet, run_ids: tuple[str, ...]) -> BestSetFigures | None:
    if np.count_nonzero(sets.is_tested) < 2:
        return None
    tested = list(zip(run_ids, sets.is_tested.tolist(), sets.is_in.tolist(), strict=True))
    return BestSetFigures(
        tuple(run_id for run_id, is_tested, is_in in tested if is_tested and is_in),
        tuple(run_id for run_id, is_tested, is_in in tested if is_tested and not is_in),
    )


WAITS_FOR_RUNS = timedelta(minutes=10)
"""How long an edition waits for runs that are being scored and for the previous edition."""
_LOOK_AGAIN_S = 2.0
_LOOK_BACK = 5
"""Earlier editions that are tried: those of another version of offdiag may be unreadable."""


def compute_report(database: Database, args: Mapping[str, Any]) -> Callable[[Session], None]:
    """Read the figures of an edition and write its files; the returned writer freezes them.

    Its deliveries are submitted in the same transaction. Raises `NotYet` while runs in scope are
    being scored, for ten minutes at most: a report right after a correction would otherwise have
    nothing to say about it.
    """
    now = database.clock()
    with database.read() as session:
        edition = _edition(session, int(args["issue"]))
        if edition.state is not EditionState.PENDING:
            return lambda _session: None
        may_wait = now - edition.created_at < WAITS_FOR_RUNS
        if may_wait and reports.editions_before(session, edition, EditionState.PENDING, limit=1):
            raise NotYet("the edition before this one is not computed.", delay_s=_LOOK_AGAIN_S)
        scope = read_scope(edition.scope)
        previous = previous_report(session, edition)
        dataset = dataset_in_scope(session, scope)
        scope = scope.for_task(dataset.task)
        snapshot = read_snapshot(
            session, scope, since_truth=_truth_number(scope, previous), now=now
        )
        older = _older_reports(session, edition, previous, snapshot)
        if previous is not None:
            snapshot = with_weights(session, snapshot, scored_runs(previous.snapshot))
    if may_wait and snapshot.waiting:
        raise NotYet("runs are being scored.", delay_s=_LOOK_AGAIN_S)
    snapshot = with_costs(database, scope, dataset, snapshot)
    snapshot = with_slices(database, scope, snapshot)
    snapshot = with_conditions_on_slices(database, scope, snapshot)
    with database.read() as session:
        snapshot = with_leader(session, scope, snapshot)
        snapshot = with_best_set(session, scope, dataset, snapshot)
    facts = EditionFacts(
        project=edition.project,
        name=edition.name,
        number=edition.number,
        fire_time=edition.fire_time,
        covers_missed=edition.covers_missed,
        as_of=now,
    )
    return _writer(database, edition, make_report(facts, scope, snapshot, previous, older))


def fail_report(session: Session, args: Mapping[str, Any], error: str) -> None:
    """Mark the edition as failed, with the error."""
    reports.mark_failed(session, int(args["issue"]), error)


def restart_report(session: Session, args: Mapping[str, Any]) -> None:
    """Let a failed edition wait for its figures again."""
    reports.mark_pending(session, int(args["issue"]))


def previous_report(session: Session, edition: EditionRecord) -> Report | None:
    """The newest earlier edition of the series that was computed and can still be read."""
    return next(_reports_before(session, edition, limit=_LOOK_BACK), None)


def _older_reports(
    session: Session, edition: EditionRecord, previous: Report | None, snapshot: Snapshot
) -> list[Report]:
    """Older editions with runs that the previous one lacks although they were logged before it.

    If the previous one has no samples, also the last one that had some.
    """
    if previous is None:
        return []
    known, as_of = scored_runs(previous.snapshot), previous.edition.as_of
    missing = {
        run.id: run.logged_at
        for run in snapshot.runs
        if run.id not in known and run.logged_at < as_of
    }
    lacks_samples = previous.snapshot.truth is None and snapshot.truth is not None
    if not missing and not lacks_samples:
        return []
    found = []
    for report in _reports_before(session, edition, limit=LONGEST_HISTORY):
        is_too_old = not missing or report.edition.as_of < min(missing.values())
        if is_too_old and not lacks_samples:
            break
        shown = {run.id for run in report.snapshot.runs} & set(missing)
        has_samples = report.snapshot.truth is not None
        if shown or (lacks_samples and has_samples):
            found.append(report)
        missing = {run_id: at for run_id, at in missing.items() if run_id not in shown}
        lacks_samples = lacks_samples and not has_samples
    return found


def _reports_before(session: Session, edition: EditionRecord, *, limit: int) -> Iterator[Report]:
    """The earlier editions of the series that can still be read, newest first."""
    for earlier in reports.editions_before(session, edition, EditionState.COMPUTED, limit=limit):
        for file in reports.read_files(session, earlier.id, ["json"]):
            report = read_report(json.loads(file.content))
            if report is not None:
                yield _as_shown_now(report)


def _as_shown_now(report: Report) -> Report:
    """An earlier edition without its flags on slices, if small groups are hidden now.

    They would be reported as closed.
    """
    kept = report.snapshot
    if not suppressed_below() or kept.flags is None:
        return report
    flags = tuple(flag for flag in kept.flags if flag.slice is None)
    n_flags = kept.n_flags - len(kept.flags) + len(flags)
    return replace(report, snapshot=replace(kept, flags=flags, n_flags=n_flags))


def _writer(
    database: Database, edition: EditionRecord, report: Report
) -> Callable[[Session], None]:
    # The template engine is in the server extra, and only computing reports needs it.
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
            edition.id,
            headline=first_sentence,
            data_digest=digest,
            summary=summary,
            files=files,
            now=now,
        )
        for target in edition.delivery if is_frozen else ():
            delivery_id = deliveries.insert_delivery(
                session, edition_id=edition.id, target=target, now=now
            )
            submit_delivery(session, delivery_id)

    return write


def _edition(session: Session, edition_id: int) -> EditionRecord:
    edition = reports.find_edition(session, edition_id)
    if edition is None:
        raise NotFound(f"there is no edition with the id {edition_id}.", field="edition")
    return edition


def _truth_number(scope: ReportScope, previous: Report | None) -> int | None:
    """The label version of the previous edition, unless that was on another dataset."""
    if previous is None or previous.snapshot.truth is None:
        return None
    return previous.snapshot.truth.number if is_same_dataset(scope, previous) else None
