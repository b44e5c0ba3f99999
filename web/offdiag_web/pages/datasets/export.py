"""A dataset for machines."""

from __future__ import annotations

from collections.abc import Iterator

from offdiag.domain.look_alikes import look_alikes
from offdiag.domain.runs import RunState
from offdiag.services.datasets import DatasetDetail
from offdiag.store.truths import TruthSummary
from offdiag_web.app.exports import Cell

CLASS_COUNT_COLUMNS = ("truth_version", "label", "n_samples", "share_of_labelled")


def dataset_record(detail: DatasetDetail) -> dict[str, object]:
    """The dataset with its labels, truth versions, runs and slices."""
    dataset = detail.dataset
    return {
        "project": dataset.project,
        "name": dataset.name,
        "task": dataset.task.value,
        "labels": {
            "names": list(dataset.labels.names),
            "ordinal": dataset.labels.ordinal,
            "inferred": dataset.labels_inferred,
            "digest": dataset.labels.digest,
            "look_alikes": look_alikes(dataset.labels),
        },
        "positive_label": dataset.positive_label,
        "positive_by_convention": dataset.positive_by_convention,
        "hierarchy": None if dataset.hierarchy is None else dataset.hierarchy.to_dict(),
        "truth_versions": [_version_record(version) for version in detail.versions],
        "runs": {state.value: detail.runs.by_state[state] for state in RunState},
        "runs_behind": detail.runs.n_behind,
        "slices": [
            {"name": each.name, "first_version": each.root, "values": list(each.levels)}
            for each in detail.slices
        ],
    }


def _version_record(version: TruthSummary) -> dict[str, object]:
    return {
        "number": version.number,
        "corrects": version.parent,
        "first_version": version.root,
        "is_current": version.is_head,
        "digest": version.digest,
        "n_samples": version.n_samples,
        "n_labelled": version.n_labelled,
        "id_kind": version.id_kind,
        "class_counts": list(version.class_counts),
        "reason": version.reason,
        "author": version.author,
        "created_at": version.created_at.isoformat(),
        "runs": version.n_runs,
    }


def class_count_rows(detail: DatasetDetail) -> Iterator[tuple[Cell, ...]]:
    """One line per truth version and class, newest version first."""
    for version in detail.versions:
        for name, count in zip(detail.dataset.labels.names, version.class_counts, strict=True):
            share = count / version.n_labelled if version.n_labelled else None
            yield (version.number, name, count, share)
