"""Label versions, corrections, and their effect."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.records.base import InProject, Notices, ResponseBody, Value

if TYPE_CHECKING:
    from offdiag.domain.texts import Cell
    from offdiag.services.truth.impact import MovedRun as MovedRunRead
    from offdiag.services.truth.impact import TruthImpact
    from offdiag.services.truth.versions import LabelDifference, TruthComparison, TruthHistory
    from offdiag.store.database import Database
    from offdiag.store.truths import TruthSummary


class TruthVersion(ResponseBody):
    """One label version."""

    version: int
    root: int = Field(description="First version of its lineage.")
    parent: int | None = Field(description="The version it corrects.")
    is_head: bool = Field(description="Whether the runs on its samples are evaluated with it.")
    digest: str
    n_samples: int
    n_labelled: int
    sample_ids: str = Field(description='"int", "text" or "position".')
    class_counts: list[int]
    reason: str | None
    author: str | None
    created_at: datetime
    n_runs: int = Field(description="Runs that were logged with it.")
    slices: list[str]


class TruthList(ResponseBody):
    """All label versions of a dataset, newest first."""

    project: str
    dataset: str
    labels: list[str] = Field(default=[], description="The order of `class_counts`.")
    versions: list[TruthVersion]


class Correction(InProject):
    """New labels for some samples. Samples without ids are given by position."""

    samples: list[int] | list[str] = Field(min_length=1)
    labels: list[str | None] | list[list[str] | None] = Field(
        min_length=1,
        description="One for each sample, for multi-label data a list each; null "
        "removes the label.",
    )
    reason: str
    version: int | None = Field(
        default=None, ge=1, le=10**9, description="A label version of the samples to correct."
    )
    author: str | None = None


class SlicesToAdd(InProject):
    """Slice columns for samples of a dataset: for those in `ids`, or for all in order."""

    ids: list[int] | list[str] | None = Field(default=None, min_length=1)
    columns: dict[str, list[str] | list[int] | list[float] | list[list[str]]] = Field(
        min_length=1,
        description="Texts and whole numbers are categories, lists are tags, and other numbers "
        "become ranges.",
        examples=[{"country/site": ["JP/Kyoto", "JP/Kyoto", "DE/Ulm"], "age": [41.5, 60.0, 23.0]}],
    )
    bins: dict[str, int | list[float]] = Field(
        default={}, description="Cut points of a numeric column, or a number of quantiles."
    )
    periods: dict[str, str] = Field(
        default={},
        description="year, quarter, month, week or day, for columns of ISO 8601 texts.",
    )
    version: int | None = Field(default=None, ge=1, le=10**9)


class SlicesAdded(ResponseBody):
    """The slice columns that were added."""

    dataset: str
    root: int = Field(description="First version of the lineage of the samples.")
    columns: list[str] = Field(description="Columns that are new or cover more samples.")
    n_runs: int = Field(description="Number of runs to be re-evaluated.")
    notices: Notices = Field(default=[])


class Corrected(ResponseBody):
    """The result of a correction."""

    dataset: str
    version: int
    parent: int
    reason: str
    n_corrected: int
    n_newly_labelled: int
    n_unlabelled: int
    n_labelled: int
    n_samples: int
    n_runs: int = Field(description="Number of runs to be re-evaluated.")
    was_there: bool = Field(description="Whether the same correction had been made before.")


MOST_SAMPLES = 10_000


class DifferenceQuery(InProject):
    """Which two versions to compare, and how many samples to list."""

    before: int = Field(ge=1, le=10**9)
    after: int = Field(ge=1, le=10**9)
    start: int = Field(default=0, ge=0, le=10**9)
    limit: int = Field(default=100, ge=1, le=MOST_SAMPLES)


class Move(ResponseBody):
    """The number of samples that changed from one label to another; null means no label."""

    before: str | None
    after: str | None
    n: int


class ChangedSample(ResponseBody):
    """A sample and its two labels."""

    sample: int | str
    before: str | None
    after: str | None


class Difference(ResponseBody):
    """The differences between two label versions of the same samples."""

    project: str
    dataset: str
    before: int
    after: int
    n_changed: int
    n_corrected: int
    n_newly_labelled: int
    n_unlabelled: int
    moves: list[Move]
    start: int
    samples: list[ChangedSample]


class ImpactQuery(InProject):
    """Which label versions to compare."""

    since: int | None = Field(
        default=None, ge=1, le=10**9, description="An older version; by default the parent."
    )


class RunName(ResponseBody):
    """A run by id and name."""

    id: str
    name: str


class MovedValue(ResponseBody):
    """A metric of a run before and after."""

    before: Value
    after: Value
    difference: float | None
    is_beyond_interval: bool = Field(description="Whether it is outside its previous interval.")
    rank_before: int | None
    rank_after: int | None


class MovedRun(RunName):
    """A run that is evaluated on both versions."""

    truth_before: int | None
    truth_after: int | None
    n_labelled_before: int
    n_labelled_after: int
    metrics: dict[str, MovedValue]


class Impact(ResponseBody):
    """The effect of a correction on the runs evaluated with it."""

    project: str
    dataset: str
    before: int | None = Field(description="The older version; null for the first one.")
    after: int
    n_changed_labels: int | None
    n_corrected: int | None = None
    n_newly_labelled: int | None = None
    n_unlabelled: int | None = None
    n_reranked: dict[str, int] = Field(
        default={}, description="Number of runs whose rank changed, by metric."
    )
    runs: list[MovedRun]
    waiting: list[RunName]
    failed: list[RunName]
    only_scored_since: list[RunName]
    is_cut: bool


class ImpactInWords(Impact):
    """The same with the sentence of the page about the ranking metric."""

    metric: str
    sentence: str


def truth_version(found: TruthSummary) -> TruthVersion:
    return TruthVersion.made_of(found, version=found.number, sample_ids=found.id_kind)


def asked_truths(database: Database, project: str, dataset: str) -> TruthList:
    """All label versions of a dataset. Raises `NotFound`."""
    from offdiag.services.truth.versions import truth_history

    return truth_list(truth_history(database, project=project, dataset=dataset))


def truth_list(history: TruthHistory) -> TruthList:
    """All label versions of a dataset."""
    return TruthList(
        project=history.dataset.project,
        dataset=history.dataset.name,
        labels=list(history.dataset.labels.names),
        versions=list(map(truth_version, history.versions)),
    )


def difference_document(
    found: TruthComparison, *, project: str, dataset: str, start: int = 0, limit: int | None = None
) -> Difference:
    """The differences between two versions, with all or some of the samples."""
    between = found.difference
    return Difference.made_of(
        between,
        project=project,
        dataset=dataset,
        before=found.before.number,
        after=found.after.number,
        n_changed=len(between),
        start=start,
        samples=list(between.samples(start, None if limit is None else start + limit)),
    )


def asked_difference(
    database: Database, dataset: str, asked: DifferenceQuery, *, limit: int | None
) -> Difference:
    """The differences between two versions, with at most `limit` samples, or with all."""
    from offdiag.services.truth.versions import compare_truths

    found = compare_truths(
        database, project=asked.project, dataset=dataset, before=asked.before, after=asked.after
    )
    return difference_document(
        found, project=asked.project, dataset=dataset, start=asked.start, limit=limit
    )


SAMPLE_COLUMNS = ("sample", "before", "after")


def sample_rows(difference: LabelDifference) -> Iterator[tuple[Cell, ...]]:
    """Every changed sample as a line of CSV; a missing label is empty."""
    return ((each.sample, each.before, each.after) for each in difference.samples())


def asked_impact(database: Database, dataset: str, number: int, asked: ImpactQuery) -> Impact:
    """The effect of a version on the runs of a dataset. Raises `NotFound`."""
    from offdiag.services.truth.impact import truth_impact

    return impact_document(
        truth_impact(
            database, project=asked.project, dataset=dataset, number=number, since=asked.since
        )
    )


def impact_document(impact: TruthImpact) -> Impact:
    """The effect of a correction on the runs evaluated with it."""
    beyond = values_beyond(impact)
    return Impact.made_of(
        impact,
        project=impact.dataset.project,
        dataset=impact.dataset.name,
        before=None if impact.older is None else impact.older.number,
        after=impact.version.number,
        **_counts(impact.difference),
        runs=[_moved_run(moved, beyond, impact.metrics) for moved in impact.moved],
        only_scored_since=impact.new,
    )


def _counts(difference: LabelDifference | None) -> dict[str, int | None]:
    names = ("n_changed_labels", "n_corrected", "n_newly_labelled", "n_unlabelled")
    if difference is None:
        return dict.fromkeys(names)
    return {
        "n_changed_labels": len(difference),
        "n_corrected": difference.n_corrected,
        "n_newly_labelled": difference.n_newly_labelled,
        "n_unlabelled": difference.n_unlabelled,
    }


def values_beyond(impact: TruthImpact) -> set[tuple[str, str]]:
    """Run and metric of every value outside its previous interval."""
    return {(change.run_id, change.metric) for change in impact.beyond}


IMPACT_COLUMNS = (
    *("id", "name", "metric", "before", "before_ci_low", "before_ci_high", "after"),
    *("difference", "is_beyond_interval", "rank_before", "rank_after"),
    *("reason_before", "reason_after"),
)


def impact_rows(impact: TruthImpact) -> Iterator[tuple[Cell, ...]]:
    """One line of CSV for each run and metric; undefined values are empty, with the reason."""
    for run in impact_document(impact).runs:
        for metric, moved in run.metrics.items():
            yield (
                *(run.id, run.name, metric),
                *(moved.before.value, moved.before.ci_low, moved.before.ci_high),
                *(moved.after.value, moved.difference, int(moved.is_beyond_interval)),
                *(moved.rank_before, moved.rank_after),
                *(moved.before.reason, moved.after.reason),
            )


def _moved_run(
    moved: MovedRunRead, beyond: set[tuple[str, str]], metrics: tuple[str, ...]
) -> MovedRun:
    return MovedRun(
        id=moved.run.id,
        name=moved.run.name,
        truth_before=moved.before.truth_number,
        truth_after=moved.after.truth_number,
        n_labelled_before=moved.before.n_labelled,
        n_labelled_after=moved.after.n_labelled,
        metrics={metric: _moved_value(moved, metric, beyond) for metric in metrics},
    )


def _moved_value(moved: MovedRunRead, metric: str, beyond: set[tuple[str, str]]) -> MovedValue:
    before, after = moved.values_of(metric)
    rank_before, rank_after = moved.places[metric]
    return MovedValue(
        before=Value.made_of(before),
        after=Value.made_of(after),
        difference=moved.difference_of(metric),
        is_beyond_interval=(moved.run.id, metric) in beyond,
        rank_before=rank_before,
        rank_after=rank_after,
    )
