"""The quantities behind published metrics, and the metrics that are other ways to write them.

Accuracy, micro F1, weighted recall and error rate are one quantity with four names. Once all
claims are expressed in such quantities, "equal by definition" needs no list of pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from offdiag.audit.printed import Interval
from offdiag.audit.reported_values import Claim, Facts

Transform = Callable[[Interval], Interval]


@dataclass(frozen=True, slots=True)
class Synonym:
    """How a metric is another way to write a quantity: both conversions, and in words."""

    quantity: str
    there: Transform
    back: Transform
    statement: str


def _same(interval: Interval) -> Interval:
    return interval


def _complement(interval: Interval) -> Interval:
    return interval.falling(lambda x: 1 - x)


def _from_jaccard(interval: Interval) -> Interval:
    return interval.rising(lambda x: 2 * x / (1 + x))


def _to_jaccard(interval: Interval) -> Interval:
    return interval.rising(lambda x: x / (2 - x))


_ONE_LABEL = "where every example has one label and one prediction"
_PLAIN: Mapping[str, Synonym] = MappingProxyType(
    {
        key: Synonym("overall_accuracy", _same, _same, f"{key} = accuracy {_ONE_LABEL}")
        for key in ("micro_precision", "micro_recall", "micro_f1", "weighted_recall")
    }
    | {
        "error_rate": Synonym(
            "overall_accuracy", _complement, _complement, "error rate = 1 - accuracy"
        ),
        "micro_jaccard": Synonym(
            "overall_accuracy",
            _from_jaccard,
            _to_jaccard,
            "micro Jaccard = accuracy / (2 - accuracy)",
        ),
    }
    | {
        complement: Synonym(key, _complement, _complement, f"{complement} = 1 - {key}")
        for key, complement in (
            ("recall", "fnr"),
            ("specificity", "fpr"),
            ("precision", "fdr"),
            ("npv", "for"),
        )
    }
    | {
        "jaccard": Synonym("f1", _from_jaccard, _to_jaccard, "Jaccard = F1 / (2 - F1)"),
    }
)


def synonym_of(key: str, facts: Facts) -> Synonym | None:
    """The quantity for which a metric is another name, None if it stands for itself."""
    if key in _PLAIN:
        return _PLAIN[key]
    size = facts.n_classes
    if size is not None and key in {"average_accuracy", "average_error_rate"}:
        return _average(key, size)
    if facts.every_class_occurs:
        return _mean_recall(key, facts)
    return None


def _average(key: str, size: int) -> Synonym:
    """AA = 1 - 2/K + (2/K) OA (Zeng 2025, Property 3)."""

    def to_accuracy(average: float) -> float:
        return 1 - size / 2 * (1 - average)

    def from_accuracy(accuracy: float) -> float:
        return 1 - 2 / size * (1 - accuracy)

    statement = f"average accuracy = 1 - 2/{size} + 2/{size} accuracy"
    if key == "average_accuracy":
        return Synonym(
            "overall_accuracy",
            lambda x: x.rising(to_accuracy),
            lambda a: a.rising(from_accuracy),
            statement,
        )
    return Synonym(
        "overall_accuracy",
        lambda x: _complement(x).rising(to_accuracy),
        lambda a: _complement(a.rising(from_accuracy)),
        f"average error rate = 2/{size} error rate",
    )


def _mean_recall(key: str, facts: Facts) -> Synonym | None:
    """Balanced accuracy is macro recall if every class occurs; with equal classes, accuracy."""
    target = "overall_accuracy" if facts.is_balanced else "macro_recall"
    of_equal = " of classes of equal size = accuracy" if facts.is_balanced else " = macro recall"
    if key in {"macro_recall", "balanced_accuracy"} and key != target:
        return Synonym(target, _same, _same, f"{key}{of_equal}")
    size = facts.n_actual_classes
    if key == "balanced_accuracy_adjusted" and size is not None and size > 1:
        chance = 1 / size
        return Synonym(
            target,
            lambda x: x.rising(lambda adjusted: chance + adjusted * (1 - chance)),
            lambda r: r.rising(lambda recall: (recall - chance) / (1 - chance)),
            f"adjusted balanced accuracy = (balanced accuracy - 1/{size}) / (1 - 1/{size})",
        )
    if facts.is_balanced and key in {"macro_precision", "macro_f1", "macro_jaccard"}:
        metric = key.removeprefix("macro_")
        return Synonym(
            f"weighted_{metric}", _same, _same, f"{key} = weighted_{metric} if classes are equal"
        )
    return None


Quantity = tuple[str, int | None]
"""A metric key that stands for itself and all its synonyms, and the class it belongs to."""


def quantity_of(key: str, code: int | None, facts: Facts) -> tuple[Quantity, Synonym | None]:
    """The quantity that a metric is about, and how the metric is another name for it.

    For two classes the rates of the second are those of the first: its recall is the first
    one's specificity, its precision the first one's NPV.
    """
    synonym = synonym_of(key, facts)
    target = key if synonym is None else synonym.quantity
    if code == 1 and facts.n_classes == 2 and target in _SEEN_FROM_THE_FIRST:
        return (_SEEN_FROM_THE_FIRST[target], 0), synonym
    return (target, code), synonym


@dataclass(frozen=True, slots=True)
class Reported:
    """The value that the claim at a position leaves for a quantity.

    `metric` is the key and the class under which it was published.
    """

    place: int
    metric: Quantity
    value: Interval
    synonym: Synonym | None

    def in_own_terms(self, value: Interval) -> Interval:
        """A value of the quantity, converted to the metric that was published."""
        return value if self.synonym is None else self.synonym.back(value)


@dataclass(frozen=True)
class Quantities:
    """What the claims say about each quantity."""

    reported: Mapping[Quantity, tuple[Reported, ...]]
    facts: Facts

    @classmethod
    def of(
        cls, claims: Sequence[Claim], intervals: Sequence[Interval | None], facts: Facts
    ) -> Quantities:
        """`intervals` are the values that each claim allows, None for "undefined".

        A number that may stand for an undefined value says nothing about the quantity.
        """
        found: dict[Quantity, list[Reported]] = {}
        for place, (claim, interval) in enumerate(zip(claims, intervals, strict=True)):
            if interval is None or interval.or_undefined:
                continue
            quantity, synonym = quantity_of(claim.key, claim.code, facts)
            value = interval if synonym is None else synonym.there(interval)
            found.setdefault(quantity, []).append(
                Reported(place, (claim.key, claim.code), value, synonym)
            )
        return cls({quantity: tuple(parts) for quantity, parts in found.items()}, facts)

    def claims_about(self, key: str, code: int | None) -> tuple[Reported, ...]:
        """Claims about the quantity that a metric stands for."""
        quantity, _ = quantity_of(key, code, self.facts)
        return self.reported.get(quantity, ())

    def known(self, key: str, code: int | None = None) -> tuple[Interval, frozenset[int]] | None:
        """Values of a metric on which all claims agree, with the positions of these claims.

        None if nothing is claimed or the claims contradict each other, which is reported
        separately and must not be held against further numbers.
        """
        quantity, synonym = quantity_of(key, code, self.facts)
        parts = self.reported.get(quantity, ())
        if not parts:
            return None
        common = parts[0].value
        for part in parts[1:]:
            common = common.intersection(part.value)
        if common.is_empty:
            return None
        value = common if synonym is None else synonym.back(common)
        return value, frozenset(part.place for part in parts)

    def in_quantity(self, key: str, code: int | None, value: Interval) -> Interval:
        """A value of a metric, converted to the quantity it stands for."""
        _, synonym = quantity_of(key, code, self.facts)
        return value if synonym is None else synonym.there(value)


_SEEN_FROM_THE_FIRST: Mapping[str, str] = MappingProxyType(
    {"recall": "specificity", "specificity": "recall", "precision": "npv", "npv": "precision"}
)
