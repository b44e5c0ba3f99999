"""Labels that independent models contradict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.domain.sample_content import SuspectQuestion
from offdiag.records.base import InProject, ResponseBody

if TYPE_CHECKING:
    from offdiag.domain.texts import Cell
    from offdiag.services.samples.suspects import SuspectLabels

MOST_SUSPECTS = 10_000


class SuspectsQuery(InProject):
    """Which suspect labels are wanted."""

    class_label: str | None = Field(default=None, description="Only labels of this class.")
    at_least: int = Field(default=1, ge=1, le=1_000, description="Models against the label.")
    start: int = Field(default=0, ge=0, le=10**9)
    limit: int = Field(default=100, ge=1, le=MOST_SUSPECTS)

    def question(self) -> SuspectQuestion:
        """As the service is asked."""
        return SuspectQuestion(self.class_label, self.at_least, self.start, self.limit)


class VotingModel(ResponseBody):
    """One independent vote: the best run of a model."""

    model: str
    run: str
    run_name: str
    n_runs: int
    has_probabilities: bool


class ModelLeftOut(ResponseBody):
    """A model without a vote."""

    model: str
    why: str


class ModelAnswer(ResponseBody):
    """What a model predicts, with the probability of it."""

    label: str
    probability: float | None


class SuspectLabel(ResponseBody):
    """A sample whose label is contradicted."""

    sample: int | str
    label: str
    suggested: str
    score: float = Field(description="Mean margin of the suggested class over the label.")
    against: int = Field(description="Models that predict another class than the label.")
    is_confident: bool = Field(description="Whether the suggested class reaches its threshold.")
    reason: str
    answers: list[ModelAnswer] = Field(description="In the order of `models`.")


class Planted(ResponseBody):
    """How errors that were planted on purpose rank; bounds hold 95 % of plantings."""

    n_planted: int
    budget: int
    n_plantings: int
    found: float
    found_low: float
    found_high: float
    precision: float = Field(description="Share of the budget; real errors count as right.")
    precision_low: float
    precision_high: float


class SuspectMove(ResponseBody):
    """Suspects by label and suggested class."""

    label: str
    suggested: str
    n: int


class Suspects(ResponseBody):
    """The suspect labels of the newest label version, most suspect first."""

    project: str
    dataset: str
    version: int
    missing: str | None = Field(description="Why there can be none.")
    models: list[VotingModel]
    left_out: list[ModelLeftOut]
    n_runs_on_training_data: int = Field(description="Runs without a vote for that reason.")
    n_labelled: int
    n_suspect: int
    n_confident: int
    total: int = Field(description="Suspects that fit the question.")
    start: int
    planted: Planted | None
    moves: list[SuspectMove]
    suspects: list[SuspectLabel]


def suspects_document(found: SuspectLabels) -> Suspects:
    """The suspect labels of a dataset."""
    return Suspects.made_of(
        found,
        project=found.dataset.project,
        dataset=found.dataset.name,
        models=[
            VotingModel.made_of(each, model=each.name, run=each.run_id) for each in found.families
        ],
        left_out=[ModelLeftOut(model=each.name, why=each.why) for each in found.left_out],
        n_runs_on_training_data=found.trained_on,
        moves=[SuspectMove(label=a, suggested=b, n=n) for a, b, n in found.moves],
    )


SUSPECT_COLUMNS = ("sample", "label", "suggested", "score", "against", "n_models", "reason")


def suspect_rows(found: Suspects) -> Iterator[tuple[Cell, ...]]:
    """One line of CSV for each suspect."""
    return (
        (
            *(each.sample, each.label, each.suggested, each.score),
            *(each.against, len(found.models), each.reason),
        )
        for each in found.suspects
    )
