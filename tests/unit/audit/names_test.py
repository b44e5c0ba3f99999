"""Published names of metrics, and the registry's keys for them."""

from __future__ import annotations

import pytest

from offdiag.audit.reported_values import AGGREGATES, CLASS_KEYS, metric_key
from offdiag.errors import InvalidInput
from offdiag.metrics.names import OTHER_NAMES


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Accuracy", "overall_accuracy"),
        ("  overall accuracy ", "overall_accuracy"),
        ("F1-score (macro avg)", "macro_f1"),
        ("macro avg f1-score", "macro_f1"),
        ("f1_macro", "macro_f1"),
        ("Macro-averaged F1", "macro_f1"),
        ("Macro F1 (harmonic)", "macro_f1_harmonic"),
        ("precision_weighted", "weighted_precision"),
        ("weighted sensitivity", "weighted_recall"),
        ("Sensitivity", "recall"),
        ("PPV", "precision"),
        ("Cohen's kappa", "cohen_kappa"),
        ("Balanced Accuracy", "balanced_accuracy"),
        ("MCC", "mcc"),
        ("Error rate", "error_rate"),
        ("IoU", "jaccard"),
    ],
)
def test_names_in_use_are_understood(name: str, key: str) -> None:
    assert metric_key(name) == key


def test_every_key_is_its_own_name() -> None:
    for key in (*AGGREGATES, *CLASS_KEYS):
        assert metric_key(key) == key


def test_every_other_name_leads_to_a_key() -> None:
    assert set(OTHER_NAMES.values()) <= {*AGGREGATES, *CLASS_KEYS}


@pytest.mark.parametrize(
    ("name", "hint"),
    [("acuracy", "'accuracy'"), ("macro_f2", "'macro_f1'"), ("xyz", "Use keys such as")],
)
def test_an_unknown_name_is_refused_with_similar_ones(name: str, hint: str) -> None:
    with pytest.raises(InvalidInput, match="not a metric that can be audited") as caught:
        metric_key(name)

    assert hint in str(caught.value.hint)


def test_counts_are_no_metrics_to_audit() -> None:
    with pytest.raises(InvalidInput):
        metric_key("support")
