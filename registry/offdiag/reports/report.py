"""One edition of a report: its facts, the registry's figures, the findings, and its summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from offdiag.domain.values import MetricValue
from offdiag.flags.lifecycle import FlagState
from offdiag.reports.alerts import Alert, Alerts, find_alerts, gathered
from offdiag.reports.changes import (
    Change,
    Changes,
    FlagChanges,
    Origin,
    RankChange,
    find_changes,
    find_flag_changes,
    rank_changes,
    ranked,
)
from offdiag.reports.scope import ReportScope, is_of_costs
from offdiag.reports.snapshot import CostFigures, RunFigures, Snapshot

LONGEST_HISTORY = 26


@dataclass(frozen=True, slots=True)
class EditionFacts:
    """Which edition this is. `fire_time` is local wall time with its zone.

    `covers_missed` counts earlier scheduled times that were missed and that it stands for.
    """

    project: str
    name: str
    number: int
    fire_time: str
    covers_missed: int
    as_of: datetime


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """The best run of one edition by the ranking metric, None where there was none."""

    number: int
    fire_time: str
    run_name: str | None
    value: MetricValue | None


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings from a snapshot and the previous edition, whose number is `since`.

    `is_comparable` is false if that edition was about other samples: then nothing was
    compared. Run ids are in the order of the ranking. `gone` are names of runs that no longer
    exist; it stays empty if runs were left out because there were too many. `costs_before` is
    the cost matrix of the previous edition if it was another one, so that costs were not
    compared. `flags` is None if the two editions do not hold all their flags. `returned` are
    runs for which only older editions had figures; they are compared with the last of these.
    `redefined` are metrics of another version than in the previous edition, and `has_new_suite`
    says that those of offdiag are.
    """

    since: int | None
    is_comparable: bool
    changes: Changes
    rank_changes: tuple[RankChange, ...]
    new_runs: tuple[str, ...]
    gone: tuple[str, ...]
    alerts: Alerts
    costs_before: str | None = None
    flags: FlagChanges | None = None
    returned: tuple[str, ...] = ()
    redefined: tuple[str, ...] = ()
    has_new_suite: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that is frozen with an edition. `history` ends with this edition."""

    edition: EditionFacts
    scope: ReportScope
    snapshot: Snapshot
    findings: Findings
    history: tuple[HistoryPoint, ...]

    @property
    def ranking(self) -> tuple[RunFigures, ...]:
        """The runs from best to worst by the first metric."""
        return ranked(self.snapshot.runs, self.scope.ranking_metric)

    def id_if_needed(self, moved: Change | RankChange) -> str:
        """ " r_4bcd6fgh8jkm" if another run has the same name and may have changed as well.

        For a newer run of that name the name is enough.
        """
        if isinstance(moved, Change) and moved.origin is Origin.SUCCEEDED:
            return ""
        return self.id_of_namesake(moved.run_id, moved.run_name)

    def id_of_namesake(self, run_id: str, name: str) -> str:
        """ " r_4bcd6fgh8jkm" if another run of the report has the same name, else nothing."""
        others = (run for run in self.snapshot.runs if run.id != run_id)
        return f" {run_id}" if any(run.name == name for run in others) else ""


def make_report(
    edition: EditionFacts,
    scope: ReportScope,
    snapshot: Snapshot,
    previous: Report | None,
    older: Sequence[Report] = (),
) -> Report:
    """Derive the findings from the figures, above all what changed since the previous edition.

    `older` editions, newest first, have figures of runs that the previous one lacks; if that one
    has no runs, they also say which samples it was about.
    """
    runs = ranked(snapshot.runs, scope.ranking_metric)
    before = (
        previous if previous is not None and _same_samples(scope, snapshot, previous) else None
    )
    same_dataset = previous is not None and is_same_dataset(scope, previous)
    earlier = previous.findings.alerts if previous is not None and same_dataset else Alerts((), ())
    evidence = (
        earlier.evidence
        if snapshot.truth is None
        else gathered(
            earlier.evidence,
            runs,
            scope.alerts,
            edition=edition.number,
            truth_number=snapshot.truth.root_number,
        )
    )
    warned = (*earlier.raised, *_warned_of_returned(scope, previous, older))
    alerts = find_alerts(
        runs,
        scope.alerts,
        warned,
        evidence,
        snapshot.on_slices,
        evidence_before=earlier.evidence,
    )
    since = None if previous is None else previous.edition.number
    best = runs[0] if runs else None
    point = HistoryPoint(
        edition.number,
        edition.fire_time,
        None if best is None else best.name,
        None if best is None else best.metrics.get(scope.ranking_metric),
    )
    return Report(
        edition=edition,
        scope=scope,
        snapshot=snapshot,
        findings=Findings(since, False, Changes((), 0), (), (), (), alerts)
        if before is None
        else _findings(scope, snapshot, runs, before, alerts, older=older),
        history=(*_line(scope, snapshot, runs, before, older)[1 - LONGEST_HISTORY :], point),
    )


def _warned_of_returned(
    scope: ReportScope, previous: Report | None, older: Sequence[Report]
) -> Iterator[Alert]:
    """Alerts on runs that the previous edition lacks, in the last edition that had them."""
    known = set() if previous is None else scored_runs(previous.snapshot)
    for report in older:
        if is_same_dataset(scope, report):
            yield from (
                alert
                for alert in report.findings.alerts.raised
                if alert.run_id not in known and alert.evidence is None
            )
            known |= scored_runs(report.snapshot)


def _same_samples(scope: ReportScope, snapshot: Snapshot, previous: Report) -> bool:
    """Whether the samples are the same, as comparisons need; an edition without runs has none."""
    before, now = previous.snapshot.truth, snapshot.truth
    is_empty = not (snapshot.n_matching and previous.snapshot.n_matching)
    return is_same_dataset(scope, previous) and (
        is_empty or (before and before.root_number) == (now and now.root_number)
    )


def is_same_dataset(scope: ReportScope, previous: Report) -> bool:
    """Whether the previous edition was about this dataset."""
    return (scope.project, scope.dataset) == (previous.scope.project, previous.scope.dataset)


def _findings(
    scope: ReportScope,
    snapshot: Snapshot,
    runs: Sequence[RunFigures],
    previous: Report,
    alerts: Alerts,
    *,
    older: Sequence[Report],
) -> Findings:
    before = previous.snapshot
    known, present = scored_runs(before), mentioned_runs(snapshot)
    shown = before
    for report in older:
        if _same_samples(scope, snapshot, report):
            shown = _with_returned(shown, report.snapshot, snapshot)
    returned = scored_runs(shown) - known
    has_other_costs = _has_other_costs(snapshot, before)
    metrics = [key for key in scope.metrics if not (has_other_costs and is_of_costs(key))]
    redefined = [key for key in metrics if snapshot.declared.get(key) != before.declared.get(key)]
    return Findings(
        since=previous.edition.number,
        is_comparable=True,
        changes=find_changes(
            (*shown.runs, *shown.slices),
            (*runs, *snapshot.slices),
            metrics,
            redefined=redefined,
        ),
        rank_changes=rank_changes(before.runs, runs, metrics),
        new_runs=tuple(
            run.id
            for run in runs
            if run.id not in known | returned and not _was_cut_off(run, before)
        ),
        gone=()
        if snapshot.is_cut
        else tuple(run.name for run in before.runs if run.id not in present),
        alerts=alerts,
        costs_before=before.costs.text if before.costs and has_other_costs else None,
        flags=find_flag_changes(shown, snapshot),
        returned=tuple(run.id for run in runs if run.id in returned),
        redefined=tuple(
            key for key in redefined if {key} <= before.declared.keys() & snapshot.declared.keys()
        ),
        has_new_suite=snapshot.suite_version != before.suite_version,
    )


def _was_cut_off(run: RunFigures, before: Snapshot) -> bool:
    """Whether a run is older than those in an edition that holds only the newest runs."""
    return before.is_cut and all(run.logged_at < shown.logged_at for shown in before.runs)


def _with_returned(before: Snapshot, older: Snapshot, now: Snapshot) -> Snapshot:
    """The previous edition with the runs that it lacks, as an older edition had them."""
    returned = {run.id for run in older.runs} & {run.id for run in now.runs}
    returned -= scored_runs(before)
    has_other_costs = _has_other_costs(now, older)
    runs, slices = (
        [_without_costs(run) if has_other_costs else run for run in figures if run.id in returned]
        for figures in (older.runs, older.slices)
    )
    flags = [flag for flag in older.flags or () if flag.run_id in returned]
    return replace(
        before,
        runs=(*before.runs, *runs),
        slices=(*before.slices, *slices),
        flags=None if before.flags is None else (*before.flags, *flags),
        n_flags=before.n_flags + len(flags),
    )


def _without_costs(run: RunFigures) -> RunFigures:
    metrics = {key: value for key, value in run.metrics.items() if not is_of_costs(key)}
    return replace(run, metrics=metrics)


def _has_other_costs(snapshot: Snapshot, before: Snapshot) -> bool:
    """Whether costs are measured with another cost matrix than in the previous edition."""
    return _which(snapshot.costs) != _which(before.costs)


def _which(costs: CostFigures | None) -> tuple[str, int] | None:
    return None if costs is None else (costs.name, costs.version)


def mentioned_runs(snapshot: Snapshot) -> set[str]:
    """Ids of the runs of an edition, with and without figures."""
    without = {run.id for run in (*snapshot.waiting, *snapshot.failed)}
    return scored_runs(snapshot) | without


def scored_runs(snapshot: Snapshot) -> set[str]:
    """Ids of the runs of an edition that have figures."""
    return {run.id for run in snapshot.runs}


def _line(
    scope: ReportScope,
    snapshot: Snapshot,
    runs: Sequence[RunFigures],
    previous: Report | None,
    older: Sequence[Report],
) -> tuple[HistoryPoint, ...]:
    """The points that this edition continues.

    There are none if they were of another metric, at other costs, or of weighted values and these
    are not. Whether editions without runs were about the same samples follows from the last
    edition that had some.
    """
    if previous is None or previous.scope.ranking_metric != scope.ranking_metric:
        return ()
    if is_of_costs(scope.ranking_metric) and _has_other_costs(snapshot, previous.snapshot):
        return ()
    last = previous
    if snapshot.truth is not None and previous.snapshot.truth is None:
        had_runs = next((each for each in older if each.snapshot.truth is not None), None)
        if had_runs is None or not _same_samples(scope, snapshot, had_runs):
            return ()
        last = had_runs
    if runs and last.ranking and runs[0].has_weights != last.ranking[0].has_weights:
        return ()
    return previous.history


@dataclass(frozen=True, slots=True)
class EditionSummary:
    """Counts of an edition, and the best values of its series.

    Of `n_alerts` alerts `n_new_alerts` are new. `n_open_flags` and `n_raised_flags` are None
    if the edition does not say. `line` holds the best value of `metric` for each of the last
    editions, oldest first, None if there was none; it ends with this edition.
    """

    n_runs: int
    n_alerts: int
    n_new_alerts: int
    n_open_flags: int | None
    n_raised_flags: int | None
    metric: str
    line: tuple[float | None, ...]


def summary_of(report: Report) -> EditionSummary:
    flags, changes = report.snapshot.flags, report.findings.flags
    raised = report.findings.alerts.raised
    return EditionSummary(
        n_runs=len(report.snapshot.runs),
        n_alerts=len(raised),
        n_new_alerts=sum(alert.is_new for alert in raised),
        n_open_flags=None
        if flags is None
        else sum(flag.state is FlagState.OPEN for flag in flags),
        n_raised_flags=None if changes is None else len(changes.opened),
        metric=report.scope.ranking_metric,
        line=tuple(None if point.value is None else point.value.value for point in report.history),
    )
