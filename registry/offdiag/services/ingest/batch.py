"""Batches of predictions, encoded and checked before anything reaches the database.

The arguments of a call are kept as given; ground truth is identified by its content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.look_alikes import label_notes
from offdiag.domain.sentences import listed
from offdiag.errors import InvalidInput
from offdiag.inputs.counted_scores import GivenClassScores
from offdiag.inputs.ids import (
    SampleIds,
    aligned,
    joined,
    require_distinct,
    require_stored_order,
    sample_ids,
    update_digest,
)
from offdiag.inputs.label_sets import pack_column, pack_pair
from offdiag.inputs.labels import (
    Codes,
    encode_labels,
    floats_among,
    hold_sets,
    label_column,
    require_equal_lengths,
)
from offdiag.inputs.score_notes import score_notes, sum_notes, truth_notes
from offdiag.inputs.scores import Scores, predicted_from, read_scores
from offdiag.inputs.slice_columns import (
    SliceColumns,
    concatenated_slices,
    read_slices,
    slice_notes,
)
from offdiag.metrics.counted import SampleCounts, are_sets, count_part
from offdiag.metrics.pair_counts import OccupiedCells
from offdiag.metrics.weighted.counts import read_weights


@dataclass(frozen=True)
class Predictions:
    """The arrays of one call as given by the user, and what is stated about their classes."""

    y_pred: object | None
    y_true: object | None = None
    y_score: object | None = None
    sample_ids: object | None = None
    slices: object | None = None
    sample_weight: object | None = None
    labels: Iterable[object] | None = None
    ordinal: bool = False
    positive_label: object | None = None
    hierarchy: object | None = None


@dataclass(frozen=True)
class GivenMatrix:
    """A confusion matrix as given by the user; `orientation` says what its rows are."""

    matrix: ArrayLike
    orientation: str
    labels: Iterable[object] | None = None
    ordinal: bool = False
    hierarchy: object | None = None
    reported: Mapping[str, object] | None = None
    """Metrics that were reported with it, in the form that `audit_reported` accepts."""


@dataclass(frozen=True)
class GivenCounts:
    """The number of samples of each kind, counted where the predictions are stored.

    A kind is an actual class, a predicted class, a value of each slice column and with `scores` a
    cell of the score of the positive class; all lists have one entry for each kind. `counted_on`
    names the program that counted. `scores` are the columns of `CellColumns`. `class_scores` are
    those of every class if there are more than two, without slices. `notes` say what may have been
    read differently than intended.
    """

    actual: Sequence[object]
    predicted: Sequence[object]
    sizes: Sequence[int]
    counted_on: str
    slices: Mapping[str, Sequence[object]] = field(default_factory=dict)
    labels: Iterable[object] | None = None
    ordinal: bool = False
    positive_label: object | None = None
    hierarchy: object | None = None
    scores: Mapping[str, Sequence[float]] | None = None
    class_scores: GivenClassScores | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PairedTable:
    """The number of samples of each kind, by the predictions of two or more runs.

    `predicted` has a list for each run, by run name; all lists have one entry for each kind.
    """

    actual: Sequence[object]
    predicted: Mapping[str, Sequence[object]]
    sizes: Sequence[int]
    slices: Mapping[str, Sequence[object]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class GivenPairedCounts:
    """Samples of several runs that were counted together, in one table or one for each pair of
    runs. The other fields are as in `GivenCounts`.
    """

    tables: Sequence[PairedTable]
    counted_on: str
    labels: Iterable[object] | None = None
    ordinal: bool = False
    positive_label: object | None = None
    hierarchy: object | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What may have been read differently than intended, without repetitions."""
        return tuple(dict.fromkeys(note for table in self.tables for note in table.notes))


def truth_digest(labels: LabelSet, actual: Codes, ids: SampleIds | None) -> str:
    """SHA-256 of ground truth. With identifiers both arrays must be in identifier order."""
    content = hashlib.sha256(
        b"offdiag truth 1 of sets" if are_sets(actual) else b"offdiag truth 1"
    )
    content.update(labels.digest.encode())
    content.update(np.ascontiguousarray(actual).data)
    if ids is not None:
        update_digest(content, ids)
    return content.hexdigest()


CHUNK_SIZE = 65_536
"""Predictions in one stored chunk: counting is no faster with larger ones, and a chunk of codes
still fits in the second-level cache."""


_Rows = NDArray[np.int64] | slice


@dataclass(frozen=True)
class Batch:
    """Aligned arrays about n samples.

    `predicted` and `actual` are codes of one label set, or packed sets of its labels, with
    `actual` None to use the stored truth of the dataset; `ids` is None if samples are identified
    by position. `slices` are columns by name. `decision` is the rule that made the predictions
    from the scores, None if they were given. `notes` say what may have been read differently than
    intended; they are about the call, so parts of the batch have none. `weight` (n,) has the
    weights of the samples, None without weights.
    """

    predicted: Codes
    actual: Codes | None = None
    ids: SampleIds | None = None
    scores: Scores | None = None
    slices: SliceColumns = field(default_factory=dict)
    decision: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)
    weight: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.predicted)

    @property
    def of_sets(self) -> bool:
        """Whether samples have sets of labels instead of single classes."""
        return are_sets(self.predicted)

    def take(self, positions: NDArray[np.int64]) -> Batch:
        """The samples at these positions, in this order."""
        ids = None if self.ids is None else self.ids.take(positions)
        columns = {name: column.take(positions) for name, column in self.slices.items()}
        return self._at(positions, ids, columns)

    def slice(self, start: int, stop: int) -> Batch:
        """The samples from `start` up to, but excluding, `stop`, sharing memory."""
        ids = None if self.ids is None else self.ids.slice(start, stop)
        columns = {name: column.slice(start, stop) for name, column in self.slices.items()}
        return self._at(np.s_[start:stop], ids, columns)

    def _at(self, rows: _Rows, ids: SampleIds | None, columns: SliceColumns) -> Batch:
        return Batch(
            self.predicted[rows],
            None if self.actual is None else self.actual[rows],
            ids,
            None if self.scores is None else Scores(self.scores.values[rows]),
            columns,
            decision=self.decision,
            weight=None if self.weight is None else self.weight[rows],
        )

    def counts(self, *, n_classes: int) -> SampleCounts | OccupiedCells | None:
        """The numbers of samples by actual and predicted class; None without actual classes."""
        if self.actual is None:
            return None
        return count_part(self.actual, self.predicted, n_classes=n_classes)

    def digest(self, labels: LabelSet) -> str:
        """SHA-256 over what was predicted for which samples: equal uploads have equal digests.

        Slices are left out: they are facts about the samples, whichever run predicts them, and are
        compared with the stored ones.
        """
        content = hashlib.sha256(b"offdiag batch 1")
        content.update(labels.digest.encode())
        _update_tagged(content, b"predicted", self.predicted)
        if self.actual is not None:
            _update_tagged(content, b"actual", self.actual)
        if self.scores is not None:
            _update_tagged(content, b"scores", self.scores.values)
        if self.weight is not None:
            _update_tagged(content, b"weight", self.weight)
        if self.ids is not None:
            update_digest(content, self.ids)
        return content.hexdigest()


def read_batch(
    *,
    y_pred: object | None,
    y_true: object | None,
    y_score: object | None,
    ids: object | None,
    labels: LabelSet,
    positive_label: str | None,
    slices: object | None = None,
    sample_weight: object | None = None,
) -> Batch:
    """Encode the arrays of one call, paired as in `aligned`.

    Without `y_pred`, predictions are made from the scores by `predicted_from`. Raises
    `InvalidInput` naming the argument at fault.
    """
    given = aligned(
        y_true=y_true,
        y_pred=y_pred,
        y_score=y_score,
        sample_ids=ids,
        slices=slices,
        sample_weight=sample_weight,
    )
    if y_true is None and ids is None:
        require_stored_order(y_pred=y_pred, y_score=y_score, slices=slices)
    decision = None
    if y_pred is None:
        given["y_pred"], decision = _predictions_of(
            given["y_score"], given["y_true"], labels, positive_label
        )
    predicted, actual, whole_floats = _answers(given["y_pred"], given["y_true"], labels)
    identifiers = None
    if ids is not None:
        identifiers = sample_ids(given["sample_ids"])
        require_equal_lengths(y_pred=len(predicted), sample_ids=len(identifiers))
        require_distinct(identifiers, identifiers.order(), field="sample_ids")
    scores = None
    if y_score is not None:
        scores = read_scores(
            given["y_score"],
            n_samples=len(predicted),
            labels=labels,
            positive_label=positive_label,
            of_sets=are_sets(predicted),
        )
    notes = label_notes((), whole_floats=whole_floats)
    if scores is not None and decision is None:
        notes += score_notes(scores, predicted, labels, positive_label)
    elif scores is not None and actual is not None:
        notes += truth_notes(scores, actual, labels, positive_label)
    if scores is not None and not are_sets(predicted):
        notes += sum_notes(scores.values)
    columns = {} if slices is None else read_slices(given["slices"], n_samples=len(predicted))
    notes += slice_notes(columns)
    weight = None
    if sample_weight is not None:
        if are_sets(predicted):
            raise InvalidInput(
                "examples with sets of labels take no weights.",
                field="sample_weight",
                hint="Leave it out, or log each label as a run of two classes.",
            )
        weight = read_weights(given["sample_weight"], n_samples=len(predicted))
    return Batch(predicted, actual, identifiers, scores, columns, decision, notes, weight)


def _predictions_of(
    y_score: object | None, y_true: object | None, labels: LabelSet, positive_label: str | None
) -> tuple[object, Mapping[str, Any]]:
    """Predictions made from scores, and the rule. Raises `InvalidInput` without scores."""
    if y_score is None:
        raise InvalidInput(
            "neither predictions nor scores are given.",
            field="y_pred",
            hint="Give y_pred=, or y_score= to predict from.",
        )
    if y_true is not None and hold_sets(y_true):
        raise InvalidInput(
            "scores do not say which labels of a set are predicted.",
            field="y_pred",
            hint="Give a set of labels for each sample.",
        )
    scores = read_scores(y_score, n_samples=None, labels=labels, positive_label=positive_label)
    return predicted_from(scores, labels, positive_label)


def _answers(
    y_pred: object, y_true: object | None, labels: LabelSet
) -> tuple[Codes, Codes | None, tuple[str, ...]]:
    """Predicted and actual codes, or packed sets if either argument has sets.

    The third value names the arguments whose labels were given as floats.
    """
    if hold_sets(y_pred) or (y_true is not None and hold_sets(y_true)):
        if y_true is None:
            return pack_column(y_pred, labels, field="y_pred"), None, ()
        actual, predicted = pack_pair(y_true=y_true, y_pred=y_pred, labels=labels)
        return predicted, actual, ()
    given = {"y_pred": y_pred} | ({} if y_true is None else {"y_true": y_true})
    columns = {name: label_column(values, field=name) for name, values in given.items()}
    codes = {name: encode_labels(each, labels, field=name) for name, each in columns.items()}
    if y_true is not None:
        require_equal_lengths(y_true=len(codes["y_true"]), y_pred=len(codes["y_pred"]))
    return codes["y_pred"], codes.get("y_true"), floats_among(**columns)


def in_id_order(batch: Batch) -> Batch:
    """The same samples sorted by identifier, so that any order of them gives the same batch."""
    if batch.ids is None:
        return batch
    order = batch.ids.order()
    if bool((order[1:] > order[:-1]).all()):
        return batch
    return batch.take(order)


def chunked(batch: Batch, size: int = CHUNK_SIZE) -> Iterator[Batch]:
    """The batch in consecutive pieces of at most `size` samples."""
    for start in range(0, len(batch), size):
        yield batch.slice(start, start + size)


def concatenated(batches: list[Batch]) -> Batch:
    """Several batches as one. Raises `InvalidInput` unless all have the same kinds of arrays."""
    if len(batches) == 1:
        return batches[0]
    for batch in batches[1:]:
        require_alike(batches[0], batch)
    actual = [batch.actual for batch in batches if batch.actual is not None]
    ids = [batch.ids for batch in batches if batch.ids is not None]
    scores = [batch.scores.values for batch in batches if batch.scores is not None]
    weights = [batch.weight for batch in batches if batch.weight is not None]
    return Batch(
        np.concatenate([batch.predicted for batch in batches]),
        np.concatenate(actual) if actual else None,
        joined(ids) if ids else None,
        Scores(np.concatenate(scores)) if scores else None,
        concatenated_slices([batch.slices for batch in batches]),
        batches[0].decision,
        weight=np.concatenate(weights) if weights else None,
    )


def require_alike(first: Batch, other: Batch) -> None:
    """Raise `InvalidInput` unless both batches have the same kinds of arrays."""
    for name, one, two in (
        ("y_true", first.actual, other.actual),
        ("sample_ids", first.ids, other.ids),
        ("y_score", first.scores, other.scores),
        ("y_pred", first.decision, other.decision),
        ("sample_weight", first.weight, other.weight),
    ):
        if (one is None) != (two is None):
            raise some_batches_lack(name)
    widths = {batch.scores.n_columns for batch in (first, other) if batch.scores is not None}
    if len(widths) > 1:
        raise score_widths_differ(min(widths), max(widths))
    if first.of_sets != other.of_sets:
        raise InvalidInput(
            "some batches of this run have sets of labels and some have single ones.",
            field="y_pred",
            hint="Give a set or list of labels for each sample, even if it is only one.",
        )
    require_same_columns([first.slices, other.slices])


def some_batches_lack(field: str) -> InvalidInput:
    """The error for a run whose batches do not all have the same arrays."""
    return InvalidInput(
        "only some batches of this run have it.",
        field=field,
        hint="Log it with every batch of a run, or with none.",
    )


def require_same_columns(batches: Sequence[SliceColumns]) -> None:
    """Raise `InvalidInput` unless all batches of a run have the same slice columns.

    Lists of tags do not mix with single values, nor times that have a zone with others.
    """
    known = {name for columns in batches for name in columns}
    lacking = sorted(name for name in known if any(name not in columns for columns in batches))
    if lacking:
        which = f"column{'' if len(lacking) == 1 else 's'} {listed(list(map(repr, lacking)))}"
        raise InvalidInput(
            f"only some batches of this run have the {which}.",
            field="slices",
            hint="Give the same columns with every batch, or log the run without them and call "
            "offdiag.add_slices with all samples.",
        )
    for name in known:
        columns_of_name = [columns[name] for columns in batches]
        if len({column.of_tags for column in columns_of_name}) > 1:
            raise InvalidInput(
                "some batches have lists of tags and some single values.",
                field=f"slices[{name!r}]",
                hint="Give a list for each sample, even if it has only one tag.",
            )
        if {True, False} <= {column.zoned for column in columns_of_name}:
            raise InvalidInput(
                "some batches have times with a zone and some without.",
                field=f"slices[{name!r}]",
                hint="Give each of them its zone, or leave it out of all.",
            )


def score_widths_differ(least: int, most: int) -> InvalidInput:
    """The error for a run whose batches have different numbers of score columns."""
    return InvalidInput(
        f"some batches of this run have {least} for each sample and some have {most}.",
        field="y_score",
        hint="Give the scores of the positive class with every batch, or those of all classes.",
    )


def _update_tagged(content: hashlib._Hash, name: bytes, array: NDArray[np.generic]) -> None:
    content.update(name + f"{array.dtype.str}{array.shape}".encode())
    content.update(np.ascontiguousarray(array).data)
