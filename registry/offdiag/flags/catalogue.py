"""The reference of all rules: title, explanation, severities and version.

A version is raised when a rule may fire differently on the same matrix with the same thresholds.
Stored flags carry it, so that old and new ones are not confused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from offdiag.flags.verdict import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleDescription:
    """One rule as pages and documentation show it.

    `help` says when it fires and what to make of it; the numbers in it are the defaults.
    `per_class` rules give a verdict for each class concerned, the others one for the run.
    `changes` says what each version after the first changed, beginning with the second.
    """

    id: str
    title: str
    help: str
    mildest: Severity
    gravest: Severity
    per_class: bool
    changes: tuple[str, ...] = ()

    @property
    def version(self) -> int:
        return 1 + len(self.changes)


_DESCRIPTIONS = (
    RuleDescription(
        id="F1",
        title="Only one class predicted",
        help="Exactly one class is ever predicted although several occur, and a detector with "
        "50 % recall would miss all examples of the others with a probability of at most 5 %: "
        "there are 5 or more of them. The accuracy is then the share of the predicted class.",
        mildest=Severity.CRITICAL,
        gravest=Severity.CRITICAL,
        per_class=False,
        changes=("Not raised where the other classes have fewer than 5 examples in all.",),
    ),
    RuleDescription(
        id="F2",
        title="Class never predicted",
        help="The class has no prediction, and enough examples that chance does not explain it: a "
        "detector with 50 % recall would miss all of them with a probability of at most 5 % "
        "divided by the number of classes. Its precision is undefined, which averages that skip "
        "undefined values hide.",
        mildest=Severity.HIGH,
        gravest=Severity.HIGH,
        per_class=True,
        changes=("Not raised where the class has so few examples that chance explains it.",),
    ),
    RuleDescription(
        id="F3",
        title="Zero recall",
        help="Recall is zero on a class with enough examples that chance does not explain it: a "
        "detector with 50 % recall would miss all of them with a probability of at most 5 % "
        "divided by the number of classes.",
        mildest=Severity.CRITICAL,
        gravest=Severity.CRITICAL,
        per_class=True,
    ),
    RuleDescription(
        id="F4",
        title="Recall far below the other classes",
        help="The gap is accuracy on all other examples, taken as 95 % at most, minus recall of "
        "the class; for sets of labels it is the recall of all other labels pooled, minus that of "
        "the label. Proved: the gap is 20 points or more, and a smaller one would show so few "
        "hits with a probability of at most 5 % divided by the number of classes (exact "
        "binomial, averaged over what the recall of the others may be; its p is in the message); "
        "critical where the same is proved of 40 points. On a "
        "minority class that is the hidden-minority warning, in red. In sight: recall is below "
        "that of the rest (1 % divided by the number of classes) and 20 points are neither proved "
        "nor ruled out; medium, and on a minority class the amber warning “may hide”.",
        mildest=Severity.MEDIUM,
        gravest=Severity.CRITICAL,
        per_class=True,
        changes=(
            (
                "The gap is proved or in sight. Before, a gap of 20 points in the sample was "
                "enough where recall was below that of the rest, and 40 points made it critical. "
                "Labels of sets are judged too."
            ),
            (
                "Counts that the recall of the other classes is estimated as well. Before, a "
                "class was called worse than few others by chance."
            ),
        ),
    ),
    RuleDescription(
        id="F5",
        title="Not clearly better than the majority class",
        help="Among the examples that either the model or the constant prediction of the largest "
        "class gets right, but not both, the model does not gain significantly more than it "
        "loses (one-sided sign test, 5 %), and its adjusted balanced accuracy is below 0.5; below "
        "0.1 it is critical.",
        mildest=Severity.HIGH,
        gravest=Severity.CRITICAL,
        per_class=False,
    ),
    RuleDescription(
        id="F6",
        title="Accuracy far above balanced accuracy",
        help="Accuracy exceeds the mean recall of the classes by 15 points or more, high from 25. "
        "Frequent classes dominate accuracy. One rare class with low recall hardly changes the "
        "difference: F4 is the rule for that.",
        mildest=Severity.MEDIUM,
        gravest=Severity.HIGH,
        per_class=False,
    ),
    RuleDescription(
        id="F7",
        title="Accuracy far above macro F1",
        help="Accuracy exceeds the mean F1 of the classes by 15 points or more. With classes of "
        "1 % this happens to good models too, because their precision is low by nature.",
        mildest=Severity.MEDIUM,
        gravest=Severity.MEDIUM,
        per_class=False,
    ),
    RuleDescription(
        id="F8",
        title="High accuracy, low agreement beyond chance",
        help="Accuracy is 80 % or more, yet the Matthews correlation coefficient (MCC) is "
        "undefined or at most 0.30, or Cohen's kappa at most 0.20.",
        mildest=Severity.HIGH,
        gravest=Severity.HIGH,
        per_class=False,
    ),
    RuleDescription(
        id="F9",
        title="Low precision on a rare class",
        help="With accuracy of 80 % or more, a class rarer than average has been predicted at "
        "least five times, and significantly less than half of these predictions are correct. "
        "High recall of a rare class may cost that much precision; no class is hidden by it.",
        mildest=Severity.MEDIUM,
        gravest=Severity.MEDIUM,
        per_class=True,
    ),
    RuleDescription(
        id="F10",
        title="Class under-predicted",
        help="The class is predicted less than half as often as it occurs, and false negatives "
        "outnumber false positives significantly (sign test, 1 % divided by the number of "
        "classes).",
        mildest=Severity.MEDIUM,
        gravest=Severity.MEDIUM,
        per_class=True,
    ),
    RuleDescription(
        id="F11",
        title="Costs no less than a constant prediction",
        help="Under the cost matrix the predictions cost significantly more than the best "
        "constant prediction (5 % divided by the number of constant predictions that may be the "
        "cheapest; of two classes the binomial test of what the predictions lose among all that "
        "they change). Or all of them are that constant prediction, and other classes have as "
        "many examples as F1 asks for.",
        mildest=Severity.CRITICAL,
        gravest=Severity.CRITICAL,
        per_class=False,
        changes=(
            (
                "Raised where it is proved. Before, costs of these examples that were as high as "
                "those of a constant prediction were enough, which of few examples is chance."
            ),
        ),
    ),
    RuleDescription(
        id="F12",
        title="Too few examples",
        help="The class has fewer than 30 examples, or the 95 % interval of its recall reaches "
        "more than 15 points to either side. That no other flag is raised proves little here.",
        mildest=Severity.INFO,
        gravest=Severity.INFO,
        per_class=True,
    ),
    RuleDescription(
        id="F13",
        title="Orientation does not match the labels",
        help="The totals of the actual classes of the uploaded matrix do not match the class "
        "counts of the dataset. If the totals of the predicted classes match, the matrix looks "
        "transposed, and precision and recall are exchanged; if neither do, the matrix was "
        "computed on other labels.",
        mildest=Severity.HIGH,
        gravest=Severity.CRITICAL,
        per_class=False,
    ),
    RuleDescription(
        id="F14",
        title="Recall below the baseline",
        help="On the same examples recall of the class is at least 2 points lower than that of "
        "the baseline, and McNemar's mid-p, adjusted over the classes after Holm, is below 5 %. "
        "The interval in the message holds for all classes together. High from 10 points. A "
        "baseline that was chosen for being the highest of many on these examples is flattered by "
        "the choice, and runs as good as it are flagged more often.",
        mildest=Severity.MEDIUM,
        gravest=Severity.HIGH,
        per_class=True,
        changes=(
            (
                "Judged by the mid-p of McNemar's test, adjusted after Holm. Before, by the exact "
                "p at 5 % divided by the number of classes."
            ),
        ),
    ),
    RuleDescription(
        id="F15",
        title="A less accurate run costs less",
        help="This run is the most accurate of those compared, yet a less accurate one saves at "
        "least 5 % of its cost.",
        mildest=Severity.MEDIUM,
        gravest=Severity.MEDIUM,
        per_class=False,
    ),
    RuleDescription(
        id="F16",
        title="Far worse on a slice",
        help="Recall of the class, or accuracy, is significantly lower on the slice than on all "
        "other examples, adjusted over all slices and metrics of the run (false discovery rate "
        "5 %), and the adjusted interval of the gap reaches 20 points: medium; high where the "
        "whole interval is beyond 20 points, critical beyond 40. No flag is raised where an "
        "equally severe one is about the same examples: the slice has at least half of the misses "
        "of its class, or another slice has at least half of its errors. Of a run the 20 most "
        "severe are raised.",
        mildest=Severity.MEDIUM,
        gravest=Severity.CRITICAL,
        per_class=True,
    ),
)

RULES: Mapping[str, RuleDescription] = MappingProxyType({rule.id: rule for rule in _DESCRIPTIONS})
"""Descriptions by rule id."""
