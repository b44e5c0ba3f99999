"""Why a value is undefined, in one clause each."""

from __future__ import annotations

from offdiag.domain.values import Reason

REASON_TEXTS: dict[Reason, str] = {
    Reason.NO_CASES: "there are no cases",
    Reason.NO_ACTUAL_POSITIVES: "no case of this class exists",
    Reason.NO_ACTUAL_NEGATIVES: "every case is of this class",
    Reason.NO_PREDICTED_POSITIVES: "this class was never predicted",
    Reason.NO_PREDICTED_NEGATIVES: "only this class was predicted",
    Reason.CLASS_ABSENT: "the class occurs neither in the ground truth nor in the predictions",
    Reason.CONSTANT_ACTUAL: "all cases are of one class",
    Reason.CONSTANT_PREDICTED: "one class was predicted for every case",
    Reason.CONSTANT_MARGIN: "all cases are of one class, or one class was always predicted",
    Reason.SINGLE_ACTUAL_CLASS: "only one class has cases",
    Reason.SINGLE_CLASS_DECLARED: "only one class is declared",
    Reason.CHANCE_AGREEMENT_CERTAIN: "agreement by chance alone is certain",
    Reason.ORDER_NOT_DECLARED: "the classes have no declared order",
    Reason.CLASS_VALUE_UNDEFINED: "it is undefined for at least one class",
    Reason.COMPONENT_UNDEFINED: "one of the values it is made from is undefined",
    Reason.ZERO_OVER_ZERO: "it is zero divided by zero",
    Reason.POSITIVE_OVER_ZERO: "a positive number is divided by zero; it tends to infinity",
    Reason.TRUE_CLASS_GOT_ZERO: "an actual class was given probability zero",
    Reason.SCORES_NOT_PROBABILITIES: "the scores are not probabilities",
    Reason.NO_SCORES: "no scores were logged",
    Reason.FRACTIONAL_WEIGHTS: "the cases carry fractional weights",
    Reason.TRIVIAL_COST_NOT_POSITIVE: "the cheapest constant answer costs nothing",
    Reason.TRIVIAL_COST_IS_PERFECT: "the cheapest constant answer is already perfect",
    Reason.NO_DISCORDANT_PAIRS: "the runs never disagree",
    Reason.ZERO_VARIANCE: "the variance is zero",
    Reason.TOO_FEW_CLASSES: "there are too few classes with cases",
}

LOG_SCORES = """offdiag.log_run(
    y_true=…, y_pred=…,
    y_score=…,            # (n,) of the positive class, or (n, K) in label order
    positive_label=…,     # where there is one
)"""
"""What to write so that a run has scores, where a page needs them."""


def reason_text(reason: str) -> str:
    """The clause for a stored reason; one of a newer version is shown as its name."""
    try:
        return REASON_TEXTS[Reason(reason)]
    except ValueError:
        return reason.replace("_", " ")
