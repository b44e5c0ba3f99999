"""Evaluation registry for classifiers.

`log_run` stores predictions and returns a `Run`; `evaluate_labels`, `evaluate_matrix` and
`evaluate_scores` compute metrics in memory. `help(offdiag.log_run)` explains a function.

Importing offdiag is cheap: each name is imported on first use, so a training job that only
evaluates in memory never loads a database library. The block for type checkers and the table below
it have the same names; a test compares them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from offdiag import errors, importers, plot, stats
    from offdiag.domain.labels import TruthRevision
    from offdiag.domain.sample_content import LoggedSamples
    from offdiag.domain.values import MetricValue
    from offdiag.errors import (
        Conflict,
        DatabaseUnavailable,
        EvaluationFailed,
        EvaluationPending,
        InvalidInput,
        MissingExtra,
        NotFound,
        OffdiagError,
        SchemaMismatch,
        ServerUnavailable,
        SpoolFull,
        StorageFull,
        UnknownKey,
    )
    from offdiag.metrics.custom import MatrixInput, MultilabelInput, ScoreInput, metric
    from offdiag.sdk.advise import advise
    from offdiag.sdk.compare import Comparison, compare
    from offdiag.sdk.cost import CostEvaluation, cost
    from offdiag.sdk.dataset import (
        add_slices,
        log_samples,
        revise_truth,
        set_hierarchy,
        show_samples,
    )
    from offdiag.sdk.evaluations.audit import audit_reported
    from offdiag.sdk.evaluations.evaluate import (
        WeightedEvaluation,
        evaluate_labels,
        evaluate_matrix,
    )
    from offdiag.sdk.evaluations.evaluation import Evaluation
    from offdiag.sdk.evaluations.flag import Flag
    from offdiag.sdk.evaluations.multilabel import MultilabelEvaluation, evaluate_multilabel
    from offdiag.sdk.evaluations.scores import ScoreEvaluation, evaluate_scores
    from offdiag.sdk.evaluations.weighted_scores import WeightedScoreEvaluation
    from offdiag.sdk.frames.log import log_frame
    from offdiag.sdk.frames.recount import recount
    from offdiag.sdk.integrations import (  # noqa: F401 - not for `import *`
        keras,
        lightgbm,
        lightning,
        mlflow,
        sklearn,
        transformers,
        xgboost,
    )
    from offdiag.sdk.logging import log_matrix, log_run, start_run
    from offdiag.sdk.methods import learning_curves, method_runs, methods
    from offdiag.sdk.open_run import OpenRun
    from offdiag.sdk.registry import Decision
    from offdiag.sdk.run import Run
    from offdiag.sdk.samples.confused import confused_labels, label_costs
    from offdiag.sdk.samples.labels import LabelDraft, label_draft, label_noise, suspect_labels
    from offdiag.sdk.search import evaluate_pending, get_run, search_runs

    __version__: str

_HOMES = {
    "errors": "offdiag",
    "importers": "offdiag",
    "plot": "offdiag",
    "stats": "offdiag",
    "TruthRevision": "offdiag.domain.labels",
    "MetricValue": "offdiag.domain.values",
    "Conflict": "offdiag.errors",
    "DatabaseUnavailable": "offdiag.errors",
    "EvaluationFailed": "offdiag.errors",
    "EvaluationPending": "offdiag.errors",
    "InvalidInput": "offdiag.errors",
    "MissingExtra": "offdiag.errors",
    "NotFound": "offdiag.errors",
    "OffdiagError": "offdiag.errors",
    "SchemaMismatch": "offdiag.errors",
    "ServerUnavailable": "offdiag.errors",
    "SpoolFull": "offdiag.errors",
    "StorageFull": "offdiag.errors",
    "UnknownKey": "offdiag.errors",
    "add_slices": "offdiag.sdk.dataset",
    "advise": "offdiag.sdk.advise",
    "log_matrix": "offdiag.sdk.logging",
    "log_run": "offdiag.sdk.logging",
    "start_run": "offdiag.sdk.logging",
    "audit_reported": "offdiag.sdk.evaluations.audit",
    "compare": "offdiag.sdk.compare",
    "confused_labels": "offdiag.sdk.samples.confused",
    "Comparison": "offdiag.sdk.compare",
    "CostEvaluation": "offdiag.sdk.cost",
    "cost": "offdiag.sdk.cost",
    "Decision": "offdiag.sdk.registry",
    "evaluate_labels": "offdiag.sdk.evaluations.evaluate",
    "evaluate_matrix": "offdiag.sdk.evaluations.evaluate",
    "Evaluation": "offdiag.sdk.evaluations.evaluation",
    "Flag": "offdiag.sdk.evaluations.flag",
    "log_frame": "offdiag.sdk.frames.log",
    "recount": "offdiag.sdk.frames.recount",
    "set_hierarchy": "offdiag.sdk.dataset",
    "evaluate_multilabel": "offdiag.sdk.evaluations.multilabel",
    "MultilabelInput": "offdiag.metrics.custom",
    "MultilabelEvaluation": "offdiag.sdk.evaluations.multilabel",
    "MatrixInput": "offdiag.metrics.custom",
    "learning_curves": "offdiag.sdk.methods",
    "method_runs": "offdiag.sdk.methods",
    "methods": "offdiag.sdk.methods",
    "metric": "offdiag.metrics.custom",
    "OpenRun": "offdiag.sdk.open_run",
    "Run": "offdiag.sdk.run",
    "ScoreEvaluation": "offdiag.sdk.evaluations.scores",
    "ScoreInput": "offdiag.metrics.custom",
    "evaluate_scores": "offdiag.sdk.evaluations.scores",
    "evaluate_pending": "offdiag.sdk.search",
    "get_run": "offdiag.sdk.search",
    "search_runs": "offdiag.sdk.search",
    "log_samples": "offdiag.sdk.dataset",
    "show_samples": "offdiag.sdk.dataset",
    "LabelDraft": "offdiag.sdk.samples.labels",
    "label_draft": "offdiag.sdk.samples.labels",
    "label_costs": "offdiag.sdk.samples.confused",
    "label_noise": "offdiag.sdk.samples.labels",
    "LoggedSamples": "offdiag.domain.sample_content",
    "suspect_labels": "offdiag.sdk.samples.labels",
    "revise_truth": "offdiag.sdk.dataset",
    "WeightedEvaluation": "offdiag.sdk.evaluations.evaluate",
    "WeightedScoreEvaluation": "offdiag.sdk.evaluations.weighted_scores",
}

__all__ = [
    "Comparison",
    "Conflict",
    "CostEvaluation",
    "DatabaseUnavailable",
    "Decision",
    "Evaluation",
    "EvaluationFailed",
    "EvaluationPending",
    "Flag",
    "InvalidInput",
    "LabelDraft",
    "LoggedSamples",
    "MatrixInput",
    "MetricValue",
    "MissingExtra",
    "MultilabelEvaluation",
    "MultilabelInput",
    "NotFound",
    "OffdiagError",
    "OpenRun",
    "Run",
    "SchemaMismatch",
    "ScoreEvaluation",
    "ScoreInput",
    "ServerUnavailable",
    "SpoolFull",
    "StorageFull",
    "TruthRevision",
    "UnknownKey",
    "WeightedEvaluation",
    "WeightedScoreEvaluation",
    "__version__",
    "add_slices",
    "advise",
    "audit_reported",
    "compare",
    "confused_labels",
    "cost",
    "errors",
    "evaluate_labels",
    "evaluate_matrix",
    "evaluate_multilabel",
    "evaluate_pending",
    "evaluate_scores",
    "get_run",
    "importers",
    "label_costs",
    "label_draft",
    "label_noise",
    "learning_curves",
    "log_frame",
    "log_matrix",
    "log_run",
    "log_samples",
    "method_runs",
    "methods",
    "metric",
    "plot",
    "recount",
    "revise_truth",
    "search_runs",
    "set_hierarchy",
    "show_samples",
    "start_run",
    "stats",
    "suspect_labels",
]


_INTEGRATIONS = (
    "keras",
    "lightgbm",
    "lightning",
    "mlflow",
    "sklearn",
    "transformers",
    "xgboost",
)
"""Integrations by library. Each needs its library, so `import *` leaves them out."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = import_module("offdiag.version").offdiag_version()
    elif _HOMES.get(name) == "offdiag":
        value = import_module(f"offdiag.{name}")
    elif name in _INTEGRATIONS:
        value = import_module(f"offdiag.sdk.integrations.{name}")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'offdiag' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_INTEGRATIONS])
