"""The tables, one module per aggregate."""

from offdiag.store.models.base import Base
from offdiag.store.models.baselines import BaselineRow
from offdiag.store.models.chunks import (
    PendingTruthRow,
    PredictionChunkRow,
    ScoreChunkRow,
    TruthChunkRow,
)
from offdiag.store.models.costs import CostMatrixRow
from offdiag.store.models.curves import ScoreCurveRow
from offdiag.store.models.datasets import DatasetRow, TruthVersionRow
from offdiag.store.models.evaluations import (
    AGGREGATE,
    ClassValuesRow,
    ConfusionMatrixRow,
    EvaluationRow,
    MetricValueRow,
)
from offdiag.store.models.flags import FlagEventRow, FlagRow
from offdiag.store.models.heartbeats import HeartbeatRow
from offdiag.store.models.labels import LabelSetRow
from offdiag.store.models.projects import ProjectRow
from offdiag.store.models.reports import DeliveryRow, ReportFileRow, ReportIssueRow
from offdiag.store.models.runs import RunRow, UploadedMatrixRow
from offdiag.store.models.schedules import ScheduleRow
from offdiag.store.models.slices import PendingSliceRow, TruthSliceRow
from offdiag.store.models.views import SavedViewRow
from offdiag.store.models.work import WorkRow

__all__ = [
    "AGGREGATE",
    "Base",
    "BaselineRow",
    "ClassValuesRow",
    "ConfusionMatrixRow",
    "CostMatrixRow",
    "DatasetRow",
    "DeliveryRow",
    "EvaluationRow",
    "FlagEventRow",
    "FlagRow",
    "HeartbeatRow",
    "LabelSetRow",
    "MetricValueRow",
    "PendingSliceRow",
    "PendingTruthRow",
    "PredictionChunkRow",
    "ProjectRow",
    "ReportFileRow",
    "ReportIssueRow",
    "RunRow",
    "SavedViewRow",
    "ScheduleRow",
    "ScoreChunkRow",
    "ScoreCurveRow",
    "TruthChunkRow",
    "TruthSliceRow",
    "TruthVersionRow",
    "UploadedMatrixRow",
    "WorkRow",
]
