"""Encoding and checking all predictions of a run before they are stored or sent.

They are also checked against the classes of an existing dataset.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.look_alikes import label_notes
from offdiag.errors import InvalidInput
from offdiag.inputs.columns import kept
from offdiag.inputs.label_sets import infer_set_labels
from offdiag.inputs.labels import hold_sets, infer_labels, order_of_no_labels
from offdiag.metrics.weighted.counts import require_some_weight
from offdiag.services.ingest.batch import Batch, Predictions, in_id_order, read_batch, truth_digest
from offdiag.services.ingest.dataset_labels import (
    KnownDataset,
    PositiveClass,
    positive_class,
    require_same_labels,
)


@dataclass(frozen=True)
class EncodedRun:
    """The samples of a run in the order of their identifiers, and their dataset.

    `positive_label` is the stated one. `notes` say what may have been read differently than
    intended.
    """

    dataset: str
    labels: LabelSet
    positive_label: str | None
    batch: Batch
    notes: tuple[str, ...] = ()


def require_dataset_or_truth(dataset: str | None, given: Predictions) -> None:
    """Raise `InvalidInput` if nothing identifies the samples that were predicted."""
    if dataset is None and given.y_true is None:
        raise InvalidInput(
            "neither ground truth nor the name of a dataset that has one is given.",
            field="y_true",
            hint="Give y_true=, or dataset= with the name of a dataset logged before.",
        )


def encode_predictions(
    given: Predictions, *, project: str, dataset: str | None, known: KnownDataset | None
) -> EncodedRun:
    """Encode what was given, with the classes of the dataset if it is `known`.

    Without a dataset name, the name is derived from the truth: equal truth, equal dataset. Raises
    `InvalidInput` for unusable arrays and `Conflict` for other classes than the dataset's.
    """
    # Labels are collected first and encoded later, but an iterator can be read only once.
    given = replace(given, y_true=kept(given.y_true), y_pred=kept(given.y_pred))
    labels = _labels_of(given, project, dataset, known)
    positive = None if given.positive_label is None else label_text(given.positive_label)
    stated = positive_class(labels, positive)
    if known is not None and known.positive_label is not None and positive is None:
        stated = PositiveClass(known.positive_label, by_convention=False)
    batch = read_batch(
        y_pred=given.y_pred,
        y_true=given.y_true,
        y_score=given.y_score,
        ids=given.sample_ids,
        labels=labels,
        positive_label=None if stated is None else stated.label,
        slices=given.slices,
        sample_weight=given.sample_weight,
    )
    if batch.weight is not None:
        require_some_weight(float(batch.weight.max(initial=0.0)))
    notes = (*batch.notes, *label_notes(labels.names))
    batch = in_id_order(batch)
    name = dataset if dataset is not None else _name_from_truth(labels, batch)
    return EncodedRun(name, labels, positive, batch, notes)


def _labels_of(
    given: Predictions, project: str, dataset: str | None, known: KnownDataset | None
) -> LabelSet:
    declared = (
        None if given.labels is None else LabelSet.declared(given.labels, ordinal=given.ordinal)
    )
    if known is not None:
        if declared is not None and not declared.inferred:
            require_same_labels(known, declared)
        return known.labels
    if declared is not None:
        return declared
    if given.y_true is None:
        raise InvalidInput(
            f"dataset {dataset!r} does not exist in project {project!r}.",
            field="dataset",
            hint="Give y_true= with its first run, or labels= and sample_ids= if they come later.",
        )
    if given.ordinal:
        raise order_of_no_labels()
    if hold_sets(given.y_true) or hold_sets(given.y_pred):
        return infer_set_labels(y_true=given.y_true, y_pred=given.y_pred)
    arrays = (("y_true", given.y_true), ("y_pred", given.y_pred))
    return infer_labels(*((field, values) for field, values in arrays if values is not None))


def _name_from_truth(labels: LabelSet, batch: Batch) -> str:
    assert batch.actual is not None  # noqa: S101  # The caller asked for truth or a name.
    return f"data-{truth_digest(labels, batch.actual, batch.ids)[:12]}"
