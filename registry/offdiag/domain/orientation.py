"""Orientation of confusion matrices: which axis is the actual class, and how to check it.

Inside offdiag the first axis is always the actual class and the second the predicted one. A matrix
cannot reveal its own orientation, so an uploaded one must state it, and the statement is checked
against the class counts of the dataset.
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
    """Pairs of labels: offdiag counts the matrix itself, so its orientation is known."""
    ACTUAL_ROWS = "actual_rows"
    ACTUAL_COLUMNS = "actual_columns"


class OrientationVerdict(StrEnum):
    """What the margins of an uploaded matrix say about its stated orientation."""

    CANONICAL = "canonical"
    """Only the margin stated to be the actual one equals the dataset's class counts."""
    TRANSPOSED = "transposed"
    """Only the margin stated to be the predicted one equals them: the axes seem to be swapped."""
    AMBIGUOUS = "ambiguous"
    """Both margins equal them: consistent with the statement, but no evidence for it."""
    INCONSISTENT = "inconsistent"
    """Neither margin equals them: this matrix was not made on this ground truth."""
    UNVERIFIED = "unverified"
    """The dataset has no class counts to compare with."""


@dataclass(frozen=True, slots=True)
class OrientationEvidence:
    """What was compared, kept with the run so that anyone can check the verdict.

    The three counts are in label order; `class_counts` is None if the dataset had none.
    `counted_on` names the program that counted the matrix from columns of known meaning; it is
    None for an uploaded matrix. `reported` has the numbers that were sent with the matrix, by
    their tags, which may have been edited since; None if there were none.
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
        """The evidence that `to_dict` wrote."""
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

        The columns decide its orientation where the margins are silent. Only margins that
        contradict it keep their verdict: then the columns were swapped, or hold other samples.
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
"""Names of columns and variables that say nothing within a sentence."""

_NOUNS = re.compile(r"(?<![a-z])(class|classes|label|labels|category|value|values)(?![a-z])|[↓→]")
_BETWEEN = re.compile(r"[\\/|,;]|\bvs\b|(?<=[↓→])\s")
_DOWN = re.compile(r"(?i)\b(?:rows?|lines?)\s*[:=]\s*|\(?\b(?:as )?(?:rows?|lines?|down)\b\)?")
_ACROSS = re.compile(
    r"(?i)\b(?:columns?|cols?)\s*[:=]\s*|\(?\b(?:as )?(?:columns?|cols?|across)\b\)?"
)
_SPACES = re.compile(r"[\s_-]+")


def axis_named(name: object) -> SourceOrientation | None:
    """The orientation of a matrix whose rows have this name; None if the name means no axis.

    Recognizes the names in scikit-learn ("True label", "y_pred"), in R ("Reference", "Prediction",
    "Truth") and those that people write, in upper or lower case, with or without "class" or
    "label".
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
    """The orientation that a table's corner states: the name of its rows, or "true \\ pred".

    The name of the rows comes first, unless arrows or words such as "columns" say what goes down
    and what across. None unless every axis in it is known and they differ.
    """
    arrows = _ACROSS.sub("→", _DOWN.sub("↓", corner))
    parts = [part for part in _BETWEEN.split(arrows) if part.strip()]
    axes = [axis_named(part) for part in parts]
    if not axes:
        return None
    if len(axes) == 1:
        return turned(axes[0]) if "→" in arrows else axes[0]
    if len(axes) > 2 or None in axes or axes[0] is axes[1]:
        return None
    return axes[1] if "→" in parts[0] or "↓" in parts[1] else axes[0]


def turned(orientation: SourceOrientation | None) -> SourceOrientation | None:
    """The orientation if the name that gave `orientation` is that of the columns, not the rows."""
    if orientation is SourceOrientation.ACTUAL_ROWS:
        return SourceOrientation.ACTUAL_COLUMNS
    return None if orientation is None else SourceOrientation.ACTUAL_ROWS
