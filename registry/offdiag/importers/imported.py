"""What an importer hands on: counts or labels, and the convention they were read by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Scalar


@dataclass(frozen=True)
class ImportedMatrix:
    """Counts as the file lays them out, and what its rows are."""

    matrix: Sequence[Sequence[int]]
    labels: tuple[str, ...]
    orientation: SourceOrientation


@dataclass(frozen=True)
class ImportedLabels:
    """One actual and one predicted label for each case, both in an array of any common kind.

    `labels` is None if nobody declared the classes.
    """

    y_true: object
    y_pred: object
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Imported:
    """The content of a file of another tool.

    `convention` says in one sentence what was taken for granted about the axes. `source` is
    the file that holds the content, `params` and `tags` what else the tool knows of the run.
    """

    dialect: str
    convention: str
    content: ImportedMatrix | ImportedLabels
    source: Path
    params: Mapping[str, Scalar] = field(default_factory=dict)
    tags: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What the caller says because the file cannot. None: nothing was said.

    `labels` are the classes in the order of the axes, `orientation` what the rows are,
    `report` a file with a classification report, `artifact` a path inside a run, and the
    columns are those of the actual and the predicted class.
    """

    labels: tuple[str, ...] | None = None
    orientation: SourceOrientation | None = None
    report: Path | None = None
    artifact: str | None = None
    true_column: str | None = None
    pred_column: str | None = None
