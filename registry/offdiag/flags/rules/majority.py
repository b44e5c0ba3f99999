"""F5: a model that is no better than always naming the largest class."""

from __future__ import annotations

from offdiag.flags.chance import FAIR_COIN, at_least
from offdiag.flags.judgement import Judgement, RunRule, all_of, compare, graded
from offdiag.flags.severity import Severity
from offdiag.flags.subjects import Floats, Subjects, of_class
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Evidence, Sign
from offdiag.flags.wording import number_of, percent


def _gains(s: Subjects) -> Floats:
    """Cases right that the constant answer would get wrong, (R,)."""
    return s.n_correct - of_class(s.correct, s.largest_class)


def _losses(s: Subjects) -> Floats:
    """Cases wrong that the constant answer would get right, (R,)."""
    return of_class(s.actual - s.correct, s.largest_class)


def _chance_of_gains(s: Subjects) -> Floats:
    """One-sided sign test: so many gains among the cases that tell the two apart, (R,)."""
    gains = _gains(s)
    return at_least(gains, gains + _losses(s), FAIR_COIN)


def _judge_majority(s: Subjects, t: Thresholds) -> Judgement:
    skill = s.aggregate("balanced_accuracy_adjusted")
    comparisons = (
        compare(
            "chance of so many gains over the constant answer",
            _chance_of_gains(s),
            Sign.ABOVE,
            t.majority_alpha,
        ),
        compare("adjusted balanced accuracy", skill, Sign.BELOW, t.majority_skill),
    )
    fires = all_of(*comparisons)
    is_grave = compare("skill", skill, Sign.BELOW, t.majority_skill_critical).holds
    return Judgement(fires, graded(fires, Severity.HIGH, Severity.CRITICAL, is_grave), comparisons)


def _describe_majority(s: Subjects, _: Thresholds) -> tuple[str, Evidence]:
    majority = s.names[int(s.largest_class[0])]
    accuracy, baseline = float(s.accuracy[0]), float(s.aggregate("majority_baseline")[0])
    gains, losses = int(_gains(s)[0]), int(_losses(s)[0])
    message = (
        f"The accuracy is {percent(accuracy)}; naming '{majority}' every time would score "
        f"{percent(baseline)}. Against that rule the model gains {number_of(gains, 'case')} and "
        f"loses {losses}."
    )
    return message, {
        "accuracy": accuracy,
        "majority": majority,
        "majority_baseline": baseline,
        "gains": gains,
        "losses": losses,
        "p": float(_chance_of_gains(s)[0]),
        "balanced_accuracy_adjusted": float(s.aggregate("balanced_accuracy_adjusted")[0]),
    }


RULES = (
    RunRule(
        "F5",
        _judge_majority,
        _describe_majority,
        uses=("majority_alpha", "majority_skill", "majority_skill_critical"),
    ),
)
