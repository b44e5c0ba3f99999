"""DVCLive: the records of `Live.log_sklearn_plot("confusion_matrix", …)`.

There is one record per sample, in which the actual and the predicted class are named, so nothing
can be transposed. CSV files have the same columns, which `dvc plots` reads.
"""

from __future__ import annotations

from pathlib import Path

from offdiag.errors import InvalidInput
from offdiag.importers.imported import Imported, ImportedLabels, Stated
from offdiag.importers.prediction_table import require_one_sample
from offdiag.inputs.files.checks import FileColumn, require_two_columns
from offdiag.inputs.files.json_files import read_json_file
from offdiag.inputs.files.tables import column_names, read_columns

CONVENTION = "Each record names the actual and the predicted class of one sample."
_TRUE, _PRED, _REVISION = "actual", "predicted", "rev"


def read_dvclive(path: Path, stated: Stated) -> Imported:
    """Read `plots/sklearn/confusion_matrix.json`, or the same records as `.csv` or `.tsv`.

    Raises `InvalidInput` for a file without records, with a record that lacks a class, with a
    column of counts, and with several revisions.
    """
    true, pred = stated.true_column or _TRUE, stated.pred_column or _PRED
    require_two_columns(true, pred, field="pred_column")
    if path.suffix.lower() == ".json":
        records = _records(path, true, pred)
        names: list[str] = list(records[0])
        columns: dict[str, FileColumn] = {
            name: [record[name] for record in records] for name in (true, pred)
        }
        revisions = [str(record.get(_REVISION)) for record in records]
    else:
        is_class = "" in (stated.labels or ())
        names = column_names(path)
        wanted = [true, pred, *([_REVISION] if _REVISION in names else [])]
        columns = read_columns(
            path, wanted, empty_text=wanted if is_class else (), with_gaps=[_REVISION]
        )
        revisions = list(map(str, columns.get(_REVISION, [])))
    require_one_sample(names, stated, path.name)
    found = list(dict.fromkeys(revisions))
    if len(found) > 1:
        raise InvalidInput(
            f"{path.name} has the records of several revisions: {', '.join(found[:5])}.",
            field="file",
            hint="Keep those of one revision.",
        )
    content = ImportedLabels(columns[true], columns[pred], stated.labels)
    return Imported("dvclive", CONVENTION, content, path)


def _records(path: Path, true: str, pred: str) -> list[dict[str, object]]:
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
    return records
