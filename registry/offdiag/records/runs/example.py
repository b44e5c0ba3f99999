"""Documents of single predictions of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.errors import Conflict
from offdiag.records.base import Page, Paged, ResponseBody
from offdiag.records.runs.run import IsOutdated, outdated_document
from offdiag.services.examples.selection import ExampleOrder, ExampleQuestion, Kind, SortKey

if TYPE_CHECKING:
    from offdiag.services.examples import page


class ExamplesQuery(Paged):
    """Filters for predictions. With both classes, all predictions in that cell of the matrix."""

    actual: str | None = None
    predicted: str | None = None
    kind: Kind = Kind.WRONG
    sample: str | None = Field(default=None, description="Text contained in the sample id.")
    slice: str | None = Field(default=None, max_length=1_000, examples=["country=DE"])
    sort: SortKey | None = Field(
        default=None,
        description="By confidence if there are scores, otherwise in the order of logging.",
    )
    descending: bool = False

    def question(self) -> ExampleQuestion:
        """The query for the service."""
        return ExampleQuestion(
            actual=self.actual,
            predicted=self.predicted,
            kind=self.kind,
            sample=self.sample,
            part=self.slice,
            order=None if self.sort is None else ExampleOrder(self.sort, self.descending),
        )


class ClassScore(ResponseBody):
    """The score of a class."""

    label: str
    score: float


class LabelSets(ResponseBody):
    """The labels of a sample, in label order."""

    actual: list[str] | None = Field(description="Null if they are not known yet.")
    predicted: list[str]


class Example(ResponseBody):
    """A prediction and its sample."""

    index: int = Field(description="Number of the prediction in the run, from 0.")
    sample: int | str
    actual: str | None = Field(description="Null if the sample has no label yet.")
    predicted: str
    confidence: float | None = Field(
        description="Score of the predicted class. With a single score s, the other class has "
        "1 - s if scores are probabilities, otherwise -s.",
    )
    margin: float | None
    top: list[ClassScore]
    slices: dict[str, str]
    sets: LabelSets | None = Field(
        default=None,
        description="Present if examples have sets of labels; `actual` and `predicted` are then "
        "texts.",
    )


class ExamplePage(Page):
    """A page of predictions with the ground truth used for the results."""

    run: str
    total: int
    start: int = Field(description="Number of predictions before this page.")
    has_scores: bool
    has_ids: bool
    slice_names: list[str]
    examples: list[Example]
    outdated: IsOutdated = None


def example_page(run_id: str, found: page.ExamplePage, token: str | None = None) -> ExamplePage:
    """A page of predictions. Raises `Conflict` for a run without predictions."""
    if found.missing is not None:
        raise Conflict(
            f"run {run_id} has no predictions to show.",
            field="run",
            hint="A run that was logged as a matrix has none; an open one has to be finished.",
        )
    return ExamplePage.made_of(
        found,
        run=run_id,
        examples=list(map(Example.made_of, found.examples)),
        next_page_token=token,
        outdated=outdated_document(found.detail.outdated),
    )
