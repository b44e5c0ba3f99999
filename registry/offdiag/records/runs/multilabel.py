"""Documents of multi-label runs: what their labels cost, and which labels they confuse."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.domain.number_text import amounts_for, read_number
from offdiag.errors import InvalidInput
from offdiag.metrics.multilabel_runs.confused import Confusion
from offdiag.records.base import Request, RequestBody, ResponseBody, Value

if TYPE_CHECKING:
    from offdiag.metrics.multilabel_runs.confused import ConfusedLabel
    from offdiag.services.multilabel import ConfusedLabels, LabelCost, LabelCosts
    from offdiag.store.database import Database


_COSTS_METHOD = (
    "Intervals of a label are those of a run of two classes; that of the mean is Student's over "
    "examples. A threshold is chosen on four parts of five and pays on the fifth, averaged over "
    "20 random splits."
)


class OutcomeCostsRequest(RequestBody):
    """The cost of a label per example, by outcome."""

    miss: float = 1.0
    false_alarm: float = 1.0
    hit: float = 0.0
    right_rejection: float = 0.0


class LabelCostsRequest(RequestBody):
    """The costs of errors, and the run to compare with."""

    costs: dict[str, OutcomeCostsRequest] = Field(
        default_factory=dict, description="By label.", max_length=10_000
    )
    others: OutcomeCostsRequest = Field(
        default_factory=OutcomeCostsRequest,
        description="Costs of labels that `costs` does not name.",
    )
    baseline: str | None = Field(default=None, description="Id of another run of the dataset.")


class LabelThreshold(ResponseBody):
    """The threshold of a label with the lowest cost on these examples."""

    threshold: float | None = Field(
        description="Null: the label is never predicted. Scores are stored in single precision; "
        "the threshold gives the same predictions in double precision."
    )
    mean_cost: float = Field(
        description="Cost on the examples used to choose it, which is too low."
    )
    expected_cost: float | None = Field(
        description="Cost by cross-fitting, on examples not used to choose it; null with fewer "
        "than five examples with or without the label."
    )
    missed: float | None = Field(description="Expected number on as many examples.")
    false_alarms: float | None


class CostOfLabel(ResponseBody):
    """The costs of one label."""

    label: str
    costs: OutcomeCostsRequest
    n: int
    missed: int
    false_alarms: int
    total_cost: Value
    mean_cost: Value = Field(description="Per example.")
    constant: str = Field(description="The cheaper constant prediction: `always` or `never`.")
    constant_cost: float = Field(description="Per example.")
    threshold: LabelThreshold | None = Field(description="Null without scores.")


class LabelCostsFound(ResponseBody):
    """The costs of the errors of a multi-label run, per example unless stated otherwise."""

    run: str
    n: int
    labels: list[CostOfLabel]
    total_cost: float = Field(description="Total cost over all examples and labels.")
    mean_cost: Value
    constant_cost: float = Field(
        description="Cost of the cheaper constant prediction of each label."
    )
    expected_cost: float | None = Field(
        description="Cost with the cheapest threshold of each label, by cross-fitting."
    )
    baseline: str | None
    difference: Value | None = Field(description="The run minus the baseline, paired.")
    not_paired: str | None = Field(description="Why there is no difference.")
    method: str


def asked_label_costs(
    database: Database, run_id: str, asked: LabelCostsRequest
) -> LabelCostsFound:
    """Compute the cost of the errors of a run."""
    from offdiag.services.multilabel import OutcomeCosts, label_costs_of

    return label_costs_document(
        label_costs_of(
            database,
            run_id,
            costs={name: OutcomeCosts(**dict(each)) for name, each in asked.costs.items()},
            others=OutcomeCosts(**dict(asked.others)),
            baseline=asked.baseline,
        )
    )


def label_costs_request(run_id: str, asked: LabelCostsRequest) -> Request[LabelCostsFound]:
    return Request(
        f"/runs/{run_id}/label-costs",
        LabelCostsFound,
        lambda at: asked_label_costs(at, run_id, asked),
        asked,
        "POST",
    )


def costs_of_text(text: str) -> OutcomeCostsRequest:
    """ "5:1": the cost of missing a label and that of a false alarm, by default 1. Raises
    `InvalidInput` for other texts.
    """
    miss, _, alarm = text.partition(":")
    try:
        return OutcomeCostsRequest(miss=read_number(miss), false_alarm=read_number(alarm or "1"))
    except ValueError:
        raise InvalidInput(
            f"{text!r} are not costs.",
            field="costs",
            hint="Give the cost of a missed label and of a false alarm, such as 5:1.",
        ) from None


def costs_of_texts(texts: Iterable[str]) -> dict[str, OutcomeCostsRequest]:
    """Costs by label from texts such as "sea=5:1". Raises the same as `costs_of_text`."""
    found = {}
    for text in texts:
        label, sign, costs = text.rpartition("=")
        if not sign:
            raise InvalidInput(f"{text!r} names no label.", field="costs", hint="Write label=5:1.")
        found[label.strip()] = costs_of_text(costs)
    return found


def label_costs_document(found: LabelCosts) -> LabelCostsFound:
    return LabelCostsFound.made_of(
        found,
        run=found.run_id,
        labels=[_label(each, found.n) for each in found.labels],
        total_cost=(found.mean.value or 0.0) * found.n,
        mean_cost=found.mean,
        constant_cost=found.constant,
        expected_cost=found.chosen,
        method=_COSTS_METHOD,
    )


def _label(found: LabelCost, n: int) -> CostOfLabel:
    return CostOfLabel.made_of(
        found,
        costs=asdict(found.outcomes),
        n=found.support,
        total_cost=found.costs["total_cost"],
        mean_cost=found.costs["mean_cost"],
        constant_cost=(found.costs["best_trivial_cost"].value or 0.0) / max(n, 1),
        threshold=_threshold(found),
    )


def _threshold(found: LabelCost) -> LabelThreshold | None:
    choice = found.thresholds
    if choice is None or choice.best is None:
        return None
    honest, at = choice.crossfitted, choice.best_threshold
    return LabelThreshold(
        threshold=at if at is not None and isfinite(at) else None,
        mean_cost=choice.best.cost.value or 0.0,
        expected_cost=None if honest is None else honest.mean_cost,
        missed=None if honest is None else honest.missed,
        false_alarms=None if honest is None else honest.false_alarms,
    )


@dataclass(frozen=True, slots=True)
class LabelCostTexts:
    """The costs of one label per example, and its cheapest threshold, as tables show them."""

    cost: str
    interval: str
    constant: str
    threshold: str
    expected: str


def label_cost_texts(found: CostOfLabel) -> LabelCostTexts:
    """Texts that are empty where there is no number."""
    mean, choice = found.mean_cost, found.threshold
    expected = None if choice is None else choice.expected_cost
    amounts = amounts_for(
        each for each in (mean.value, mean.ci_high, found.constant_cost, expected) if each
    )
    has_interval = mean.ci_low is not None and mean.ci_high is not None
    threshold = ""
    if choice is not None:
        # Nine digits tell all numbers of single precision apart, so that it can be typed again.
        threshold = "never" if choice.threshold is None else f"{choice.threshold:.9g}"
    return LabelCostTexts(
        cost="–" if mean.value is None else amounts.text(mean.value),
        interval=amounts.interval(mean.ci_low or 0.0, mean.ci_high or 0.0) if has_interval else "",
        constant="" if mean.value is None else amounts.text(found.constant_cost),
        threshold=threshold,
        expected="" if expected is None else amounts.text(expected),
    )


def label_cost_lines(found: LabelCostsFound) -> list[str]:
    """All labels together, in sentences."""
    mean = found.mean_cost
    if mean.value is None:
        return ["No example of the run has labels, so their errors have no cost."]
    amounts = amounts_for([mean.value, found.constant_cost])
    ends = ""
    if mean.ci_low is not None and mean.ci_high is not None:
        ends = f" (95 % CI {amounts.text(mean.ci_low)} to {amounts.text(mean.ci_high)})"
    lines = [f"All labels cost {amounts.text(mean.value)} per example{ends}."]
    constant = amounts.text(found.constant_cost)
    lines.append(f"The cheaper constant prediction of each label costs {constant}.")
    if found.expected_cost is not None:
        lines.append(
            f"With the cheapest threshold of each label they are expected to cost "
            f"{amounts.text(found.expected_cost)} on new examples."
        )
    gap = found.difference
    if gap is not None and gap.value is not None:
        said = f"{amounts.signed(gap.value)} per example"
        if gap.ci_low is not None and gap.ci_high is not None:
            said += f" (95 % CI {amounts.signed(gap.ci_low)} to {amounts.signed(gap.ci_high)})"
        lines.append(f"Difference to {found.baseline}: {said}.")
    if found.not_paired is not None:
        lines.append(f"Not compared with {found.baseline}: {found.not_paired}.")
    return lines


_CONFUSED_METHOD = (
    "One-sided exact tests of Fisher on the examples. A quarter of the error rate each for labels "
    "that are missed, added and replaced, with Holm over all pairs of labels, and for third "
    "labels of the replacements that were found."
)


class ConfusedQuery(RequestBody):
    """The confidence level of the sentences."""

    confidence: float = Field(default=0.95, gt=0, lt=1)


class ConfusionEvidence(ResponseBody):
    """Errors among examples with a property and among the others."""

    errors_with: int
    n_with: int
    errors_without: int
    n_without: int
    p: float
    p_adjusted: float = Field(description="Adjusted over all sentences of the kind.")


class ConfusedLabelFound(ResponseBody):
    """A significant sentence, with the numbers behind it."""

    sentence: str = Field(examples=["sea is predicted as sky when sand is present"])
    evidence_text: str
    kind: Confusion
    label: str
    other: str = Field(description="Predicted in place of the label, or present with it.")
    when: str | None = Field(description="A third label that makes a replacement more frequent.")
    evidence: ConfusionEvidence
    evidence_when: ConfusionEvidence | None


class ConfusedLabelsFound(ResponseBody):
    """Every significant sentence about a multi-label run; often there are none."""

    run: str
    n: int = Field(description="Labelled examples.")
    n_labels: int
    confidence: float
    found: list[ConfusedLabelFound]
    method: str


def asked_confused(database: Database, run_id: str, asked: ConfusedQuery) -> ConfusedLabelsFound:
    """The labels of a run that are confused."""
    from offdiag.services.multilabel import confused_labels_of

    return confused_document(confused_labels_of(database, run_id, confidence=asked.confidence))


def confused_request(run_id: str, asked: ConfusedQuery) -> Request[ConfusedLabelsFound]:
    return Request(
        f"/runs/{run_id}/confused-labels",
        ConfusedLabelsFound,
        lambda at: asked_confused(at, run_id, asked),
        asked,
    )


def confused_document(found: ConfusedLabels) -> ConfusedLabelsFound:
    return ConfusedLabelsFound.made_of(
        found, run=found.run_id, found=list(map(_sentence, found.found)), method=_CONFUSED_METHOD
    )


def _sentence(found: ConfusedLabel) -> ConfusedLabelFound:
    from offdiag.metrics.multilabel_runs.confused import evidence_text, sentence

    return ConfusedLabelFound.made_of(
        found, sentence=sentence(found), evidence_text=evidence_text(found)
    )
