"""Everything the rules say about one run, whatever they need to look at."""

from __future__ import annotations

from dataclasses import dataclass, field

from offdiag.domain.orientation import OrientationEvidence
from offdiag.flags.assessment import (
    LABEL_RULES,
    assess,
    assess_sets,
    hides_minority,
    may_hide_minority,
)
from offdiag.flags.costs import cost_verdict
from offdiag.flags.orientation import orientation_verdict
from offdiag.flags.regression import regression_verdicts
from offdiag.flags.rules import MATRIX_RULES
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Verdict
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.metrics.paired.joint import JointCounts


@dataclass(frozen=True, slots=True)
class AgainstBaseline:
    """The baseline's predictions (first) and the run's (second) on the same cases."""

    name: str
    joint: JointCounts


@dataclass(frozen=True)
class Circumstances:
    """What is known about a run beside its matrix. A rule whose part is missing is not asked."""

    thresholds: Thresholds = field(default_factory=Thresholds)
    costs: CostMatrix | None = None
    orientation: OrientationEvidence | None = None
    baseline: AgainstBaseline | None = None


@dataclass(frozen=True)
class RunVerdicts:
    """The verdicts on one run, and the rules that were asked.

    `not_assessable` is None, or why the rules about the matrix could not be asked.
    """

    verdicts: tuple[Verdict, ...]
    asked: frozenset[str]
    not_assessable: str | None = None

    @property
    def hides_minority(self) -> bool | None:
        """The headline badge; None where nothing can be said."""
        return None if self.not_assessable is not None else hides_minority(self.verdicts)

    @property
    def may_hide_minority(self) -> bool:
        """The milder badge, where nothing is proved."""
        return may_hide_minority(self.verdicts)


def judge_run(counted: Counted, circumstances: Circumstances) -> RunVerdicts:
    """Ask every rule for which there is enough to look at."""
    if isinstance(counted, CountedSets):
        found = assess_sets(counted, circumstances.thresholds)
        return RunVerdicts(found.verdicts, frozenset(LABEL_RULES), found.not_assessable)
    return _judge_matrix(counted, circumstances)


def _judge_matrix(matrix: ConfusionMatrix, circumstances: Circumstances) -> RunVerdicts:
    limits = circumstances.thresholds
    assessment = assess(matrix, limits)
    verdicts, asked = list(assessment.verdicts), set(MATRIX_RULES)
    if circumstances.costs is not None:
        asked.add("F11")
        found = cost_verdict(matrix, circumstances.costs)
        verdicts += [] if found is None else [found]
    if circumstances.orientation is not None:
        asked.add("F13")
        found = orientation_verdict(circumstances.orientation)
        verdicts += [] if found is None else [found]
    baseline = circumstances.baseline
    if baseline is not None:
        asked.add("F14")
        verdicts += regression_verdicts(baseline.joint, baseline=baseline.name, thresholds=limits)
    return RunVerdicts(tuple(verdicts), frozenset(asked), assessment.not_assessable)
