"""Correcting ground truth from a notebook or a labelling job."""

from __future__ import annotations

from offdiag.domain.labels import TruthRevision
from offdiag.inputs.label_changes import ColumnNames
from offdiag.sdk import provenance
from offdiag.sdk.registry import RevisionQuestion
from offdiag.sdk.target import target


def revise_truth(
    *,
    dataset: str,
    labels: object,
    reason: str,
    project: str | None = None,
    version: int | None = None,
    id_column: str = "id",
    label_column: str = "label",
    url: str | None = None,
) -> TruthRevision:
    """Give samples of a dataset other labels; every run on them is scored again.

    `labels` is a mapping from sample identifiers to labels, a pair (identifiers, labels) of
    arrays, a frame (pandas, polars, pyarrow), or the path of a CSV, Parquet, Arrow or JSON lines
    file. Columns of a frame or file are found as `id_column` and `label_column`; a frame of
    two columns may call them anything, identifiers first. Where runs were logged without
    identifiers, samples are named by position. None, or an empty cell of a CSV file, takes a
    label away. `reason` is kept with the new version; the
    old one stays. `version` names the lineage to correct where a dataset has several; the
    newest version of it is corrected. Repeating a call changes nothing.

    Raises `InvalidInput` for unknown samples and labels, `NotFound` for an unknown dataset, and
    `Conflict` when the labels are so already.
    """
    at = target(url)
    return at.revise_truth(
        RevisionQuestion(
            project=project if project is not None else at.project,
            dataset=dataset,
            labels=labels,
            reason=reason,
            author=provenance.author(),
            version=version,
            names=ColumnNames(id_column, label_column),
        )
    )
