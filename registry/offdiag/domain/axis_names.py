"""What people and tools call the two axes of a confusion matrix."""

from __future__ import annotations

import re

from offdiag.domain.orientation import SourceOrientation

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

    None unless every axis it names is known and they differ.
    """
    axes = [axis_named(part) for part in _BETWEEN.split(corner)]
    if len(axes) == 2 and None not in axes and axes[0] is not axes[1]:
        return axes[0]
    return axes[0] if len(axes) == 1 else None
