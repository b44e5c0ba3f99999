"""Documents of the best runs of a dataset, its champion and its candidate."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import Field

from offdiag.domain.runs import PromotionRole
from offdiag.records.base import InProject, ResponseBody, Value
from offdiag.records.datasets.dataset import Dataset

if TYPE_CHECKING:
    from offdiag.services.champions.decision import RankedDataset
    from offdiag.services.champions.leaders import Leader, Leaders
    from offdiag.services.champions.promotions import DatasetPromotions
    from offdiag.settings import Settings
    from offdiag.store.database import Database
    from offdiag.store.promotions import PromotionRecord


class Promotion(ResponseBody):
    """A decision that gives a run a role."""

    role: PromotionRole
    run: str | None = Field(description="Id of the run; null if the role was withdrawn.")
    run_name: str | None
    reason: str | None
    author: str | None
    at: datetime
    truth_version: int | None = Field(description="Label version of the recorded metrics.")
    metrics: dict[str, float | None]
    undefined: dict[str, str] | None = Field(
        default=None,
        description="The reasons of metrics without a value; null in decisions of earlier "
        "versions.",
    )
    is_weighted: bool | None = Field(
        default=None,
        description="Whether the run has sample weights, so that its metrics are weighted; null "
        "if the role was withdrawn or the run was deleted permanently.",
    )
    gate: dict[str, Any] | None = Field(description="The results of the conditions of the gate.")


class Promotions(ResponseBody):
    """Champion and candidate of a dataset, and at most 100 decisions, newest first."""

    project: str
    dataset: str
    champion: Promotion | None
    candidate: Promotion | None
    history: list[Promotion]


class NewPromotion(InProject):
    """The run of the dataset that gets a role; null withdraws the role."""

    run: str | None = Field(description="Id of an evaluated run of the dataset; null for none.")
    reason: str | None = Field(
        default=None, description="Required for a champion and for withdrawing one."
    )
    author: str | None = None
    gate: list[str] = Field(
        default=[],
        max_length=50,
        description="Conditions to check the run with, such as `recall[mel] >= 0.8`.",
    )
    although_gate_fails: bool = Field(
        default=False, description="Approve the run even if it fails the gate."
    )


class RankedRun(ResponseBody):
    """A run with its value; `difference` is the difference from the best run, with a simultaneous
    interval."""

    id: str
    name: str
    model: str | None
    created_at: datetime
    value: Value
    in_best_set: bool
    rank_status: str
    difference: Value | None
    p_adjusted: float | None


class BestOfMany(ResponseBody):
    """The run with the best value of `n_runs`, three or more, that were compared."""

    run: str
    n_runs: int
    value: float
    corrected: Value = Field(
        description="Its expected value on new examples: it was chosen for its value on these. "
        "Undefined if a class has too few examples."
    )


class RankedRuns(ResponseBody):
    """The runs of a dataset, best first.

    The best set contains the best run with 95 % confidence, corrected for the number of runs.
    """

    project: str
    dataset: str
    metric: str
    truth_version: int | None
    n_runs: int = Field(description="Number of ranked runs; at most the first 200 are listed.")
    n_outdated: int = Field(description="Number of runs without results on the newest labels.")
    n_weighted: int = Field(
        default=0,
        description="Number of runs with sample weights, which are not ranked with the others.",
    )
    n_chosen_here: int = Field(
        default=0,
        description="Number of listed runs that are not compared, because their thresholds were "
        "chosen on the same examples.",
    )
    why_not_tested: str | None = Field(description="Why there is no best set, if so.")
    best_set: list[str] = Field(
        description="Ids of runs without a significant difference from the best."
    )
    best_of_many: BestOfMany | None = Field(
        description="The run with the best value; null for fewer than three runs, if they were "
        "not tested, and for more than 500,000 predictions and cells of matrices in all."
    )
    runs: list[RankedRun]


class DatasetDecision(Dataset):
    """A dataset with the decision on which run to use."""

    verdict: str = Field(description="A sentence about which runs may be the best.")
    primary_metric: str
    best_set: list[str] = Field(
        description="Ids of runs without a significant difference from the best."
    )
    champion: Promotion | None
    candidate: Promotion | None


class PrimaryMetric(InProject):
    """The metric by which the runs of a dataset are ranked."""

    metric: str | None = Field(description="Key of an aggregate metric; null for the default.")


def asked_promotion(
    database: Database,
    role: PromotionRole,
    run_id: str,
    asked: NewPromotion,
    *,
    author: str | None,
    settings: Settings,
) -> Promotion:
    """Give a run the role. Raises what `promote` raises."""
    from offdiag.services.champions.promotions import promote

    made = promote(
        database,
        role,
        run_id,
        reason=asked.reason,
        author=author,
        conditions=asked.gate,
        although_gate_fails=asked.although_gate_fails,
        settings=settings,
    )
    return promotion_document(made)


def promotion_document(found: PromotionRecord) -> Promotion:
    return Promotion.made_of(found, run=found.run_id, truth_version=found.truth_number)


def promotions_document(found: DatasetPromotions) -> Promotions:
    """Champion, candidate and history of a dataset."""
    return Promotions(
        project=found.dataset.project,
        dataset=found.dataset.name,
        champion=None if found.champion is None else promotion_document(found.champion),
        candidate=None if found.candidate is None else promotion_document(found.candidate),
        history=[promotion_document(each) for each in found.history],
    )


def dataset_with_decision(
    document: Dataset, found: RankedDataset, *, verdict: str
) -> DatasetDecision:
    """A dataset with what its first page says about its runs."""
    return DatasetDecision(
        **dict(document),
        verdict=verdict,
        primary_metric=found.leaders.metric,
        best_set=[each.run.id for each in found.leaders.best_set],
        champion=None if found.champion is None else promotion_document(found.champion),
        candidate=None if found.candidate is None else promotion_document(found.candidate),
    )


def leaders_document(found: Leaders, *, project: str, dataset: str) -> RankedRuns:
    """The ranked runs of a dataset with their best set."""
    return RankedRuns.made_of(
        found,
        project=project,
        dataset=dataset,
        truth_version=found.truth_number,
        n_runs=found.total,
        best_set=[each.run.id for each in found.best_set],
        best_of_many=None
        if found.best_of_many is None
        else BestOfMany.made_of(
            found.best_of_many, run=found.compared[found.best_of_many.run].run.id
        ),
        runs=[_ranked(each, tested=found.why_not_tested is None) for each in found.runs],
    )


def _ranked(leader: Leader, *, tested: bool) -> RankedRun:
    run, rank = leader.run, leader.rank
    return RankedRun.made_of(
        run,
        in_best_set=tested and leader.is_in_set,
        rank_status=rank.rank_status,
        difference=rank.behind,
        p_adjusted=rank.p_adjusted,
    )
