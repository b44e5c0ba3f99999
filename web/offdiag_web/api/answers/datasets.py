"""Datasets and their truth as they travel."""

from __future__ import annotations

from collections.abc import Mapping

from offdiag.domain.runs import RunState
from offdiag.records import dataset as wire
from offdiag.services.browse_datasets import DatasetDetail
from offdiag.store.dataset_page import DatasetFacts, LoggedRuns
from offdiag_web.api.answers.runs import labels
from offdiag_web.api.answers.truths import truth_version


def dataset_summary(facts: DatasetFacts, logged: LoggedRuns) -> wire.DatasetSummary:
    return wire.DatasetSummary(
        project=facts.project,
        name=facts.name,
        task=facts.task,
        n_classes=facts.n_classes,
        labels_inferred=facts.labels_inferred,
        truth_version=facts.truth_number,
        n_samples=facts.n_samples,
        class_counts=None if facts.class_counts is None else list(facts.class_counts),
        costs=facts.costs,
        n_runs=logged.total,
        runs_by_state=_by_state(logged.by_state),
        last_logged_at=logged.last_logged_at,
    )


def whole_dataset(found: DatasetDetail) -> wire.Dataset:
    dataset = found.dataset
    return wire.Dataset(
        project=dataset.project,
        name=dataset.name,
        task=dataset.task,
        labels=labels(dataset.labels),
        positive_label=dataset.positive_label,
        positive_by_convention=dataset.positive_by_convention,
        groups=None if dataset.hierarchy is None else dataset.hierarchy.to_dict(),
        truth_versions=list(map(truth_version, found.versions)),
        slices=[
            wire.SliceColumn(root=each.root, name=each.name, levels=list(each.levels))
            for each in found.slices
        ],
        n_runs=found.runs.total,
        runs_by_state=_by_state(found.runs.by_state),
        n_behind=found.runs.n_behind,
    )


def _by_state(counted: Mapping[RunState, int]) -> dict[str, int]:
    return {state.value: number for state, number in counted.items()}
