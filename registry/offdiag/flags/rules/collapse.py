"""F1 to F3: classes that are never predicted, or never correctly."""

from __future__ import annotations

from offdiag.domain.number_text import count, p_value, percent
from offdiag.flags.rule_evaluation import (
    ClassRule,
    Comparison,
    Floats,
    RuleEvaluation,
    RunRule,
    Subjects,
    all_of,
    at_most,
    compare,
    constant,
    of_class,
    per_run,
)
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Evidence, Severity, Sign
from offdiag.metrics.tally import CLASS_AXIS


def _examples_of_others(s: Subjects) -> Floats:
    """Examples of all classes but the one predicted most often, (R,)."""
    return s.total - of_class(s.actual, s.predicted.argmax(axis=CLASS_AXIS))


def _judge_collapsed(s: Subjects, t: Thresholds) -> RuleEvaluation:
    comparisons = (
        compare("classes ever predicted", s.n_predicted_classes, Sign.EQUAL, 1),
        compare("classes with examples", s.n_actual_classes, Sign.AT_LEAST, 2),
        compare(
            "p of zero recall on all other classes",
            at_most(0.0, _examples_of_others(s), t.zero_recall_chance),
            Sign.AT_MOST,
            t.zero_recall_alpha,
        ),
    )
    fires = all_of(*comparisons)
    return RuleEvaluation(fires, constant(fires, Severity.CRITICAL), comparisons)


def _describe_collapsed(s: Subjects, _: Thresholds) -> tuple[str, Evidence]:
    answer = s.names[int(s.predicted[0].argmax())]
    accuracy, n = float(s.accuracy[0]), int(s.total[0])
    message = (
        f"All {n:,} predictions are '{answer}'; accuracy equals the share of '{answer}' "
        f"({percent(accuracy)})."
    )
    others = int(_examples_of_others(s)[0])
    return message, {"answer": answer, "accuracy": accuracy, "n": n, "other_examples": others}


def _judge_never_predicted(s: Subjects, t: Thresholds) -> RuleEvaluation:
    comparisons = (
        compare("examples", s.actual, Sign.ABOVE, 0),
        compare("predictions", s.predicted, Sign.EQUAL, 0),
        _zero_recall_test(s, t),
    )
    fires = all_of(*comparisons)
    return RuleEvaluation(fires, constant(fires, Severity.HIGH), comparisons)


def _describe_never_predicted(s: Subjects, code: int, _: Thresholds) -> tuple[str, Evidence]:
    examples = int(s.actual[0, code])
    message = f"'{s.names[code]}' is never predicted; it has {count(examples, 'example')}."
    return message, {"actual": examples, "predicted": 0}


def _p_of_zero_recall(s: Subjects, t: Thresholds) -> Floats:
    """Probability that a detector with the reference recall misses every example, (R, K)."""
    return at_most(0.0, s.actual, t.zero_recall_chance)


def _zero_recall_test(s: Subjects, t: Thresholds) -> Comparison:
    """Whether chance is no explanation for missing all examples of a class."""
    level = per_run(t.zero_recall_alpha / s.n_actual_classes.clip(min=1))
    return compare("p of zero recall", _p_of_zero_recall(s, t), Sign.AT_MOST, level)


def _judge_zero_recall(s: Subjects, t: Thresholds) -> RuleEvaluation:
    comparisons = (
        compare("examples", s.actual, Sign.ABOVE, 0),
        compare("correct predictions", s.correct, Sign.EQUAL, 0),
        _zero_recall_test(s, t),
    )
    fires = all_of(*comparisons)
    return RuleEvaluation(fires, constant(fires, Severity.CRITICAL), comparisons)


def _describe_zero_recall(s: Subjects, code: int, t: Thresholds) -> tuple[str, Evidence]:
    examples, p = int(s.actual[0, code]), float(_p_of_zero_recall(s, t)[0, code])
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


RULES = (
    RunRule(
        "F1",
        _judge_collapsed,
        _describe_collapsed,
        uses=("zero_recall_alpha", "zero_recall_chance"),
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
