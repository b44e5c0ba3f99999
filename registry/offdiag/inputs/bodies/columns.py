"""The columns of a chunk, under the names that all formats use, and limits on its size.

A few bytes can claim gigabytes: compressed, run-length encoded, or simply forged. What a body
claims about itself is checked against these limits before anything is unpacked.

`y_pred`, `y_true`, `sample_ids`, `y_score` and `sample_weight` are named as in the SDK. Scores of
all classes are one list column `y_score`, or one column `y_score.<class>` per class; slice columns
are `slices.<name>`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.sentences import known_names
from offdiag.errors import InvalidInput, TooLarge

if TYPE_CHECKING:
    import pyarrow as pa

MOST_BYTES_SENT = 64 << 20
MOST_BYTES_UNPACKED = 256 << 20
MOST_ROWS = 1 << 20
MOST_COLUMNS = 1_000
MOST_CHUNKS = 100_000
MOST_CELLS = 1 << 30
"""Sets of labels are encoded as a table of rows and labels, however small they arrive."""


def require_few_rows(n_rows: int) -> None:
    """Raise `TooLarge` for more predictions than a chunk may have."""
    if n_rows > MOST_ROWS:
        raise TooLarge(
            f"the chunk has {n_rows:,} rows.",
            field="body",
            hint=f"Send at most {MOST_ROWS:,} predictions in one chunk.",
        )


def require_few_columns(n_columns: int) -> None:
    """Raise `TooLarge` for more columns than any chunk needs."""
    if n_columns > MOST_COLUMNS:
        raise TooLarge(
            f"the chunk has {n_columns:,} columns.",
            field="body",
            hint=f"Send at most {MOST_COLUMNS:,}; scores of many classes go into one list column.",
        )


def require_few_bytes(n_bytes: int) -> None:
    """Raise `TooLarge` for a body that becomes too large when unpacked."""
    if n_bytes > MOST_BYTES_UNPACKED:
        raise TooLarge(
            f"the chunk takes {n_bytes:,} bytes when unpacked.",
            field="body",
            hint=f"Send at most {MOST_BYTES_UNPACKED:,} bytes in one chunk, with fewer rows.",
        )


def require_few_cells(n_rows: int, n_labels: int) -> None:
    """Raise `TooLarge` for sets of labels whose table of rows and labels is too large."""
    if n_rows * n_labels > MOST_CELLS:
        raise TooLarge(
            f"the chunk has {n_rows:,} sets of {n_labels:,} labels.",
            field="body",
            hint=f"Send at most {MOST_CELLS // n_labels:,} of them in one chunk.",
        )


PREDICTED, ACTUAL, IDS, SCORE = "y_pred", "y_true", "sample_ids", "y_score"
WEIGHT = "sample_weight"
SCORE_OF, SLICE_OF = "y_score.", "slices."
_PLAIN = (PREDICTED, ACTUAL, IDS, SCORE, WEIGHT)


@dataclass(frozen=True)
class ChunkColumns:
    """Arrays of one chunk as they arrived, to be encoded and checked like those of the SDK."""

    y_pred: object | None = None
    y_true: object | None = None
    y_score: object | None = None
    sample_ids: object | None = None
    slices: Mapping[str, object] = field(default_factory=dict)
    sample_weight: object | None = None


def require_known_columns(names: Sequence[str]) -> None:
    """Raise `InvalidInput` for unknown or duplicate names, and without predictions or scores.

    Scores alone are enough, because predictions can be made from them.
    """
    for at, name in enumerate(names):
        if name in names[:at]:
            raise InvalidInput(
                f"the column {name!r} occurs twice.", field=name, hint="Send it once."
            )
        if name not in _PLAIN and not name.startswith((SCORE_OF, SLICE_OF)):
            raise InvalidInput(
                f"there is no column {name!r} in a chunk.",
                field=name,
                hint=known_names("columns", [*_PLAIN, f"{SCORE_OF}<class>", f"{SLICE_OF}<name>"]),
            )
    has_scores = any(name == SCORE or name.startswith(SCORE_OF) for name in names)
    if PREDICTED not in names and not has_scores:
        raise InvalidInput(
            f"the column {PREDICTED!r} is missing.",
            field=PREDICTED,
            hint="Send what the model predicted for each sample, or scores to predict from.",
        )


def is_of_numbers(name: str) -> bool:
    """Whether a column of a chunk holds scores or weights."""
    return name in (SCORE, WEIGHT) or name.startswith(SCORE_OF)


def columns_of(found: Mapping[str, pa.Array], labels: LabelSet) -> ChunkColumns:
    """The columns of a table of n rows, with scores in the order of the labels.

    Raises `InvalidInput` for scores that are not numbers or are of other classes.
    """
    return ChunkColumns(
        y_pred=found.get(PREDICTED),
        y_true=found.get(ACTUAL),
        y_score=_scores(found, labels),
        sample_ids=found.get(IDS),
        slices={
            name.removeprefix(SLICE_OF): column
            for name, column in found.items()
            if name.startswith(SLICE_OF)
        },
        sample_weight=_numbers(found[WEIGHT], WEIGHT) if WEIGHT in found else None,
    )


def _scores(found: Mapping[str, pa.Array], labels: LabelSet) -> NDArray[Any] | None:
    by_class = {
        name.removeprefix(SCORE_OF): column
        for name, column in found.items()
        if name.startswith(SCORE_OF)
    }
    if not by_class:
        return _numbers(found[SCORE], SCORE) if SCORE in found else None
    if SCORE in found or by_class.keys() != set(labels.names):
        raise InvalidInput(
            f"scores of {len(by_class)} classes do not match the {len(labels)} of the run "
            f"{labels.preview()}, or are sent twice.",
            field=SCORE,
            hint=f"Send one column {SCORE_OF}<class> for each class, and no {SCORE}.",
        )
    return np.stack(
        [_numbers(by_class[name], f"{SCORE_OF}{name}") for name in labels.names], axis=-1
    )


def _numbers(column: pa.Array, name: str) -> NDArray[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_fixed_size_list(column.type):
        if column.null_count:
            raise _no_numbers(name, "an entry is missing")
        return _numbers(column.flatten(), name).reshape(len(column), column.type.list_size)
    if column.null_count:
        raise _no_numbers(name, "a value is missing")
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        try:
            column = pc.cast(column, pa.float64())
        except pa.ArrowInvalid as error:
            raise _no_numbers(name, str(error).splitlines()[0]) from None
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise _no_numbers(name, f"it holds {column.type}")
    numbers: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return numbers


def _no_numbers(name: str, why: str) -> InvalidInput:
    return InvalidInput(
        f"the values cannot be read as numbers ({why}).",
        field=name,
        hint="Send one finite number per sample, or for scores a list with one per class.",
    )
