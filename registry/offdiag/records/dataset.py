"""Datasets: what they are, and what their runs are judged by and held against."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from offdiag.domain.runs import Task
from offdiag.records.base import DEFAULT_PROJECT, Answered, Asked
from offdiag.records.run import Labels
from offdiag.records.truth import TruthVersion


class DatasetsWanted(Asked):
    """Which datasets are wanted."""

    project: str | None = Field(default=None, description="Only those of this project.")


class DatasetSummary(Answered):
    """A dataset with its runs counted."""

    project: str
    name: str
    task: Task
    n_classes: int
    labels_inferred: bool
    truth_version: int | None
    n_samples: int | None
    class_counts: list[int] | None
    costs: str | None = Field(description="What its runs are judged by, as `visits@2`.")
    n_runs: int
    runs_by_state: dict[str, int]
    last_logged_at: datetime | None


class DatasetList(Answered):
    """Datasets by project and name."""

    datasets: list[DatasetSummary]


class SliceColumn(Answered):
    """A slice column of the samples of a lineage."""

    root: int
    name: str
    levels: list[str]


class Dataset(Answered):
    """A dataset with its classes, its truth and its runs counted."""

    project: str
    name: str
    task: Task
    labels: Labels
    positive_label: str | None
    positive_by_convention: bool = Field(
        default=False, description="Whether nobody named it: it follows from the labels."
    )
    groups: dict[str, Any] | None = Field(description="How classes are grouped, if they are.")
    truth_versions: list[TruthVersion] = Field(description="Newest first.")
    slices: list[SliceColumn]
    n_runs: int
    runs_by_state: dict[str, int]
    n_behind: int = Field(description="Runs whose results an older truth version gave.")


class NewDataset(Asked):
    """A dataset that is declared before anything is logged on it."""

    project: str = DEFAULT_PROJECT
    name: str
    labels: list[str] = Field(min_length=1, max_length=100_000)
    ordinal: bool = Field(
        default=False, description="Whether the order of the classes means something."
    )
    positive_label: str | None = None


class Judging(Asked):
    """By which costs the runs of a dataset are judged from now on."""

    project: str = DEFAULT_PROJECT
    cost_matrix: str | None = Field(description="`visits` or `visits@3`; null for none.")


class Pinning(Asked):
    """Which run the others of a dataset are held against from now on."""

    project: str = DEFAULT_PROJECT
    run: str | None = Field(description="Id of a complete run of the dataset; null for none.")
    author: str | None = None


class Grouping(Asked):
    """How the classes of a dataset are grouped from now on."""

    project: str = DEFAULT_PROJECT
    hierarchy: dict[str, Any] | None = Field(
        description="By the name of a group: its classes, or further groups; null for none.",
        examples=[{"animal": ["cat", "dog"], "vehicle": {"road": ["car"], "air": ["plane"]}}],
    )


class AskedAgain(Answered):
    """How many runs were asked to be evaluated again."""

    n_runs: int
