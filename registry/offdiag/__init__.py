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
        DamagedData,
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
    from offdiag.sdk.evaluations.scores import (
        ScoreEvaluation,
        WeightedScoreEvaluation,
        evaluate_scores,
    )
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

_NAMES = {
    "offdiag": ["errors", "importers", "plot", "stats"],
    "offdiag.domain.labels": ["TruthRevision"],
    "offdiag.domain.sample_content": ["LoggedSamples"],
    "offdiag.domain.values": ["MetricValue"],
    "offdiag.errors": [
        "Conflict",
        "DamagedData",
        "DatabaseUnavailable",
        "EvaluationFailed",
        "EvaluationPending",
        "InvalidInput",
        "MissingExtra",
        "NotFound",
        "OffdiagError",
        "SchemaMismatch",
        "ServerUnavailable",
        "SpoolFull",
        "StorageFull",
        "UnknownKey",
    ],
    "offdiag.metrics.custom": ["MatrixInput", "MultilabelInput", "ScoreInput", "metric"],
    "offdiag.sdk.advise": ["advise"],
    "offdiag.sdk.compare": ["Comparison", "compare"],
    "offdiag.sdk.cost": ["CostEvaluation", "cost"],
    "offdiag.sdk.dataset": [
        "add_slices",
        "log_samples",
        "revise_truth",
        "set_hierarchy",
        "show_samples",
    ],
    "offdiag.sdk.evaluations.audit": ["audit_reported"],
    "offdiag.sdk.evaluations.evaluate": [
        "WeightedEvaluation",
        "evaluate_labels",
        "evaluate_matrix",
    ],
    "offdiag.sdk.evaluations.evaluation": ["Evaluation"],
    "offdiag.sdk.evaluations.flag": ["Flag"],
    "offdiag.sdk.evaluations.multilabel": ["MultilabelEvaluation", "evaluate_multilabel"],
    "offdiag.sdk.evaluations.scores": [
        "ScoreEvaluation",
        "WeightedScoreEvaluation",
        "evaluate_scores",
    ],
    "offdiag.sdk.frames.log": ["log_frame"],
    "offdiag.sdk.frames.recount": ["recount"],
    "offdiag.sdk.integrations": [
        "keras",
        "lightgbm",
        "lightning",
        "mlflow",
        "sklearn",
        "transformers",
        "xgboost",
    ],
    "offdiag.sdk.logging": ["log_matrix", "log_run", "start_run"],
    "offdiag.sdk.methods": ["learning_curves", "method_runs", "methods"],
    "offdiag.sdk.open_run": ["OpenRun"],
    "offdiag.sdk.registry": ["Decision"],
    "offdiag.sdk.run": ["Run"],
    "offdiag.sdk.samples.confused": ["confused_labels", "label_costs"],
    "offdiag.sdk.samples.labels": ["LabelDraft", "label_draft", "label_noise", "suspect_labels"],
    "offdiag.sdk.search": ["evaluate_pending", "get_run", "search_runs"],
}
"""Names by the module or the package that has them."""

_HOMES = {name: module for module, names in _NAMES.items() for name in names}

# Integrations need their libraries, so `import *` leaves them out.
__all__ = [
    "Comparison",
    "Conflict",
    "CostEvaluation",
    "DamagedData",
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


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if name == "__version__":
        value: Any = import_module("offdiag.version").offdiag_version()
    elif home is None:
        raise AttributeError(f"module 'offdiag' has no attribute {name!r}")
    elif home in ("offdiag", "offdiag.sdk.integrations"):
        value = import_module(f"{home}.{name}")
    else:
        value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_HOMES, "__version__"])
