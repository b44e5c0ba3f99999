"""The tables, one module per aggregate."""

from offdiag.store.models.access import (
    AuditEventRow,
    MembershipRow,
    SavedViewRow,
    SessionRow,
    ShareLinkRow,
    StoredResponseRow,
    TokenRow,
    UserRow,
)
from offdiag.store.models.base import Base
from offdiag.store.models.datasets import (
    CostMatrixRow,
    DatasetRow,
    LabelSetRow,
    PendingSliceRow,
    ProjectRow,
    TruthSliceRow,
    TruthVersionRow,
)
from offdiag.store.models.evaluations import (
    AGGREGATE,
    ClassValuesRow,
    ConfusionMatrixRow,
    EvaluationRow,
    MetricValueRow,
    ScoreCurveRow,
    SliceCountsRow,
)
from offdiag.store.models.flags import FlagEventRow, FlagRow, ProblemRow
from offdiag.store.models.jobs import HeartbeatRow, WorkRow
from offdiag.store.models.predictions import (
    CountedSamplesRow,
    CountedSliceRow,
    PairedRunRow,
    PairedSamplesRow,
    PendingTruthRow,
    PredictionChunkRow,
    ScoreChunkRow,
    TruthChunkRow,
)
from offdiag.store.models.reports import DeliveryRow, ReportEditionRow, ReportFileRow, ScheduleRow
from offdiag.store.models.runs import (
    BaselineRow,
    CommentRow,
    PromotionRow,
    RunRow,
    UploadedMatrixRow,
)
from offdiag.store.models.samples import LabelAnswerRow, SampleContentRow

__all__ = [
    "AGGREGATE",
    "AuditEventRow",
    "Base",
    "BaselineRow",
    "ClassValuesRow",
    "CommentRow",
    "ConfusionMatrixRow",
    "CostMatrixRow",
    "CountedSamplesRow",
    "CountedSliceRow",
    "DatasetRow",
    "DeliveryRow",
    "EvaluationRow",
    "FlagEventRow",
    "FlagRow",
    "HeartbeatRow",
    "LabelAnswerRow",
    "LabelSetRow",
    "MembershipRow",
    "MetricValueRow",
    "PairedRunRow",
    "PairedSamplesRow",
    "PendingSliceRow",
    "PendingTruthRow",
    "PredictionChunkRow",
    "ProblemRow",
    "ProjectRow",
    "PromotionRow",
    "ReportEditionRow",
    "ReportFileRow",
    "RunRow",
    "SampleContentRow",
    "SavedViewRow",
    "ScheduleRow",
    "ScoreChunkRow",
    "ScoreCurveRow",
    "SessionRow",
    "ShareLinkRow",
    "SliceCountsRow",
    "StoredResponseRow",
    "TokenRow",
    "TruthChunkRow",
    "TruthSliceRow",
    "TruthVersionRow",
    "UploadedMatrixRow",
    "UserRow",
    "WorkRow",
]
