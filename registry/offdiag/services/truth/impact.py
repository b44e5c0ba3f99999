"""The effect of a correction of the ground truth on the runs that are scored with it."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.runs import RunState, Task
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.reports.changes import Change, find_changes, rank_changes, ranks
from offdiag.reports.scope import DEFAULT_METRICS, METRICS_OF_SETS
from offdiag.reports.snapshot import RunFigures
from offdiag.services.truth.versions import LabelDifference, difference_between, version_of
from offdiag.store import truths
from offdiag.store.database import Database, Session
from offdiag.store.datasets import DatasetRecord, dataset_named
from offdiag.store.truth_impact import ScoredRun, TruthScores, runs_around
from offdiag.store.truths import TruthRecord

MOST_RUNS = 500
"""Most runs that are compared, the newest ones: no page could show more."""
_ABSENT = MetricValue(None, reason="not_computed")


@dataclass(frozen=True)
class MovedRun:
    """A run scored on both versions, with its rank by each metric.

    Undefined values and runs with sample weights have no rank.
    """

    run: ScoredRun
    before: TruthScores
    after: TruthScores
    places: dict[str, tuple[int | None, int | None]]

    def values_of(self, metric: str) -> tuple[MetricValue, MetricValue]:
        """The values before and after."""
        return self.before.metrics.get(metric, _ABSENT), self.after.metrics.get(metric, _ABSENT)

    def difference_of(self, metric: str) -> float | None:
        """The value after minus the one before, None if either is undefined."""
        before, after = self.values_of(metric)
        if before.value is None or after.value is None:
            return None
        return after.value - before.value


@dataclass(frozen=True)
class TruthImpact:
    """A truth version compared with an older one of its lineage; a first version has none.

    `moved` are the runs scored on both versions, newest first, `new` those logged since, `waiting`
    those not yet scored on the newer version, `failed` those that cannot be. `beyond` are the
    values that left the interval they had before. `metrics` are those compared, the first of which
    ranks.
    """

    dataset: DatasetRecord
    version: TruthRecord
    older: TruthRecord | None
    difference: LabelDifference | None
    moved: tuple[MovedRun, ...]
    new: tuple[ScoredRun, ...]
    waiting: tuple[ScoredRun, ...]
    failed: tuple[ScoredRun, ...]
    beyond: tuple[Change, ...]
    n_reranked: dict[str, int]
    is_cut: bool
    metrics: tuple[str, ...] = DEFAULT_METRICS


def truth_impact(
    database: Database, *, project: str, dataset: str, number: int, since: int | None = None
) -> TruthImpact:
    """The effect of version `number` on runs, or of all versions after `since` up to it.

    Runs are ranked among those scored on both versions, so that a new run moves no other. Raises
    `NotFound`, and `InvalidInput` if one version is not derived from the other.
    """
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        version = version_of(session, known, number)
        older = _older_version(session, known, version, since)
        if older is None:
            metrics = followed_metrics(known)
            return TruthImpact(
                known, version, None, None, (), (), (), (), (), {}, is_cut=False, metrics=metrics
            )
        difference = difference_between(
            truths.truth_codes(session, older.id),
            truths.truth_codes(session, version.id),
            labels=known.labels,
            ids=None,
        )
        found = runs_around(
            session,
            root_id=version.root_id,
            before=older.number,
            after=version.number,
            metrics=followed_metrics(known),
            limit=MOST_RUNS + 1,
        )
    return _impact(known, version, older, difference, found)


def followed_metrics(dataset: DatasetRecord) -> tuple[str, ...]:
    """The metrics for which the runs of a dataset are compared here."""
    return METRICS_OF_SETS if dataset.task is Task.MULTILABEL else DEFAULT_METRICS


def _older_version(
    session: Session, dataset: DatasetRecord, version: TruthRecord, since: int | None
) -> TruthRecord | None:
    if since is None:
        parent = version.parent_id
        return None if parent is None else truths.get_truth(session, parent)
    older = version_of(session, dataset, since)
    if older.root_id != version.root_id or older.number >= version.number:
        raise InvalidInput(
            f"version {version.number} does not come from version {since}.",
            field="version",
            hint="Name an older version first; `offdiag truth show` lists the parent of each.",
        )
    return older


def _impact(
    dataset: DatasetRecord,
    version: TruthRecord,
    older: TruthRecord,
    difference: LabelDifference,
    found: tuple[ScoredRun, ...],
) -> TruthImpact:
    runs, metrics = found[:MOST_RUNS], followed_metrics(dataset)
    both = [run for run in runs if run.before is not None and run.after is not None]
    then = [_figures(run, run.before) for run in both if run.before is not None]
    now = [_figures(run, run.after) for run in both if run.after is not None]
    unscored = [run for run in runs if run.after is None]
    reranked = rank_changes(then, now, metrics)
    old = {metric: ranks(then, metric) for metric in metrics}
    new = {metric: ranks(now, metric) for metric in metrics}
    return TruthImpact(
        dataset=dataset,
        version=version,
        older=older,
        difference=difference,
        moved=tuple(
            MovedRun(
                run,
                run.before,
                run.after,
                {metric: (old[metric].get(run.id), new[metric].get(run.id)) for metric in metrics},
            )
            for run in both
            if run.before is not None and run.after is not None
        ),
        new=tuple(run for run in runs if run.before is None and run.after is not None),
        waiting=tuple(run for run in unscored if run.state is not RunState.FAILED),
        failed=tuple(run for run in unscored if run.state is RunState.FAILED),
        beyond=find_changes(then, now, metrics).beyond,
        n_reranked={
            metric: sum(change.metric == metric for change in reranked) for metric in metrics
        },
        is_cut=len(found) > MOST_RUNS,
        metrics=metrics,
    )


def _figures(run: ScoredRun, scores: TruthScores) -> RunFigures:
    return RunFigures(
        id=run.id,
        name=run.name,
        model=run.model,
        logged_at=run.created_at,
        truth_number=scores.truth_number,
        suite_version=scores.suite_version,
        input_digest=scores.input_digest,
        n_cases=scores.n_cases,
        n_scored=scores.n_labelled,
        metrics=scores.metrics,
        classes=(),
        has_weights=scores.is_weighted,
    )
