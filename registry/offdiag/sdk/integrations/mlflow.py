"""MLflow: take over a run from its tracking server or database."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mlflow import MlflowClient

from offdiag.domain.labels import label_text, require_known
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import MAX_TEXT_LENGTH, Scalar
from offdiag.importers.imported import Imported, Stated
from offdiag.importers.mlflow import CONVENTION, artifact_content, chosen_artifact
from offdiag.sdk.logging import log_imported
from offdiag.sdk.run import Run

_ORIENTATIONS = (SourceOrientation.ACTUAL_ROWS.value, SourceOrientation.ACTUAL_COLUMNS.value)


def import_run(
    run_id: str,
    *,
    dataset: str,
    tracking_uri: str | None = None,
    artifact: str | None = None,
    true_column: str | None = None,
    pred_column: str | None = None,
    orientation: str | None = None,
    labels: Iterable[object] | None = None,
    name: str | None = None,
    project: str | None = None,
    model: str | None = None,
    tags: Mapping[str, Any] | None = None,
    url: str | None = None,
) -> Run:
    """Log the predictions or the confusion matrix that a run of MLflow has as an artifact.

    `artifact` is its path, unless the run has one evaluation table or one confusion matrix. In a
    table (of `log_table` or an evaluation) `true_column` and `pred_column` hold the classes, by
    default "target" and "outputs". A matrix has to name its axes or `orientation` says what its
    rows are, "actual_rows" or "actual_columns"; nothing is guessed. Only that artifact is
    fetched. Parameters, last metrics and tags come along, the name too unless another is given.
    Importing the same artifact again finds the run. Raises `InvalidInput` and `Conflict`, and
    `MlflowException` for a run that is not there.
    """
    if orientation is not None:
        require_known(orientation, _ORIENTATIONS, field_name="orientation")
    client = MlflowClient(tracking_uri=tracking_uri)
    run = client.get_run(run_id)
    chosen = chosen_artifact(sorted(_artifacts(client, run_id, None)), artifact)
    stated = Stated(
        labels=None if labels is None else tuple(label_text(label) for label in labels),
        orientation=None if orientation is None else SourceOrientation(orientation),
        true_column=true_column,
        pred_column=pred_column,
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(client.download_artifacts(run_id, chosen, folder))
        found = Imported(
            "mlflow",
            CONVENTION,
            artifact_content(file, stated),
            file,
            {
                **_texts(run.data.params),
                **{f"metrics.{key}": _number(value) for key, value in run.data.metrics.items()},
            },
            {**_texts(run.data.tags), "mlflow.run_id": run_id},
        )
        return log_imported(
            found,
            name=name or run.info.run_name,
            dataset=dataset,
            project=project,
            model=model,
            tags=tags,
            client_key=f"mlflow:{run_id}:{chosen}",
            url=url,
        )


def _artifacts(client: MlflowClient, run_id: str, folder: str | None) -> Iterator[str]:
    for entry in client.list_artifacts(run_id, folder):
        if entry.is_dir:
            yield from _artifacts(client, run_id, entry.path)
        else:
            yield entry.path


def _texts(entries: Mapping[str, str]) -> dict[str, Scalar]:
    return {key: text[:MAX_TEXT_LENGTH] for key, text in entries.items()}


def _number(value: float) -> float | str:
    """NaN and infinities stay the words they are."""
    return value if math.isfinite(value) else str(value)
