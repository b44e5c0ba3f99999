"""Predictions and thresholds of a run as frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from offdiag.domain.labels import label_text
from offdiag.extras import optional
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.records.runs.slices import SLICE_COLUMNS, RunSlices
from offdiag.sdk.registry import ExampleTable
from offdiag.services.examples.selection import ExampleQuestion, Kind

if TYPE_CHECKING:
    import pandas as pd

ExampleKind = Literal["wrong", "right", "unlabelled", "all"]


def example_question(
    *, actual: object, predicted: object, kind: ExampleKind, part: str | None
) -> ExampleQuestion:
    """What `Run.examples` asks. Raises `InvalidInput` for what cannot be a class."""
    return ExampleQuestion(
        actual=None if actual is None else label_text(actual, field_name="actual"),
        predicted=None if predicted is None else label_text(predicted, field_name="predicted"),
        kind=Kind(kind),
        part=part,
    )


def slices_frame(found: RunSlices) -> pd.DataFrame:
    """One row for each gap, as `Run.slices` says."""
    with optional:
        import pandas as pd

    rows = [[getattr(gap, name) for name in SLICE_COLUMNS] for gap in found.gaps]
    frame = pd.DataFrame(rows, columns=list(SLICE_COLUMNS))
    if any(gap.n_effective is not None for gap in found.gaps):
        sizes = [gap.n_effective for gap in found.gaps]
        frame.insert(SLICE_COLUMNS.index("cases") + 1, "n_effective", sizes)
    return frame


def examples_frame(found: ExampleTable) -> pd.DataFrame:
    """One row for each prediction, as `Run.examples` says."""
    with optional:
        import pandas as pd

    columns = {
        "sample": [row.sample for row in found.rows],
        "actual": [row.actual if row.sets is None else row.sets[0] for row in found.rows],
        "predicted": [row.predicted if row.sets is None else row.sets[1] for row in found.rows],
        **_score_columns(found),
        **{name: [row.slices[name] for row in found.rows] for name in found.slice_names},
    }
    index = pd.Index([row.index for row in found.rows], name="index")
    return pd.DataFrame(columns, index=index)


def _score_columns(found: ExampleTable) -> dict[str, list[float | None]]:
    if not found.has_scores:
        return {}
    return {
        "confidence": [row.confidence for row in found.rows],
        "margin": [row.margin for row in found.rows],
    }


def operating_points_frame(points: OperatingPoints) -> pd.DataFrame:
    """One row for each kept threshold, as `Run.operating_points` says."""
    with optional:
        import pandas as pd

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
