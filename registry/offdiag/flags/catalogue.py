"""The reference of all rules: title, metrics, explanation, severities and version.

The version of a rule increases when the rule may raise other flags on the same matrix with the
same thresholds. It is stored with each flag, so that old and new ones are not confused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from offdiag.flags.verdict import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleDescription:
    """One rule as pages and documentation show it.

    `finding` is the title in a few words, and `metrics` are the keys of those it looks at.
    Flags of the rule have one of the `severities`, or one between the two.
    `help` says when the flag is raised and what it means; the numbers in it are the defaults.
    `per_class` rules give a verdict for each class concerned, the others one for the run.
    `changes` says what each version after the first changed, the second version first.
    """

    id: str
    title: str
    finding: str
    metrics: tuple[str, ...]
    help: str
    severities: tuple[Severity, ...]
    per_class: bool
    changes: tuple[str, ...] = ()

    @property
    def lowest_severity(self) -> Severity:
        return self.severities[0]

    @property
    def highest_severity(self) -> Severity:
        return self.severities[-1]

    @property
    def version(self) -> int:
        return 1 + len(self.changes)


_DESCRIPTIONS = (
    RuleDescription(
        id="F1",
        title="Only one class predicted",
        finding="one class predicted",
        metrics=("predicted", "overall_accuracy"),
        help="Only one class is predicted although several occur, and the other classes have 5 or "
        "more examples together: a detector with 50 % recall would miss all of them with a "
        "probability of at most 5 %. The accuracy is then the share of the predicted class.",
        severities=(Severity.CRITICAL,),
        per_class=False,
        changes=("Not raised if the other classes have fewer than 5 examples in all.",),
    ),
    RuleDescription(
        id="F2",
        title="Class never predicted",
        finding="never predicted",
        metrics=("predicted", "support"),
        help="The class is never predicted although it has enough examples to rule out chance: a "
        "detector with 50 % recall would miss all of them with a probability of at most 5 % "
        "divided by the number of classes. Its precision is undefined, and averages that skip "
        "undefined values hide this.",
        severities=(Severity.HIGH,),
        per_class=True,
        changes=("Not raised if the class has so few examples that chance explains it.",),
    ),
    RuleDescription(
        id="F3",
        title="Zero recall",
        finding="0 found",
        metrics=("recall", "support"),
        help="Recall is zero although the class has enough examples to rule out chance: a "
        "detector with 50 % recall would miss all of them with a probability of at most 5 % "
        "divided by the number of classes.",
        severities=(Severity.CRITICAL,),
        per_class=True,
    ),
    RuleDescription(
        id="F4",
        title="Recall far below the other classes",
        finding="low recall",
        metrics=("recall", "overall_accuracy"),
        help="The gap is the accuracy on all other examples, capped at 95 %, minus the recall of "
        "the class. For multi-label runs it is the pooled recall of all other labels minus that "
        "of the label. Confirmed gap: it is 20 points or more, and a smaller gap would leave so "
        "few correct predictions with a probability of at most 5 % divided by the number of "
        "classes (exact binomial, averaged over the uncertain recall of the others; its p is in "
        "the message). It is critical if the same holds for 40 points, and on a minority class it "
        "raises the red hidden-minority warning. Possible gap: recall is significantly below the "
        "rest (1 % divided by the number of classes), and 20 points are neither confirmed nor "
        "ruled out. It is medium, and on a minority class it raises the amber warning “may hide”.",
        severities=(Severity.MEDIUM, Severity.CRITICAL),
        per_class=True,
        changes=(
            (
                "The gap is confirmed or possible. Before, a gap of 20 points in the sample was "
                "enough if recall was below that of the rest, and 40 points made it critical. "
                "Labels of multi-label runs are checked too."
            ),
            (
                "Takes into account that the recall of the other classes is an estimate, too. "
                "Before, a class could be called worse than few other examples by chance."
            ),
        ),
    ),
    RuleDescription(
        id="F5",
        title="Not clearly better than the majority class",
        finding="no clear gain over majority",
        metrics=("majority_baseline", "balanced_accuracy_adjusted"),
        help="The model is compared with always predicting the largest class. Among the examples "
        "that only one of the two predicts correctly, the model does not gain significantly more "
        "than it loses (one-sided sign test, 5 %), and its adjusted balanced accuracy is below "
        "0.5. Below 0.1, the flag is critical.",
        severities=(Severity.HIGH, Severity.CRITICAL),
        per_class=False,
    ),
    RuleDescription(
        id="F6",
        title="Accuracy far above balanced accuracy",
        finding="balanced accuracy far lower",
        metrics=("overall_accuracy", "balanced_accuracy"),
        help="Accuracy exceeds the mean recall of the classes by 15 points or more (from 25 "
        "points the severity is high), because frequent classes dominate accuracy. A single rare "
        "class with low recall hardly changes this difference; F4 is the rule for that.",
        severities=(Severity.MEDIUM, Severity.HIGH),
        per_class=False,
    ),
    RuleDescription(
        id="F7",
        title="Accuracy far above macro F1",
        finding="macro F1 far lower",
        metrics=("overall_accuracy", "macro_f1"),
        help="Accuracy exceeds the mean F1 of the classes by 15 points or more. With classes of 1 "
        "% this happens to good models, too, because precision is low for rare classes.",
        severities=(Severity.MEDIUM,),
        per_class=False,
    ),
    RuleDescription(
        id="F8",
        title="High accuracy, low agreement beyond chance",
        finding="low agreement",
        metrics=("overall_accuracy", "mcc", "cohen_kappa"),
        help="Accuracy is 80 % or more, yet the Matthews correlation coefficient (MCC) is "
        "undefined or at most 0.30, or Cohen's kappa at most 0.20.",
        severities=(Severity.HIGH,),
        per_class=False,
    ),
    RuleDescription(
        id="F9",
        title="Low precision on a rare class",
        finding="low precision",
        metrics=("precision", "overall_accuracy"),
        help="Accuracy is 80 % or more, and a class rarer than average is predicted at least five "
        "times, but significantly less than half of these predictions are correct. This can be "
        "the cost of high recall for a rare class; it does not mean that a class is hidden.",
        severities=(Severity.MEDIUM,),
        per_class=True,
    ),
    RuleDescription(
        id="F10",
        title="Class under-predicted",
        finding="under-predicted",
        metrics=("predicted", "support"),
        help="The class is predicted less than half as often as it occurs, and false negatives "
        "outnumber false positives significantly (sign test, 1 % divided by the number of "
        "classes).",
        severities=(Severity.MEDIUM,),
        per_class=True,
    ),
    RuleDescription(
        id="F11",
        title="Costs no less than a constant prediction",
        finding="a constant prediction costs no more",
        metrics=("total_cost", "best_trivial_cost"),
        help="Under the cost matrix, the predictions cost significantly more than the best "
        "constant prediction. The level is 5 % divided by the number of constant predictions that "
        "may be the cheapest; for two classes, the test is a binomial test of the losses among "
        "all predictions that differ from the constant one. The flag is also raised if all "
        "predictions are that constant prediction and the other classes have as many examples as "
        "F1 requires.",
        severities=(Severity.CRITICAL,),
        per_class=False,
        changes=(
            (
                "Requires significance. Before, it was enough if these examples cost as much as "
                "with a constant prediction, which can be chance with few examples."
            ),
        ),
    ),
    RuleDescription(
        id="F12",
        title="Too few examples",
        finding="few examples",
        metrics=("support", "recall"),
        help="The class has fewer than 30 examples, or the 95 % interval of its recall extends "
        "more than 15 points to either side. If no other flag is raised for the class, this "
        "proves little.",
        severities=(Severity.INFO,),
        per_class=True,
    ),
    RuleDescription(
        id="F13",
        title="Orientation does not match the labels",
        finding="orientation",
        metrics=("support", "predicted"),
        help="The totals of the actual classes in the uploaded matrix do not match the class "
        "counts of the dataset. If the totals of the predicted classes match, the matrix looks "
        "transposed, and precision and recall are exchanged. If neither match, the matrix was "
        "computed on other labels.",
        severities=(Severity.HIGH, Severity.CRITICAL),
        per_class=False,
    ),
    RuleDescription(
        id="F14",
        title="Recall below the baseline",
        finding="below the baseline",
        metrics=("recall",),
        help="On the same examples, recall of the class is at least 2 points lower than in the "
        "baseline, and McNemar's mid-p, Holm-adjusted over the classes, is below 5 %. From 10 "
        "points the severity is high. The interval in the message is simultaneous for all "
        "classes. If the baseline was selected as the best of many runs on these examples, its "
        "recall is biased upwards, and equally good runs are flagged more often.",
        severities=(Severity.MEDIUM, Severity.HIGH),
        per_class=True,
        changes=(
            (
                "Uses the mid-p of McNemar's test with Holm's adjustment. Before, the exact p was "
                "compared with 5 % divided by the number of classes."
            ),
        ),
    ),
    RuleDescription(
        id="F15",
        title="A less accurate run costs less",
        finding="a less accurate run costs less",
        metrics=("overall_accuracy", "total_cost"),
        help="This run is the most accurate of those compared, but a less accurate one costs at "
        "least 5 % less.",
        severities=(Severity.MEDIUM,),
        per_class=False,
    ),
    RuleDescription(
        id="F16",
        title="Far worse on a slice",
        finding="worse than the rest",
        metrics=("recall", "overall_accuracy"),
        help="Recall of the class, or accuracy, is significantly lower on the slice than on all "
        "other examples, adjusted over all slices and metrics of the run (false discovery rate 5 "
        "%). The flag is medium if the adjusted interval of the gap reaches 20 points, high if "
        "the whole interval is beyond 20 points, and critical beyond 40. It is not raised if an "
        "equally severe flag is about the same examples: the slice has at least half of the "
        "misses of its class, or another slice has at least half of its errors. Only the 20 most "
        "severe flags of a run are raised.",
        severities=(Severity.MEDIUM, Severity.CRITICAL),
        per_class=True,
    ),
)

RULES: Mapping[str, RuleDescription] = MappingProxyType({rule.id: rule for rule in _DESCRIPTIONS})
"""Descriptions by rule id."""
