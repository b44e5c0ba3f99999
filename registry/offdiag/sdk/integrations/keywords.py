"""What callers say about a run that an integration logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Required, TypedDict

from offdiag.domain.runs import Scalar
from offdiag.inputs.ids import aligned


class StreamKeywords(TypedDict, total=False):
    """The arguments of `start_run`."""

    name: Required[str]
    dataset: Required[str]
    project: str | None
    model: str | None
    labels: Iterable[object] | None
    positive_label: object | None
    ordinal: bool
    hierarchy: Mapping[Any, Any] | None
    params: Mapping[str, Any] | None
    tags: Mapping[str, Any] | None
    client_key: str | None
    url: str | None


class RunKeywords(StreamKeywords, total=False):
    """The arguments of `log_run` that are about whole runs or beside the predictions."""

    sample_ids: object | None
    slices: object | None


def in_one_order(X: Any, y: Any, facts: RunKeywords) -> tuple[Any, Any, RunKeywords]:
    """Samples, their actual classes and what is said about them, paired as `aligned` does."""
    of_rows = {"sample_ids": facts.get("sample_ids"), "slices": facts.get("slices")}
    found = aligned(X=X, y=y, **of_rows)
    known = facts.copy()
    if of_rows["sample_ids"] is not None:
        known["sample_ids"] = found["sample_ids"]
    if of_rows["slices"] is not None:
        known["slices"] = found["slices"]
    return found["X"], found["y"], known


def found_params(found: Mapping[str, Scalar], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """What an integration found out, and above it what the caller says."""
    return {**found, **(given or {})}
