"""F9 and F10: classes with low precision, and classes that are under-predicted."""

from __future__ import annotations

from offdiag.domain.number_text import count, percent
from offdiag.flags.rule_evaluation import (
    FAIR_COIN,
    ClassRule,
    Floats,
    RuleEvaluation,
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


def _chance_of_precision(s: Subjects, t: Thresholds) -> Floats:
    """Probability of so few hits if a prediction were right with the reference rate, (R, K)."""
    return at_most(s.correct, s.predicted, t.precision_level)


def _judge_precision(s: Subjects, t: Thresholds) -> RuleEvaluation:
    n_classes = s.n_actual_classes.clip(min=1)
    share = s.actual / per_run(s.total.clip(min=1))
    comparisons = (
        compare("accuracy", per_run(s.accuracy), Sign.AT_LEAST, t.precision_accuracy),
        compare("share of the examples", share, Sign.BELOW, per_run(1 / n_classes)),
        compare("predictions", s.predicted, Sign.AT_LEAST, t.precision_predictions),
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
    name, predicted = s.names[code], int(s.predicted[0, code])
    wrong = predicted - int(s.correct[0, code])
    message = (
        f"{percent(wrong / predicted)} of predictions of '{name}' are wrong "
        f"({wrong:,} of {predicted:,})"
    )
    evidence: dict[str, float | int | str | bool | list[str] | None] = {
        "predicted": predicted,
        "wrong": wrong,
        "precision": float(s.per_class("precision")[0, code]),
        "p": float(_chance_of_precision(s, t)[0, code]),
    }
    prevalence = s.deployment.get(name)
    if prevalence is not None:
        there = _precision_at(s, code, prevalence)
        evidence |= {"deployment_prevalence": prevalence, "precision_in_deployment": there}
        if there is not None:
            message += (
                f"; at the deployment prevalence of {percent(prevalence)}, precision is "
                f"{percent(there)}"
            )
    return f"{message}.", evidence


def _precision_at(s: Subjects, code: int, prevalence: float) -> float | None:
    """TPR q / (TPR q + FPR (1 - q)); None where a rate is undefined or nothing is predicted."""
    hits = float(s.per_class("recall")[0, code]) * prevalence
    alarms = float(s.per_class("fpr")[0, code]) * (1 - prevalence)
    return hits / (hits + alarms) if hits + alarms > 0 else None


def _false_negatives(s: Subjects) -> Floats:
    return s.actual - s.correct


def _false_positives(s: Subjects) -> Floats:
    return s.predicted - s.correct


def _chance_of_false_negatives(s: Subjects) -> Floats:
    """One-sided sign test of the false negatives among all errors of the class, (R, K)."""
    misses = _false_negatives(s)
    return at_least(misses, misses + _false_positives(s), FAIR_COIN)


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
    examples, predicted = int(s.actual[0, code]), int(s.predicted[0, code])
    message = (
        f"'{s.names[code]}' is predicted {count(predicted, 'time')} and occurs "
        f"{count(examples, 'time')}."
    )
    return message, {
        "actual": examples,
        "predicted": predicted,
        "misses": int(_false_negatives(s)[0, code]),
        "false_alarms": int(_false_positives(s)[0, code]),
        "p": float(_chance_of_false_negatives(s)[0, code]),
    }


RULES = (
    ClassRule(
        "F9",
        _judge_precision,
        _describe_precision,
        uses=("precision_accuracy", "precision_predictions", "precision_level", "precision_alpha"),
    ),
    ClassRule(
        "F10",
        _judge_under_predicted,
        _describe_under_predicted,
        uses=("under_prediction_ratio", "under_prediction_alpha"),
    ),
)
