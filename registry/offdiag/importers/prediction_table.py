"""Tables of predictions of other tools, and which of their columns have the classes.

Columns are recognised by names that most tools share, if each role has exactly one candidate, and
the result names them. Otherwise the caller must name them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from offdiag.errors import InvalidInput
from offdiag.importers.imported import ImportedLabels, Stated
from offdiag.inputs.files.checks import require_two_columns
from offdiag.inputs.files.json_files import read_json_file
from offdiag.inputs.files.tables import column_names, is_table, read_columns

TRUE_NAMES = (
    *("y_true", "target", "targets", "label", "labels", "true_label", "true_class", "true"),
    *("truth", "ground_truth", "actual", "y", "gold", "reference"),
)
PRED_NAMES = (
    *("y_pred", "prediction", "predictions", "predicted", "pred", "preds", "predicted_label"),
    *("predicted_class", "pred_label", "output", "outputs", "yhat", "y_hat"),
)
_SIZE_NAMES = ("count", "counts", "n", "npredictions", "weight", "sample_weight", "frequency")
"""A row of a table with such a column may stand for several samples."""
_SHOWN = 10


def read_prediction_table(path: Path, stated: Stated) -> ImportedLabels:
    """Both classes of each row of a CSV, Parquet, Arrow, JSON lines or JSON table.

    A JSON table is `{"columns": [...], "data": [...]}`, as MLflow, pandas (`orient="split"`) and
    W&B write it, or a list of records. Raises `InvalidInput` for anything else, and if the columns
    are neither stated nor recognised.
    """
    if path.suffix.lower() != ".json":
        true, pred = class_columns(column_names(path), stated, path.name)
        is_class = "" in (stated.labels or ())
        found = read_columns(path, [true, pred], empty_text=[true, pred] if is_class else ())
    else:
        names, rows = _json_table(path)
        true, pred = class_columns(names, stated, path.name)
        places = {name: names.index(name) for name in (true, pred)}
        found = {name: [row[place] for row in rows] for name, place in places.items()}
    return ImportedLabels(found[true], found[pred], stated.labels, (true, pred))


def is_prediction_table(name: str) -> bool:
    """Whether a file has the suffix of a table that `read_prediction_table` reads."""
    return is_table(Path(name)) or name.lower().endswith(".json")


def class_columns(names: Sequence[object], stated: Stated, where: str) -> tuple[str, str]:
    """The columns of the actual and of the predicted class. Raises `InvalidInput`."""
    require_one_sample(names, stated, where)
    true = _column(names, stated.true_column, TRUE_NAMES, "true_column", where)
    pred = _column(names, stated.pred_column, PRED_NAMES, "pred_column", where)
    require_two_columns(true, pred, field="pred_column")
    return true, pred


def require_one_sample(names: Sequence[object], stated: Stated, where: str) -> None:
    """Raise `InvalidInput` for a column of counts, unless both columns of classes are stated."""
    sizes = [name for name in names if str(name).strip().lower() in _SIZE_NAMES]
    if sizes and (stated.true_column is None or stated.pred_column is None):
        raise InvalidInput(
            f"a row of {where} may be about several samples: it has a column {sizes[0]!r}.",
            field="true_column",
            hint="If each row is one sample, name the columns of both classes.",
        )


def _column(
    names: Sequence[object], stated: str | None, known: Sequence[str], field: str, where: str
) -> str:
    wanted = known if stated is None else (stated,)
    found = [name for name in names if isinstance(name, str) and _same(name, wanted, stated)]
    if len(found) == 1:
        return found[0]
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    role = "actual" if field == "true_column" else "predicted"
    if found:
        several = " and ".join(repr(name) for name in found[:_SHOWN])
        message = f"{several} of {where} could each hold the {role} class."
    elif stated is None:
        message = f"no column of {where} is known to hold the {role} class."
    else:
        message = f"{where} has no column {stated!r}."
    raise InvalidInput(message, field=field, hint=f"Name the right one of {shown}.")


def _same(name: str, wanted: Sequence[str], stated: str | None) -> bool:
    return name == stated if stated is not None else name.strip().lower() in wanted


def _json_table(path: Path) -> tuple[list[object], list[list[object]]]:
    table = read_json_file(path)
    if isinstance(table, list) and table and all(isinstance(row, dict) for row in table):
        names: list[object] = list(table[0])
        for number, row in enumerate(table):
            if list(row) != names:
                raise _refused(f"record {number} of {path.name} has other members than the first.")
        return names, [list(row.values()) for row in table]
    columns = table.get("columns") if isinstance(table, dict) else None
    rows = table.get("data") if isinstance(table, dict) else None
    if not isinstance(columns, list) or not isinstance(rows, list):
        raise _refused(f"{path.name} is not a table.")
    for number, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(columns):
            raise _refused(f"row {number} of {path.name} is not as wide as the table.")
    return columns, rows


def _refused(message: str) -> InvalidInput:
    return InvalidInput(message, field="artifact", hint="Name another file.")
