"""What published metric names mean here: from "F1-score (macro avg)" to `macro_f1`."""

from __future__ import annotations

from difflib import get_close_matches

from offdiag.errors import InvalidInput
from offdiag.metrics.custom.declared import custom_versions
from offdiag.metrics.other_names import OTHER_NAMES, averaged_key, normal_form
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS

_COUNTS = frozenset(
    {
        "n",
        "n_classes",
        "n_classes_actual",
        "n_classes_predicted",
        "tp",
        "fn",
        "fp",
        "tn",
        "support",
        "predicted",
        "imbalance_coefficient",
    }
)
AGGREGATES: tuple[str, ...] = tuple(
    key for key in AGGREGATE_KEYS if key not in _COUNTS and key not in custom_versions()
)
"""Keys of single-label matrices that can be audited."""
CLASS_KEYS: tuple[str, ...] = tuple(key for key in PER_CLASS_KEYS if key not in _COUNTS)
"""Keys of one class that can be audited."""


def known_metric(name: str) -> str | None:
    """The registry's key for a published name, None for a name that is not known.

    The key is one of `AGGREGATES` or `CLASS_KEYS`. A bare "precision", "recall" or "f1" is the
    key of a class; which class or average was meant is for the caller to find out.
    """
    plain = normal_form(name)
    for candidate in (plain, OTHER_NAMES.get(plain), averaged_key(plain)):
        if candidate in AGGREGATES or candidate in CLASS_KEYS:
            return candidate
    return None


def metric_key(name: str) -> str:
    """The same as `known_metric`. Raises `InvalidInput` with similar names for unknown ones."""
    key = known_metric(name)
    if key is not None:
        return key
    plain = normal_form(name)
    known = (*AGGREGATES, *CLASS_KEYS, *OTHER_NAMES)
    close = get_close_matches(plain, known, n=3, cutoff=0.6)
    raise InvalidInput(
        f"{name!r} is no metric that can be audited.",
        field="reported",
        hint=f"Did you mean {' or '.join(repr(match) for match in close)}?"
        if close
        else "Use keys such as accuracy, macro_f1, weighted_precision, recall or mcc.",
    )
