"""Predictions and curves of a stored run as data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from offdiag.domain.labels import label_text
from offdiag.errors import Conflict
from offdiag.services.curves.browse import RunCurves, browse_curves
from offdiag.services.examples.browse import ExamplePage, browse_examples
from offdiag.services.examples.question import ExampleQuestion, Kind
from offdiag.store.database import Database

if TYPE_CHECKING:
    import pandas as pd

ExampleKind = Literal["wrong", "right", "unlabelled", "all"]


def examples_frame(
    database: Database,
    run_id: str,
    *,
    actual: object,
    predicted: object,
    kind: ExampleKind,
    limit: int,
) -> pd.DataFrame:
    """One row for each prediction, as `Run.examples` says."""
    import pandas as pd

    question = ExampleQuestion(
        actual=None if actual is None else label_text(actual, field_name="actual"),
        predicted=None if predicted is None else label_text(predicted, field_name="predicted"),
        kind=Kind(kind),
    )
    page = browse_examples(database, run_id, question, size=limit)
    if page.missing is not None:
        raise Conflict(
            f"run {run_id} has no predictions to show.",
            field="run",
            hint="A run that was logged as a matrix has none; an open one has to be finished.",
        )
    columns = {
        "sample": [example.sample for example in page.examples],
        "actual": [example.actual for example in page.examples],
        "predicted": [example.predicted for example in page.examples],
        **_score_columns(page),
        **{name: [example.slices[name] for example in page.examples] for name in page.slice_names},
    }
    index = pd.Index([example.index for example in page.examples], name="index")
    return pd.DataFrame(columns, index=index)


def _score_columns(page: ExamplePage) -> dict[str, list[float | None]]:
    if not page.has_scores:
        return {}
    return {
        "confidence": [example.confidence for example in page.examples],
        "margin": [example.margin for example in page.examples],
    }


def operating_points_frame(database: Database, run_id: str, *, positive: object) -> pd.DataFrame:
    """One row for each kept threshold, as `Run.operating_points` says."""
    import pandas as pd

    name = None if positive is None else label_text(positive, field_name="positive")
    found = browse_curves(database, run_id, positive=name)
    _require_one_class(run_id, found)
    points = found.shown[0].points
    return pd.DataFrame(
        {
            "threshold": points.thresholds,
            "true_positives": points.true_positives,
            "false_positives": points.false_positives,
            "recall": points.recall,
            "false_positive_rate": points.false_positive_rate,
            "precision": points.precision(),
        }
    )


def _require_one_class(run_id: str, found: RunCurves) -> None:
    if found.missing is not None:
        raise Conflict(
            f"run {run_id} has no curves ({found.missing.value.replace('_', ' ')}).",
            field="run",
            hint="Log y_score= and wait for the evaluation.",
        )
    if found.positive is None:
        raise Conflict(
            f"no class of run {run_id} is the positive one.",
            field="positive",
            hint="Name the class that the curve is about.",
        )
