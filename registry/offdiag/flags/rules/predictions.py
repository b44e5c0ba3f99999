"""F1 to F3, F9 and F10: classes that are predicted never, rarely or wrongly."""

from __future__ import annotations

import numpy as np

from offdiag.domain.number_text import count, p_value, percent, percents
from offdiag.flags.rule_evaluation import (
    FAIR_COIN,
    ClassRule,
    Comparison,
    Floats,
    RuleEvaluation,
    RunRule,
    Subjects,
    all_of,
    at_least,
    at_most,
    compare,
    constant,
    per_run,
)
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Evidence, Severity, Sign


def _judge_collapsed(s: Subjects, t: Thresholds) -> RuleEvaluation:
    comparisons = (
        compare("classes ever predicted", s.n_predicted_classes, Sign.EQUAL, 1),
        compare("classes with examples", s.n_actual_classes, Sign.AT_LEAST, 2),
        compare(
            "p of zero recall on all other classes",
            at_most(0.0, s.n_of_others, t.zero_recall_chance),
            Sign.AT_MOST,
            t.zero_recall_alpha,
        ),
    )
    fires = all_of(*comparisons)
    return RuleEvaluation(fires, constant(fires, Severity.CRITICAL), comparisons)


def _describe_collapsed(s: Subjects, _: Thresholds) -> tuple[str, Evidence]:
    answer = s.names[int(s.predicted[0].argmax())]
    accuracy, n = float(s.accuracy[0]), int(s.numbers.total[0])
    message = (
        f"All {n:,} predictions are '{answer}'; accuracy equals the share of '{answer}' "
        f"({percent(accuracy)})."
    )
    others = int(s.numbers.n_of_others[0])
    return message, {"answer": answer, "accuracy": accuracy, "n": n, "other_examples": others}


def _judge_never_predicted(s: Subjects, t: Thresholds) -> RuleEvaluation:
    return _judge_none(s, t, compare("predictions", s.predicted, Sign.EQUAL, 0), Severity.HIGH)


def _describe_never_predicted(s: Subjects, code: int, _: Thresholds) -> tuple[str, Evidence]:
    examples = int(s.numbers.actual[0, code])
    message = f"'{s.names[code]}' is never predicted; it has {count(examples, 'example')}."
    return message, {"actual": examples, "predicted": 0}


def _p_of_zero_recall(s: Subjects, t: Thresholds) -> Floats:
    """Probability that a detector with the reference recall misses every example, (R, K)."""
    return at_most(0.0, s.recalls.cases, t.zero_recall_chance)


def _judge_none(
    s: Subjects, t: Thresholds, none: Comparison, severity: Severity
) -> RuleEvaluation:
    """Where a class has examples, none are as required, and chance does not explain it."""
    level = per_run(t.zero_recall_alpha / s.n_actual_classes.clip(min=1))
    comparisons = (
        compare("examples", s.recalls.cases, Sign.ABOVE, 0),
        none,
        compare("p of zero recall", _p_of_zero_recall(s, t), Sign.AT_MOST, level),
    )
    fires = all_of(*comparisons)
    return RuleEvaluation(fires, constant(fires, severity), comparisons)


def _judge_zero_recall(s: Subjects, t: Thresholds) -> RuleEvaluation:
    none = compare("correct predictions", s.correct, Sign.EQUAL, 0)
    return _judge_none(s, t, none, Severity.CRITICAL)


def _describe_zero_recall(s: Subjects, code: int, t: Thresholds) -> tuple[str, Evidence]:
    examples, p = int(s.numbers.actual[0, code]), float(_p_of_zero_recall(s, t)[0, code])
    message = (
        f"Recall of '{s.names[code]}' is 0 of {examples:,} "
        f"(a detector with {percent(t.zero_recall_chance)} recall: {p_value(p)})."
    )
    return message, {
        "actual": examples,
        "correct": 0,
        "chance_of_missing_all": p,
        "is_minority": bool(s.is_minority(t.minority_share)[0, code]),
    }


COLLAPSE_RULES = (
    RunRule(
        "F1",
        _judge_collapsed,
        _describe_collapsed,
        uses=("zero_recall_alpha", "zero_recall_chance"),
        size=lambda s: s.n_of_others,
    ),
    ClassRule(
        "F2",
        _judge_never_predicted,
        _describe_never_predicted,
        uses=("zero_recall_alpha", "zero_recall_chance"),
    ),
    ClassRule(
        "F3",
        _judge_zero_recall,
        _describe_zero_recall,
        uses=("zero_recall_alpha", "zero_recall_chance", "minority_share"),
    ),
)


def _chance_of_precision(s: Subjects, t: Thresholds) -> Floats:
    """Probability of so few hits if predictions were correct at the reference rate, (R, K)."""
    return at_most(s.precisions.hits, s.precisions.cases, t.precision_level)


def _judge_precision(s: Subjects, t: Thresholds) -> RuleEvaluation:
    n_classes = s.n_actual_classes.clip(min=1)
    share = s.actual / per_run(np.where(s.total > 0, s.total, 1.0))
    comparisons = (
        compare("accuracy", per_run(s.accuracy), Sign.AT_LEAST, t.precision_accuracy),
        compare("share of the examples", share, Sign.BELOW, per_run(1 / n_classes)),
        compare("predictions", s.precisions.cases, Sign.AT_LEAST, t.precision_predictions),
        compare(
            "p of so few correct predictions",
            _chance_of_precision(s, t),
            Sign.AT_MOST,
            per_run(t.precision_alpha / n_classes),
        ),
    )
    fires = all_of(*comparisons)
    return RuleEvaluation(fires, constant(fires, Severity.MEDIUM), comparisons)


def _describe_precision(s: Subjects, code: int, t: Thresholds) -> tuple[str, Evidence]:
    name, predicted = s.names[code], int(s.numbers.predicted[0, code])
    wrong = predicted - int(s.numbers.correct[0, code])
    share = float(1 - s.correct[0, code] / s.predicted[0, code])
    message = f"{percent(share)} of predictions of '{name}' are wrong"
    message += "" if s.is_weighted else f" ({wrong:,} of {predicted:,})"
    return f"{message}.", {
        "predicted": predicted,
        "wrong": wrong,
        "precision": float(s.per_class("precision")[0, code]),
        "p": float(_chance_of_precision(s, t)[0, code]),
    }


def _chance_of_false_negatives(s: Subjects) -> Floats:
    """One-sided sign test of the false negatives among all errors of the class, (R, K)."""
    return at_least(s.misses.hits, s.misses.cases, FAIR_COIN)


def _judge_under_predicted(s: Subjects, t: Thresholds) -> RuleEvaluation:
    level = per_run(t.under_prediction_alpha / s.n_actual_classes.clip(min=1))
    comparisons = (
        compare("predictions", s.predicted, Sign.BELOW, t.under_prediction_ratio * s.actual),
        compare(
            "p of so many false negatives", _chance_of_false_negatives(s), Sign.AT_MOST, level
        ),
    )
    fires = all_of(*comparisons)
    return RuleEvaluation(fires, constant(fires, Severity.MEDIUM), comparisons)


def _describe_under_predicted(s: Subjects, code: int, _: Thresholds) -> tuple[str, Evidence]:
    tallied, name = s.numbers, s.names[code]
    examples, predicted = int(tallied.actual[0, code]), int(tallied.predicted[0, code])
    if s.is_weighted:
        said, there = percents(
            *(float(each[0, code] / s.total[0]) for each in (s.predicted, s.actual))
        )
        message = f"'{name}' is {said} of the predictions and {there} of the examples."
    else:
        message = (
            f"'{name}' is predicted {count(predicted, 'time')} and occurs "
            f"{count(examples, 'time')}."
        )
    misses = int(tallied.misses.hits[0, code])
    return message, {
        "actual": examples,
        "predicted": predicted,
        "misses": misses,
        "false_alarms": int(tallied.misses.cases[0, code]) - misses,
        "p": float(_chance_of_false_negatives(s)[0, code]),
    }


PREDICTION_RULES = (
    ClassRule(
        "F9",
        _judge_precision,
        _describe_precision,
        uses=("precision_accuracy", "precision_predictions", "precision_level", "precision_alpha"),
        size=lambda s: s.precisions.cases,
    ),
    ClassRule(
        "F10",
        _judge_under_predicted,
        _describe_under_predicted,
        uses=("under_prediction_ratio", "under_prediction_alpha"),
        size=lambda s: s.misses.cases,
    ),
)
