"""Datasets and the versions of their ground truth."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from offdiag.domain.runs import Task
from offdiag.wire.bodies import Answered, Asked
from offdiag.wire.runs import Labels
from offdiag.wire.values import Value

DEFAULT_PROJECT = "default"


class InProject(Asked):
    """The part of a query that says in which project a name is looked up."""

    project: str = DEFAULT_PROJECT


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


class TruthVersion(Answered):
    """One version of the ground truth."""

    version: int
    root: int = Field(description="First version of its lineage.")
    parent: int | None = Field(description="The version it corrects.")
    is_head: bool = Field(description="Whether runs of its lineage are scored with it.")
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


class TruthList(Answered):
    """All versions of the ground truth of a dataset, newest first."""

    project: str
    dataset: str
    versions: list[TruthVersion]


class Correction(Asked):
    """Other labels for some samples. Samples without identifiers are named by position."""

    project: str = DEFAULT_PROJECT
    samples: list[int] | list[str] = Field(min_length=1)
    labels: list[str | None] | list[list[str] | None] = Field(
        min_length=1, description="One for each sample, a list each for sets; null takes it away."
    )
    reason: str
    version: int | None = Field(
        default=None, ge=1, le=10**9, description="A version of the lineage to correct."
    )
    author: str | None = None


class Corrected(Answered):
    """What a correction did."""

    dataset: str
    version: int
    parent: int
    reason: str
    n_corrected: int
    n_newly_labelled: int
    n_unlabelled: int
    n_labelled: int
    n_samples: int
    n_runs: int = Field(description="Runs that are scored again.")
    was_there: bool = Field(description="The same correction had been made before.")


class DifferenceWanted(InProject):
    """Which two versions are compared, and how many samples are named."""

    before: int = Field(ge=1, le=10**9)
    after: int = Field(ge=1, le=10**9)
    start: int = Field(default=0, ge=0, le=10**9)
    limit: int = Field(default=100, ge=1, le=10_000)


class Move(Answered):
    """How many samples went from one label to another; null is no label."""

    before: str | None
    after: str | None
    n: int


class ChangedSample(Answered):
    """A sample and its two labels."""

    sample: int | str
    before: str | None
    after: str | None


class Difference(Answered):
    """What two versions of the labels of the same samples differ in."""

    before: int
    after: int
    n_changed: int
    n_corrected: int
    n_newly_labelled: int
    n_unlabelled: int
    moves: list[Move]
    start: int
    samples: list[ChangedSample]


class ImpactWanted(InProject):
    """Which versions are held against which."""

    since: int | None = Field(
        default=None, ge=1, le=10**9, description="An older version; without it the parent."
    )


class RunName(Answered):
    """A run by id and name."""

    id: str
    name: str


class MovedValue(Answered):
    """A metric of a run before and after."""

    before: Value
    after: Value
    difference: float | None
    is_beyond_interval: bool = Field(description="Whether it left the interval it had.")
    rank_before: int | None
    rank_after: int | None


class MovedRun(RunName):
    """A run that is scored on both sides."""

    truth_before: int | None
    truth_after: int | None
    n_labelled_before: int
    n_labelled_after: int
    metrics: dict[str, MovedValue]


class Impact(Answered):
    """What a correction did to the runs that are scored with it."""

    project: str
    dataset: str
    n_changed_labels: int | None
    runs: list[MovedRun]
    waiting: list[RunName]
    failed: list[RunName]
    only_scored_since: list[RunName]
    is_cut: bool


class Project(Answered):
    """A project that has datasets."""

    name: str
    n_datasets: int
    n_runs: int


class ProjectList(Answered):
    """Projects by name."""

    projects: list[Project]
