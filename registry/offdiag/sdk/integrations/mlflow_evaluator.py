"""An evaluator for `mlflow.models.evaluate`, which MLflow finds by its entry point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from mlflow import MlflowClient
from mlflow.models import EvaluationResult
from mlflow.models.evaluation import ModelEvaluator

from offdiag.domain.labels import require_known
from offdiag.errors import InvalidInput
from offdiag.metrics.scores.forecasts import CLASS_AXIS
from offdiag.sdk.logging import log_run

_KEYS = (
    *("dataset", "name", "project", "model", "labels", "positive_label", "tags", "url"),
    *("sample_id", "slices"),
)


class OffdiagEvaluator(ModelEvaluator):  # type: ignore[misc]  # MLflow may be absent.
    """Logs the predictions of a classifier to offdiag, in addition to MLflow's own evaluation.

    Keys of `evaluator_config`:

    * `dataset`: the name of the dataset. Without it, nothing is logged.
    * `name`, `project`, `model`, `labels`, `positive_label`, `tags`, `url`: as in `log_run`.
    * `sample_id`, `slices`: names of columns in the evaluated data.
    """

    @classmethod
    def can_evaluate(
        cls, *, model_type: str, evaluator_config: Mapping[str, Any] | None, **_: Any
    ) -> bool:
        """Whether the model is a classifier and `evaluator_config` names a dataset.

        MLflow asks every installed evaluator, so this one acts only if it is asked for.
        """
        return model_type == "classifier" and "dataset" in (evaluator_config or {})

    def evaluate(
        self,
        *,
        dataset: Any,
        run_id: str,
        evaluator_config: Mapping[str, Any],
        model: Any = None,
        predictions: str | None = None,
        **_: Any,
    ) -> Any:
        """Log a run, and set its id and page as tags of the MLflow run.

        Raises `InvalidInput` for unknown keys and unusable labels, and `Conflict`.
        """
        for key in evaluator_config:
            require_known(key, _KEYS, field_name="evaluator_config")
        facts = {
            key: value
            for key, value in evaluator_config.items()
            if key not in ("sample_id", "slices", "tags")
        }
        client = MlflowClient()
        tracked = client.get_run(run_id)
        run = log_run(
            **{"name": tracked.info.run_name, **facts},
            y_true=dataset.labels_data,
            y_pred=_predictions(dataset, model, predictions),
            sample_ids=_columns(dataset, evaluator_config.get("sample_id"), "sample_id"),
            slices=_columns(dataset, evaluator_config.get("slices"), "slices"),
            params=dict(tracked.data.params),
            tags={**(evaluator_config.get("tags") or {}), "mlflow.run_id": run_id},
        )
        client.set_tag(run_id, "offdiag.run_id", run.id)
        client.set_tag(run_id, "offdiag.url", run.url)
        return EvaluationResult(metrics={}, artifacts={})


def _predictions(dataset: Any, model: Any, column: str | None) -> Any:
    if model is None:
        return dataset.predictions_data
    found = model.predict(dataset.features_data)
    if column is not None and column in getattr(found, "columns", ()):
        return found[column].to_numpy()
    if getattr(found, "ndim", 1) == 1:
        return found
    width = found.shape[CLASS_AXIS]
    if width > 1:
        raise InvalidInput(
            f"it returns {width} columns, and one of them has to be the predicted class.",
            field="model",
            hint="Name that column with predictions=, or evaluate a model that returns classes; "
            "log_run(y_score=...) takes probabilities.",
        )
    return np.asarray(found).reshape(-1)


def _columns(dataset: Any, names: Any, field: str) -> Any:
    """Columns of the evaluated data: values of one, or a frame of several."""
    if names is None:
        return None
    frame = dataset.features_data
    wanted = [names] if isinstance(names, str) else list(names)
    missing = [name for name in wanted if name not in getattr(frame, "columns", ())]
    if missing:
        raise InvalidInput(
            f"the evaluated data have no column {missing[0]!r}.",
            field=field,
            hint="Evaluate a DataFrame with that column; feature_names= leaves out all others.",
        )
    if field == "sample_id":
        return frame[wanted[0]].to_numpy()
    return {name: frame[name].to_numpy() for name in wanted}
