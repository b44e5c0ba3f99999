"""Converting one array of any accepted kind to a numpy array or an Arrow string column.

Later code handles these two forms only: numpy for whole numbers and booleans, Arrow for text,
because Arrow looks up a million strings 40 times faster than a Python dictionary does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.texts import require_storable
from offdiag.domain.values import plain_value
from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import is_masked_array, unmasked

if TYPE_CHECKING:
    import pyarrow as pa


def readable(values: object) -> Any:
    """The values in a form that the numpy array protocol accepts, usually unchanged.

    A tensor may be part of a gradient, be on another device, or hold 16-bit floats of a kind that
    numpy does not have: these become 32-bit ones, exactly. Masked numbers of a masked array become
    NaN.
    """
    values = unmasked(values)
    if str(getattr(values, "dtype", "")) == "bfloat16":  # Of JAX; numpy reads it as records.
        return cast("Any", values).astype(np.float32)
    detach = getattr(values, "detach", None)
    if not callable(detach) or not hasattr(values, "requires_grad"):
        return values
    tensor = detach().cpu()
    return tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor


def as_array(values: object, *, field: str) -> NDArray[Any]:
    """The values as a numpy array.

    Raises `InvalidInput` if they have none, like sparse tensors, quantised ones and those without
    data, and for a Series of structs, which would lose the names of its fields.
    """
    if is_of_structs(values):
        raise InvalidInput(
            "structs cannot be read as an array.",
            field=field,
            hint="Make columns of their fields, as series.struct.unnest() does.",
        )
    try:
        return np.asarray(readable(values))
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidInput(
            f"{type(values).__name__} cannot be read as an array ({error}).",
            field=field,
            hint="Give a dense array of numbers or text.",
        ) from None


def is_of_structs(values: object) -> bool:
    """Whether it is a Series of polars with structs, of which numpy makes a table."""
    return str(getattr(values, "dtype", "")).startswith("Struct(")


Column: TypeAlias = "NDArray[Any] | pa.Array"


def to_column(values: object, *, field: str) -> Column:
    """A one-dimensional column of whole numbers, booleans, floats or text without missing values.

    Accepts lists and other iterables, numpy arrays, and anything that implements the Arrow
    PyCapsule protocol (polars, pandas, pyarrow) or the numpy array protocol (torch, jax). Raises
    `InvalidInput` for missing values, wrong shapes and mixed or unsupported types.
    """
    import pyarrow as pa

    column = _read(values, field)
    if isinstance(column, pa.Array):
        _require_no_nulls(column, field)
        return _plain_if_numeric(column, field)
    if column.ndim != 1:
        raise InvalidInput(
            f"the shape is {column.shape}.",
            field=field,
            hint="One value for each sample is needed: a one-dimensional array.",
        )
    if column.dtype.kind == "U":
        return _text_of_numpy(column, field)
    if column.dtype.kind in "TO":
        objects = _to_arrow(column.tolist(), field)
        _require_no_nulls(objects, field)
        return _plain_if_numeric(objects, field)
    if column.dtype.kind not in "iubf":
        raise _unusable(str(column.dtype), field)
    return column


def to_rich_column(values: object, *, field: str) -> Column:
    """The same as `to_column`, but dates, times and lists of text become Arrow columns."""
    import pyarrow as pa

    column = _read(values, field)
    if isinstance(column, np.ndarray) and column.ndim == 1 and column.dtype.kind in "MO":
        column = (
            pa.array(column) if column.dtype.kind == "M" else _to_arrow(column.tolist(), field)
        )
    if isinstance(column, pa.Array):
        kind = column.type
        if pa.types.is_temporal(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
            _require_no_nulls(column, field)
            return column
    return to_column(column, field=field)


def to_column_with_gaps(values: object, *, field: str) -> tuple[Column, NDArray[np.bool_]]:
    """The values that are present, as `to_column` gives them, and which of all n are missing.

    None, NaN, and the missing value of the column's own library count as missing.
    """
    import pyarrow as pa

    column = _read(_loose(values, field), field)
    if isinstance(column, np.ndarray) and column.dtype.kind == "O" and column.ndim == 1:
        column = _to_arrow(column.tolist(), field, nan_is_missing=True)
    if isinstance(column, pa.Array):
        missing = column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        # Arrow cannot select values from text in views.
        text = _searchable(column) if _is_text(column.type) else column
        return to_column(text.filter(pa.array(~missing)), field=field), missing
    whole = to_column(column, field=field)
    if isinstance(whole, np.ndarray) and whole.dtype.kind == "f":
        gaps: NDArray[np.bool_] = np.isnan(whole)
        return whole[~gaps], gaps
    return whole, np.zeros(len(whole), dtype=np.bool_)


def is_missing(value: Any) -> bool:
    """Whether a single value is None, or NaN, NaT or NA, which do not even equal themselves."""
    if hasattr(value, "__len__") and getattr(value, "ndim", 1) != 0:
        return False  # A text, a set or an array is present, whatever it holds.
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:  # Comparing the NA of pandas fails instead.
        return True


def _loose(values: object, field: str) -> object:
    """A plain iterable as an array of objects, in which missing values can be recognised."""
    import pyarrow as pa

    has_own_form = any(hasattr(values, name) for name in ("__arrow_c_stream__", "__array__"))
    if has_own_form or isinstance(values, (pa.Array, str, bytes)):
        return values
    if not isinstance(values, Iterable):
        return values
    refuse_unordered(values, field=field)
    items = list(values)
    column = np.empty(len(items), dtype=object)
    column[:] = items
    return column


def _read(values: object, field: str) -> Column:
    import pyarrow as pa

    if hasattr(values, "sparse"):  # Arrow does not know the sparse columns of pandas.
        values = values.sparse.to_dense()
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks()
    if is_masked_array(values) and np.ma.is_masked(values) and values.ndim == 1:
        return pa.array(values.data, mask=np.ma.getmaskarray(values))
    if isinstance(values, (pa.Array, np.ndarray)):
        return values
    if hasattr(values, "__arrow_c_stream__") and not hasattr(values, "dims"):
        # An array of xarray would stream its coordinates, too.
        import pyarrow as pa

        try:
            column = chunks_of_stream(values).combine_chunks()
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise _mixed(error, field) from None
        refuse_mixed_zones(values, column.type, field=field)
        return column
    if hasattr(values, "__array__"):
        return as_array(values, field=field)
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidInput(
            f"{type(values).__name__} is not an array.",
            field=field,
            hint="Give a list, a numpy array, or a pandas, polars or Arrow column.",
        )
    refuse_unordered(values, field=field)
    return _to_arrow(list(values), field)


def refuse_unordered(values: object, *, field: str) -> None:
    """Raise `InvalidInput` for a set, which has no order of samples, and for a mapping."""
    if isinstance(values, (set, frozenset)):
        raise InvalidInput(
            f"a {type(values).__name__} has no order, so values cannot be matched to samples.",
            field=field,
            hint="Give a list with one value for each sample.",
        )
    if isinstance(values, Mapping):
        raise InvalidInput(
            f"{type(values).__name__} is not an array.",
            field=field,
            hint="Give its values as a list, and its keys as sample_ids= if they name samples.",
        )


def kept(values: object) -> object:
    """The values in a form that can be read repeatedly: iterators as lists, others unchanged."""
    return list(values) if isinstance(values, Iterator) else values


def chunks_of_stream(values: Any) -> pa.ChunkedArray:
    """A column from a stream of Arrow arrays. Raises what Arrow raises."""
    import pyarrow as pa

    if hasattr(values, "to_arrow"):
        # Polars streams text in layouts that older versions of Arrow cannot read.
        values = values.to_arrow()
    if isinstance(values, pa.ChunkedArray):
        return values
    if isinstance(values, pa.Array):
        return pa.chunked_array([values])
    if hasattr(pa.ChunkedArray, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    # Arrow 15 would treat each value as a chunk of its own.
    return pa.chunked_array([pa.array(values)])


def _to_arrow(items: list[object], field: str, *, nan_is_missing: bool = False) -> pa.Array:
    import pyarrow as pa

    plain = [plain_value(item) for item in items]
    try:
        column = pa.array(plain, from_pandas=nan_is_missing)
    except UnicodeEncodeError:
        raise _not_unicode(plain, field) from None
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        if not nan_is_missing:
            # Missing values of pandas, NaN and NA, have another type than the other values.
            _require_no_nulls(_to_arrow(plain, field, nan_is_missing=True), field)
        kinds = {type(item).__name__ for item in plain if item is not None}
        if len(kinds) == 1 and not isinstance(error, OverflowError):
            raise _unusable(kinds.pop(), field) from None
        raise _mixed(error, field) from None
    refuse_mixed_zones(plain, column.type, field=field)
    return column


def refuse_mixed_zones(values: Any, kind: pa.DataType, *, field: str) -> None:
    """Raise `InvalidInput` for times without a zone next to others, which Arrow takes for UTC.

    `kind` is the type as which the values were read. Only Python objects differ in their zones:
    other columns have one type, and some can be read once.
    """
    import pyarrow as pa

    are_objects = (
        isinstance(values, (list, tuple)) or str(getattr(values, "dtype", "")) == "object"
    )
    if not (are_objects and pa.types.is_temporal(kind)):
        return
    if len({getattr(each, "tzinfo", None) is None for each in values if not is_missing(each)}) > 1:
        raise InvalidInput(
            "some times have a zone and others do not.",
            field=field,
            hint="Give each of them its zone, or leave it out of all.",
        )


def _text_of_numpy(column: NDArray[np.str_], field: str) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        text = pa.array(column)
    except ValueError:
        raise _not_unicode(column, field) from None
    # Arrow ends a numpy text at the first NUL, which would make "a\0b" and "a" one class.
    if pc.sum(pc.utf8_length(text)).as_py() != np.char.str_len(column).sum():
        return _to_arrow(column.tolist(), field)
    return text


def _not_unicode(items: Iterable[object], field: str) -> InvalidInput:
    """The error for the first text that cannot be encoded in UTF-8."""
    for index, item in enumerate(items):
        if isinstance(item, str):
            require_storable(str(item), field=f"{field}[{index}]")
    return InvalidInput("it holds text that is not Unicode.", field=field, hint="Correct it.")


def _plain_if_numeric(column: pa.Array, field: str) -> Column:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind) and _is_text(kind.value_type):
        return pa.DictionaryArray.from_arrays(column.indices, _searchable(column.dictionary))
    if pa.types.is_dictionary(kind):
        return _plain_if_numeric(column.dictionary_decode(), field)
    if _is_text(kind):
        return _searchable(column)
    if len(column) == 0 or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return column.to_numpy(zero_copy_only=False)
    if pa.types.is_floating(kind):
        return column.to_numpy(zero_copy_only=False)
    if pa.types.is_decimal(kind):  # Databases use it for numbers of any size.
        return numbers_of_decimals(column).to_numpy(zero_copy_only=False)
    raise _unusable(str(kind), field)


def numbers_of_decimals(column: pa.Array) -> pa.Array:
    """Decimals as int64 if all are whole and fit, else as float64."""
    import pyarrow as pa

    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column.cast(pa.float64())


def _searchable(text: pa.Array) -> pa.Array:
    """Text in a layout that Arrow can search: it has no such kernel for string views."""
    import pyarrow as pa

    return text.cast(pa.large_string()) if str(text.type) == "string_view" else text


def _is_text(kind: pa.DataType) -> bool:
    return str(kind) in {"string", "large_string", "string_view"}


def _require_no_nulls(column: pa.Array, field: str) -> None:
    import pyarrow as pa

    if isinstance(column, pa.DictionaryArray) and column.dictionary.null_count:
        column = column.dictionary_decode()
    if column.null_count:
        index = column.is_null().index(pa.scalar(True)).as_py()
        raise InvalidInput(
            f"the value at index {index} is missing.",
            field=field,
            hint="Drop the sample or fill in its value.",
        )


def _mixed(error: Exception, field: str) -> InvalidInput:
    if isinstance(error, OverflowError):
        return InvalidInput(
            "a whole number has more than 64 bits.", field=field, hint="Give the values as text."
        )
    detail = str(error).splitlines()[0]
    return InvalidInput(
        f"the values are of mixed types ({detail}).",
        field=field,
        hint="Use one type for all: str, int or bool.",
    )


def _unusable(kind: str, field: str) -> InvalidInput:
    if kind == "dict" or kind.startswith("struct"):
        hint = "Take one entry of each, as [row['label'] for row in rows] does."
    elif kind in {"binary", "large_binary"} or kind.startswith("|S"):
        hint = "Decode each to text, as value.decode() does."
    else:
        hint = "Use str, int or bool."
    return InvalidInput(f"values of type {kind} cannot be used.", field=field, hint=hint)
