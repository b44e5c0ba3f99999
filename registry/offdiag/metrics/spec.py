"""The form of a catalogue entry, and phrases that entries share.

Formulas use TP, FN, FP and TN for one class against the rest, t = TP + FN for its actual and p =
TP + FP for its predicted samples, and N for all. Over classes, c_ij are the cells (actual i,
predicted j), S the sum of the diagonal, K the number of declared classes and K' the number of
classes with actual samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from types import MappingProxyType

from offdiag.domain.values import Reason


class Scope(StrEnum):
    """What one value of the metric belongs to."""

    AGGREGATE = "aggregate"
    """A single-label confusion matrix."""
    PER_CLASS = "per_class"
    """One class of it, against the rest."""
    MULTILABEL = "multilabel"
    """A multi-label evaluation."""
    PER_LABEL = "per_label"
    """One label of it."""
    PROBABILISTIC = "probabilistic"
    """Predicted scores."""
    COST = "cost"
    """A confusion matrix together with a cost matrix."""


class Direction(StrEnum):
    """Which values a better classifier has."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"
    """The value describes the data or the predictions without judging them."""


class Transformation(StrEnum):
    """A transformation of a confusion matrix that may leave a metric unchanged."""

    RELAYOUT = "relayout"
    """The axes of the table are exchanged, and the orientation is stated."""
    ROLE_SWAP = "role_swap"
    """Actual and predicted classes are swapped: an undeclared transposition."""
    LABEL_PERMUTATION = "label_permutation"
    """The classes are listed in another order on both axes."""
    CLASS_INVERSION = "class_inversion"
    """Two classes: positive and negative are swapped (labelling inversion, Luque et al.)."""
    SCORING_INVERSION = "scoring_inversion"
    """Two classes: every prediction is replaced by the other class."""
    FULL_INVERSION = "full_inversion"
    """Both inversions, one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Symmetry:
    """How a metric reacts to transformations of a matrix.

    Relayout, role swap, label permutation and class inversion leave a symmetric metric
    unchanged. Scoring and full inversion turn good into bad, so there a symmetric metric
    changes sign once it is rescaled to [-1, 1] (a ratio: once its logarithm is taken).
    `becomes` names the metric that takes over the value where this one is not symmetric
    itself: recall becomes specificity under class inversion. A metric is prevalence
    independent if multiplying the samples of any actual class leaves it unchanged.
    """

    relayout: bool = True
    role_swap: bool = False
    label_permutation: bool = True
    class_inversion: bool = False
    scoring_inversion: bool = False
    full_inversion: bool = False
    prevalence_independent: bool = False
    becomes: Mapping[Transformation, str] = field(default_factory=dict)


BOTH_ROLES_ALIKE = Symmetry(role_swap=True, class_inversion=True)
SHARE_OF_CORRECT = Symmetry(
    role_swap=True, class_inversion=True, scoring_inversion=True, full_inversion=True
)


def with_all_inversions(
    *, roles: str | None = None, prevalence_independent: bool = False
) -> Symmetry:
    """Symmetric under all inversions of two classes; with roles swapped it becomes `roles`."""
    return Symmetry(
        class_inversion=True,
        scoring_inversion=True,
        full_inversion=True,
        prevalence_independent=prevalence_independent,
        becomes={} if roles is None else {Transformation.ROLE_SWAP: roles},
    )


# How an interval is computed, in words; docs/intervals.md says when there is none. The phrases
# decide, too: whether there is an interval, and whether bias is subtracted from its draws.
NO_INTERVAL = "None. The value describes the data, or is a number of examples or classes."
WILSON = "Wilson's score interval of a binomial proportion."
WILSON_TRANSFORMED = (
    "Wilson's score interval of a binomial proportion, transformed: the metric increases with the "
    "proportion."
)
POSTERIOR = (
    "Draws from the posterior of the matrix, with Jeffreys' prior for two classes and a prior of "
    "1/K for more."
)
OF_MATRIX = f"{POSTERIOR} Above 200 classes, twice the bias of the draws is subtracted."
OF_MATRIX_LESS_BIAS = (
    f"{POSTERIOR} With more than two classes, the bias of the draws is subtracted; above 200 "
    "classes, twice the bias."
)
LESS_TWICE_THE_BIAS = (
    f"{POSTERIOR} With more than two classes, twice the bias of the draws is subtracted."
)
OF_CELLS = f"{POSTERIOR} Above 200 classes, the delta method."
OF_CLASS = "Draws from the posterior of the class against the rest, with Jeffreys' prior."
FEW_OR_ABSENT = (
    "No ends if the smallest class has fewer than 5 examples, or a declared class has none."
)
FEW_OUTSIDE = "No ends with fewer than 5 examples outside the largest class."
MEAN_RECALL = (
    "Two classes: the Wilson limits of both recalls, combined (MOVER). More classes: draws from "
    "the posterior of the matrix with a prior of 1/K; above 200 classes, twice their bias is "
    f"subtracted. {FEW_OR_ABSENT}"
)
STUDENT_LOG = "Student's t interval of the mean loss on the log scale."
EFFECTIVE_SIZE = "Wilson's score interval with an effective number of examples and Student's t."


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSpec:
    """The one definition of a metric key.

    `formula` is plain text; `low` and `high` bound the value (`math.inf` where unbounded). Most
    metrics are shares for which higher is better, and leave bounds and direction at the defaults.
    `undefined_when` maps each reason the metric can give to the condition in words.
    `source` is the literature. `other_names` is the name in other libraries, including names that
    mean something else there, and `namesakes` lists the keys of other metrics known by the same
    name, the most common first. `ignores` lists what the value does not depend on.
    `version` is raised when the definition changes. `symmetry` is None where the
    transformations of a single-label matrix do not apply. `interval` says in a sentence or two
    how the interval is computed.
    """

    key: str
    scope: Scope
    title: str
    formula: str
    low: float = 0
    high: float = 1
    direction: Direction = Direction.HIGHER
    source: str
    symbol: str = ""
    undefined_when: Mapping[Reason, str] = field(default_factory=dict)
    ignores: tuple[str, ...] = ()
    other_names: Mapping[str, str] = field(default_factory=dict)
    namesakes: tuple[str, ...] = ()
    notes: str = ""
    symmetry: Symmetry | None = None
    interval: str = OF_MATRIX
    version: int = 1

    def __post_init__(self) -> None:
        for name in ("undefined_when", "other_names"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


NO_SAMPLES = {Reason.NO_SAMPLES: "there are no examples (N = 0)"}
OF_SCORES = partial(MetricSpec, scope=Scope.PROBABILISTIC)
NO_POSITIVES = {Reason.NO_ACTUAL_POSITIVES: "the class has no examples (t = 0)"}
NO_NEGATIVES = {Reason.NO_ACTUAL_NEGATIVES: "all examples are of the class (t = N)"}
NO_PREDICTED_POSITIVES = {Reason.NO_PREDICTED_POSITIVES: "the class is never predicted (p = 0)"}
NO_PREDICTED_NEGATIVES = {
    Reason.NO_PREDICTED_NEGATIVES: "every example is predicted as the class (p = N)"
}
ONE_SIDED_ACTUAL = NO_POSITIVES | NO_NEGATIVES
ONE_SIDED_PREDICTED = NO_PREDICTED_POSITIVES | NO_PREDICTED_NEGATIVES
CLASS_ABSENT = {
    Reason.CLASS_ABSENT: "the class neither occurs nor is predicted (TP + FN + FP = 0)"
}
CLASS_VALUE_UNDEFINED = {
    Reason.CLASS_VALUE_UNDEFINED: "the class value is undefined for a declared class"
}
ONE_CLASS_EVERYWHERE = NO_SAMPLES | {
    Reason.CHANCE_AGREEMENT_CERTAIN: "only one class occurs and only that class is predicted, so "
    "agreement by chance is certain"
}

# What a value may not depend on. A test changes exactly this and checks every entry.
TRUE_POSITIVES = "true positives"
FALSE_NEGATIVES = "false negatives"
FALSE_POSITIVES = "false positives"
TRUE_NEGATIVES = "true negatives"
PATTERN_OF_ERRORS = "which classes are confused, as long as both margins stay the same"
NAMED_CLASS = "which wrong class is predicted"
ERRING_CLASS = "which actual class the errors belong to"

NOT_PROBABILITIES = {
    Reason.SCORES_NOT_PROBABILITIES: "a score lies outside [0, 1], or the scores of an example "
    "do not sum to 1"
}

ZENG = "Zeng 2025, Mathematics 13(16) 2609, Table A1"
LUQUE = "Luque et al. 2019, Symmetry 11(1) 47, Table 3"
LECTURE = "Machine Learning & Signals Learning, chapter 12"
POWERS = "Powers 2011, Journal of Machine Learning Technologies 2(1), 37-63"
KRSTINIC = (
    "Krstinic, Braovic, Seric and Bozic-Stulic 2020, Multi-label classifier performance "
    "evaluation with confusion matrix, CS & IT 10(8)"
)
