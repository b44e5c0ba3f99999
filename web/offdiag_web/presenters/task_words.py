"""Kinds of classification in words."""

from __future__ import annotations

from offdiag.domain.runs import Task

TASK_WORDS = {
    Task.BINARY: "binary",
    Task.MULTICLASS: "multi-class",
    Task.MULTILABEL: "multi-label",
}
