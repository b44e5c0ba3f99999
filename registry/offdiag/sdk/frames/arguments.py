"""What is said about a run beside its predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict


class RunArguments(TypedDict):
    """Arguments that `log_run` and `start_run` have in common, but for dataset and labels."""

    name: str
    project: str | None
    model: str | None
    positive_label: object | None
    ordinal: bool
    hierarchy: Mapping[Any, Any] | None
    params: Mapping[str, Any] | None
    tags: Mapping[str, Any] | None
    client_key: str | None
    url: str | None
