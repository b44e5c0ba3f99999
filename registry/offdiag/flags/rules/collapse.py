"""F1 to F3: classes that the model has given up on."""

from __future__ import annotations

from offdiag.flags.judgement import (
    ClassRule,
    Comparison,
    Floats,
    Judgement,
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
from offdiag.flags.verdict import Evidence, Severity, Sign, number_of, p_value, whole_percent
from offdiag.metrics.tally import CLASS_AXIS


def _examples_of_others(s: Subjects) -> Floats:
    """Examples of all classes but the one predicted most often, (R,)."""
    return s.total - of_class(s.actual, s.predicted.argmax(axis=CLASS_AXIS))


def _judge_collapsed(s: Subjects, t: Thresholds) -> Judgement:
    comparisons = (
        compare("classes ever predicted", s.n_predicted_classes, Sign.EQUAL, 1),
        compare("classes with cases", s.n_actual_classes, Sign.AT_LEAST, 2),
        compare(
            "chance of missing all other classes by luck",
            at_most(0.0, _examples_of_others(s), t.zero_recall_chance),
            Sign.AT_MOST,
            t.zero_recall_alpha,
        ),
    )
    fires = all_of(*comparisons)
    return Judgement(fires, constant(fires, Severity.CRITICAL), comparisons)


def _describe_collapsed(s: Subjects, _: Thresholds) -> tuple[str, Evidence]:
    answer = s.names[int(s.predicted[0].argmax())]
    accuracy, n = float(s.accuracy[0]), int(s.total[0])
    message = (
        f"All {n:,} predictions are '{answer}'; accuracy equals the share of '{answer}' "
        f"({whole_percent(accuracy)})."
    )
    others = int(_examples_of_others(s)[0])
    return message, {"answer": answer, "accuracy": accuracy, "n": n, "other_examples": others}


def _judge_never_predicted(s: Subjects, t: Thresholds) -> Judgement:
    comparisons = (
        compare("actual cases", s.actual, Sign.ABOVE, 0),
        compare("predictions", s.predicted, Sign.EQUAL, 0),
        _bad_luck(s, t),
    )
    fires = all_of(*comparisons)
    return Judgement(fires, constant(fires, Severity.HIGH), comparisons)


def _describe_never_predicted(s: Subjects, code: int, _: Thresholds) -> tuple[str, Evidence]:
    examples = int(s.actual[0, code])
    message = f"'{s.names[code]}' is never predicted; it has {number_of(examples, 'example')}."
    return message, {"actual": examples, "predicted": 0}


def _chance_of_bad_luck(s: Subjects, t: Thresholds) -> Floats:
    """Probability that a detector with the recall of reference misses every case, (R, K)."""
    return at_most(0.0, s.actual, t.zero_recall_chance)


def _bad_luck(s: Subjects, t: Thresholds) -> Comparison:
    """Whether a class has enough examples that missing all of them is no bad luck."""
    level = per_run(t.zero_recall_alpha / s.n_actual_classes.clip(min=1))
    return compare("chance of missing all by luck", _chance_of_bad_luck(s, t), Sign.AT_MOST, level)


def _judge_zero_recall(s: Subjects, t: Thresholds) -> Judgement:
    comparisons = (
        compare("actual cases", s.actual, Sign.ABOVE, 0),
        compare("cases found", s.correct, Sign.EQUAL, 0),
        _bad_luck(s, t),
    )
    fires = all_of(*comparisons)
    return Judgement(fires, constant(fires, Severity.CRITICAL), comparisons)


def _describe_zero_recall(s: Subjects, code: int, t: Thresholds) -> tuple[str, Evidence]:
    examples, luck = int(s.actual[0, code]), float(_chance_of_bad_luck(s, t)[0, code])
    message = (
        f"Recall of '{s.names[code]}' is 0 of {examples:,} "
        f"(a detector with {whole_percent(t.zero_recall_chance)} recall: {p_value(luck)})."
    )
    return message, {
        "actual": examples,
        "correct": 0,
        "chance_of_missing_all": luck,
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
