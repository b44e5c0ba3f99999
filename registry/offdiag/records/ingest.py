"""Documents for logging runs: opening, chunks, closing; and matrices and counts."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pydantic import BaseModel, Field

from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.runs import RunFacts
from offdiag.errors import InvalidInput
from offdiag.inputs.counted_scores import GivenClassScores, GivenEvent
from offdiag.records.base import Notices, RequestBody, ResponseBody
from offdiag.records.runs.run import Labels, RunSaid
from offdiag.services.ingest.batch import GivenCounts, GivenPairedCounts, PairedTable

Text = str | int | bool
"""A class or sample in JSON: 7 and "7" are the same."""


class NewCountedRun(RequestBody, RunSaid):
    """What the author states about one of several runs that were counted together."""

    name: str
    client_key: str | None = Field(
        default=None, description="Makes the call repeatable: the same key finds the same run."
    )
    unique_name: bool = Field(
        default=False, description="Refuse a name that another run of the dataset already has."
    )


class RunFactsBody(NewCountedRun):
    """What the author states about a run, whatever is logged to it."""

    project: str = "default"
    dataset: str

    def facts(self) -> RunFacts:
        """The facts, validated. Raises `InvalidInput`."""
        return RunFacts(**{each.name: getattr(self, each.name) for each in fields(RunFacts)})


class NewRun(RunFactsBody):
    """A run to which chunks are logged."""

    labels: list[Text] | None = Field(
        default=None, description="Classes in order; may be left out for a dataset that exists."
    )
    ordinal: bool = False
    labels_inferred: bool = Field(
        default=False,
        description="Whether the labels were only found in the data: a dataset that exists "
        "keeps its own.",
    )
    positive_label: Text | None = None
    hierarchy: dict[str, Any] | None = Field(
        default=None, description="Classes of the dataset in groups of groups."
    )

    def label_set(self) -> LabelSet | None:
        """The labels, None if none were given. Raises `InvalidInput`."""
        if self.labels is None:
            return None
        declared = LabelSet.declared(self.labels, ordinal=self.ordinal)
        return LabelSet(declared.names, declared.ordinal, inferred=self.labels_inferred)


class OpenedRun(ResponseBody):
    """The run that was opened, or found by its client key, and its classes."""

    id: str
    state: str
    project: str
    dataset: str
    task: str
    labels: Labels
    positive_label: str | None
    positive_by_convention: bool = Field(
        default=False, description="Whether it was not named but follows from the labels."
    )
    notices: Notices = Field(default=[])


class Chunk(RequestBody):
    """A chunk as JSON: one entry for each sample in every array.

    Arrow, Parquet and CSV have columns of the same names, with scores of single classes as
    `y_score.<class>` and slices as `slices.<name>`.
    """

    y_pred: list[Text | float] | list[list[Text]] | None = Field(
        default=None,
        description="Classes, or sets of labels; numbers that are not whole are refused. Without "
        "them the scores predict: the class with the highest one, or the positive class from 0.5 "
        "on; the rule is kept with the run.",
    )
    y_true: list[Text | float] | list[list[Text]] | None = None
    y_score: list[float] | list[list[float]] | dict[str, list[float]] | None = Field(
        default=None,
        description="Score of the positive class, or of each class in the order of the labels, or "
        "the scores of each class by its name.",
    )
    sample_ids: list[int] | list[str] | None = None
    slices: dict[str, list[Text]] = Field(default={})
    sample_weight: list[float] | None = Field(
        default=None,
        description="Weight of each example, 0 or more; in all chunks of a run or none.",
    )


class StoredChunk(ResponseBody):
    """A chunk that is stored."""

    run_id: str
    seq: int
    was_there: bool = Field(description="Whether the same content had been stored before.")
    notices: Notices = Field(default=[])


class Closing(RequestBody):
    """What the sender knows about the run it closes, compared with what is stored."""

    n_chunks: int | None = Field(default=None, ge=0)


class ClosedRun(ResponseBody):
    """A run that is complete."""

    id: str
    state: str
    n_predictions: int
    content_digest: str | None = Field(description="Of everything that was logged.")
    notices: Notices = Field(default=[])


class ClosedRuns(ResponseBody):
    """Runs that are complete, in the order in which they were sent."""

    runs: list[ClosedRun]


class NewMatrix(RunFactsBody):
    """A confusion matrix without predictions."""

    matrix: list[list[int | float]]
    hierarchy: dict[str, Any] | None = None
    orientation: str = Field(description='What the rows are: "actual_rows" or "actual_columns".')
    labels: list[Text] | None = None
    ordinal: bool = False
    reported: dict[str, Any] | None = Field(
        default=None, description="Metrics that were reported with it, to be audited."
    )


class CountedScores(RequestBody):
    """Counted scores from 0 to 1 by kind of sample; see `offdiag.log_frame`."""

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

    happened: list[bool] = Field(description="Whether the cases are of the class.")
    sizes: list[int]
    scores: CountedScores

    def given(self) -> GivenEvent:
        """The event in the form that the service takes."""
        return GivenEvent(self.happened, self.sizes, self.scores.model_dump())


class CountedClassScores(RequestBody):
    """Counted scores of every class, each against the rest."""

    labels: list[Text] = Field(description="The classes, in the order of the dataset.")
    of_classes: list[CountedEvent] = Field(description="Of each class in this order.")
    top: CountedEvent = Field(
        description="The largest probability of each case; it happened where its class, the first "
        "one of equals, is the actual one."
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
    """What counts say about the classes of their dataset, if it is new."""

    labels: list[Text] | None = None
    ordinal: bool = False
    positive_label: Text | None = None
    hierarchy: dict[str, Any] | None = None


class NewCounts(RunFactsBody, _OfDataset):
    """Samples that were counted elsewhere: one entry per kind of sample in every list.

    `scores` are those of the positive class of two: for each field, what is known of the scores of
    each kind, which are all in one cell. `class_scores` are those of every class of more than two,
    and exclude slices.
    """

    actual: list[Text]
    predicted: list[Text]
    sizes: list[int]
    counted_on: str = Field(description="The program that counted.")
    slices: SliceValues = Field(
        default={}, description="A value of each kind, or a list of its tags."
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
    """Kinds of samples by the predictions of two or more runs, one entry per kind in each list."""

    actual: list[Text]
    predicted: dict[str, list[Text]] = Field(description="By the name of the run.")
    sizes: list[int]
    slices: SliceValues = Field(
        default={}, description="A value of each kind, or a list of its tags."
    )


class NewPairedCounts(RequestBody, _OfDataset):
    """Several runs that were counted together, elsewhere.

    `tables` is one for all runs, or one for each pair of them.
    """

    runs: list[NewCountedRun]
    tables: list[NewPairedTable]
    project: str = "default"
    dataset: str
    counted_on: str = Field(description="The program that counted.")

    def facts(self) -> tuple[RunFacts, ...]:
        """The facts of each run, validated. Raises `InvalidInput`."""
        return tuple(RunFacts(**run.model_dump(), project=self.project) for run in self.runs)

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
