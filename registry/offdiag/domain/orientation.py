"""Which axis of a matrix is which, how that was checked, and how tools call the two axes.

Inside offdiag the first axis is the actual class and the second the predicted one, always.
A matrix cannot reveal its own orientation, so an uploaded one must state it, and the
statement is checked against the class counts of the dataset.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self


class SourceOrientation(StrEnum):
    """What was uploaded."""

    PREDICTIONS = "predictions"
    """Pairs of labels: the matrix is counted here, so its orientation is ours."""
    ACTUAL_ROWS = "actual_rows"
    ACTUAL_COLUMNS = "actual_columns"


class OrientationVerdict(StrEnum):
    """What the margins of an uploaded matrix say about the orientation it claims."""

    CANONICAL = "canonical"
    """The margin claimed to be the actual one has the dataset's class counts, the other not."""
    TRANSPOSED = "transposed"
    """Only the margin claimed to be the predicted one has them: the claim looks swapped."""
    AMBIGUOUS = "ambiguous"
    """Both margins have them: consistent with the claim, but no evidence for it."""
    INCONSISTENT = "inconsistent"
    """Neither margin has them: this matrix was not made on this ground truth."""
    UNVERIFIED = "unverified"
    """The dataset has no class counts to compare with."""


@dataclass(frozen=True, slots=True)
class OrientationEvidence:
    """What was compared, kept with the run so that anybody can check the verdict.

    The three counts are in label order; `class_counts` is None when the dataset had none.
    `counted_on` names the program that counted the matrix from columns of a known meaning; it is
    None for an uploaded matrix. `reported` are the numbers that were sent with it, by their tags,
    which may be edited since; None where there were none.
    """

    source: SourceOrientation
    verdict: OrientationVerdict
    actual_margin: tuple[int, ...] | None = None
    predicted_margin: tuple[int, ...] | None = None
    class_counts: tuple[int, ...] | None = None
    counted_on: str | None = None
    reported: Mapping[str, Any] | None = None

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote."""
        counts = {
            name: None if facts[name] is None else tuple(facts[name])
            for name in ("actual_margin", "predicted_margin", "class_counts")
        }
        return cls(
            SourceOrientation(facts["source"]),
            OrientationVerdict(facts["verdict"]),
            **counts,
            counted_on=facts.get("counted_on"),
            reported=facts.get("reported"),
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "source": self.source.value,
            "verdict": self.verdict.value,
            "actual_margin": self.actual_margin,
            "predicted_margin": self.predicted_margin,
            "class_counts": self.class_counts,
            **({} if self.counted_on is None else {"counted_on": self.counted_on}),
            **({} if self.reported is None else {"reported": dict(self.reported)}),
        }

    def counted_by(self, program: str) -> Self:
        """The evidence for a matrix that a program counted from an actual and a predicted column.

        That settles its orientation, whatever the margins cannot tell. Only margins that speak
        against it stand: then the columns were named the wrong way round, or hold other samples.
        """
        silent = (OrientationVerdict.UNVERIFIED, OrientationVerdict.AMBIGUOUS)
        verdict = OrientationVerdict.CANONICAL if self.verdict in silent else self.verdict
        return replace(self, verdict=verdict, counted_on=program)


ACTUAL_WORDS = frozenset(
    {"actual", "true", "truth", "reference", "observed", "gold", "gt", "target"}
)
PREDICTED_WORDS = frozenset({"predicted", "prediction", "predictions", "predictive", "pred"})
_ALSO_ACTUAL = frozenset({"actuals", "y true", "ytrue", "ground truth", "groundtruth", "expected"})
_ALSO_PREDICTED = frozenset({"y pred", "ypred", "y hat", "yhat", "output", "outputs"})
"""Names of columns and variables, which say nothing where they stand in a sentence."""

_NOUNS = re.compile(r"(?<![a-z])(class|classes|label|labels|category|value|values)(?![a-z])|[↓→]")
_BETWEEN = re.compile(r"\\|/|\||\bvs\b|(?<=[↓→])\s")
_SPACES = re.compile(r"[\s_-]+")


def axis_named(name: object) -> SourceOrientation | None:
    """The orientation of a matrix whose rows have this name; None if it names no axis.

    Names are those of scikit-learn ("True label", "y_pred"), of R ("Reference", "Prediction",
    "Truth") and those people write, in upper or lower case, with "class" or "label" or without.
    """
    if not isinstance(name, str):
        return None
    plain = _SPACES.sub(" ", _NOUNS.sub("", name.lower())).strip(" :")
    if plain in ACTUAL_WORDS or plain in _ALSO_ACTUAL:
        return SourceOrientation.ACTUAL_ROWS
    if plain in PREDICTED_WORDS or plain in _ALSO_PREDICTED:
        return SourceOrientation.ACTUAL_COLUMNS
    return None


def orientation_in_corner(corner: str) -> SourceOrientation | None:
    """What the corner of a table says: the name of the rows, or both names as in "true \\ pred".

    The rows come first, unless arrows say what goes down and what across. None unless every axis
    it names is known and they differ.
    """
    parts = _BETWEEN.split(corner)
    axes = [axis_named(part) for part in parts]
    if len(axes) == 1:
        return turned(axes[0]) if "→" in corner else axes[0]
    if len(axes) > 2 or None in axes or axes[0] is axes[1]:
        return None
    return axes[1] if "→" in parts[0] or "↓" in parts[1] else axes[0]


def turned(orientation: SourceOrientation | None) -> SourceOrientation | None:
    """The orientation of a matrix whose columns have the name that rows of this one have."""
    if orientation is SourceOrientation.ACTUAL_ROWS:
        return SourceOrientation.ACTUAL_COLUMNS
    return None if orientation is None else SourceOrientation.ACTUAL_ROWS
