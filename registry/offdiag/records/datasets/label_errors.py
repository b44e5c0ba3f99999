"""Documents of labels that independent models contradict, and of the effect of wrong labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.domain.sample_content import SuspectQuestion
from offdiag.domain.texts import name_segment
from offdiag.records.base import InProject, Request, ResponseBody

if TYPE_CHECKING:
    from offdiag.domain.texts import Cell
    from offdiag.services.lru_cache import LruCache
    from offdiag.services.samples.noise import LabelNoise, NoisyPair
    from offdiag.services.samples.suspects import RankedDataset, SuspectLabels
    from offdiag.store.database import Database


MOST_SUSPECTS = 10_000


class SuspectsQuery(InProject):
    """The suspect labels to list."""

    class_label: str | None = Field(default=None, description="Only labels of this class.")
    at_least: int = Field(default=1, ge=1, le=1_000, description="Models against the label.")
    start: int = Field(default=0, ge=0, le=10**9)
    limit: int = Field(default=100, ge=1, le=MOST_SUSPECTS)

    def question(self) -> SuspectQuestion:
        """The question in the form that the service takes."""
        return SuspectQuestion(self.class_label, self.at_least, self.start, self.limit)


class VotingModel(ResponseBody):
    """One independent vote: that of the best run of a model."""

    model: str
    run: str
    run_name: str
    n_runs: int
    has_probabilities: bool


class ModelLeftOut(ResponseBody):
    """A model without a vote."""

    model: str
    why: str


class ModelPrediction(ResponseBody):
    """The prediction of a model with its probability."""

    label: str
    probability: float | None


class SuspectLabel(ResponseBody):
    """A sample whose label models contradict."""

    sample: int | str
    label: str
    suggested: str
    score: float = Field(description="Mean margin by which the suggested class exceeds the label.")
    against: int = Field(description="Models that predict another class than the label.")
    is_confident: bool = Field(description="Whether the suggested class reaches its threshold.")
    reason: str
    answers: list[ModelPrediction] = Field(description="In the order of `models`.")


class Planted(ResponseBody):
    """How errors planted on purpose rank; the bounds contain 95 % of plantings."""

    n_planted: int
    budget: int
    n_plantings: int
    found: float
    found_low: float
    found_high: float
    precision: float = Field(
        description="Share of the budget; real errors count as correct labels."
    )
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
    missing: str | None = Field(description="Why there are no suspects.")
    models: list[VotingModel]
    left_out: list[ModelLeftOut]
    n_runs_on_training_data: int = Field(description="Runs without a vote for that reason.")
    n_labelled: int
    n_suspect: int
    n_confident: int
    total: int = Field(description="Number of suspects that match the query.")
    start: int
    planted: Planted | None
    moves: list[SuspectMove]
    suspects: list[SuspectLabel]


def suspects_document(found: SuspectLabels) -> Suspects:
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


def asked_suspects(
    database: Database,
    dataset: str,
    asked: SuspectsQuery,
    kept: LruCache[RankedDataset] | None = None,
) -> Suspects:
    from offdiag.services.samples.suspects import suspect_labels

    return suspects_document(
        suspect_labels(
            database, project=asked.project, dataset=dataset, question=asked.question(), kept=kept
        )
    )


def suspects_request(dataset: str, asked: SuspectsQuery) -> Request[Suspects]:
    return Request(
        f"/datasets/{name_segment(dataset)}/suspects",
        Suspects,
        lambda at: asked_suspects(at, dataset, asked),
        asked,
    )


def asked_noise(
    database: Database,
    dataset: str,
    asked: NoiseQuery,
    kept: LruCache[RankedDataset] | None = None,
) -> Noise:
    """How much wrong labels matter for the models of a dataset."""
    from offdiag.services.samples.noise import label_noise

    return noise_document(
        label_noise(database, project=asked.project, dataset=dataset, share=asked.share, kept=kept)
    )


def noise_request(dataset: str, asked: NoiseQuery) -> Request[Noise]:
    return Request(
        f"/datasets/{name_segment(dataset)}/noise",
        Noise,
        lambda at: asked_noise(at, dataset, asked),
        asked,
    )


SUSPECT_COLUMNS = ("sample", "label", "suggested", "score", "against", "n_models", "reason")


def suspect_rows(found: Suspects) -> Iterator[tuple[Cell, ...]]:
    return (
        (
            *(each.sample, each.label, each.suggested, each.score),
            *(each.against, len(found.models), each.reason),
        )
        for each in found.suspects
    )


_NOISE_METHOD = (
    "Noise matrix: confident learning (Northcutt et al. 2021) on the mean probabilities of the "
    "models. Ranges: all ways to spread it over the examples (Fréchet bounds). Order: paired "
    "differences by Tango's interval with the worst labels for the leader, Bonferroni over all "
    "pairs of runs of different models, because the best run of each was chosen."
)


class NoiseQuery(InProject):
    """The share of wrong labels that the ranges allow for."""

    share: float = Field(default=0.03, ge=0, le=0.5)


class RecallRange(ResponseBody):
    """Recall of a class with the current labels, and its range with correct labels."""

    label: str
    value: float | None
    low: float | None
    high: float | None


class ModelUnderNoise(ResponseBody):
    """The best run of a model; ranges are bounds, not intervals."""

    model: str
    run: str
    accuracy: float
    low: float | None = Field(description="With the estimated noise; null without an estimate.")
    high: float | None
    any_low: float = Field(description="With any wrong labels up to `share`.")
    any_high: float
    rank_low: int = Field(description="Best rank with any wrong labels up to `share`.")
    rank_high: int
    recalls: list[RecallRange]


class PairUnderNoise(ResponseBody):
    """A model and a less accurate one."""

    leader: str
    other: str
    difference: float
    holds_up_to: float | None = Field(
        description="Largest share of wrong labels with which it still leads, whichever they are; "
        "null: it never leads."
    )
    statement: str


class Noise(ResponseBody):
    """The possible effect of wrong labels, most accurate model first."""

    project: str
    dataset: str
    version: int
    n_labelled: int
    share: float
    method: str
    estimated: float | None = Field(
        description="Share of labels estimated to be wrong, including errors that all models make."
    )
    missing: str | None = Field(description="Why the noise cannot be estimated.")
    models: list[ModelUnderNoise]
    pairs: list[PairUnderNoise]


def pair_statement(pair: NoisyPair) -> str:
    """A sentence such as "A leads B under any noise up to 3 %."."""
    names = f"{pair.leader.name} and {pair.other.name}"
    if pair.share is None:
        return f"{names} show no significant difference, even if all labels are right."
    noise = "if all labels are right; one wrong label can end that"
    if pair.share > 0:
        # Rounded down, so that no more noise is claimed than was found.
        noise = f"under any noise up to {_rounded_down(pair.share)} %"
    return f"{pair.leader.name} leads {pair.other.name} {noise}."


def _rounded_down(share: float) -> str:
    """The share in percent, with more than one decimal if it would otherwise be 0."""
    decimals = 1
    while (whole := int(100 * share * 10**decimals + 1e-9)) == 0:
        decimals += 1
    return f"{whole / 10**decimals:.{decimals}f}"


def _noise_method(found: LabelNoise) -> str:
    if not found.weighted:
        return _NOISE_METHOD
    return f"{_NOISE_METHOD} Left out, with sample weights: {', '.join(found.weighted)}."


def noise_document(found: LabelNoise) -> Noise:
    """The possible effect of wrong labels on the models of a dataset."""
    return Noise.made_of(
        found,
        project=found.dataset.project,
        dataset=found.dataset.name,
        n_labelled=found.n,
        method=_noise_method(found),
        models=[
            ModelUnderNoise.made_of(each, model=each.family.name, run=each.family.run_id)
            for each in found.models
        ],
        pairs=[
            PairUnderNoise.made_of(
                pair,
                leader=pair.leader.name,
                other=pair.other.name,
                holds_up_to=pair.share,
                statement=pair_statement(pair),
            )
            for pair in found.pairs
        ],
    )
