"""What a publication claims: which metric has which printed value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from offdiag.domain.labels import LabelSet, label_text
from offdiag.errors import InvalidInput
from offdiag.flags.audit.names import CLASS_KEYS, metric_key
from offdiag.flags.audit.printed import Printed, Rounding, printed

AVERAGES = ("macro", "weighted", "micro")
AVERAGED = ("precision", "recall", "f1", "jaccard")


@dataclass(frozen=True, slots=True)
class Claim:
    """One published number.

    `name` is the name it was published under, `key` the registry's metric. `code` is the class
    of a class metric, and None for aggregates and for a class metric published without saying
    of which class or average it is.
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
        """The same number as one whose last digit came about in one of these ways."""
        return replace(self, printed=self.printed.taken(*ways))

    def redefined(self, key: str, code: int | None = None) -> Claim:
        """The same printed number taken as the value of another metric."""
        return replace(self, key=key, code=code)


def claims_from(reported: Mapping[str, object], labels: LabelSet | None) -> tuple[Claim, ...]:
    """Read a mapping of published numbers.

    A value is one number, or one number for each class: a mapping from labels, or a sequence
    in the order of `labels`. Raises `InvalidInput` for unknown metrics and labels, values that
    are not numbers, aggregates given by class, and an empty mapping.
    """
    found: list[Claim] = []
    for name, value in reported.items():
        key = metric_key(name)
        field = f"reported[{name!r}]"
        if isinstance(value, Mapping) or _is_sequence(value):
            _require_class_metric(key, field)
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


def _require_class_metric(key: str, field: str) -> None:
    if key not in CLASS_KEYS:
        raise InvalidInput(
            f"{key} is one number for the whole matrix.",
            field=field,
            hint="Give a single value.",
        )


def _is_sequence(value: object) -> bool:
    is_text = isinstance(value, (str, bytes))
    has_length = isinstance(value, Sequence) or getattr(value, "shape", ()) != ()
    return has_length and not is_text
