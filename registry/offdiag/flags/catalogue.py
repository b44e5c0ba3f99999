"""Every rule there is, in words: what it asks, how grave its answer is, and its version.

A version is raised when a rule may answer differently on the same matrix with the same
thresholds. Stored verdicts carry it, so that old and new answers are not confused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from offdiag.flags.severity import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleDescription:
    """One rule as pages and documentation show it.

    `help` says when it fires and what to make of it; the numbers in it are the defaults.
    `per_class` rules give a verdict for each class concerned, the others one for the run.
    """

    id: str
    title: str
    help: str
    mildest: Severity
    gravest: Severity
    per_class: bool
    version: int = 1


_DESCRIPTIONS = (
    RuleDescription(
        id="F1",
        title="Always the same answer",
        help="Exactly one class is ever predicted although several occur. The accuracy is then "
        "the share of that class and the model has learned nothing that shows.",
        mildest=Severity.CRITICAL,
        gravest=Severity.CRITICAL,
        per_class=False,
    ),
    RuleDescription(
        id="F2",
        title="Class never predicted",
        help="The class has cases and not a single prediction. Its precision is undefined, which "
        "averages that skip undefined values hide.",
        mildest=Severity.HIGH,
        gravest=Severity.HIGH,
        per_class=True,
    ),
    RuleDescription(
        id="F3",
        title="Class never found",
        help="Recall is zero on a class with enough cases that bad luck is no excuse: a coin flip "
        "would miss all of them with a probability of at most 5 % divided by the number of "
        "classes.",
        mildest=Severity.CRITICAL,
        gravest=Severity.CRITICAL,
        per_class=True,
    ),
    RuleDescription(
        id="F4",
        title="Class found far less often than the rest",
        help="Recall is at least 20 points below the accuracy on all other cases, and so few hits "
        "would be rare (1 % divided by the number of classes, exact binomial) if the class were "
        "found as often as the rest, or 95 % of the time if the rest is better than that. From "
        "40 points on it is critical. On a minority class it sets the headline badge.",
        mildest=Severity.HIGH,
        gravest=Severity.CRITICAL,
        per_class=True,
    ),
    RuleDescription(
        id="F5",
        title="No better than the majority rule",
        help="Among the cases where the model and the constant answer with the largest class "
        "differ in being right, the model does not win significantly more (one-sided sign test, "
        "5 %), and its adjusted balanced accuracy is below 0.5; below 0.1 it is critical.",
        mildest=Severity.HIGH,
        gravest=Severity.CRITICAL,
        per_class=False,
    ),
    RuleDescription(
        id="F6",
        title="Accuracy far above balanced accuracy",
        help="Accuracy exceeds the mean recall of the classes by 15 points or more, high from 25. "
        "The common classes carry the figure. One failing rare class is too little to move it: "
        "that is what the rule on recall is for.",
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
        title="High accuracy, little skill",
        help="Accuracy is 80 % or more, yet the correlation of prediction and truth (MCC) is "
        "undefined or at most 0.30, or Cohen's kappa at most 0.20.",
        mildest=Severity.HIGH,
        gravest=Severity.HIGH,
        per_class=False,
    ),
    RuleDescription(
        id="F9",
        title="Most predictions of a rare class are wrong",
        help="With accuracy of 80 % or more, a class rarer than average has been predicted at "
        "least five times and is right significantly less than half the time. That may be the "
        "price of finding rare cases; it does not hide a failing class.",
        mildest=Severity.MEDIUM,
        gravest=Severity.MEDIUM,
        per_class=True,
    ),
    RuleDescription(
        id="F10",
        title="Class predicted too rarely",
        help="The class is predicted less than half as often as it occurs, and misses outnumber "
        "false alarms significantly (sign test, 1 % divided by the number of classes).",
        mildest=Severity.MEDIUM,
        gravest=Severity.MEDIUM,
        per_class=True,
    ),
    RuleDescription(
        id="F11",
        title="Dearer than a constant answer",
        help="Under the cost matrix the model costs as much as always giving the cheapest single "
        "answer, or more.",
        mildest=Severity.CRITICAL,
        gravest=Severity.CRITICAL,
        per_class=False,
    ),
    RuleDescription(
        id="F12",
        title="Too few cases to judge",
        help="The class has fewer than 30 cases, or the 95 % interval of its recall reaches more "
        "than 15 points to either side. Silence of the other rules proves little here.",
        mildest=Severity.INFO,
        gravest=Severity.INFO,
        per_class=True,
    ),
    RuleDescription(
        id="F13",
        title="Orientation disagrees with the ground truth",
        help="The margin of the uploaded matrix that is said to be the actual one does not have "
        "the class counts of the dataset. If the other margin has them the axes are swapped and "
        "precision and recall have traded places; if neither has, the matrix was not made on "
        "this ground truth.",
        mildest=Severity.HIGH,
        gravest=Severity.CRITICAL,
        per_class=False,
    ),
    RuleDescription(
        id="F14",
        title="Class found less often than by the baseline",
        help="On the same cases the baseline run finds at least 2 points more of the class, and "
        "McNemar's exact test, paired by case, is significant at 5 % divided by the number of "
        "classes. High from 10 points.",
        mildest=Severity.MEDIUM,
        gravest=Severity.HIGH,
        per_class=True,
    ),
    RuleDescription(
        id="F15",
        title="Costs reverse the ranking",
        help="This run is the most accurate of those compared, yet another one saves at least 5 % "
        "of its cost.",
        mildest=Severity.MEDIUM,
        gravest=Severity.MEDIUM,
        per_class=False,
    ),
)

RULES: Mapping[str, RuleDescription] = MappingProxyType({rule.id: rule for rule in _DESCRIPTIONS})
"""By rule id."""
