"""DVCLive: the records of `Live.log_sklearn_plot("confusion_matrix", …)`.

There is one record per sample, in which the actual and the predicted class are named, so nothing
can be transposed. CSV files have the same columns, which `dvc plots` reads.
"""

from __future__ import annotations

from pathlib import Path

from offdiag.errors import InvalidInput
from offdiag.importers.imported import Imported, ImportedLabels, Stated
from offdiag.inputs.files.checks import require_two_columns
from offdiag.inputs.files.json_files import read_json_file
from offdiag.inputs.files.tables import read_columns

CONVENTION = "Each record names the actual and the predicted class of one sample."
_TRUE, _PRED = "actual", "predicted"


def read_dvclive(path: Path, stated: Stated) -> Imported:
    """Read `plots/sklearn/confusion_matrix.json`, or the same records as `.csv` or `.tsv`.

    Raises `InvalidInput` for a file without records, or with a record that lacks a class.
    """
    true, pred = stated.true_column or _TRUE, stated.pred_column or _PRED
    require_two_columns(true, pred, field="pred_column")
    if path.suffix.lower() == ".json":
        y_true, y_pred = _from_json(path, true, pred)
    else:
        is_class = "" in (stated.labels or ())
        columns = read_columns(path, [true, pred], empty_text=[true, pred] if is_class else ())
        y_true, y_pred = columns[true], columns[pred]
    content = ImportedLabels(y_true, y_pred, stated.labels)
    return Imported("dvclive", CONVENTION, content, path)


def _from_json(path: Path, true: str, pred: str) -> tuple[list[object], list[object]]:
    records = read_json_file(path)
    if not isinstance(records, list) or not records:
        raise InvalidInput(
            f"{path.name} is not a list of records.",
            field="file",
            hint="DVCLive writes them to plots/sklearn/confusion_matrix.json.",
        )
    for number, record in enumerate(records):
        if not isinstance(record, dict) or true not in record or pred not in record:
            raise InvalidInput(
                f"record {number} of {path.name} has no {true!r} and {pred!r}.",
                field="file",
                hint="Name the fields if they have other names.",
            )
    return [record[true] for record in records], [record[pred] for record in records]
