"""Telling names of classes from names of models, which stand in the same place of a table."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.flags.audit.pasted.classes import class_name, count_behind, place_of
from offdiag.flags.audit.pasted.lines import axis_word
from offdiag.flags.audit.pasted.meaning import SUPPORT, TOTAL, Meaning

_CLASS_WORDS = ("class", "label", "category", "group")
_PAIRS = (
    *({"yes", "no"}, {"positive", "negative"}, {"+", "-"}, {"pos", "neg"}),
    *({"true", "false"}, {"present", "absent"}, {"ill", "well"}),
)


def are_classes(names: Sequence[str], beside: Sequence[Meaning], classes: Sequence[str]) -> bool:
    """Whether names beside metrics are those of classes; else they are those of models.

    `beside` is what the other heads of the table mean, `classes` are those known already.
    """
    if classes and all(place_of(name, classes) is not None for name in names):
        return True
    if names and all(name.casefold().startswith(_CLASS_WORDS) for name in names):
        return True
    plain = {class_name(name).casefold() for name in names}
    if len(names) > 1 and (
        all(count_behind(name) is not None for name in names)
        or all(axis_word(name.split()[0]) is not None for name in names)
        or all(name.isdigit() for name in plain)
        or plain in _PAIRS
    ):
        return True
    says_classes = any(m.average is not None or m.what in {SUPPORT, TOTAL} for m in beside)
    return says_classes and not any(m.is_aggregate and not _is_average(m) for m in beside)


def _is_average(meaning: Meaning) -> bool:
    """Whether it is the average of class values, as reports print them below the classes."""
    return (meaning.what or "").startswith(("macro_", "micro_", "weighted_", "overall_accuracy"))
