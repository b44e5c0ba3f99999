"""The names of metrics: our keys, those of scikit-learn, and those in publications.

Everything that reads metric keys calls `meanings` or `find_metric` with the keys it knows, so
that `f1_macro` means `macro_f1` in filters, gates, reports and evaluations alike. Output always
shows our key. A scorer of scikit-learn that starts with `neg_` is minus our value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType

from offdiag.domain.values import MetricValue
from offdiag.metrics.catalogue import CATALOGUE, SPECS
from offdiag.metrics.spec import MetricSpec, Scope

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
        "youden": "informedness",
        "youden_index": "informedness",
        "youden's_index": "informedness",
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
"""Names used elsewhere, in the form that `normal_form` returns."""

_AVERAGES = "macro|micro|weighted"
_AVERAGE_FIRST = re.compile(rf"({_AVERAGES})(?:_(?:avg|average|averaged))?_(.+)")
_AVERAGE_LAST = re.compile(rf"(.+?)_({_AVERAGES})(?:_(?:avg|average|averaged))?")


def normal_form(name: str) -> str:
    """Lower case, words separated by single underscores, without brackets."""
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


_AVERAGED = ("precision", "recall", "f1", "jaccard")
_FUNCTION = re.compile(r"(\w+)(?: \([^=()]*\))?")
"""A function of scikit-learn without arguments, optionally followed by a remark in brackets."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The metric that a name stands for: its key, and whether the name means minus its value.

    `n_classes_is_two` is None if the name means this metric for any number of classes; True
    restricts it to two classes, False to other numbers.
    """

    key: str
    is_negated: bool = False
    n_classes_is_two: bool | None = None


_BRIER = (
    Meaning("brier_half", n_classes_is_two=True),
    Meaning("brier_sum", n_classes_is_two=False),
)


def _scorers() -> Iterator[tuple[str, tuple[Meaning, ...]]]:
    yield "accuracy", (Meaning("overall_accuracy"), Meaning("subset_accuracy"))
    yield "matthews_corrcoef", (Meaning("mcc"),)
    for metric in _AVERAGED:
        for average in ("micro", "macro", "weighted"):
            yield f"{metric}_{average}", (Meaning(f"{average}_{metric}"),)
        yield f"{metric}_samples", (Meaning(f"example_{metric}_zd0"),)
    for pairs in ("ovr", "ovo"):
        yield f"roc_auc_{pairs}", (Meaning(f"roc_auc_{pairs}_macro"),)
    yield "top_k_accuracy", (Meaning("top_2_accuracy"),)
    yield "brier_score_loss", _BRIER
    yield "neg_log_loss", (Meaning("log_loss", is_negated=True),)
    yield "neg_brier_score", tuple(replace(each, is_negated=True) for each in _BRIER)
    yield "positive_likelihood_ratio", (Meaning("lr_plus"),)
    yield "neg_negative_likelihood_ratio", (Meaning("lr_minus", is_negated=True),)


SHORT_NAMES: Mapping[str, tuple[Meaning, ...]] = MappingProxyType(
    {
        "acc": (Meaning("overall_accuracy"), Meaning("subset_accuracy")),
        "bacc": (Meaning("balanced_accuracy"),),
        "bal_acc": (Meaning("balanced_accuracy"),),
        "kappa": (Meaning("cohen_kappa"),),
        "auc": (Meaning("roc_auc"), Meaning("roc_auc_ovr_macro")),
        "auroc": (Meaning("roc_auc"), Meaning("roc_auc_ovr_macro")),
        "ap": (Meaning("average_precision"),),
        "auprc": (Meaning("average_precision"),),
        "pr_auc": (Meaning("average_precision"),),
        "logloss": (Meaning("log_loss"),),
        "brier": _BRIER,
        "sensitivity": (Meaning("recall"),),
        "tpr": (Meaning("recall"),),
        "tnr": (Meaning("specificity"),),
        "ppv": (Meaning("precision"),),
    }
)
"""Usual short names of metrics, each with a single definition."""

SCORERS: Mapping[str, tuple[Meaning, ...]] = MappingProxyType(dict(_scorers()))
"""Names of scikit-learn's scorers that are not keys of ours, the usual meaning first."""


@cache
def _functions() -> Mapping[str, tuple[Meaning, ...]]:
    """Functions of scikit-learn by the `other_names` of the catalogue.

    Only functions whose bare name has one definition in each scope.
    """
    found: dict[str, dict[Scope, set[str]]] = {}
    for spec in SPECS:
        name = _FUNCTION.fullmatch(spec.other_names.get("scikit-learn", ""))
        if name is not None:
            found.setdefault(name[1], {}).setdefault(spec.scope, set()).add(spec.key)
    return {
        name: tuple(map(Meaning, dict.fromkeys(key for keys in by_scope.values() for key in keys)))
        for name, by_scope in found.items()
        if all(len(keys) == 1 for keys in by_scope.values())
    }


def meanings(name: str, known: Collection[str]) -> tuple[Meaning, ...]:
    """What a name can mean among the known keys, the usual meaning first; empty if unknown."""
    if name in known:
        return (Meaning(name),)
    named = (*SCORERS.get(name, ()), *SHORT_NAMES.get(name, ()), *_functions().get(name, ()))
    found = dict.fromkeys(named)
    return tuple(each for each in found if each.key in known)


def find_metric(
    name: str, known: Collection[str], *, n_classes: int | None = None
) -> Meaning | None:
    """What a name means among the known keys, None for an unknown name.

    `n_classes` decides between the two Brier scores; without it, `brier_half` is meant.
    """
    for each in meanings(name, known):
        wanted = each.n_classes_is_two
        if wanted is None or n_classes is None or wanted is (n_classes == 2):
            return each
    return None


def averages_of(key: str, known: Collection[str]) -> tuple[str, ...]:
    """The averages over classes to use in place of a metric of one class."""
    return tuple(
        average
        for average in (f"macro_{key}", f"weighted_{key}", f"micro_{key}")
        if average in known
    )


def find_spec(name: str) -> MetricSpec | None:
    """The metric of any scope that a name means in whatever spelling; None for an unknown name.

    A name that exists in several scopes means the metric of a matrix first, then that of a
    class, then that of scores.
    """
    plain = _in_known_words(name)
    scopes = tuple(CATALOGUE[scope] for scope in (*_USUAL_SCOPES, *Scope))
    for specs in scopes:
        key = _meant(plain, specs)
        if key is not None:
            return specs[key]
    near = ((specs, _same_words(plain, specs)) for specs in scopes)
    return next((specs[keys[0]] for specs, keys in near if keys), None)


_USUAL_SCOPES = (Scope.AGGREGATE, Scope.PER_CLASS, Scope.PROBABILISTIC)


def nearest_names(name: str, known: Collection[str]) -> str:
    """A question suggesting the known metrics that may have been meant; "" if there are none.

    Names with the same meaning come first, whatever their spelling (`AUC_ROC` is near `roc_auc`,
    `IoU` near `jaccard`); names of similar letters follow.
    """
    plain = _in_known_words(name)
    meant = _meant(plain, known)
    near = _same_words(plain, sorted(known)) if meant is None else [meant]
    found = near or get_close_matches(name, sorted(known), n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(map(repr, found))}?" if found else ""


_SYNONYMS = {
    "auroc": "roc auc",
    "avg": "average",
    "bal": "balanced",
    "calibration": "ece",
    "logloss": "log loss",
    "matthews": "mcc",
    "samples": "example",
    "youden": "informedness",
}
"""Words that do not name a metric by themselves; `OTHER_NAMES` has the others."""
_WITHOUT_MEANING = frozenset({"average", "coef", "corrcoef", "metric", "overall", "score"})
_SHARED_WORDS = 0.5
_SHORTEST = 4
"""Shortest word checked for typing errors: shorter ones resemble too many others."""


def _meant(plain: str, known: Collection[str]) -> str | None:
    """The known key that a name in its normal form means."""
    named = (*(each.key for each in meanings(plain, known)), OTHER_NAMES.get(plain))
    return next((key for key in (*named, averaged_key(plain)) if key in known), None)


@cache
def _vocabulary() -> frozenset[str]:
    names = (*(spec.key for spec in SPECS), *SCORERS, *SHORT_NAMES, *OTHER_NAMES, *_SYNONYMS)
    return frozenset(word for name in names for word in name.split("_"))


def _in_known_words(name: str) -> str:
    """The normal form of a name, with misspelt words replaced by the nearest known ones."""
    words = re.sub(r"(?<=[a-z]{3})(?=\d)", "_", normal_form(name)).split("_")
    return "_".join(
        word
        if len(word) < _SHORTEST or word in _vocabulary()
        else next(iter(get_close_matches(word, sorted(_vocabulary()), n=1, cutoff=0.8)), word)
        for word in words
    )


def _words(name: str) -> frozenset[str]:
    plain = [_SYNONYMS.get(word, OTHER_NAMES.get(word, word)) for word in name.split("_")]
    words = re.split(r"[^a-z0-9]+", " ".join(plain).lower())
    return frozenset(words) - _WITHOUT_MEANING or frozenset(words)


def _same_words(name: str, known: Collection[str]) -> list[str]:
    """At most three known names that share most of their words with this one, shortest first.

    Only those that share as large a part as the best match are returned. A name that contains all
    words of this one also matches.
    """
    wanted = _words(name)
    # An average of ours is another metric, while "average" in the name asked for means little.
    words_of = {key: _words(key) | ({"average"} & {*key.split("_")}) for key in known}
    shared = {
        key: len(wanted & words) / len(wanted | words)
        for key, words in words_of.items()
        if wanted <= words or len(wanted & words) >= _SHARED_WORDS * len(wanted | words)
    }
    best = max(shared.values(), default=0.0)
    return sorted((key for key, share in shared.items() if share == best), key=len)[:3]


def negated(value: MetricValue) -> MetricValue:
    """Minus a value, with the ends of its interval exchanged."""
    return replace(
        value,
        value=_minus(value.value),
        limit=None if value.limit is None else _OPPOSITE.get(value.limit, value.limit),
        ci_low=_minus(value.ci_high),
        ci_high=_minus(value.ci_low),
    )


_OPPOSITE = {"+inf": "-inf", "-inf": "+inf"}


def _minus(number: float | None) -> float | None:
    return None if number is None else 0.0 - number
