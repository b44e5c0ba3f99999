"""F5 to F8: accuracy against the majority class and against metrics that weigh all classes."""

from __future__ import annotations

import numpy as np

from offdiag.domain.number_text import percent, percents
from offdiag.flags.rule_evaluation import (
    FAIR_COIN,
    Floats,
    RuleEvaluation,
    RunRule,
    Subjects,
    all_of,
    at_least,
    compare,
    constant,
    graded,
)
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Evidence, Severity, Sign


def _chance_of_gains(s: Subjects) -> Floats:
    """One-sided sign test of the gains among the discordant examples, (R,)."""
    return at_least(s.gains.hits, s.gains.cases, FAIR_COIN)


def _judge_majority(s: Subjects, t: Thresholds) -> RuleEvaluation:
    skill = s.aggregate("balanced_accuracy_adjusted")
    comparisons = (
        compare(
            "p of so many gains over the constant prediction",
            _chance_of_gains(s),
            Sign.ABOVE,
            t.majority_alpha,
        ),
        compare(
            "adjusted balanced accuracy",
            skill,
            Sign.BELOW,
            t.majority_skill,
            causes=s.causes("balanced_accuracy_adjusted"),
        ),
    )
    fires = all_of(*comparisons)
    severe = compare("skill", skill, Sign.BELOW, t.majority_skill_critical).holds
    return RuleEvaluation(
        fires, graded(fires, Severity.HIGH, Severity.CRITICAL, severe), comparisons
    )


def _describe_majority(s: Subjects, _: Thresholds) -> tuple[str, Evidence]:
    majority = s.names[int(s.largest_class[0])]
    accuracy, baseline = float(s.accuracy[0]), float(s.aggregate("majority_baseline")[0])
    tallied = s.numbers.gains_over(s.largest_class)
    gains = int(tallied.hits[0])
    losses = int(tallied.cases[0]) - gains
    of_run, of_constant = percents(accuracy, baseline)
    message = f"Accuracy is {of_run}; always predicting '{majority}' gives {of_constant}"
    message += "." if s.is_weighted else f" ({gains:,} gained, {losses:,} lost)."
    return message, {
        "accuracy": accuracy,
        "majority": majority,
        "majority_baseline": baseline,
        "gains": gains,
        "losses": losses,
        "p": float(_chance_of_gains(s)[0]),
        "balanced_accuracy_adjusted": float(s.aggregate("balanced_accuracy_adjusted")[0]),
    }


MAJORITY_RULES = (
    RunRule(
        "F5",
        _judge_majority,
        _describe_majority,
        uses=("majority_alpha", "majority_skill", "majority_skill_critical"),
        size=lambda s: s.gains.cases,
    ),
)


MOST_CLASSES_NAMED = 3


def _judge_balanced_accuracy(s: Subjects, t: Thresholds) -> RuleEvaluation:
    gap = s.accuracy - s.aggregate("balanced_accuracy")
    comparisons = (
        compare(
            "accuracy minus balanced accuracy",
            gap,
            Sign.AT_LEAST,
            t.balanced_accuracy_gap,
            causes=s.causes("balanced_accuracy"),
        ),
    )
    fires = all_of(*comparisons)
    severe = compare("gap", gap, Sign.AT_LEAST, t.balanced_accuracy_gap_high).holds
    return RuleEvaluation(
        fires, graded(fires, Severity.MEDIUM, Severity.HIGH, severe), comparisons
    )


def _describe_balanced_accuracy(s: Subjects, _: Thresholds) -> tuple[str, Evidence]:
    accuracy, balanced = float(s.accuracy[0]), float(s.aggregate("balanced_accuracy")[0])
    message = (
        f"Accuracy is {percent(accuracy)}, balanced accuracy {percent(balanced)}: "
        f"frequent classes dominate."
    )
    return message, {
        "accuracy": accuracy,
        "balanced_accuracy": balanced,
        "gap": accuracy - balanced,
    }


def _judge_macro_f1(s: Subjects, t: Thresholds) -> RuleEvaluation:
    gap = s.accuracy - s.aggregate("macro_f1")
    why = s.causes("macro_f1")
    comparisons = (
        compare("accuracy minus macro F1", gap, Sign.AT_LEAST, t.macro_f1_gap, causes=why),
    )
    fires = all_of(*comparisons)
    return RuleEvaluation(fires, constant(fires, Severity.MEDIUM), comparisons)


def _describe_macro_f1(s: Subjects, _: Thresholds) -> tuple[str, Evidence]:
    accuracy, macro = float(s.accuracy[0]), float(s.aggregate("macro_f1")[0])
    worst = _classes_below(s, macro)
    names = ", ".join(f"'{name}'" for name in worst)
    message = f"Accuracy is {percent(accuracy)}, macro F1 {percent(macro)}; lowest F1: {names}."
    return message, {
        "accuracy": accuracy,
        "macro_f1": macro,
        "gap": accuracy - macro,
        "worst_classes": worst,
    }


def _classes_below(s: Subjects, macro: float) -> list[str]:
    """The classes with the lowest F1, worst first, among those below the mean; a few only.

    Of equal ones, the class with more samples comes first.
    """
    f1 = s.per_class("f1")[0]
    order = np.lexsort((-s.actual[0], f1))
    below = [s.names[code] for code in order.tolist() if f1[code] < macro]
    return below[:MOST_CLASSES_NAMED]


def _judge_low_skill(s: Subjects, t: Thresholds) -> RuleEvaluation:
    accurate = compare("accuracy", s.accuracy, Sign.AT_LEAST, t.low_skill_accuracy)
    mcc = compare(
        "MCC",
        s.aggregate("mcc"),
        Sign.AT_MOST,
        t.low_skill_mcc,
        undefined_holds=True,
        causes=s.causes("mcc"),
    )
    kappa = compare(
        "Cohen's kappa",
        s.aggregate("cohen_kappa"),
        Sign.AT_MOST,
        t.low_skill_kappa,
        causes=s.causes("cohen_kappa"),
    )
    fires = accurate.holds & (mcc.holds | kappa.holds)
    return RuleEvaluation(fires, constant(fires, Severity.HIGH), (accurate, mcc, kappa))


def _describe_low_skill(s: Subjects, _: Thresholds) -> tuple[str, Evidence]:
    accuracy, kappa = float(s.accuracy[0]), float(s.aggregate("cohen_kappa")[0])
    mcc = s.suite.aggregate["mcc"].at(0)
    mcc_text = mcc.undefined_text if mcc.value is None else _two_decimals(mcc.value)
    message = (
        f"Accuracy is {percent(accuracy)}, but MCC is {mcc_text} and Cohen's kappa "
        f"{_two_decimals(kappa)}."
    )
    return message, {
        "accuracy": accuracy,
        "mcc": mcc.value,
        "mcc_reason": mcc.reason,
        "cohen_kappa": kappa,
    }


def _two_decimals(value: float) -> str:
    """Two decimals, without the sign of a number that is rounded to 0."""
    return f"{round(value, 2) + 0.0:.2f}"


AVERAGE_RULES = (
    RunRule(
        "F6",
        _judge_balanced_accuracy,
        _describe_balanced_accuracy,
        uses=("balanced_accuracy_gap", "balanced_accuracy_gap_high"),
    ),
    RunRule("F7", _judge_macro_f1, _describe_macro_f1, uses=("macro_f1_gap",)),
    RunRule(
        "F8",
        _judge_low_skill,
        _describe_low_skill,
        uses=("low_skill_accuracy", "low_skill_mcc", "low_skill_kappa"),
    ),
)
