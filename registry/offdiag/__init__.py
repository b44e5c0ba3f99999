"""Evaluation registry for classifiers.

Importing offdiag is cheap: a name is imported from its home when it is first used, so that a
training job which only evaluates in memory never loads a database library. The block for type
checkers and the table below it name the same things; a test compares them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from offdiag.domain.values import MetricValue
    from offdiag.errors import (
        Conflict,
        DatabaseUnavailable,
        EvaluationFailed,
        EvaluationPending,
        InvalidInput,
        NotFound,
        OffdiagError,
        SchemaMismatch,
        UnknownKey,
    )
    from offdiag.sdk.api import log_matrix, log_run, start_run
    from offdiag.sdk.evaluate import evaluate_labels, evaluate_matrix
    from offdiag.sdk.evaluation import Evaluation
    from offdiag.sdk.run import OpenRun, Run

    __version__: str

_HOMES = {
    "MetricValue": "offdiag.domain.values",
    "Conflict": "offdiag.errors",
    "DatabaseUnavailable": "offdiag.errors",
    "EvaluationFailed": "offdiag.errors",
    "EvaluationPending": "offdiag.errors",
    "InvalidInput": "offdiag.errors",
    "NotFound": "offdiag.errors",
    "OffdiagError": "offdiag.errors",
    "SchemaMismatch": "offdiag.errors",
    "UnknownKey": "offdiag.errors",
    "log_matrix": "offdiag.sdk.api",
    "log_run": "offdiag.sdk.api",
    "start_run": "offdiag.sdk.api",
    "evaluate_labels": "offdiag.sdk.evaluate",
    "evaluate_matrix": "offdiag.sdk.evaluate",
    "Evaluation": "offdiag.sdk.evaluation",
    "OpenRun": "offdiag.sdk.run",
    "Run": "offdiag.sdk.run",
}

__all__ = [
    "Conflict",
    "DatabaseUnavailable",
    "Evaluation",
    "EvaluationFailed",
    "EvaluationPending",
    "InvalidInput",
    "MetricValue",
    "NotFound",
    "OffdiagError",
    "OpenRun",
    "Run",
    "SchemaMismatch",
    "UnknownKey",
    "__version__",
    "evaluate_labels",
    "evaluate_matrix",
    "log_matrix",
    "log_run",
    "start_run",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = import_module("offdiag.version").offdiag_version()
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'offdiag' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
