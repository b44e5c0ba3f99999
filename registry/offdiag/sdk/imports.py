"""Logging what an importer read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from offdiag.importers.imported import Imported, ImportedMatrix, provenance
from offdiag.sdk.api import log_matrix, log_run
from offdiag.sdk.run import Run


def log_imported(
    found: Imported,
    *,
    name: str,
    dataset: str,
    project: str | None = None,
    model: str | None = None,
    tags: Mapping[str, Any] | None = None,
    client_key: str | None = None,
    url: str | None = None,
) -> Run:
    """Store predictions or a matrix of another tool, with where they come from as tags.

    `tags` stand above those of the tool. Raises `InvalidInput` and `Conflict`.
    """
    content = found.content
    facts: dict[str, Any] = {
        "name": name,
        "dataset": dataset,
        "project": project,
        "model": model,
        "params": found.params,
        "tags": {**found.tags, **provenance(found), **(tags or {})},
        "client_key": client_key,
        "url": url,
    }
    if isinstance(content, ImportedMatrix):
        return log_matrix(
            content.matrix,
            labels=content.labels,
            orientation=content.orientation.value,
            **facts,
        )
    return log_run(y_true=content.y_true, y_pred=content.y_pred, labels=content.labels, **facts)
