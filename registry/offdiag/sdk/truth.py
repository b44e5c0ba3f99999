"""Correcting ground truth from a notebook or a labelling job."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from offdiag.arrays.label_changes import ColumnNames
from offdiag.sdk import provenance
from offdiag.sdk.target import target
from offdiag.services.truth import revise


@dataclass(frozen=True, slots=True)
class TruthRevision:
    """A version of the ground truth that corrects another one.

    `n_corrected` samples have another label than before, `n_newly_labelled` had none, and
    `n_unlabelled` have none any more. `n_runs` runs are scored again. `was_there` says that
    the same revision had been made before, and nothing was done.
    """

    dataset: str
    version: int
    parent: int
    reason: str
    n_corrected: int
    n_newly_labelled: int
    n_unlabelled: int
    n_labelled: int
    n_samples: int
    n_runs: int
    was_there: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        return asdict(self)


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
    made = revise.revise_truth(
        at.database,
        project=project if project is not None else at.settings.project,
        dataset=dataset,
        labels=labels,
        reason=reason,
        author=provenance.author(),
        version=version,
        names=ColumnNames(id_column, label_column),
    )
    return summary_of(dataset, made)


def summary_of(dataset: str, made: revise.Revision) -> TruthRevision:
    """What a revision did, in numbers."""
    return TruthRevision(
        dataset=dataset,
        version=made.version.number,
        parent=made.parent.number,
        reason=made.version.reason or "",
        n_corrected=made.difference.n_corrected,
        n_newly_labelled=made.difference.n_newly_labelled,
        n_unlabelled=made.difference.n_unlabelled,
        n_labelled=made.version.n_labelled,
        n_samples=made.version.n_samples,
        n_runs=made.n_runs,
        was_there=made.was_there,
    )
