"""Lists of runs: search results, rankings and their lines in CSV files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Derivation, FoundRun
from offdiag.records.base import (
    InProject,
    Notices,
    Page,
    Paged,
    ResponseBody,
    Value,
    cells_of,
)
from offdiag.records.runs.run import (
    Derived,
    HidesMinority,
    ListedEvaluation,
    ListedOrientation,
    RunBasics,
    derived_document,
    listed_orientation,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from offdiag.domain.texts import Cell
    from offdiag.store.database import Database
    from offdiag.store.run_rows import RunEntry
    from offdiag.store.run_search import SearchPlace


class RunsQuery(Paged):
    """Filters and order for runs."""

    filter: str = Field(
        default="",
        max_length=20_000,
        description=(
            "Conditions on `metrics.<key>`, `metrics.<key>[<class>]`, `params.<name>`, "
            "`tags.<name>` and `attributes.<name>`, with `= != > >= < <= in like`, `and`, `or`, "
            "`not` and parentheses."
        ),
        examples=["metrics.macro_f1 > 0.8 and tags.team = 'vision'"],
    )
    order_by: list[str] = Field(
        default=[],
        max_length=8,
        description="Fields, each followed by `asc` or `desc`; equal runs are newest first. If "
        "sorted by a metric, runs with sample weights come after the others.",
        examples=[["metrics.mcc desc"]],
    )
    project: str | None = None


class ListedClass(ResponseBody):
    """The class with the lowest recall among those that have samples: `tp` of its `support`. Both
    are null if examples have weights, because sums of weights are not numbers of examples.
    """

    label: str
    support: int | None
    tp: int | None
    recall: Value


class RunSummary(RunBasics):
    """A run in a list."""

    only_in_the_api: ClassVar[Mapping[str, Any]] = {"truth_version": True}

    orientation: ListedOrientation | None = None
    derived_from: Derived | None = None
    evaluation: ListedEvaluation | None = Field(
        default=None, description="None until it is evaluated."
    )
    truth_version: int | None = Field(
        default=None,
        description="The label version of `metrics`, as in `evaluation`; removed in the next "
        "release.",
    )
    hides_minority: HidesMinority = None
    may_hide_minority: bool | None = Field(
        default=None,
        description="Whether accuracy may hide one: a large gap in recall is possible, but not "
        "confirmed.",
    )
    metrics: dict[str, Value] = Field(
        description="Aggregate metrics; empty until it is evaluated."
    )
    worst_class: ListedClass | None = None


class RunList(ResponseBody):
    """Runs for the list of a command."""

    only_in_the_api: ClassVar[Mapping[str, Any]] = {"runs": {"__all__": {"truth_version"}}}

    runs: list[RunSummary]
    n_without_slices: int = Field(
        default=0,
        description="If the filter has conditions on slices: number of runs with sample weights "
        "that meet its other conditions. They have no metrics of slices, so they are not found.",
    )
    n_weighted: int = Field(
        default=0,
        description="If sorted by a metric: number of runs with sample weights among all that are "
        "found. Their values cannot be compared with the others, which come first.",
    )


class RunPage(Page, RunList):
    """A page of runs."""

    notices: Notices = Field(default=[])


class LeadersQuery(InProject):
    """The metric to rank runs by."""

    metric: str | None = Field(
        default=None, description="Key of an aggregate metric; by default the primary metric."
    )


def run_summary(run: FoundRun) -> RunSummary:
    """A run in a list, with the metrics that were read."""
    worst = run.worst_class
    return RunSummary.made_of(
        run,
        orientation=listed_orientation(run),
        derived_from=derived_document(run.derivation),
        evaluation=None if run.n_samples is None else ListedEvaluation.made_of(run),
        worst_class=None if worst is None else ListedClass.made_of(worst, tp=worst.hits),
    )


def asked_runs(
    database: Database, asked: RunsQuery, *, limit: int, after: SearchPlace | None = None
) -> tuple[RunList, SearchPlace | None]:
    """At most `limit` runs after a place, and the place after which there are more."""
    from offdiag.services.run_search import search_page

    found = search_page(
        database,
        filter_text=asked.filter,
        order_by=asked.order_by,
        project=asked.project,
        after=after,
        limit=limit,
    )
    return RunList.made_of(found, runs=list(map(run_summary, found.runs))), found.following


def found_run(run: RunSummary) -> FoundRun:
    """A found run, as in the same process."""
    origin, orientation, evaluation = run.derived_from, run.orientation, run.evaluation
    return FoundRun(
        **{name: getattr(run, name) for name in RunBasics.model_fields},
        hides_minority=run.hides_minority,
        truth_version=run.truth_version,
        n_samples=None if evaluation is None else evaluation.n_samples,
        n_unlabelled=0 if evaluation is None else evaluation.n_unlabelled,
        source=SourceOrientation.PREDICTIONS if orientation is None else orientation.source,
        orientation_verdict=None if orientation is None else orientation.verdict,
        derivation=None if origin is None else Derivation(origin.run, origin.recipe),
        may_hide_minority=run.may_hide_minority,
        metrics={key: value.measured() for key, value in run.metrics.items()},
    )


_FACTS = (
    *("id", "name", "project", "dataset", "truth_version", "model", "state", "author"),
    *("created_at", "n_predictions", "n_samples", "orientation_verdict", "derived_from"),
)


def run_columns(keys: Sequence[str]) -> tuple[str, ...]:
    """CSV columns of a list whose lines have these metrics."""
    return (
        *_FACTS,
        *(f"{key}{part}" for key in keys for part in ("", "_ci_low", "_ci_high", "_reason")),
        *("worst_class", "worst_class_recall", "worst_class_tp", "worst_class_support"),
        "is_weighted",
    )


def entry_row(entry: RunEntry, keys: Sequence[str]) -> tuple[Cell, ...]:
    """One run for the CSV of a list, in the order of the `run_columns` of its metrics."""
    worst = entry.worst_class
    return (
        *cells_of(entry, _FACTS),
        *(cell for key in keys for cell in _metric_cells(entry, key)),
        *(
            (None, None, None, None)
            if worst is None
            else (worst.label, worst.recall.value, worst.hits, worst.support)
        ),
        *cells_of(entry, ("is_weighted",)),
    )


def _metric_cells(entry: RunEntry, key: str) -> tuple[Cell, ...]:
    value = entry.metrics.get(key)
    if value is None:
        return (None, None, None, None)
    return (value.value, value.ci_low, value.ci_high, value.reason)
