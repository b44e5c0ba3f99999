"""Labels of samples in sentences and tables, the missing one included."""

from __future__ import annotations

from offdiag_web.presenters.class_order import ClassHead, class_head

NO_LABEL = "no label"


def label_head(label: str | None) -> ClassHead:
    """The name of a class, or the words for a sample that has none."""
    return ClassHead(NO_LABEL, NO_LABEL) if label is None else class_head(label)
