"""The result of an importer: counts or labels, with their convention and origin."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from offdiag.domain.labels import in_their_order, label_text, require_known
from offdiag.domain.look_alikes import warn_of
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Scalar
from offdiag.errors import InvalidInput
from offdiag.inputs.files.matrix import squared
from offdiag.metrics.confusion import notes_on_ones


@dataclass(frozen=True)
class ImportedMatrix:
    """Counts in the layout of the file, and what its rows are."""

    matrix: Sequence[Sequence[int]]
    labels: tuple[str, ...]
    orientation: SourceOrientation


@dataclass(frozen=True)
class ImportedLabels:
    """One actual and one predicted label for each sample, in arrays of any common kind.

    * `labels`: the classes; None if they were not declared.
    * `columns`: the columns of the actual and the predicted class, in a table with several.
    * `sample_ids`, `sample_weight`: the identifier and the weight of each sample.
    """

    y_true: object
    y_pred: object
    labels: tuple[str, ...] | None = None
    columns: tuple[str, str] | None = field(default=None, compare=False)
    sample_ids: Sequence[object] | None = None
    sample_weight: Sequence[object] | None = None


@dataclass(frozen=True)
class Imported:
    """The content of a file of another tool.

    * `convention`: one sentence on the convention assumed for the axes.
    * `content`: an `ImportedMatrix` or `ImportedLabels`.
    * `source`: the file that has the content.
    * `params`, `tags`: what else the tool knows about the run.
    """

    dialect: str
    convention: str
    content: ImportedMatrix | ImportedLabels
    source: Path
    params: Mapping[str, Scalar] = field(default_factory=dict)
    tags: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What the caller states because the file does not; None means not stated.

    * `labels`: the classes in the order of the axes.
    * `orientation`: what the rows are.
    * `report`: a file with a classification report.
    * `artifact`: a path inside a run.
    * `true_column`, `pred_column`: the columns of the actual and the predicted class.
    """

    labels: tuple[str, ...] | None = None
    orientation: SourceOrientation | None = None
    report: Path | None = None
    artifact: str | None = None
    true_column: str | None = None
    pred_column: str | None = None

    @classmethod
    def of(
        cls, *, labels: Iterable[object] | None, orientation: str | None, **others: Any
    ) -> Stated:
        """The statements from plain values. Raises `InvalidInput` for labels and orientation."""
        if orientation is not None:
            require_known(orientation, _ORIENTATIONS, field_name="orientation")
        return cls(
            labels=None if labels is None else tuple(map(label_text, in_their_order(labels))),
            orientation=None if orientation is None else SourceOrientation(orientation),
            **others,
        )


_ORIENTATIONS = (SourceOrientation.ACTUAL_ROWS.value, SourceOrientation.ACTUAL_COLUMNS.value)


def provenance_tags(found: Imported) -> dict[str, Scalar]:
    """Tags with the dialect, the assumed convention, and the name and SHA-256 of the file."""
    return {
        "import.dialect": found.dialect,
        "import.convention": found.convention,
        "import.file": found.source.name,
        "import.sha256": _sha256(found.source),
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def whole_count(cell: object, place: str) -> int:
    """A count, also if a tool wrote it as 12.0. Raises `InvalidInput` naming the place."""
    if isinstance(cell, bool) or not isinstance(cell, (int, float)):
        raise _no_count(cell, place)
    if isinstance(cell, float) and not cell.is_integer():
        raise InvalidInput(
            f"the cell at {place} is {cell!r}.",
            field="matrix",
            hint="These are shares or weights; export the counts, without normalising them.",
        )
    if cell < 0:
        raise _no_count(cell, place)
    return int(cell)


def square(rows: object, place: str) -> list[list[int]]:
    """A square list of rows of counts. Raises `InvalidInput`.

    Warns about decimals that may be shares, before they become counts.
    """
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) for row in rows):
        raise InvalidInput(
            f"{place} is not a matrix.", field="matrix", hint="A matrix is a list of rows."
        )
    counts = [
        [whole_count(cell, f"[{i}][{j}]") for j, cell in enumerate(row)]
        for i, row in enumerate(squared(rows))
    ]
    warn_of(notes_on_ones(rows))
    return counts


def from_cells(
    cells: Iterable[tuple[object, object, object]],
) -> tuple[list[list[int]], tuple[str, ...]]:
    """Counts with the actual class along the first axis, from (actual, predicted, count).

    Classes are in the order of first mention, actual ones first. Cells that are not mentioned are
    empty. Raises `InvalidInput`, also for a cell that occurs twice, and warns like `square`.
    """
    given: dict[tuple[str, str], object] = {}
    for actual, predicted, count in cells:
        pair = (label_text(actual), label_text(predicted))
        if pair in given:
            raise InvalidInput(
                f"the cell of actual {pair[0]!r}, predicted {pair[1]!r} occurs twice.",
                field="matrix",
                hint="Several matrices in one table? Export one of them.",
            )
        given[pair] = count
    counts = {
        pair: whole_count(count, f"actual {pair[0]!r}, predicted {pair[1]!r}")
        for pair, count in given.items()
    }
    actual_first = (label for axis in (0, 1) for label in (pair[axis] for pair in given))
    labels = tuple(dict.fromkeys(actual_first))
    pairs = [[(actual, predicted) for predicted in labels] for actual in labels]
    warn_of(notes_on_ones([[given.get(pair, 0) for pair in row] for row in pairs]))
    return [[counts.get(pair, 0) for pair in row] for row in pairs], labels


def require_same(found: tuple[str, ...], stated: tuple[str, ...] | None, where: str) -> None:
    """Raise `InvalidInput` if the caller's classes are not those of the file."""
    if stated is not None and stated != found:
        raise InvalidInput(
            f"{where} names its classes {list(found[:5])}, not {list(stated[:5])}.",
            field="labels",
            hint="Leave labels out, or correct the file.",
        )


def _no_count(cell: object, place: str) -> InvalidInput:
    return InvalidInput(
        f"the cell at {place} is {cell!r}.", field="matrix", hint="Counts are 0 or more."
    )
