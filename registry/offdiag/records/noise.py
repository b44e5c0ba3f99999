"""How much wrong labels matter for the models of a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.records.base import InProject, ResponseBody

if TYPE_CHECKING:
    from offdiag.services.samples.noise import LabelNoise, NoisyPair

METHOD = (
    "Noise matrix: confident learning (Northcutt et al. 2021) on the mean probabilities of the "
    "models. Ranges: all ways to spread it over the examples (Fréchet bounds). Order: paired "
    "differences by Tango's interval with the worst labels for the leader, Bonferroni over all "
    "pairs."
)


class NoiseQuery(InProject):
    """For which share of wrong labels ranges are wanted."""

    share: float = Field(default=0.03, ge=0, le=0.5)


class NoiseEstimate(ResponseBody):
    """The share of labels that are estimated to be wrong."""

    share: float
    ci_low: float
    ci_high: float


class RecallRange(ResponseBody):
    """Recall of a class with the present labels, and between what it lies with right ones."""

    label: str
    value: float | None
    low: float | None
    high: float | None


class ModelUnderNoise(ResponseBody):
    """The best run of a model; ranges are bounds, not intervals."""

    model: str
    run: str
    accuracy: float
    low: float | None = Field(description="Under the estimated noise; null without one.")
    high: float | None
    any_low: float = Field(description="Under any wrong labels up to `share`.")
    any_high: float
    rank_low: int = Field(description="Best place under any wrong labels up to `share`.")
    rank_high: int
    recalls: list[RecallRange]


class PairUnderNoise(ResponseBody):
    """A model and a less accurate one."""

    leader: str
    other: str
    difference: float
    holds_up_to: float | None = Field(
        description="It leads under any noise up to this share; null: it leads under none."
    )
    statement: str


class Noise(ResponseBody):
    """What wrong labels can do, the most accurate model first."""

    project: str
    dataset: str
    version: int
    n_labelled: int
    share: float
    method: str
    estimated: NoiseEstimate | None
    missing: str | None = Field(description="Why the noise cannot be estimated.")
    models: list[ModelUnderNoise]
    pairs: list[PairUnderNoise]


def pair_statement(pair: NoisyPair) -> str:
    """ "A leads B under any noise up to 3 %."."""
    names = f"{pair.leader.name} and {pair.other.name}"
    if pair.share is None:
        return f"{names} cannot be told apart, even if all labels are right."
    noise = "if all labels are right; one wrong label can end that"
    if pair.share > 0:
        # Rounded down, or more noise would be claimed than was found.
        noise = f"under any noise up to {int(pair.share * 1_000) / 10:.1f} %"
    return f"{pair.leader.name} leads {pair.other.name} {noise}."


def noise_document(found: LabelNoise) -> Noise:
    """What wrong labels can do to the models of a dataset."""
    estimated = found.estimated
    return Noise.made_of(
        found,
        project=found.dataset.project,
        dataset=found.dataset.name,
        n_labelled=found.n,
        method=METHOD,
        estimated=None
        if estimated is None
        else NoiseEstimate(share=estimated.share, ci_low=estimated.low, ci_high=estimated.high),
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
