"""Logging runs: opening, chunks and closing; and matrices without predictions."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pydantic import BaseModel, Field

from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.runs import RunFacts, name_or_default
from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.errors import InvalidInput
from offdiag.inputs.counted_scores import GivenClassScores, GivenEvent
from offdiag.records.base import Notices, RequestBody, ResponseBody
from offdiag.records.runs.run import Labels, RunSaid
from offdiag.services.ingest.batch import GivenCounts, GivenMatrix, GivenPairedCounts, PairedTable

Text = str | int | bool
"""A class or sample id in JSON: 7 and "7" are the same."""


class NewCountedRun(RequestBody, RunSaid):
    """The facts of one of several runs that were counted together."""

    name: str | None = Field(
        default=None,
        description="By default the model, else the client key, else one with the time.",
    )
    client_key: str | None = Field(
        default=None, description="Idempotency key: the same key returns the same run."
    )
    unique_name: bool = Field(
        default=False, description="Refuse a name that another run of the dataset already has."
    )

    def name_or_default(self) -> str:
        """The name of the run, also if none was sent."""
        return name_or_default(
            self.name,
            model=self.model,
            client_key=self.client_key,
            unique_name=self.unique_name,
        )


class RunFactsBody(NewCountedRun):
    """The facts of a run, whatever is logged to it."""

    project: str = DEFAULT_PROJECT
    dataset: str

    def facts(self) -> RunFacts:
        """The facts, validated. Raises `InvalidInput`."""
        said = {each.name: getattr(self, each.name) for each in fields(RunFacts)}
        return RunFacts(**said | {"name": self.name_or_default()})


class NewRun(RunFactsBody):
    """A run whose predictions are sent in chunks."""

    labels: list[Text] | None = Field(
        default=None, description="Classes in order; optional for an existing dataset."
    )
    ordinal: bool = False
    labels_inferred: bool = Field(
        default=False,
        description="Whether the labels were inferred from the data: an existing dataset keeps "
        "its own.",
    )
    positive_label: Text | None = None
    hierarchy: dict[str, Any] | None = Field(
        default=None, description="Class hierarchy of the dataset."
    )

    def label_set(self) -> LabelSet | None:
        """The labels, None if none were given. Raises `InvalidInput`."""
        if self.labels is None:
            return None
        declared = LabelSet.declared(self.labels, ordinal=self.ordinal)
        return LabelSet(declared.names, declared.ordinal, inferred=self.labels_inferred)


class OpenedRun(ResponseBody):
    """The run that was opened, or found by its client key, with its classes."""

    id: str
    state: str
    project: str
    dataset: str
    task: str
    labels: Labels
    positive_label: str | None
    positive_by_convention: bool = Field(
        default=False, description="Whether it follows from the labels because none was named."
    )
    notices: Notices = Field(default=[])


class Chunk(RequestBody):
    """A chunk as JSON: one entry for each sample in every array.

    Arrow, Parquet and CSV have columns of the same names, with scores of single classes as
    `y_score.<class>` and slices as `slices.<name>`.
    """

    y_pred: list[Text | float] | list[list[Text]] | None = Field(
        default=None,
        description="Classes, or sets of labels; fractional numbers are refused. Without them, "
        "predictions follow from the scores: the class with the highest score, or the positive "
        "class from 0.5 on. The rule is stored with the run.",
    )
    y_true: list[Text | float] | list[list[Text]] | None = None
    y_score: list[float] | list[list[float]] | dict[str, list[float]] | None = Field(
        default=None,
        description="Score of the positive class; or a score for each class in the order of the "
        "labels; or lists of scores by class name.",
    )
    sample_ids: list[int] | list[str] | None = None
    slices: dict[str, list[Text]] = Field(default={})
    sample_weight: list[float] | None = Field(
        default=None,
        description="Weight of each example, 0 or more; in all chunks of a run or in none.",
    )


class StoredChunk(ResponseBody):
    """A stored chunk."""

    run_id: str
    seq: int
    was_there: bool = Field(description="Whether the same content had been stored before.")
    notices: Notices = Field(default=[])


class Closing(RequestBody):
    """The sender's totals of the run, which are compared with what is stored."""

    n_chunks: int | None = Field(default=None, ge=0)


class ClosedRun(ResponseBody):
    """A run that is complete."""

    id: str
    state: str
    n_predictions: int
    content_digest: str | None = Field(description="Digest of everything that was logged.")
    notices: Notices = Field(default=[])


class ClosedRuns(ResponseBody):
    """Complete runs, in the order in which they were sent."""

    runs: list[ClosedRun]


class NewMatrix(RunFactsBody):
    """A confusion matrix without its predictions."""

    matrix: list[list[int | float]]
    hierarchy: dict[str, Any] | None = None
    orientation: str = Field(description='What the rows are: "actual_rows" or "actual_columns".')
    labels: list[Text] | None = None
    ordinal: bool = False
    reported: dict[str, Any] | None = Field(
        default=None, description="Metrics reported with the matrix, to be audited."
    )

    def given(self) -> GivenMatrix:
        """The matrix in the form that the service takes."""
        return GivenMatrix(
            self.matrix,
            self.orientation,
            self.labels,
            self.ordinal,
            self.hierarchy,
            self.reported,
        )


class CountedScores(RequestBody):
    """Summary of scores from 0 to 1 by kind of sample; see `offdiag.log_frame`."""

    code: list[int] = Field(description="The cell, in the order of scores.")
    low: list[float] = Field(description="The smallest score, in single precision.")
    high: list[float] = Field(description="The largest score.")
    score: list[float] = Field(description="The sum of the scores p.")
    square: list[float] = Field(description="The sum of p^2.")
    rest_square: list[float] = Field(description="The sum of (1 - p)^2.")
    surprise: list[float] = Field(description="The sum of -ln p, 0 where p is 0.")
    rest_surprise: list[float] = Field(description="The sum of -ln(1 - p), 0 where p is 1.")


class CountedEvent(RequestBody):
    """Samples counted by the cell of one probability, one entry for each kind in every list."""

    happened: list[bool] = Field(description="Whether the samples are of the class.")
    sizes: list[int]
    scores: CountedScores

    def given(self) -> GivenEvent:
        """The event in the form that the service takes."""
        return GivenEvent(self.happened, self.sizes, self.scores.model_dump())


class CountedClassScores(RequestBody):
    """Summary of the scores of every class against the rest."""

    labels: list[Text] = Field(description="The classes, in the order of the dataset.")
    of_classes: list[CountedEvent] = Field(description="For each class in this order.")
    top: CountedEvent = Field(
        description="The largest probability of each sample; the event is that its class (of "
        "equal ones, the first) is the actual one."
    )

    def given(self) -> GivenClassScores:
        """The scores in the form the service takes. Raises `InvalidInput` if classes recur."""
        labels = [label_text(label, field_name="class_scores") for label in self.labels]
        if not len(labels) == len(set(labels)) == len(self.of_classes):
            raise InvalidInput(
                f"{len(self.of_classes)} counts are of {len(set(labels))} classes.",
                field="class_scores",
                hint="Give one for each class.",
            )
        events = (event.given() for event in self.of_classes)
        return GivenClassScores(dict(zip(labels, events, strict=True)), self.top.given())


SliceValues = dict[str, list[Text | list[Text]]]


class _OfDataset(BaseModel):
    """The classes of a dataset that is new with these counts."""

    labels: list[Text] | None = None
    ordinal: bool = False
    positive_label: Text | None = None
    hierarchy: dict[str, Any] | None = None


class NewCounts(RunFactsBody, _OfDataset):
    """Samples that were counted where they are stored: each list has one entry for each kind of
    sample. `scores` summarise the positive class of two: by field name, a value for each kind,
    whose scores are all in one cell. `class_scores` summarise every class of more than two, and
    exclude slices.
    """

    actual: list[Text]
    predicted: list[Text]
    sizes: list[int]
    counted_on: str = Field(description="The program that did the counting.")
    slices: SliceValues = Field(
        default={}, description="A value for each kind, or a list of its tags."
    )
    scores: CountedScores | None = None
    class_scores: CountedClassScores | None = None

    def given(self) -> GivenCounts:
        """The counts in the form that the service takes."""
        return GivenCounts(
            self.actual,
            self.predicted,
            self.sizes,
            self.counted_on,
            self.slices,
            self.labels,
            self.ordinal,
            self.positive_label,
            self.hierarchy,
            None if self.scores is None else self.scores.model_dump(),
            None if self.class_scores is None else self.class_scores.given(),
        )


class NewPairedTable(RequestBody):
    """Kinds of samples by the predictions of two or more runs; each list has one entry for each
    kind."""

    actual: list[Text]
    predicted: dict[str, list[Text]] = Field(description="By run name.")
    sizes: list[int]
    slices: SliceValues = Field(
        default={}, description="A value for each kind, or a list of its tags."
    )


class NewPairedCounts(RequestBody, _OfDataset):
    """Several runs that were counted together where their predictions are stored. `tables` has one
    table for all runs, or one for each pair of runs.
    """

    runs: list[NewCountedRun]
    tables: list[NewPairedTable]
    project: str = DEFAULT_PROJECT
    dataset: str
    counted_on: str = Field(description="The program that did the counting.")

    def facts(self) -> tuple[RunFacts, ...]:
        """The facts of each run, validated. Raises `InvalidInput`."""
        return tuple(
            RunFacts(**run.model_dump() | {"name": run.name_or_default()}, project=self.project)
            for run in self.runs
        )

    def given(self) -> GivenPairedCounts:
        """The counts in the form that the service takes."""
        return GivenPairedCounts(
            [
                PairedTable(table.actual, table.predicted, table.sizes, table.slices)
                for table in self.tables
            ],
            self.counted_on,
            self.labels,
            self.ordinal,
            self.positive_label,
            self.hierarchy,
        )
