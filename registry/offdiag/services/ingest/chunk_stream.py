"""A chunk of predictions as the Arrow stream that travels to a server or lies in a spool.

Classes are written once, as the dictionary of the columns that name them, so that a stream can
be read by whoever knows nothing of its run.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from offdiag.arrays.bodies.columns import ACTUAL, IDS, PREDICTED, SCORE, SLICE_OF
from offdiag.arrays.labels import Codes, code_dtype
from offdiag.domain.labels import LabelSet
from offdiag.metrics.case_counts import are_sets
from offdiag.metrics.multilabel.packing import unpack_sets
from offdiag.metrics.multilabel.patterns import LABEL_AXIS
from offdiag.services.ingest.batch import Batch

MEDIA_TYPE = "application/vnd.apache.arrow.stream"


def write_chunk(batch: Batch, labels: LabelSet) -> pa.Buffer:
    """The bytes of a chunk; equal batches give equal bytes."""
    names = pa.array(labels.names, pa.string())
    columns: dict[str, pa.Array] = {PREDICTED: _answers(batch.predicted, names)}
    if batch.actual is not None:
        columns[ACTUAL] = _answers(batch.actual, names)
    if batch.ids is not None:
        columns[IDS] = pa.array(batch.ids.values)
    if batch.scores is not None:
        columns[SCORE] = _scores(batch.scores.values)
    for name, column in batch.slices.items():
        levels = pa.array(column.levels, pa.string())
        columns[f"{SLICE_OF}{name}"] = _classes(column.codes, levels)
    table = pa.RecordBatch.from_pydict(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_batch(table)
    return sink.getvalue()


def _answers(codes: Codes, names: pa.Array) -> pa.Array:
    """One class for each case, or the labels of its set."""
    if not are_sets(codes):
        return _classes(codes, names)
    members = unpack_sets(codes, len(names))
    ends = np.cumsum([0, *members.sum(axis=LABEL_AXIS).tolist()], dtype=np.int32)
    labels = np.nonzero(members)[LABEL_AXIS].astype(code_dtype(len(names)))
    return pa.ListArray.from_arrays(ends, _classes(labels, names))


def _classes(codes: Codes, names: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.ascontiguousarray(codes)), names)


def _scores(values: NDArray[np.float32]) -> pa.Array:
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    n_columns = values.shape[1]
    return flat if n_columns == 1 else pa.FixedSizeListArray.from_arrays(flat, n_columns)
