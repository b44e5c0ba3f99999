"""One number for a whole matrix: the table of aggregate metrics by key."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from offdiag.metrics.aggregates import accuracy, agreement, averages, information
from offdiag.metrics.aggregates.averages import Aggregate

_ACCURACY: dict[str, Aggregate] = {
    "n": accuracy.n,
    "n_classes": accuracy.n_classes,
    "n_classes_actual": accuracy.n_classes_actual,
    "n_classes_predicted": accuracy.n_classes_predicted,
    "overall_accuracy": accuracy.overall_accuracy,
    "error_rate": accuracy.error_rate,
    "average_accuracy": accuracy.average_accuracy,
    "average_error_rate": accuracy.average_error_rate,
    "majority_baseline": accuracy.majority_baseline,
    "nir_p_value": accuracy.nir_p_value,
    "balanced_accuracy": accuracy.balanced_accuracy,
    "balanced_accuracy_adjusted": accuracy.balanced_accuracy_adjusted,
    "gmean_multiclass": accuracy.gmean_multiclass,
}
_AGREEMENT: dict[str, Aggregate] = {
    "mcc": agreement.mcc,
    "cohen_kappa": agreement.cohen_kappa,
    "kappa_linear": agreement.kappa_linear,
    "kappa_quadratic": agreement.kappa_quadratic,
    "scott_pi": agreement.scott_pi,
    "gwet_ac1": agreement.gwet_ac1,
}
_INFORMATION: dict[str, Aggregate] = {
    "mutual_information": information.mutual_information,
    "normalized_mutual_information": information.normalized_mutual_information,
    "informedness_multiclass": averages.informedness_multiclass,
    "markedness_multiclass": averages.markedness_multiclass,
}
_MICRO: dict[str, Aggregate] = {
    "micro_precision": averages.micro,
    "micro_recall": averages.micro,
    "micro_f1": averages.micro,
    "micro_jaccard": averages.micro_jaccard,
}
_WEIGHTED: dict[str, Aggregate] = {
    "weighted_precision": averages.weighted("precision"),
    "weighted_recall": averages.weighted_recall,
    "weighted_f1": averages.weighted("f1"),
    "weighted_jaccard": averages.weighted("jaccard"),
    "weighted_precision_defined": averages.weighted_precision_defined,
}
_MACRO: dict[str, Aggregate] = {
    f"macro_{key}{suffix}": average(key)
    for suffix, average in (
        ("", averages.macro),
        ("_all_labels", averages.macro_all_labels),
        ("_defined", averages.macro_defined),
        ("_strict", averages.macro_strict),
    )
    for key in averages.AVERAGED
}
_HARMONIC: dict[str, Aggregate] = {
    "macro_f1_harmonic": averages.macro_f1_harmonic,
    "weighted_f1_harmonic": averages.weighted_f1_harmonic,
}

AGGREGATES: Mapping[str, Aggregate] = MappingProxyType(
    _ACCURACY | _AGREEMENT | _INFORMATION | _MICRO | _WEIGHTED | _MACRO | _HARMONIC
)
