"""Reading results of other tools, each with the stated convention of its tool, never guessed.

A confusion matrix cannot show its own orientation. Each dialect either has one by definition, or
names its axes in the file. Otherwise the caller must state it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from os import PathLike
from pathlib import Path
from types import MappingProxyType

from offdiag.domain.labels import require_known
from offdiag.errors import InvalidInput
from offdiag.importers import (
    caret,
    dvclive,
    hugging_face,
    lm_eval,
    mlflow,
    named_axes,
    pycm,
    scikit_learn,
    wandb,
)
from offdiag.importers.imported import Imported, ImportedLabels, ImportedMatrix, Stated

__all__ = ["DIALECTS", "Dialect", "Imported", "ImportedLabels", "ImportedMatrix", "read"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """A tool whose files can be read.

    * `name`, `title`: the key in `DIALECTS`, and what the files are.
    * `convention`: what rows and columns, or fields, mean.
    * `reader`: the function that reads a file.
    * `takes`: the keywords of `read` that apply.
    * `example`, `about`: the name of such a file, and what it contains, for the command line.
    """

    name: str
    title: str
    convention: str
    reader: Callable[[Path, Stated], Imported]
    takes: tuple[str, ...] = ("labels",)
    _: KW_ONLY
    example: str
    about: str


_COLUMNS = ("labels", "true_column", "pred_column")
DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        dialect.name: dialect
        for dialect in (
            Dialect(
                "sklearn",
                "the array of scikit-learn's confusion_matrix",
                scikit_learn.CONVENTION,
                scikit_learn.read_scikit_learn,
                ("labels", "report"),
                example="matrix.json",
                about="The array as JSON, CSV or .npy.",
            ),
            Dialect(
                "caret",
                "a printed confusionMatrix of R's caret, or its table as CSV",
                caret.CONVENTION,
                caret.read_caret,
                example="printed.txt",
                about="What R printed, or its table as CSV.",
            ),
            Dialect(
                "dvclive",
                "the records of a DVCLive confusion matrix",
                dvclive.CONVENTION,
                dvclive.read_dvclive,
                _COLUMNS,
                example="plots.json",
                about="The records as JSON or CSV.",
            ),
            Dialect(
                "wandb",
                "a table of Weights & Biases, or the folder of an offline run",
                wandb.CONVENTION,
                wandb.read_wandb,
                (*_COLUMNS, "artifact"),
                example="wandb/offline-run-17",
                about="The table as JSON, or the folder of the run.",
            ),
            Dialect(
                "pycm",
                "a saved object of PyCM",
                pycm.CONVENTION,
                pycm.read_pycm,
                example="saved.obj",
                about="What `ConfusionMatrix.save_obj` wrote.",
            ),
            Dialect(
                "mlflow",
                "the directory of an MLflow run",
                mlflow.CONVENTION,
                mlflow.read_mlflow,
                (*_COLUMNS, "orientation", "artifact"),
                example="mlruns/0/17",
                about="Folder of the run.",
            ),
            Dialect(
                "lm-eval",
                "the samples of lm-evaluation-harness",
                lm_eval.CONVENTION,
                lm_eval.read_lm_eval,
                ("labels", "artifact"),
                example="samples_sst2.jsonl",
                about="What lm_eval wrote with --log_samples.",
            ),
            Dialect(
                "hugging-face",
                "a dataset of predictions that save_to_disk wrote, or a result of evaluate.save",
                hugging_face.CONVENTION,
                hugging_face.read_hugging_face,
                _COLUMNS,
                example="predictions/",
                about="Folder of the dataset, or the JSON file.",
            ),
            Dialect(
                "csv",
                "a CSV table whose corner names an axis",
                named_axes.CONVENTION,
                named_axes.read_named_axes,
                example="matrix.csv",
                about="The table as CSV.",
            ),
        )
    }
)
"""All dialects by name, as on the command line."""


def read(
    dialect: str,
    path: str | PathLike[str],
    *,
    labels: Iterable[object] | None = None,
    orientation: str | None = None,
    report: str | PathLike[str] | None = None,
    artifact: str | None = None,
    true_column: str | None = None,
    pred_column: str | None = None,
) -> Imported:
    """Read a file of another tool, and return its content as `Imported`.

    * `dialect`: a key of `DIALECTS`, such as "sklearn" or "caret".
    * `path`: the file, or the folder of a run.

    The other keywords state what the file cannot. Each dialect takes some of them:

    * `labels`: the classes in the order of the axes.
    * `orientation`: what the rows are, "actual_rows" or "actual_columns".
    * `report`: the classification report that belongs to a matrix.
    * `artifact`: the artifact of a run; for lm-eval the filter.
    * `true_column`, `pred_column`: the columns of the actual and the predicted class.

    Raises `InvalidInput` for an unknown dialect, a keyword it does not take, a file of another
    kind, and whenever something would have to be guessed.

    >>> found = read("sklearn", "matrix.npy", labels=["cat", "dog"])  # doctest: +SKIP
    >>> found.content.orientation.value, found.convention  # doctest: +SKIP
    """
    require_known(dialect, tuple(DIALECTS), field_name="dialect")
    stated = Stated.of(
        labels=labels,
        orientation=orientation,
        report=None if report is None else Path(report),
        artifact=artifact,
        true_column=true_column,
        pred_column=pred_column,
    )
    chosen = DIALECTS[dialect]
    for field in fields(stated):
        if getattr(stated, field.name) is not None and field.name not in chosen.takes:
            raise InvalidInput(
                f"files of {dialect} state it or do not need it.",
                field=field.name,
                hint="Leave it out.",
            )
    return chosen.reader(Path(path), stated)
