"""Encoding arrays, counts and sample ids as bytes, and decoding them exactly.

Codes and scores are plain little-endian arrays, because counting a matrix from them must cost no
more than reading them; their type is in columns next to the blob. Counts and sample ids describe
themselves: an 8-byte header holds the version, the layout and the number of entries, and keeps the
entries aligned.

Decoding raises `DamagedData` for bytes that encoding cannot have written.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import DamagedData
from offdiag.inputs.ids import SampleIds
from offdiag.metrics.counted import Counted, CountedSets, SampleCounts, counted
from offdiag.metrics.multilabel.tally import SetTally, tally_numbers, tally_of_numbers
from offdiag.metrics.pair_counts import OccupiedCells
from offdiag.metrics.scores.score_cells import CellSums, EventSums
from offdiag.metrics.weighted.counts import WeightedCounts

Codes = NDArray[np.unsignedinteger[Any]]
Buffer = bytes | memoryview

RAW = "raw"
"""Name of the codec for plain arrays in the `codec` columns."""
BITS = "bits"
"""Name of the codec for packed sets of labels."""
TAGS = "tags"
"""Name of the codec for a slice column whose levels are sets of tags."""
SCORE_TYPE = "f4"
"""Name of the scores' type in the `dtype` column."""

_HEADER = struct.Struct("<BBxxI")  # version, layout, two empty bytes, number of entries
_VERSION = 1
_DENSE_COUNTS, _SPARSE_COUNTS, _INT_IDS, _TEXT_IDS = 1, 2, 3, 4
_MOST_CLASSES = (1 << 16) - 1  # so that the number of cells fits 4 bytes
_COUNT: np.dtype[np.int64] = np.dtype("<i8")
_CELL: np.dtype[np.uint32] = np.dtype("<u4")
_OF_A_CELL = _COUNT.itemsize + _CELL.itemsize
"""Bytes of an occupied cell."""
_SCORE: np.dtype[np.float32] = np.dtype("<f4")
_WEIGHT: np.dtype[np.float64] = np.dtype("<f8")


def damaged(sentence: str) -> DamagedData:
    """The error about stored bytes that cannot be decoded."""
    return DamagedData(
        f"stored data is damaged: {sentence}",
        hint="`offdiag verify` names all damage; `offdiag db restore FILE` restores a backup.",
    )


@contextmanager
def damage_of(what: str) -> Iterator[None]:
    """Name what was read in an error about its bytes."""
    try:
        yield
    except DamagedData as error:
        raise DamagedData(f"{what}: {error.message}", hint=error.hint) from error


def code_type(codes: Codes) -> str:
    """The `dtype` column for codes: their type, or "u1x3" for packed sets of 3 bytes each."""
    name = codes.dtype.str[1:]
    return name if codes.ndim == 1 else f"{name}x{codes.shape[1]}"


def code_codec(codes: Codes) -> str:
    """The `codec` column for codes."""
    return RAW if codes.ndim == 1 else BITS


def encode_codes(codes: Codes) -> bytes:
    """Encode codes of shape (n,), or packed sets of shape (n, bytes), in their own width."""
    if codes.dtype.kind != "u":
        raise ValueError(f"codes are unsigned integers, not {codes.dtype}.")
    return codes.astype(codes.dtype.newbyteorder("<"), copy=False).tobytes()


def decode_codes(data: Buffer, dtype: str) -> Codes:
    """Codes of shape (n,), or (n, bytes): a read-only view of `data`, of type `dtype`."""
    name, _, width = dtype.partition("x")
    if name.lstrip("<|") not in ("u1", "u2", "u4"):
        raise damaged(f"{dtype!r} is not a type of codes; it is one of u1, u2, u4.")
    codes: Codes = _plain(data, np.dtype(name).newbyteorder("<"))
    if not width:
        return codes
    if not width.isdecimal() or int(width) < 1 or codes.size % int(width):
        raise damaged(f"{codes.size} bytes do not fit into rows as {dtype!r} says.")
    return codes.reshape(-1, int(width))


def require_codes(codes: Codes, n: int, n_classes: int | None = None) -> Codes:
    """The same codes, of `n` samples and of these classes. Raises `DamagedData` for others."""
    if len(codes) != n:
        raise damaged(f"there are {len(codes)} codes, not {n}.")
    if n_classes is not None and codes.ndim == 1 and codes.max(initial=0) >= n_classes:
        raise damaged(f"there is a code {codes.max()} with {n_classes} classes.")
    return codes


def encode_scores(scores: NDArray[np.float32]) -> bytes:
    """Encode scores of shape (n, n_columns)."""
    if scores.dtype.kind != "f" or scores.dtype.itemsize != _SCORE.itemsize or scores.ndim != 2:
        raise ValueError(f"scores are float32 of two axes, not {scores.dtype} of {scores.ndim}.")
    return scores.astype(_SCORE, copy=False).tobytes()


def decode_scores(data: Buffer, n_columns: int) -> NDArray[np.float32]:
    """Scores of shape (n, n_columns): a read-only view of `data`."""
    values = _plain(data, _SCORE)
    if n_columns < 1 or values.size % n_columns:
        raise damaged(f"{values.size} scores do not fit into {n_columns} columns.")
    return values.reshape(-1, n_columns)


def encode_weights(weight: NDArray[np.float64]) -> bytes:
    """Encode the weights of samples, (n,)."""
    return weight.astype(_WEIGHT, copy=False).tobytes()


def decode_weights(data: Buffer) -> NDArray[np.float64]:
    """Weights of samples, (n,)."""
    return _plain(data, _WEIGHT)


def encode_counts(counts: NDArray[np.int64]) -> bytes:
    """Encode confusion counts (K, K), as all cells or as the occupied ones if that is shorter."""
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise ValueError(f"counts of shape {counts.shape} are not a square.")
    if len(counts) > _MOST_CLASSES:
        raise ValueError(f"{len(counts)} classes are more than {_MOST_CLASSES}.")
    flat: NDArray[np.int64] = counts.astype(_COUNT, copy=False).reshape(-1)
    if (flat < 0).any():
        raise ValueError("a count is negative.")
    cells = np.flatnonzero(flat)
    if len(cells) * _OF_A_CELL >= flat.nbytes:
        return header(_DENSE_COUNTS, flat.size) + flat.tobytes()
    return _occupied(cells, flat[cells])


def _occupied(cells: NDArray[np.int64], counts: NDArray[np.int64]) -> bytes:
    # Counts come first: behind the header they are aligned, whatever the number of cells.
    return (
        header(_SPARSE_COUNTS, len(cells))
        + counts.astype(_COUNT, copy=False).tobytes()
        + cells.astype(_CELL).tobytes()
    )


def encode_occupied(found: OccupiedCells) -> bytes:
    """The same bytes as `encode_counts`, without building the whole matrix."""
    size = found.n_classes
    if size > _MOST_CLASSES:
        raise ValueError(f"{size} classes are more than {_MOST_CLASSES}.")
    if len(found.cells) * _OF_A_CELL < size**2 * _COUNT.itemsize:
        return _occupied(found.cells, found.counts)
    counts = np.zeros(size**2, np.int64)
    counts[found.cells] = found.counts
    return encode_counts(counts.reshape(size, size))


def decode_counts(data: Buffer, n_classes: int) -> NDArray[np.int64]:
    """Confusion counts of shape (n_classes, n_classes), writable."""
    layout, n, body = opened(data, _DENSE_COUNTS, _SPARSE_COUNTS)
    n_cells = n_classes * n_classes
    if layout == _DENSE_COUNTS:
        flat = _plain(body, _COUNT).copy()
        if n != n_cells or flat.size != n_cells:
            raise damaged(f"{flat.size} of {n} counts do not make {n_classes} classes.")
        if (flat < 0).any():
            raise damaged("a count is negative.")
        return flat.reshape(n_classes, n_classes)
    split = n * _COUNT.itemsize
    values, cells = _plain(body[:split], _COUNT), _plain(body[split:], _CELL)
    if values.size != n or cells.size != n:
        raise damaged(f"{values.size} counts and {cells.size} cells are not {n} of each.")
    if (values <= 0).any() or (np.diff(cells.astype(_COUNT)) <= 0).any():
        raise damaged("occupied cells must hold a count and stand in order.")
    if n and cells[-1] >= n_cells:
        raise damaged(f"cell {cells[-1]} does not exist with {n_classes} classes.")
    flat = np.zeros(n_cells, dtype=_COUNT)
    flat[cells] = values
    return flat.reshape(n_classes, n_classes)


def encode_sizes(sizes: NDArray[np.int64]) -> bytes:
    """Encode numbers of samples of shape (n,), each at least 1."""
    if sizes.dtype.kind != "i" or sizes.ndim != 1 or (sizes < 1).any():
        raise ValueError(f"sizes are whole numbers from 1 of one axis, not {sizes.dtype}.")
    return sizes.astype(_COUNT, copy=False).tobytes()


def decode_sizes(data: Buffer) -> NDArray[np.int64]:
    """Numbers of samples of shape (n,): a read-only view of `data`."""
    sizes = _plain(data, _COUNT)
    if (sizes < 1).any():
        raise damaged("a size is less than 1.")
    return sizes


def encode_cells(sums: CellSums) -> bytes:
    """Encode the scores of n kinds of samples, without the number of samples of each kind."""
    arrays = (getattr(sums, name).astype(kind, copy=False) for name, kind in _CELLS.items())
    return header(_SCORE_CELLS, len(sums)) + b"".join(array.tobytes() for array in arrays)


def decode_cells(data: Buffer, sizes: NDArray[np.int64]) -> CellSums:
    """Decode `encode_cells`; `sizes` (n,) are the numbers of samples."""
    _, n, body = opened(data, _SCORE_CELLS)
    width = sum(np.dtype(kind).itemsize for kind in _CELLS.values())
    if n != len(sizes) or len(body) != n * width:
        raise damaged(f"{len(body)} bytes are not what is known of {len(sizes)} scores.")
    found, start = {}, 0
    for name, kind in _CELLS.items():
        stop = start + n * np.dtype(kind).itemsize
        found[name] = _plain(body[start:stop], np.dtype(kind))
        start = stop
    return CellSums(count=sizes, **found)


def encode_events(events: Sequence[EventSums]) -> bytes:
    """Encode the scores of several events: for each its length, outcomes, sizes and scores."""
    parts = []
    for event in events:
        body = (
            event.happened.astype(np.uint8).tobytes()
            + encode_sizes(event.sums.count)
            + encode_cells(event.sums)
        )
        parts.append(_EVENT.pack(len(event.happened), len(body)) + body)
    return header(_EVENTS, len(events)) + b"".join(parts)


def decode_events(data: Buffer) -> tuple[EventSums, ...]:
    """Decode `encode_events`. Raises `DamagedData` for bytes that it cannot have written."""
    _, n_events, rest = opened(data, _EVENTS)
    events = []
    for _ in range(n_events):
        if len(rest) < _EVENT.size:
            raise damaged("an event is cut off.")
        n, width = _EVENT.unpack_from(rest)
        body, rest = rest[_EVENT.size : _EVENT.size + width], rest[_EVENT.size + width :]
        if len(body) != width or width < 9 * n:
            raise damaged(f"{len(body)} bytes are not an event of {n} kinds.")
        sizes = decode_sizes(body[n : 9 * n])
        happened = np.frombuffer(body[:n], np.uint8)
        if (happened > 1).any():
            raise damaged("an outcome is neither 0 nor 1.")
        events.append(EventSums(happened.astype(np.bool_), decode_cells(body[9 * n :], sizes)))
    if len(rest):
        raise damaged(f"{len(rest)} bytes stand after the last event.")
    return tuple(events)


def holds_events(data: Buffer) -> bool:
    """Whether scores were counted for each class and not for a single one."""
    return len(data) > _LAYOUT_AT and data[_LAYOUT_AT] == _EVENTS


def encode_int_ids(ids: NDArray[np.int64]) -> bytes:
    """Encode integer sample ids of shape (n,)."""
    if ids.dtype.kind != "i" or ids.ndim != 1:
        raise ValueError(f"ids are integers of one axis, not {ids.dtype} of {ids.ndim}.")
    return header(_INT_IDS, len(ids)) + ids.astype(_COUNT, copy=False).tobytes()


def decode_int_ids(data: Buffer) -> NDArray[np.int64]:
    """Integer sample ids of shape (n,): a read-only view of `data`."""
    _, n, body = opened(data, _INT_IDS)
    ids = _plain(body, _COUNT)
    if ids.size != n:
        raise damaged(f"{ids.size} ids are there instead of {n}.")
    return ids


def encode_text_ids(values: Sequence[str]) -> bytes:
    """Encode text sample ids: where each ends, then all of them as UTF-8."""
    texts = [value.encode() for value in values]
    ends = np.cumsum([len(text) for text in texts], dtype=np.uint64)
    if texts and ends[-1] >= 1 << 32:
        raise ValueError(f"{len(texts)} ids take {ends[-1]} bytes; a chunk holds less than 4 GiB.")
    return header(_TEXT_IDS, len(texts)) + ends.astype(_CELL).tobytes() + b"".join(texts)


def text_id_parts(data: Buffer) -> tuple[NDArray[np.int64], memoryview]:
    """The offsets of n text ids, shape (n + 1,), and the UTF-8 text that they refer to."""
    _, n, body = opened(data, _TEXT_IDS)
    split = n * _CELL.itemsize
    bounds = np.concatenate([[0], _plain(body[:split], _CELL)]).astype(np.int64)
    utf8 = body[split:]
    if len(bounds) != n + 1 or bounds[-1] != len(utf8):
        raise damaged(f"{len(utf8)} bytes of text are not those of {n} ids.")
    if (np.diff(bounds) < 0).any():
        raise damaged("an id ends before it starts.")
    return bounds, utf8


def sha256_hex(*buffers: Buffer) -> str:
    """SHA-256 of the concatenated buffers, as 64 hex digits."""
    digest = hashlib.sha256()
    for buffer in buffers:
        digest.update(buffer)
    return digest.hexdigest()


def _plain(data: Buffer, dtype: np.dtype[Any]) -> NDArray[Any]:
    if len(data) % dtype.itemsize:
        raise damaged(f"{len(data)} bytes are not a whole number of {dtype.name} values.")
    return np.frombuffer(data, dtype=dtype)


def header(layout: int, n: int) -> bytes:
    """The header of `n` entries in a layout."""
    return _HEADER.pack(_VERSION, layout, n)


def opened(data: Buffer, *layouts: int) -> tuple[int, int, memoryview]:
    """Layout, number of entries and the body of bytes that have one of these layouts."""
    if len(data) < _HEADER.size:
        raise damaged(f"{len(data)} bytes are too few for a header.")
    version, layout, n = _HEADER.unpack_from(data)
    if version != _VERSION or layout not in layouts:
        raise damaged(f"version {version} with layout {layout} is not known here.")
    return layout, n, memoryview(data)[_HEADER.size :]


_TALLY = 5
"""The layout of a tally."""
_SCORE_CELLS = 6
"""The layout of scores grouped in cells."""
_WEIGHTED = 7
"""The layout of weighted counts: counts, then two sums for each occupied cell."""
_EVENTS = 8
"""The layout of scores of several events, grouped in cells."""
_EVENT = struct.Struct("<II")  # number of kinds, bytes that follow
_CELLS = {
    "score": "<f8",
    "squared": "<f8",
    "surprise": "<f8",
    "code": "<i4",
    "low": "<f4",
    "high": "<f4",
}
_LAYOUT_AT = 1
"""Offset of the layout in a header."""


def encode_sample_counts(counts: SampleCounts | OccupiedCells) -> bytes:
    """Encode counts of either kind; those of multi-label samples in the narrowest type."""
    if isinstance(counts, OccupiedCells):
        return encode_occupied(counts)
    if not isinstance(counts, SetTally):
        return encode_counts(counts)
    numbers = tally_numbers(counts)
    narrow = np.min_scalar_type(int(numbers.max(initial=0))).newbyteorder("<")
    return header(_TALLY, len(numbers)) + numbers.astype(narrow).tobytes()


def decode_sample_counts(data: Buffer, n_classes: int) -> SampleCounts:
    """Decode counts. Raises `DamagedData` for bytes that encoding cannot have written."""
    if len(data) <= _LAYOUT_AT or data[_LAYOUT_AT] != _TALLY:
        return decode_counts(data, n_classes)
    _, n, body = opened(data, _TALLY)
    width = len(body) // n if n else 0
    if width not in (1, 2, 4, 8) or width * n != len(body):
        raise damaged(f"{len(body)} bytes are not {n} whole numbers.")
    numbers = np.frombuffer(body, dtype=f"<u{width}")
    return tally_of_numbers(numbers.astype(np.int64), n_classes)


def encode_counted(found: Counted) -> bytes:
    """Encode what an evaluation was computed from, without the names of the labels."""
    if isinstance(found, CountedSets):
        return encode_sample_counts(found.tally)
    if isinstance(found, WeightedCounts):
        counts, used = encode_counts(found.samples), found.samples > 0
        sums = encode_weights(found.sums[used]) + encode_weights(found.squares[used])
        return header(_WEIGHTED, len(counts)) + counts + sums
    return encode_counts(found.counts)


def decode_counted(data: Buffer, labels: LabelSet) -> Counted:
    """Decode `encode_counted`. Raises `DamagedData` as `decode_sample_counts` does."""
    if len(data) > _LAYOUT_AT and data[_LAYOUT_AT] == _WEIGHTED:
        return _decode_weighted(data, labels)
    return counted(decode_sample_counts(data, len(labels)), labels)


def decode_cell_samples(data: Buffer, n_classes: int) -> NDArray[np.int64]:
    """Sample counts (K, K) of a matrix that was counted with or without weights; writable."""
    if len(data) > _LAYOUT_AT and data[_LAYOUT_AT] == _WEIGHTED:
        _, n_bytes, body = opened(data, _WEIGHTED)
        data = body[:n_bytes]
    return decode_counts(data, n_classes)


def _decode_weighted(data: Buffer, labels: LabelSet) -> WeightedCounts:
    _, n_bytes, body = opened(data, _WEIGHTED)
    counts = decode_cell_samples(data, len(labels))
    used = counts > 0
    numbers = _plain(body[n_bytes:], _WEIGHT)
    if numbers.size != 2 * np.count_nonzero(used) or not (numbers >= 0).all():
        raise damaged(f"{numbers.size} sums are not those of the occupied cells.")
    sums, squares = np.zeros(counts.shape), np.zeros(counts.shape)
    sums[used], squares[used] = np.split(numbers, 2)
    return WeightedCounts(counts, sums, squares, labels)


def encode_ids(ids: SampleIds) -> bytes:
    """Encode sample ids, without their kind, which has its own column."""
    if isinstance(ids.values, np.ndarray):
        return encode_int_ids(ids.values)
    return encode_text_ids(ids.values.to_pylist())


def decode_ids(blob: bytes, kind: str) -> SampleIds:
    """Decode sample ids of the given kind. Raises `DamagedData` on corrupt bytes."""
    import pyarrow as pa

    if kind == "int":
        return SampleIds("int", decode_int_ids(blob))
    bounds, utf8 = text_id_parts(blob)
    # The bytes already form an Arrow array, so no Python strings are created here.
    texts = pa.LargeStringArray.from_buffers(
        len(bounds) - 1, pa.py_buffer(bounds), pa.py_buffer(utf8)
    )
    texts.validate(full=True)
    return SampleIds("text", texts)
