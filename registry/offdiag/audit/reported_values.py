"""What a publication claims, what is known of its data, and what plain metric names may mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property

from offdiag.audit.printed import Printed, Rounding, printed
from offdiag.domain.column_names import by_label
from offdiag.domain.labels import LabelSet, label_text
from offdiag.errors import InvalidInput
from offdiag.metrics.custom import custom_versions
from offdiag.metrics.names import OTHER_NAMES, averaged_key, normal_form
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
    """The registry's key for a published name, None for an unknown name.

    The key is one of `AGGREGATES` or `CLASS_KEYS`. A bare "precision", "recall" or "f1" is the
    key of a class; the caller must find out which class or average was meant.
    """
    plain = normal_form(name)
    for candidate in (plain, OTHER_NAMES.get(plain), averaged_key(plain)):
        if candidate in AGGREGATES or candidate in CLASS_KEYS:
            return candidate
    return None


def metric_key(name: str) -> str:
    """As `known_metric`, but raises `InvalidInput` for unknown names, suggesting similar ones."""
    key = known_metric(name)
    if key is not None:
        return key
    plain = normal_form(name)
    known = (*AGGREGATES, *CLASS_KEYS, *OTHER_NAMES)
    close = get_close_matches(plain, known, n=3, cutoff=0.6)
    raise InvalidInput(
        f"{name!r} is not a metric that can be audited.",
        field="reported",
        hint=f"Did you mean {' or '.join(repr(match) for match in close)}?"
        if close
        else "Use keys such as accuracy, macro_f1, weighted_precision, recall or mcc.",
    )


AVERAGES = ("macro", "weighted", "micro")
AVERAGED = ("precision", "recall", "f1", "jaccard")


@dataclass(frozen=True, slots=True)
class Claim:
    """One published number.

    `name` is the name it was published under, `key` the registry's metric. `code` is the class
    of a class metric; it is None for aggregates, and for a class metric published without saying
    which class or average it is for.
    """

    name: str
    key: str
    code: int | None
    printed: Printed

    @property
    def is_unqualified(self) -> bool:
        return self.code is None and self.key in CLASS_KEYS

    def place_name(self, labels: LabelSet | None) -> str:
        """The number as messages name it: "recall of 'B'"."""
        if self.code is None or labels is None:
            return self.name
        return f"{self.name} of '{labels.names[self.code]}'"

    def printed_by(self, *ways: Rounding) -> Claim:
        """The same number, assuming that its last digit was rounded in one of these ways."""
        return replace(self, printed=self.printed.taken(*ways))

    def redefined(self, key: str, code: int | None = None) -> Claim:
        """The same printed number, read as the value of another metric."""
        return replace(self, key=key, code=code)


def claims_from(reported: Mapping[str, object], labels: LabelSet | None) -> tuple[Claim, ...]:
    """Read a mapping of published numbers.

    A value is one number, or one number for each class: a mapping from labels, a Series of pandas
    whose index has them, or a sequence in the order of `labels`. Raises `InvalidInput` for unknown
    metrics and labels, values that are not numbers, aggregates given by class, and an empty
    mapping.
    """
    found: list[Claim] = []
    for name, value in reported.items():
        key = metric_key(name)
        field = f"reported[{name!r}]"
        if isinstance(value, Mapping) or _is_sequence(value):
            if key not in CLASS_KEYS:
                raise InvalidInput(
                    f"{key} is one number for the whole matrix.",
                    field=field,
                    hint="Give a single value.",
                )
            found += [
                Claim(name, key, code, printed(number, field=field))
                for code, number in _by_class(value, labels, field)
            ]
        else:
            found.append(Claim(name, key, None, printed(value, field=field)))
    if not found:
        raise InvalidInput(
            "no number was reported.", field="reported", hint='Give {"accuracy": "0.93", …}.'
        )
    return tuple(found)


def labels_in(reported: Mapping[str, object]) -> list[str]:
    """Labels for which some metric gives a value, in order of appearance."""
    seen: dict[str, None] = {}
    for name, value in reported.items():
        if isinstance(value, Mapping):
            field = f"reported[{name!r}]"
            seen |= dict.fromkeys(label_text(label, field_name=field) for label in value)
    return list(seen)


def most_classes_listed(reported: Mapping[str, object]) -> int:
    """Length of the longest sequence of class values."""
    return max((len(v) for v in reported.values() if _is_sequence(v)), default=0)  # type: ignore[arg-type]  # Checked to be a sequence.


def _by_class(value: object, labels: LabelSet | None, field: str) -> list[tuple[int, object]]:
    if labels is None:
        raise InvalidInput(
            "it has a value for each class, but the classes are not known.",
            field=field,
            hint="Give labels=, class_counts= or matrix=, or a mapping from labels to values.",
        )
    value = by_label(value, labels, field=field)
    if isinstance(value, Mapping):
        return [
            (labels.code_of(label, field_name=field), number) for label, number in value.items()
        ]
    numbers = list(value)  # type: ignore[call-overload]  # Only mappings and sequences get here.
    if len(numbers) != len(labels):
        raise InvalidInput(
            f"it has {len(numbers)} values for {len(labels)} classes.",
            field=field,
            hint="Give one value for each class, or a mapping from labels to values.",
        )
    return list(enumerate(numbers))


def _is_sequence(value: object) -> bool:
    is_text = isinstance(value, (str, bytes))
    has_length = isinstance(value, Sequence) or getattr(value, "shape", ()) != ()
    return has_length and not is_text


@dataclass(frozen=True)
class Facts:
    """Classes and their sizes, as far as they are known.

    `labels` None means that not even the number of classes is known. `class_counts` holds the
    actual samples of each class in label order. `positive` is the code of the class to which plain
    "precision" or "recall" refers, if that was stated.
    """

    labels: LabelSet | None = None
    class_counts: tuple[int, ...] | None = None
    positive: int | None = None

    @property
    def n_classes(self) -> int | None:
        return None if self.labels is None else len(self.labels)

    @cached_property
    def n_actual_classes(self) -> int | None:
        """Classes with samples; all classes if the class counts are unknown."""
        if self.class_counts is None:
            return self.n_classes
        return sum(count > 0 for count in self.class_counts)

    @cached_property
    def is_balanced(self) -> bool:
        """Whether all classes are known to have the same number of samples."""
        return self.class_counts is not None and len(set(self.class_counts)) == 1

    @cached_property
    def every_class_occurs(self) -> bool:
        """Whether no class is known to be without samples."""
        return self.class_counts is None or min(self.class_counts) > 0


@dataclass(frozen=True, slots=True)
class Reading:
    """The claims with every name read in one particular way, described by `words`."""

    words: str
    claims: tuple[Claim, ...]


def readings(claims: Sequence[Claim], facts: Facts) -> tuple[Reading, ...]:
    """All ways to read class metrics that name no class, the most usual first.

    With two classes they belong to the positive class, or to either if it was not stated which
    one that is. With more, they are averages. Raises `InvalidInput` for a metric that neither
    names a class nor is ever averaged.
    """
    if not any(claim.is_unqualified for claim in claims):
        return (Reading("as published", tuple(claims)),)
    if facts.labels is None:
        of_one_class = Reading("class metrics belong to one class", _of_class(claims, 0))
        is_averaged = all(claim.key in AVERAGED for claim in claims if claim.is_unqualified)
        return (of_one_class, *(_averages(claims) if is_averaged else ()))
    if facts.positive is not None:
        return (_with_positive(claims, facts, facts.positive),)
    if facts.n_classes == 2:
        return tuple(_with_positive(claims, facts, code) for code in _rarer_first(facts))
    _require_averaged(claims)
    return _averages(claims)


def _with_positive(claims: Sequence[Claim], facts: Facts, code: int) -> Reading:
    name = facts.labels.names[code] if facts.labels is not None else str(code)
    return Reading(f"'{name}' is the positive class", _of_class(claims, code))


def _of_class(claims: Sequence[Claim], code: int) -> tuple[Claim, ...]:
    return tuple(replace(c, code=code) if c.is_unqualified else c for c in claims)


def _rarer_first(facts: Facts) -> tuple[int, int]:
    """The rarer of two classes is usually the positive one, otherwise the second."""
    counts = facts.class_counts
    return (0, 1) if counts is not None and counts[0] < counts[1] else (1, 0)


def _averages(claims: Sequence[Claim]) -> tuple[Reading, ...]:
    return tuple(
        Reading(
            f"{average} averages",
            tuple(
                claim.redefined(f"{average}_{claim.key}") if claim.is_unqualified else claim
                for claim in claims
            ),
        )
        for average in AVERAGES
    )


def _require_averaged(claims: Sequence[Claim]) -> None:
    for claim in claims:
        if claim.is_unqualified and claim.key not in AVERAGED:
            raise InvalidInput(
                f"{claim.key} belongs to one class, and there are more than two.",
                field=f"reported[{claim.name!r}]",
                hint="Give a mapping from labels to values.",
            )
