"""What callers say about a run that an integration logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Required, TypedDict

from offdiag.domain.runs import Scalar


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


def found_params(found: Mapping[str, Scalar], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """What an integration found out, and above it what the caller says."""
    return {**found, **(given or {})}
