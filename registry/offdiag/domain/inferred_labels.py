"""Which classes there are where nobody declared them.

The labels found in the ground truth and in the predictions are the classes. That goes wrong
without a word where both are written differently: then every prediction is an error and each
class appears twice. So predictions that share no label with the truth are refused. Declared
labels say that both are meant, and so does a dataset that has them.
"""

from __future__ import annotations

from collections.abc import Collection

from offdiag.domain.labels import BOOLEAN_PAIRS, LabelSet, sort_key
from offdiag.domain.look_alikes import is_fraction, near_misses_in_words
from offdiag.errors import InvalidInput


def infer_label_set(
    truth: tuple[str, Collection[str]], *predictions: tuple[str, Collection[str]]
) -> LabelSet:
    """The sorted labels of the named columns, marked as inferred.

    Booleans beside 0 and 1 are one kind, named as the truth names them. Raises `InvalidInput`
    for predictions that share no label with the truth.
    """
    pair = _boolean_pair(truth[1], *(names for _, names in predictions))
    if pair is not None:
        return LabelSet.inferred_from(pair)
    for field, names in predictions:
        if names and truth[1]:
            _require_shared(truth, field, names)
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
    """Raise `InvalidInput` for a list of labels that holds numbers which are not whole."""
    fractions = [each for each in values if isinstance(each, float) and not each.is_integer()]
    if fractions:
        raise not_classes(field, n_distinct=len(set(values)), example=fractions[0])


def _boolean_pair(*columns: Collection[str]) -> tuple[str, str] | None:
    """How the first column names False and True, where another one names them otherwise."""
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
        hint=(f"Near misses: {near}. Write both alike" if near else "Correct one of them")
        + ", or declare all classes in labels= if every prediction is an error.",
    )


def _preview(names: Collection[str]) -> str:
    return LabelSet.inferred_from(names).preview()
