"""The tables, one module per aggregate."""

from offdiag.store.models.base import Base
from offdiag.store.models.chunks import (
    PendingTruthRow,
    PredictionChunkRow,
    ScoreChunkRow,
    TruthChunkRow,
)
from offdiag.store.models.datasets import DatasetRow, TruthVersionRow
from offdiag.store.models.evaluations import (
    AGGREGATE,
    ClassValuesRow,
    ConfusionMatrixRow,
    EvaluationRow,
    MetricValueRow,
)
from offdiag.store.models.labels import LabelSetRow
from offdiag.store.models.projects import ProjectRow
from offdiag.store.models.runs import RunRow, UploadedMatrixRow
from offdiag.store.models.slices import PendingSliceRow, TruthSliceRow
from offdiag.store.models.work import WorkRow

__all__ = [
    "AGGREGATE",
    "Base",
    "ClassValuesRow",
    "ConfusionMatrixRow",
    "DatasetRow",
    "EvaluationRow",
    "LabelSetRow",
    "MetricValueRow",
    "PendingSliceRow",
    "PendingTruthRow",
    "PredictionChunkRow",
    "ProjectRow",
    "RunRow",
    "ScoreChunkRow",
    "TruthChunkRow",
    "TruthSliceRow",
    "TruthVersionRow",
    "UploadedMatrixRow",
    "WorkRow",
]
