"""Checks, size limits and errors for all kinds of files.

A few kilobytes can claim more than fits in any memory. A run at the limit takes minutes to log;
larger ones are logged in parts, or counted by the database that holds the samples.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from offdiag.errors import InvalidInput, TooLarge

if TYPE_CHECKING:
    import pyarrow as pa

FileColumn: TypeAlias = "pa.Array | list[object]"
"""Arrow text (CSV), an Arrow array of the declared type (Parquet, Arrow), or a list (JSON)."""


def unreadable(path: Path, error: OSError) -> InvalidInput:
    """The error for a file that the system does not let offdiag read."""
    return InvalidInput(
        f"{str(path)!r} cannot be read: {error.strerror or error}.",
        field="file",
        hint="Check the path and its permissions.",
    )


def damaged(path: Path, kind: str, error: Exception) -> InvalidInput:
    """The error for a file whose content is not what its suffix promises."""
    lines = str(error).splitlines()
    return InvalidInput(
        f"{path.name} is not a valid {kind} file ({lines[0] if lines else type(error).__name__}).",
        field="file",
        hint="Check the suffix, or write the file again.",
    )


def no_samples(path: Path) -> InvalidInput:
    """The error for a table without rows."""
    return InvalidInput(
        f"{path.name} holds no samples.", field="file", hint="Write one line for each sample."
    )


def no_column(
    name: str, present: Sequence[str], path: Path, *, option: str | None = None
) -> InvalidInput:
    """The error for a column that a file does not have; `option` chooses another."""
    shown = ", ".join(repr(column) for column in present[:20])
    how = "" if option is None else f" with {option}"
    return InvalidInput(
        f"{path.name} has no column {name!r}.",
        field="file",
        hint=f"It has {shown}; name the right one{how}."
        if present
        else "It is empty, or its first line is; the first line names the columns.",
    )


def require_columns(names: Sequence[str], present: Sequence[str], path: Path) -> None:
    """Raise `InvalidInput` unless each name occurs exactly once among the columns."""
    for name in names:
        if name not in present:
            raise no_column(name, present, path)
        if present.count(name) > 1:
            raise InvalidInput(
                f"the column {name!r} occurs {present.count(name)} times in {path.name}.",
                field="file",
                hint="Rename one of them.",
            )


def require_two_columns(true: str, pred: str, *, field: str) -> None:
    """Raise `InvalidInput` if one column is named for both classes: all would be correct."""
    if true == pred:
        raise InvalidInput(
            f"column {pred!r} is named as actual and as predicted.",
            field=field,
            hint="Name the column with the predictions of the model.",
        )


_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}\.[0-9]{3}")


def may_part_thousands(number: str) -> bool:
    """Whether a number such as 20.000 may have three decimals or a thousands separator."""
    return _THOUSANDS.fullmatch(number) is not None


def both_readings(number: str) -> str:
    """Both readings of such a number, as in "20 or 20000"."""
    return f"{float(number):g} or {number.replace('.', '')}"


MOST_ROWS = 1 << 28
MOST_BYTES = 8 << 30


def require_few_rows(n_rows: int, name: str) -> None:
    """Raise `TooLarge` for more rows than are read from one file."""
    if n_rows > MOST_ROWS:
        raise _too_large(f"{name} has {n_rows:,} rows")


def require_few_bytes(n_bytes: int, name: str) -> None:
    """Raise `TooLarge` for columns that take more memory than is allowed for one file."""
    if n_bytes > MOST_BYTES:
        raise _too_large(f"{name} takes {n_bytes:,} bytes when unpacked")


def _too_large(what: str) -> TooLarge:
    return TooLarge(
        f"{what}.",
        field="file",
        hint=f"One file is read up to {MOST_ROWS:,} rows and {MOST_BYTES >> 30} GiB; log a larger "
        "run in parts, with start_run.",
    )
