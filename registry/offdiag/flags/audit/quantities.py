"""What claims say about the quantities behind the metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.facts import Facts
from offdiag.flags.audit.interval import Interval
from offdiag.flags.audit.synonyms import Synonym, synonym_of

Quantity = tuple[str, int | None]
"""A metric key that stands for itself and all its synonyms, and the class it belongs to."""


def quantity_of(key: str, code: int | None, facts: Facts) -> tuple[Quantity, Synonym | None]:
    """The quantity a metric is about, and how it is another name for it.

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
    """The value that the claim at a place leaves for a quantity.

    `metric` is the key and the class under which it was published.
    """

    place: int
    metric: Quantity
    value: Interval
    synonym: Synonym | None

    def in_own_terms(self, value: Interval) -> Interval:
        """A value of the quantity, as the metric that was published."""
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
        """`intervals` are the values each claim allows, None for "undefined".

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
        """Values of a metric on which all claims agree, with the places of these claims.

        None if nothing is claimed or the claims contradict each other, which is reported by
        itself and must not be held against further numbers.
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
        """A value of a metric, as the quantity it stands for."""
        _, synonym = quantity_of(key, code, self.facts)
        return value if synonym is None else synonym.there(value)


_SEEN_FROM_THE_FIRST: Mapping[str, str] = MappingProxyType(
    {"recall": "specificity", "specificity": "recall", "precision": "npv", "npv": "precision"}
)
