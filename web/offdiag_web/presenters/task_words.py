"""Kinds of classification in words."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.runs import Task

TASK_WORDS = {
    Task.BINARY: "binary",
    Task.MULTICLASS: "multi-class",
    Task.MULTILABEL: "multi-label",
}


@dataclass(frozen=True, slots=True)
class ClassWords:
    """What one of the things that a run tells apart is called, and several."""

    one: str
    many: str


CLASSES = ClassWords("class", "classes")
LABELS = ClassWords("label", "labels")


def class_words(task: Task) -> ClassWords:
    """Classes exclude each other; a case that carries a set has labels."""
    return LABELS if task is Task.MULTILABEL else CLASSES
