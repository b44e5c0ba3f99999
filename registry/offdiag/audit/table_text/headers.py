"""Headers recognised as metrics by their usual names, averages and counts, and their meanings.

A meaning is written the way people would note it in the margin: `macro_f1`, `recall[B]` for a
class, `macro` for an average, `[B]` for a class alone, `@SVM` for a model, `support`, `-` for
numbers to leave out; and any of these followed by `@` and a model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from offdiag.audit.reported_values import AGGREGATES, AVERAGED, AVERAGES, CLASS_KEYS, known_metric
from offdiag.domain.orientation import ACTUAL_WORDS, PREDICTED_WORDS
from offdiag.errors import InvalidInput
from offdiag.metrics.names import normal_form

CELLS_OF_TWO = ("tp", "fn", "fp", "tn")
"""The four counts of a matrix of two classes, for the positive class."""
SUPPORT, TOTAL = "support", "total"
COUNTS = (SUPPORT, TOTAL, *CELLS_OF_TWO)
LEFT_OUT = "-"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What is known about a number: the metric or count, the average, the class, the model.

    `what` is a key of the catalogue or one of `COUNTS`. A header usually gives one of these
    facts, and the header on the other axis gives the rest.
    """

    what: str | None = None
    average: str | None = None
    label: str | None = None
    model: str | None = None

    @property
    def is_nothing(self) -> bool:
        return self == Meaning()

    @property
    def is_metric(self) -> bool:
        return self.what is not None and self.what not in COUNTS

    @property
    def is_aggregate(self) -> bool:
        return self.what in AGGREGATES


NO_MEANING = Meaning()


def written(meaning: Meaning) -> str:
    """The short form; `read_meaning` reads it back."""
    label = "" if meaning.label is None else f"[{meaning.label}]"
    model = "" if meaning.model is None else f"@{meaning.model}"
    text = f"{meaning.what or meaning.average or ''}{label}"
    return f"{text}{' ' if text and model else ''}{model}" or LEFT_OUT


def read_meaning(text: str) -> Meaning:
    """The meaning that a short form stands for. Raises `InvalidInput` for anything else."""
    body = text.strip()
    if body == LEFT_OUT:
        return NO_MEANING
    rest, at, model = body.partition("@") if "@" in body else (body, "", "")
    what, bracket, label = rest.strip().partition("[")
    if (bracket and not label.endswith("]")) or (at and not model.strip()):
        raise _unreadable(text)
    known = Meaning(
        label=label[:-1].strip() if bracket else None, model=model.strip() if at else None
    )
    what = what.strip()
    if not what:
        if known.is_nothing:
            raise _unreadable(text)
        return known
    if what.lower() in AVERAGES:
        return replace(known, average=what.lower())
    key = what.lower() if what.lower() in COUNTS else known_metric(what)
    if key is None:
        raise _unreadable(text)
    return replace(known, what=key)


def combined(row: Meaning, column: Meaning) -> Meaning:
    """The meaning of a number, given those of its row and its column.

    A metric of the whole matrix keeps its meaning, whatever is above it: the accuracy of a report
    has no class. Two metrics for one number are an empty meaning.
    """
    what = row.what or column.what
    if row.what is not None and column.what is not None and row.what != column.what:
        if SUPPORT in (row.what, column.what):
            return NO_MEANING
        aggregates = [one.what for one in (row, column) if one.is_aggregate]
        if len(aggregates) != 1:
            return NO_MEANING
        what = aggregates[0]
    merged = Meaning(
        what=what,
        average=row.average or column.average,
        label=row.label or column.label,
        model=", ".join(filter(None, (row.model, column.model))) or None,
    )
    return _averaged(merged)


def _averaged(meaning: Meaning) -> Meaning:
    """ "macro" over "precision" as macro_precision; nothing if there is no such average."""
    if meaning.is_aggregate:
        return replace(meaning, average=None, label=None)
    if meaning.average is None:
        return meaning
    if meaning.what in AVERAGED:
        return Meaning(what=f"{meaning.average}_{meaning.what}", model=meaning.model)
    if meaning.what in CLASS_KEYS or meaning.what in COUNTS:
        return NO_MEANING
    return meaning


def _unreadable(text: str) -> InvalidInput:
    return InvalidInput(
        f"{text!r} does not identify the numbers.",
        field="reading",
        hint="Write a metric such as macro_f1, recall[A] for a class, [A], @model, support, or - "
        "to leave the numbers out.",
    )


LONGEST_NAME = 6
"""Words in the longest name of a metric."""
LONGEST_HEAD = 120
MOST_CHARACTERS_OF_HEADS = 1_500
"""More characters than the headers of a table have; prose is not searched for names."""

_PRINTED_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "p": "precision",
        "r": "recall",
        "f": "f1",
        "f_1_score": "f1",
        "f_1_measure": "f1",
        "f1_measure": "f1",
        "sen": "recall",
        "se": "recall",
        "sp": "specificity",
        "spe": "specificity",
        "ba": "balanced_accuracy",
        "bal_acc": "balanced_accuracy",
        "top_1": "overall_accuracy",
        "top_1_acc": "overall_accuracy",
        "top_1_accuracy": "overall_accuracy",
        "total_accuracy": "overall_accuracy",
        "classification_accuracy": "overall_accuracy",
        "correctly_classified": "overall_accuracy",
        "oa": "overall_accuracy",
        "macrof1": "macro_f1",
        "microf1": "micro_f1",
        "weightedf1": "weighted_f1",
        "macro_f1_mh": "macro_f1_harmonic",
        "macro_f1_ma": "macro_f1",
        "unweighted_f1": "macro_f1",
        "weighted_precison": "weighted_precision",
        "unweighted_average_recall": "macro_recall",
        "cohen_kappa_coefficient": "cohen_kappa",
        "kappa_coefficient": "cohen_kappa",
        "kappa_score": "cohen_kappa",
        "quadratic_weighted_kappa": "kappa_quadratic",
        "qwk": "kappa_quadratic",
        "matthews_correlation": "mcc",
        "pos_pred_value": "precision",
        "neg_pred_value": "npv",
        "youden_index": "informedness",
        "j_statistic": "informedness",
    }
)
"""Names that only the header of a table makes unambiguous, in normal form."""
_AVERAGE_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "macro": "macro",
        "macro_avg": "macro",
        "macro_average": "macro",
        "macro_averaged": "macro",
        "mean": "macro",
        "average": "macro",
        "avg": "macro",
        "unweighted_average": "macro",
        "weighted": "weighted",
        "weighted_avg": "weighted",
        "weighted_average": "weighted",
        "avg_/_total": "weighted",
        "micro": "micro",
        "micro_avg": "micro",
        "micro_average": "micro",
    }
)
_COUNT_NAMES: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("support", "supports", "n", "count", "cases", "samples"), SUPPORT)
    | dict.fromkeys(("instances", "images", "class_size", "size", "examples"), SUPPORT)
    | dict.fromkeys(("total", "sum", "all", "σ", "row_total", "column_total"), TOTAL)
    | {name: name for name in ("tp", "fn", "fp", "tn")}
    | {"true_positives": "tp", "false_negatives": "fn", "false_positives": "fp"}
    | {"true_negatives": "tn"}
)
_MODEL_STUBS = frozenset(
    {"model", "models", "method", "methods", "classifier", "algorithm", "approach", "dataset"}
    | {"fold", "run", "seed", "split", "trial", "repeat", "experiment", "epoch"}
)
_CLASS_STUBS = frozenset({"class", "classes", "label", "labels", "category", "group"})
_STUBS = _MODEL_STUBS | _CLASS_STUBS | {"", "metric", "metrics", "measure", "name"}
_UNIT = re.compile(r"[(\[]\s*(?:in\s*)?%\s*[)\]]|\bin %|%")
_SIGNS = str.maketrans(
    {"κ": "kappa", "φ": "phi", "μ": "micro", "_": "_", ".": "", "*": "", "†": "", "↑": "", "↓": ""}
)
_PREPOSITION = "for"
"""Not "false omission rate" when it is among other words."""
_FLUFF = frozenset({"the", "test", "overall", "mean", "value", "values", "our", "averaged"})


def axis_word(word: str) -> str | None:
    """ "predicted" or "actual" for words that name an axis of a confusion matrix."""
    plain = word.strip(":,.()\\/|→↓").lower()
    if plain in PREDICTED_WORDS:
        return "predicted"
    return "actual" if plain in ACTUAL_WORDS else None


def is_stub(word: str) -> bool:
    """Whether it is the header over the labels: empty, or the name of an axis instead."""
    return axis_word(word) is not None or word.lower().strip(" :") in _STUBS


def stub_names(stub: str) -> str | None:
    """ "classes" or "models" for a header over labels that says that they are such."""
    plain = stub.lower().strip(" :")
    return "models" if plain in _MODEL_STUBS else "classes" if plain in _CLASS_STUBS else None


def without_formula(label: str) -> str:
    """A label without the formula after it: "Precision = TP/(TP+FP)", but not "A (y = 0)"."""
    depth = 0
    for place, character in enumerate(label):
        depth += (character == "(") - (character == ")")
        is_formula = character in "=≈" or (character == ":" and "/" in label[place:])
        if is_formula and depth <= 0 and label[:place].strip():
            return label[:place].strip(" :")
    return label.strip(" :=≈")


def says_percent(text: str) -> bool:
    """Whether a header says that its numbers are percentages."""
    return "%" in text


@lru_cache(maxsize=1024)
def recognised(text: str) -> Meaning | None:
    """The meaning of a header, if it is the name of a metric, an average or a count."""
    if len(text) > LONGEST_HEAD:
        return None
    plain = _plain(text)
    if plain in _COUNT_NAMES:
        return Meaning(what=_COUNT_NAMES[plain])
    if plain in _AVERAGE_NAMES:
        return Meaning(average=_AVERAGE_NAMES[plain])
    key = _metric(plain) if plain else None
    if key is not None:
        return Meaning(what=key)
    outside = _plain(text.partition("(")[0])
    key = _metric(outside) if outside and outside != plain else None
    return None if key is None else _with_class(text, key)


def _plain(text: str) -> str:
    return normal_form(_UNIT.sub(" ", text).translate(_SIGNS).strip(" :=,;"))


def metric_spans(words: Sequence[str]) -> list[tuple[int, int]]:
    """Where recognised names begin and end among words, the longest first, without overlap."""
    spans: list[tuple[int, int]] = []
    start = 0
    if sum(len(word) for word in words) > MOST_CHARACTERS_OF_HEADS:
        return spans
    while start < len(words):
        end = next(
            (
                end
                for end in range(min(len(words), start + LONGEST_NAME), start, -1)
                if (name := " ".join(words[start:end])) != _PREPOSITION
                and recognised(name) is not None
            ),
            None,
        )
        if end is not None:
            spans.append((start, end))
        start = start + 1 if end is None else end
    return spans


def without_fluff(head: str) -> tuple[str, str]:
    """Split off words that say nothing about the metric: "Test" and "accuracy"."""
    words = head.split()
    start = next((at for at, word in enumerate(words) if word.lower() not in _FLUFF), 0)
    return " ".join(words[:start]), " ".join(words[start:])


def _metric(plain: str) -> str | None:
    if plain in _PRINTED_NAMES:
        return _PRINTED_NAMES[plain]
    words = plain.split("_")
    if words[0] in _FLUFF and len(words) > 1 and known_metric(plain) is None:
        return _metric("_".join(words[1:]))
    return known_metric(plain)


def _with_class(text: str, key: str) -> Meaning:
    """ "Recall (class B)" is about a class, "Recall (TPR)" and "F1 (2PR/(P+R))" are not."""
    inside = text.partition("(")[2].rpartition(")")[0].strip()
    plain = normal_form(inside)
    is_label = plain and not any(sign in inside for sign in "=/+%×·") and _metric(plain) is None
    if not is_label or plain in _AVERAGE_NAMES:
        return Meaning(what=key)
    return Meaning(what=key, label=inside)
