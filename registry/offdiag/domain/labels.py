"""Class labels: their text and order, declared or inferred, and revisions of ground truth.

A label is text. Integers and booleans are accepted from users and written as `str()` writes them,
so 7 and "7" are one class while "007" and "7" remain two; 7.0 is the integer 7. Booleans and 0 and
1 are equivalent: in a set that holds just two of them, each is found by either name. Users declare
the order; otherwise the labels are sorted and the set is marked as inferred, because only a
declared order may carry meaning (weighted kappas) or be relied on.

If no labels are declared, those found in the ground truth and in the predictions are the classes.
That goes wrong silently if the two are written differently: then every prediction is an error and
each class appears twice. So predictions that share no label with the truth are refused, unless
labels are declared or the dataset already has them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from offdiag.domain.look_alikes import IGNORED, is_fraction, near_misses_in_words
from offdiag.domain.texts import require_storable
from offdiag.domain.values import plain_value
from offdiag.errors import InvalidInput

MAX_LABEL_LENGTH = 500
MAX_CLASSES = 10_000
BOOLEAN_PAIRS = (("False", "True"), ("0", "1"))
"""The two ways to name truth values, false first."""
_CONVENTIONAL_POSITIVES = {
    frozenset({"0", "1"}): "1",
    frozenset({"-1", "1"}): "1",
    frozenset({"False", "True"}): "True",
}
"""Pairs of labels of which scikit-learn treats one as positive (`pos_label=1` and its checks)."""
# One digit is reserved for the sign. Python refuses to write much larger numbers at all.
_LARGEST_NUMBER = 10 ** (MAX_LABEL_LENGTH - 1)


def label_text(label: object, *, field_name: str = "labels") -> str:
    """The text of one label given as str, int, bool or whole number (numpy scalars included).

    Raises `InvalidInput` for missing values, other floats and anything else.
    """
    plain = plain_value(label)
    if isinstance(plain, str):
        return _checked_text(plain, field_name)
    if isinstance(plain, (bool, int)):
        return _checked_number(plain, field_name)
    if isinstance(plain, float) and plain.is_integer():
        return _checked_number(int(plain), field_name)
    if isinstance(plain, Decimal) and plain.is_finite() and plain == plain.to_integral_value():
        return _checked_number(int(plain), field_name)
    raise InvalidInput(
        f"{plain!r} of type {type(plain).__name__} is not a label.",
        field=field_name,
        hint="Labels are text, whole numbers or booleans.",
    )


def _checked_text(text: str, field_name: str) -> str:
    require_storable(text, field=field_name)
    if len(text) > MAX_LABEL_LENGTH:
        raise InvalidInput(
            f"{text[:40]!r}… has {len(text)} characters.",
            field=field_name,
            hint=f"A label has at most {MAX_LABEL_LENGTH} characters.",
        )
    return text


def _checked_number(number: int, field_name: str) -> str:
    if abs(number) >= _LARGEST_NUMBER:
        raise InvalidInput(
            f"a number of {number.bit_length():,} bits is not a label.",
            field=field_name,
            hint=f"A label has at most {MAX_LABEL_LENGTH} characters.",
        )
    return str(number)


def sort_key(text: str) -> tuple[int, int, str]:
    """Order of inferred labels: whole numbers by value, then the rest by code point."""
    body = text.removeprefix("-")
    is_number = body.isascii() and body.isdigit() and str(int(text)) == text
    return (0, int(text), "") if is_number else (1, 0, text)


_NO_LABEL = frozenset({"", "-", "na", "n/a", "nan", "null", "none"})
"""How a correction may say that a sample has no label."""


@dataclass(frozen=True)
class LabelSet:
    """Distinct class names in order.

    `ordinal` says that the order has a meaning (small < medium < large); `inferred` that no one
    declared the order, so that nothing may depend on it. Two sets with the same names in the same
    order and the same `ordinal` have the same digest, declared or not. `are_kept` says that no
    more labels can be declared, which error messages about other labels then mention.
    """

    names: tuple[str, ...]
    ordinal: bool = False
    inferred: bool = field(default=False, compare=False)
    are_kept: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.names:
            raise InvalidInput(
                "the label set is empty.", field="labels", hint="Name at least one class."
            )
        if len(self.names) > MAX_CLASSES:
            raise InvalidInput(
                f"{len(self.names)} classes were given.",
                field="labels",
                hint=f"At most {MAX_CLASSES} classes are supported; merge rare ones.",
            )
        if len(self.index) != len(self.names):
            doubled = next(name for name in self.names if self.names.count(name) > 1)
            raise InvalidInput(
                f"{doubled!r} occurs more than once.",
                field="labels",
                hint="Name each class once; 7 and '7' are the same label.",
            )

    @classmethod
    def declared(cls, labels: Iterable[object], *, ordinal: bool = False) -> LabelSet:
        """Labels in the order the user gave; a `LabelSet` is returned as it is.

        Raises `InvalidInput` for unusable labels, and for a set or mapping, which has no order.
        """
        if isinstance(labels, LabelSet):
            return labels
        return cls(tuple(map(label_text, in_their_order(labels))), ordinal=ordinal)

    @classmethod
    def inferred_from(cls, names: Iterable[str]) -> LabelSet:
        """The sorted distinct names that occur in data, marked as inferred."""
        return cls(tuple(sorted(set(names), key=sort_key)), inferred=True)

    @classmethod
    def numbered(cls, n_classes: int) -> LabelSet:
        """ "0", "1", ... for a matrix that came without names; the matrix declares their order."""
        return cls(tuple(str(code) for code in range(n_classes)))

    @property
    def has_declared_order(self) -> bool:
        """Whether the order was declared, so that distances along it may be measured."""
        return self.ordinal or not self.inferred

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Code of each name."""
        return {name: code for code, name in enumerate(self.names)}

    @property
    def conventional_positive(self) -> str | None:
        """The positive class of {0, 1}, {-1, 1} and {False, True}; None for all other sets."""
        return _CONVENTIONAL_POSITIVES.get(frozenset(self.names)) if len(self) == 2 else None

    @cached_property
    def other_names(self) -> Mapping[str, int]:
        """Codes of two truth values by the pair of names not used here; empty for other sets."""
        for pair, other in (BOOLEAN_PAIRS, BOOLEAN_PAIRS[::-1]):
            if len(self) == len(pair) and set(pair) == set(self.names):
                return {name: self.index[own] for name, own in zip(other, pair, strict=True)}
        return {}

    def find(self, text: str) -> int | None:
        """Code of the class with this name, None where there is none."""
        return self.index.get(text, self.other_names.get(text))

    @cached_property
    def digest(self) -> str:
        """SHA-256 over names, order and ordinality, as 64 hex digits."""
        facts = {"names": self.names, "ordinal": self.ordinal}
        text = json.dumps(facts, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def code_of(self, label: Any, *, field_name: str = "label") -> int:
        """Code of a label. Raises `InvalidInput` naming the label if it is not in the set."""
        text = label_text(label, field_name=field_name)
        code = self.find(text)
        if code is None:
            raise InvalidInput(
                f"{text!r} is not one of the {len(self)} declared labels {self.preview()}.",
                field=field_name,
                hint=self.way_out(text),
            )
        return code

    def kept(self) -> LabelSet:
        """The same labels for correcting a dataset, which keeps its classes."""
        return replace(self, are_kept=True)

    def way_out(self, unknown: str) -> str:
        """What to do about a label that is not in the set, for error messages."""
        if is_fraction(unknown) and not self.are_kept:
            return "This looks like regression or scores: did you mean y_score?"
        if unknown == IGNORED:
            return "PyTorch ignores samples of this class: leave them out."
        numbers = map(str, range(len(self)))
        if unknown in numbers and not any(map(str.isdecimal, self.names)):
            return "If classes are numbered from 0 in this order, give their names instead."
        near = near_misses_in_words(self.names, [unknown])
        if self.are_kept and not near and unknown.strip(" <>").lower() in _NO_LABEL:
            return "None, or an empty cell of a file, removes a label."
        correct = (
            "A dataset keeps its classes: correct the label, or log to a dataset of another name "
            "that declares it."
            if self.are_kept
            else "Declare it in labels= or correct the data."
        )
        return f"Near miss: {near}. {correct}" if near else correct

    def preview(self) -> str:
        """The first few names, for messages."""
        shown = ", ".join(repr(name) for name in self.names[:5])
        return f"({shown}{', …' if len(self) > 5 else ''})"


def in_their_order(labels: Iterable[object]) -> tuple[object, ...]:
    """Labels as listed.

    Raises `InvalidInput` for a set or mapping, which have no order, and for a single value.
    """
    if isinstance(labels, (set, frozenset, Mapping)) or not isinstance(labels, Iterable):
        raise InvalidInput(
            f"{type(labels).__name__} is not a list of labels in their order.",
            field="labels",
            hint="Give a list: columns of scores and of matrices are read in its order.",
        )
    return tuple(labels)


def require_known(text: str, known: Sequence[str], *, field_name: str) -> None:
    """Raise `InvalidInput` unless `text` is one of a few allowed words."""
    if text not in known:
        raise InvalidInput(
            f"{text!r} is not known.",
            field=field_name,
            hint=f"Use one of: {', '.join(known)}.",
        )


def infer_label_set(
    truth: tuple[str, Collection[str]], *predictions: tuple[str, Collection[str]]
) -> LabelSet:
    """The sorted labels of the named columns, marked as inferred.

    If some columns have booleans and others 0 and 1, these are equivalent and named as in the
    truth. Raises `InvalidInput` for predictions that share no label with the truth.
    """
    pair = _boolean_pair(truth[1], *(names for _, names in predictions))
    if pair is not None:
        return LabelSet.inferred_from(pair)
    for argument, names in predictions:
        if names and truth[1]:
            _require_shared(truth, argument, names)
    return LabelSet.inferred_from({name for _, found in (truth, *predictions) for name in found})


def not_classes(field: str, *, n_distinct: int, example: object) -> InvalidInput:
    """The error for numbers that are not whole where classes are expected."""
    meant = (
        "Give one actual class for each sample."
        if "true" in field or "actual" in field
        else "Did you mean y_score? The predicted classes go into y_pred, one for each sample."
    )
    return InvalidInput(
        f"{n_distinct:,} distinct {'number' if n_distinct == 1 else 'numbers'}, such as "
        f"{example}: this looks like regression or scores.",
        field=field,
        hint=meant,
    )


def refuse_fractions(values: Collection[object], *, field: str) -> None:
    """Raise `InvalidInput` if a list of labels has numbers that are not whole."""
    fractions = [each for each in values if isinstance(each, float) and not each.is_integer()]
    if fractions:
        raise not_classes(field, n_distinct=len(set(values)), example=fractions[0])


def _boolean_pair(*columns: Collection[str]) -> tuple[str, str] | None:
    """The names of False and True in the first column, if another column has others."""
    if not all(columns) or any(
        not any(set(pair).issuperset(names) for pair in BOOLEAN_PAIRS) for names in columns
    ):
        return None
    named = [next(p for p in BOOLEAN_PAIRS if set(p).issuperset(names)) for names in columns]
    return named[0] if len(set(named)) > 1 else None


def _require_shared(
    truth: tuple[str, Collection[str]], field: str, predicted: Collection[str]
) -> None:
    true_field = truth[0]
    if not set(truth[1]).isdisjoint(predicted):
        return
    actual, predicted = sorted(truth[1], key=sort_key), sorted(predicted, key=sort_key)
    fractions = [name for name in predicted if is_fraction(name)]
    if fractions:
        raise not_classes(field, n_distinct=len(set(predicted)), example=fractions[0])
    near = near_misses_in_words(actual, predicted)
    raise InvalidInput(
        f"no label of {field} {_preview(predicted)} is one of {true_field} {_preview(actual)}.",
        field=field,
        hint=(f"Near misses: {near}. Write both the same way" if near else "Correct one of them")
        + ", or declare all classes in labels= if every prediction is an error.",
    )


def _preview(names: Collection[str]) -> str:
    return LabelSet.inferred_from(names).preview()


@dataclass(frozen=True, slots=True)
class TruthRevision:
    """A version of the ground truth that corrects another one, returned by `revise_truth`.

    * `n_corrected`, `n_newly_labelled`, `n_unlabelled`: samples whose label changed, was added or
      was removed.
    * `n_runs`: runs that are evaluated again.
    * `was_there`: whether the same revision existed before, so that nothing was done.
    """

    dataset: str
    version: int
    parent: int
    reason: str
    n_corrected: int
    n_newly_labelled: int
    n_unlabelled: int
    n_labelled: int
    n_samples: int
    n_runs: int
    was_there: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        return asdict(self)
