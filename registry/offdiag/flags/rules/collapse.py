"""F1 to F3: classes that the model has given up on."""

from __future__ import annotations

from offdiag.flags.chance import at_most
from offdiag.flags.judgement import ClassRule, Judgement, RunRule, all_of, compare, constant
from offdiag.flags.severity import Severity
from offdiag.flags.subjects import Floats, Subjects, per_run
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Evidence, Sign
from offdiag.flags.wording import chance, number_of, percent


def _judge_collapsed(s: Subjects, _: Thresholds) -> Judgement:
    comparisons = (
        compare("classes ever predicted", s.n_predicted_classes, Sign.EQUAL, 1),
        compare("classes with cases", s.n_actual_classes, Sign.AT_LEAST, 2),
    )
    fires = all_of(*comparisons)
    return Judgement(fires, constant(fires, Severity.CRITICAL), comparisons)


def _describe_collapsed(s: Subjects, _: Thresholds) -> tuple[str, Evidence]:
    answer = s.names[int(s.predicted[0].argmax())]
    accuracy = float(s.accuracy[0])
    message = (
        f"Only '{answer}' is ever predicted, so the accuracy of {percent(accuracy)} says nothing "
        f"but how common '{answer}' is."
    )
    return message, {"answer": answer, "accuracy": accuracy, "n": int(s.total[0])}


def _judge_never_predicted(s: Subjects, _: Thresholds) -> Judgement:
    comparisons = (
        compare("actual cases", s.actual, Sign.ABOVE, 0),
        compare("predictions", s.predicted, Sign.EQUAL, 0),
    )
    fires = all_of(*comparisons)
    return Judgement(fires, constant(fires, Severity.HIGH), comparisons)


def _describe_never_predicted(s: Subjects, code: int, _: Thresholds) -> tuple[str, Evidence]:
    cases = int(s.actual[0, code])
    message = (
        f"'{s.names[code]}' is never predicted, although it occurs in {number_of(cases, 'case')}."
    )
    return message, {"actual": cases, "predicted": 0}


def _chance_of_bad_luck(s: Subjects, t: Thresholds) -> Floats:
    """Probability that a detector with the recall of reference misses every case, (R, K)."""
    return at_most(0.0, s.actual, t.zero_recall_chance)


def _judge_zero_recall(s: Subjects, t: Thresholds) -> Judgement:
    level = per_run(t.zero_recall_alpha / s.n_actual_classes.clip(min=1))
    comparisons = (
        compare("actual cases", s.actual, Sign.ABOVE, 0),
        compare("cases found", s.correct, Sign.EQUAL, 0),
        compare("chance of missing all by luck", _chance_of_bad_luck(s, t), Sign.AT_MOST, level),
    )
    fires = all_of(*comparisons)
    return Judgement(fires, constant(fires, Severity.CRITICAL), comparisons)


def _describe_zero_recall(s: Subjects, code: int, t: Thresholds) -> tuple[str, Evidence]:
    cases, luck = int(s.actual[0, code]), float(_chance_of_bad_luck(s, t)[0, code])
    detector = (
        "a coin flip" if t.zero_recall_chance == 0.5 else f"recall {percent(t.zero_recall_chance)}"
    )
    message = (
        f"None of the {number_of(cases, 'case')} of '{s.names[code]}' was found. A detector no "
        f"better than {detector} would miss them all with probability {chance(luck)}."
    )
    return message, {
        "actual": cases,
        "correct": 0,
        "chance_of_missing_all": luck,
        "is_minority": bool(s.is_minority(t.minority_share)[0, code]),
    }


RULES = (
    RunRule("F1", _judge_collapsed, _describe_collapsed),
    ClassRule("F2", _judge_never_predicted, _describe_never_predicted),
    ClassRule(
        "F3",
        _judge_zero_recall,
        _describe_zero_recall,
        uses=("zero_recall_alpha", "zero_recall_chance", "minority_share"),
    ),
)
