"""Versions of ground truth, corrections, and what they changed."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from offdiag.records.base import DEFAULT_PROJECT, Answered, Asked, InProject, Value


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
