"""Datasets, with the default costs and the baseline of their runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from offdiag.domain.runs import RunState, Task
from offdiag.domain.texts import CostName
from offdiag.records.base import InProject, Notices, Request, RequestBody, ResponseBody
from offdiag.records.datasets.truth import TruthVersion, truth_version
from offdiag.records.runs.run import Labels, labels_document

if TYPE_CHECKING:
    from offdiag.domain.texts import Cell
    from offdiag.services.datasets import DatasetDetail
    from offdiag.store.database import Database
    from offdiag.store.dataset_page import DatasetFacts, LoggedRuns


class DatasetsQuery(RequestBody):
    """Filters for datasets."""

    project: str | None = Field(default=None, description="Only datasets of this project.")


class DatasetSummary(ResponseBody):
    """A dataset with its number of runs."""

    project: str
    name: str
    task: Task
    n_classes: int
    labels_inferred: bool
    truth_version: int | None
    n_samples: int | None
    class_counts: list[int] | None
    costs: str | None = Field(description="Default cost matrix, such as `visits@2`.")
    n_runs: int
    runs_by_state: dict[str, int]
    last_logged_at: datetime | None


class DatasetList(ResponseBody):
    """Datasets by project and name."""

    datasets: list[DatasetSummary]


class SliceColumn(ResponseBody):
    """A slice column of the samples of a lineage."""

    root: int
    name: str
    levels: list[str]
    n_suppressed: int = Field(
        default=0,
        description="Number of values that are not shown because few examples have them.",
    )


class Dataset(ResponseBody):
    """A dataset with its classes, its ground truth and its number of runs."""

    project: str
    name: str
    task: Task
    labels: Labels
    positive_label: str | None
    positive_by_convention: bool = Field(
        default=False, description="Whether it follows from the labels because none was named."
    )
    hierarchy: dict[str, Any] | None = Field(
        default=None, description="Class groups, if there are any."
    )
    groups: dict[str, Any] | None = Field(
        default=None, description="The same as `hierarchy`; removed in the next release."
    )
    truth_versions: list[TruthVersion] = Field(description="Newest first.")
    slices: list[SliceColumn]
    n_runs: int
    runs_by_state: dict[str, int]
    n_behind: int = Field(description="Runs with results on an older label version.")

    only_in_the_api: ClassVar[Mapping[str, Any]] = {"groups": True}


class DeclaredDataset(Dataset):
    """A dataset that was created or found by its name."""

    notices: Notices = Field(default=[])


class NewDataset(InProject):
    """A dataset that is created before anything is logged on it."""

    name: str
    labels: list[str] = Field(min_length=1, max_length=100_000)
    ordinal: bool = Field(default=False, description="Whether the classes are ordinal.")
    positive_label: str | None = None


class Judging(InProject):
    """The new default cost matrix of a dataset."""

    cost_matrix: str | None = Field(description="`visits` or `visits@3`; null for none.")


class Pinning(InProject):
    """The new baseline of a dataset."""

    run: str | None = Field(description="Id of a complete run of the dataset; null for none.")
    author: str | None = None


class Baseline(ResponseBody):
    """The run that the others of a dataset are compared with; null if there is none."""

    run: str | None
    run_name: str | None


class Grouping(InProject):
    """The new class groups of a dataset."""

    hierarchy: dict[str, Any] | None = Field(
        description="By group name: its classes, or further groups; null for no groups.",
        examples=[{"animal": ["cat", "dog"], "vehicle": {"road": ["car"], "air": ["plane"]}}],
    )


class AskedAgain(ResponseBody):
    """The number of runs queued for re-evaluation."""

    n_runs: int


def dataset_summary(facts: DatasetFacts, logged: LoggedRuns) -> DatasetSummary:
    return DatasetSummary.made_of(
        facts,
        truth_version=facts.truth_number,
        n_runs=logged.total,
        runs_by_state=logged.by_state,
        last_logged_at=logged.last_logged_at,
    )


def asked_datasets(database: Database, asked: DatasetsQuery) -> DatasetList:
    """The datasets of a project, by default of all."""
    from offdiag.store.dataset_page import dataset_overview

    with database.read() as session:
        found = dataset_overview(session)
    return DatasetList(
        datasets=[
            dataset_summary(facts, logged)
            for facts, logged in found
            if asked.project in {None, facts.project}
        ]
    )


EVERY_DATASET = Request("/datasets", DatasetList, lambda at: asked_datasets(at, DatasetsQuery()))
"""All datasets; on a server, those that the caller may view."""


_BEFORE_STATES = ("project", "name", "task", "truth_version", "n_samples", "n_classes", "n_runs")
DATASET_COLUMNS = (*_BEFORE_STATES, *(state.value for state in RunState), "last_logged_at")


def dataset_row(dataset: DatasetSummary) -> tuple[Cell, ...]:
    """A dataset as a line of CSV, in the order of `DATASET_COLUMNS`."""
    states = (dataset.runs_by_state[state.value] for state in RunState)
    return (*dataset.row(_BEFORE_STATES), *states, *dataset.row(["last_logged_at"]))


def asked_dataset(database: Database, project: str, name: str) -> Dataset:
    """A dataset by its name. Raises `NotFound`."""
    from offdiag.services.datasets import browse_dataset

    return dataset_document(browse_dataset(database, project=project, dataset=name))


def asked_baseline(database: Database, project: str, dataset: str) -> Baseline:
    """The baseline of a dataset. Raises `NotFound`."""
    from offdiag.services.datasets import baseline_of

    found = baseline_of(database, project=project, dataset=dataset)
    if found is None:
        return Baseline(run=None, run_name=None)
    return Baseline(run=found.run_id, run_name=found.run_name)


def asked_judging(database: Database, dataset: str, asked: Judging) -> AskedAgain:
    """Set or remove the default costs of a dataset."""
    from offdiag.services.cost_matrices import set_default_costs

    wanted = None if asked.cost_matrix is None else CostName.parse(asked.cost_matrix)
    n_runs = set_default_costs(database, project=asked.project, dataset=dataset, wanted=wanted)
    return AskedAgain(n_runs=n_runs)


def dataset_document(found: DatasetDetail) -> Dataset:
    """A dataset with its classes, its ground truth and its number of runs."""
    dataset = found.dataset
    hierarchy = None if dataset.hierarchy is None else dataset.hierarchy.to_dict()
    return Dataset.made_of(
        dataset,
        labels=labels_document(dataset.labels),
        hierarchy=hierarchy,
        groups=hierarchy,
        truth_versions=list(map(truth_version, found.versions)),
        slices=list(map(SliceColumn.made_of, found.slices)),
        n_runs=found.runs.total,
        runs_by_state=found.runs.by_state,
        n_behind=found.runs.n_behind,
    )


CLASS_COUNT_COLUMNS = ("truth_version", "label", "n_samples", "share_of_labelled")


def class_count_rows(found: DatasetDetail) -> Iterator[tuple[Cell, ...]]:
    """One line of CSV for each label version and class, newest version first."""
    for version in found.versions:
        for name, count in zip(found.dataset.labels.names, version.class_counts, strict=True):
            share = count / version.n_labelled if version.n_labelled else None
            yield (version.number, name, count, share)
