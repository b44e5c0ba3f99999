"""Names of metrics in publications and in other libraries, and our keys for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "accuracy": "overall_accuracy",
        "acc": "overall_accuracy",
        "overall_acc": "overall_accuracy",
        "accuracy_score": "overall_accuracy",
        "error": "error_rate",
        "misclassification_rate": "error_rate",
        "zero_one_loss": "error_rate",
        "mean_class_accuracy": "balanced_accuracy",
        "bacc": "balanced_accuracy",
        "balanced_acc": "balanced_accuracy",
        "balanced_accuracy_score": "balanced_accuracy",
        "uar": "macro_recall",
        "nir": "majority_baseline",
        "no_information_rate": "majority_baseline",
        "majority_class_rate": "majority_baseline",
        "kappa": "cohen_kappa",
        "cohens_kappa": "cohen_kappa",
        "cohen's_kappa": "cohen_kappa",
        "cohen_kappa_score": "cohen_kappa",
        "matthews_corrcoef": "mcc",
        "matthews_correlation_coefficient": "mcc",
        "phi": "mcc",
        "r_k": "mcc",
        "sensitivity": "recall",
        "sens": "recall",
        "tpr": "recall",
        "true_positive_rate": "recall",
        "hit_rate": "recall",
        "rec": "recall",
        "spec": "specificity",
        "tnr": "specificity",
        "true_negative_rate": "specificity",
        "selectivity": "specificity",
        "prec": "precision",
        "ppv": "precision",
        "positive_predictive_value": "precision",
        "negative_predictive_value": "npv",
        "false_positive_rate": "fpr",
        "fall_out": "fpr",
        "false_negative_rate": "fnr",
        "miss_rate": "fnr",
        "false_discovery_rate": "fdr",
        "false_omission_rate": "for",
        "f1_score": "f1",
        "f1score": "f1",
        "f_1": "f1",
        "f_score": "f1",
        "f_measure": "f1",
        "dice": "f1",
        "f2_score": "f2",
        "f0.5": "f0_5",
        "iou": "jaccard",
        "csi": "jaccard",
        "threat_score": "jaccard",
        "bm": "informedness",
        "youden_j": "informedness",
        "youdens_j": "informedness",
        "youden's_j": "informedness",
        "mk": "markedness",
        "gm": "gmean",
        "g_mean": "gmean",
        "geometric_mean": "gmean",
        "fm": "fowlkes_mallows",
        "plr": "lr_plus",
        "lr+": "lr_plus",
        "positive_likelihood_ratio": "lr_plus",
        "nlr": "lr_minus",
        "negative_likelihood_ratio": "lr_minus",
        "diagnostic_odds_ratio": "dor",
    }
)
"""Names in use elsewhere, in the form `normal_form` gives them."""

_AVERAGES = "macro|micro|weighted"
_AVERAGE_FIRST = re.compile(rf"({_AVERAGES})(?:_(?:avg|average|averaged))?_(.+)")
_AVERAGE_LAST = re.compile(rf"(.+?)_({_AVERAGES})(?:_(?:avg|average|averaged))?")


def normal_form(name: str) -> str:
    """Lower case, words parted by single underscores, without brackets."""
    return re.sub(r"[\s\-–_()]+", "_", name.strip().lower()).strip("_")


def averaged_key(plain: str) -> str | None:
    """`macro_f1` for "macro_avg_f1_score", "f1_score_macro" and the like."""
    first, last = _AVERAGE_FIRST.fullmatch(plain), _AVERAGE_LAST.fullmatch(plain)
    if first is not None:
        average, metric = first.groups()
    elif last is not None:
        metric, average = last.groups()
    else:
        return None
    return f"{average}_{OTHER_NAMES.get(metric, metric)}"
