"""The predictions of several runs at once, chunk by chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.orm import Session

from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import in_roomy_rows, nothing_labelled
from offdiag.metrics.counted import are_sets
from offdiag.store import codec
from offdiag.store.chunks import decode_positions
from offdiag.store.models import PredictionChunkRow

_ROWS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class PredictedChunk:
    """A chunk with predicted codes (n,) and where its cases stand.

    `start` counts the predictions of the run before it; without `positions` (n,) the cases
    stand where their number says.
    """

    run_id: str
    start: int
    codes: Codes
    positions: NDArray[np.unsignedinteger[Any]] | None

    @property
    def places(self) -> slice | NDArray[np.unsignedinteger[Any]]:
        """Where the cases stand in the truth, as an index."""
        if self.positions is None:
            return slice(self.start, self.start + len(self.codes))
        return self.positions


def predicted_chunks(session: Session, run_ids: Sequence[str]) -> Iterator[PredictedChunk]:
    """All chunks of runs, run by run in the order they were logged in; one statement."""
    rows = session.execute(
        select(
            PredictionChunkRow.run_id,
            PredictionChunkRow.n,
            PredictionChunkRow.dtype,
            PredictionChunkRow.codes,
            PredictionChunkRow.positions,
        )
        .where(PredictionChunkRow.run_id.in_(run_ids))
        .order_by(PredictionChunkRow.run_id, PredictionChunkRow.seq)
        .execution_options(yield_per=_ROWS_AT_ONCE)
    )
    starts: Counter[str] = Counter()
    for run_id, n, dtype, blob, positions in rows:
        yield PredictedChunk(
            run_id,
            starts[run_id],
            codec.decode_codes(blob, dtype),
            None if positions is None else decode_positions(positions, n),
        )
        starts[run_id] += n


def in_truth_order(
    session: Session, run_ids: Sequence[str], *, n_samples: int, n_classes: int
) -> dict[str, Codes]:
    """Predicted code of each sample of the truth by run, `n_classes` where there is none.

    Where samples have sets of labels these are packed, and unknown where there is none.

    One statement for all runs, which must have been logged with that truth or one it descends
    from; runs without predictions are left out.
    """
    found: dict[str, Codes] = {}
    for chunk in predicted_chunks(session, run_ids):
        codes = found.get(chunk.run_id)
        if codes is None:
            codes = found[chunk.run_id] = nothing_labelled(
                n_samples, n_classes, of_sets=are_sets(chunk.codes)
            )
        codes[chunk.places] = in_roomy_rows(chunk.codes, n_classes)
    return found
