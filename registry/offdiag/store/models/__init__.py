"""The tables, one module per aggregate."""

from offdiag.store.models.access import (
    AuditEventRow,
    MembershipRow,
    SessionRow,
    TokenRow,
    UserRow,
)
from offdiag.store.models.answers import KeptAnswerRow
from offdiag.store.models.base import Base
from offdiag.store.models.baselines import BaselineRow
from offdiag.store.models.chunks import (
    PendingTruthRow,
    PredictionChunkRow,
    ScoreChunkRow,
    TruthChunkRow,
)
from offdiag.store.models.costs import CostMatrixRow
from offdiag.store.models.counted import CountedCasesRow, CountedSliceRow
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
    "AuditEventRow",
    "Base",
    "BaselineRow",
    "ClassValuesRow",
    "ConfusionMatrixRow",
    "CostMatrixRow",
    "CountedCasesRow",
    "CountedSliceRow",
    "DatasetRow",
    "DeliveryRow",
    "EvaluationRow",
    "FlagEventRow",
    "FlagRow",
    "HeartbeatRow",
    "KeptAnswerRow",
    "LabelSetRow",
    "MembershipRow",
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
    "SessionRow",
    "TokenRow",
    "TruthChunkRow",
    "TruthSliceRow",
    "TruthVersionRow",
    "UploadedMatrixRow",
    "UserRow",
    "WorkRow",
]
