"""The Arrow stream of a chunk of predictions, as sent to a server or kept in an offline queue.

Classes are written once, as the dictionary of the columns that name them, so that a stream can be
read without knowledge of its run.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.inputs.bodies.columns import ACTUAL, IDS, PREDICTED, SCORE, SLICE_OF, WEIGHT
from offdiag.inputs.labels import Codes, code_dtype
from offdiag.inputs.score_columns import PickedColumns, in_label_order
from offdiag.inputs.slice_columns import TAG_SEPARATOR
from offdiag.metrics.counted import are_sets
from offdiag.metrics.multilabel.sets import LABEL_AXIS, unpack_sets
from offdiag.services.ingest.batch import Batch

if TYPE_CHECKING:
    import pyarrow as pa

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
_CLASSES = "offdiag.classes"
"""Key under which a stream without predictions states the class of each score column."""


def write_chunk(batch: Batch, labels: LabelSet) -> pa.Buffer:
    """The bytes of a chunk; equal batches give equal bytes.

    Predictions that were made from the scores are left out: they are made again, and recorded,
    when the chunk is stored.
    """
    import pyarrow as pa

    names = pa.array(labels.names, pa.string())
    columns: dict[str, pa.Array] = {}
    if batch.decision is None:
        columns[PREDICTED] = _answers(batch.predicted, names)
    if batch.actual is not None:
        columns[ACTUAL] = _answers(batch.actual, names)
    if batch.ids is not None:
        columns[IDS] = pa.array(batch.ids.values)
    if batch.scores is not None:
        columns[SCORE] = _scores(batch.scores.values)
    if batch.weight is not None:
        columns[WEIGHT] = pa.array(batch.weight)
    for name, column in batch.slices.items():
        levels = pa.array(column.levels, pa.string())
        if column.of_tags:
            tags = [level.split(TAG_SEPARATOR) if level else [] for level in column.levels]
            levels = pa.array(tags, pa.list_(pa.string()))
            columns[f"{SLICE_OF}{name}"] = levels.take(pa.array(column.codes))
            continue
        columns[f"{SLICE_OF}{name}"] = _classes(column.codes, levels)
    said = None if batch.decision is None else {_CLASSES: json.dumps(labels.names)}
    table = pa.RecordBatch.from_pydict(columns, metadata=said)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_batch(table)
    return sink.getvalue()


def in_order_of(content: bytes, labels: LabelSet) -> bytes:
    """The bytes of a chunk with its scores in the label order of the run for which it is meant.

    A chunk has the classes with which it was written as its dictionary; labels inferred from data
    are replaced by those of a dataset that now exists. Raises `InvalidInput` if these are other
    classes.
    """
    import pyarrow as pa

    try:
        with pa.ipc.open_stream(content) as reader:
            table = reader.read_all()
    except (pa.ArrowException, OSError):
        return content  # Storing it says what is wrong with it.
    place = table.schema.get_field_index(SCORE)
    if place < 0 or not pa.types.is_fixed_size_list(table.schema.field(place).type):
        return content
    names = _names_in(table)
    if names == labels.names:
        return content
    scores = table.column(place).combine_chunks()
    values = scores.flatten().to_numpy().reshape(len(scores), -1)
    ordered = _scores(in_label_order(PickedColumns(values, names), labels))
    moved = table.set_column(place, SCORE, ordered)
    if PREDICTED not in table.column_names:
        moved = moved.replace_schema_metadata({_CLASSES: json.dumps(labels.names)})
    batches = moved.to_batches()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        writer.write_batch(batches[0])
    found: bytes = sink.getvalue().to_pybytes()
    return found


def _names_in(table: pa.Table) -> tuple[str, ...]:
    """The classes in the label order with which a chunk was written."""
    import pyarrow as pa

    if PREDICTED not in table.column_names:
        return tuple(json.loads(table.schema.metadata[_CLASSES.encode()]))
    predicted = table.column(PREDICTED).combine_chunks()
    coded = predicted.values if pa.types.is_list(predicted.type) else predicted
    return tuple(coded.dictionary.to_pylist())


def _answers(codes: Codes, names: pa.Array) -> pa.Array:
    """One class for each sample, or the labels of its set."""
    import pyarrow as pa

    if not are_sets(codes):
        return _classes(codes, names)
    members = unpack_sets(codes, len(names))
    ends = np.cumsum([0, *members.sum(axis=LABEL_AXIS).tolist()], dtype=np.int32)
    labels = np.nonzero(members)[LABEL_AXIS].astype(code_dtype(len(names)))
    return pa.ListArray.from_arrays(ends, _classes(labels, names))


def _classes(codes: Codes, names: pa.Array) -> pa.Array:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(np.ascontiguousarray(codes)), names)


def _scores(values: NDArray[np.float32]) -> pa.Array:
    import pyarrow as pa

    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    n_columns = values.shape[1]
    return flat if n_columns == 1 else pa.FixedSizeListArray.from_arrays(flat, n_columns)
