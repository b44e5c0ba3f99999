"""Notes on scores that contradict the classes, or that are probabilities but for rounding.

Nothing else reveals that columns, or a single score, belong to other classes than assumed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import THRESHOLD
from offdiag.inputs.counted_samples import CountedSamples
from offdiag.inputs.labels import Codes
from offdiag.inputs.scores import Scores
from offdiag.metrics.counted import are_sets
from offdiag.metrics.multilabel.sets import unpack_sets
from offdiag.metrics.scores.forecasts import sum_tolerance

_CLASS_AXIS = 1
_LOOKED_AT = 50_000
"""Number of samples whose scores are compared with the predictions, evenly spread over all."""
_LOOKED_AT_IN_SETS = 500_000
"""Number of scores that are compared for multi-label samples, and class by class."""
_FEWEST = 5
"""With fewer predictions or examples, a class says nothing about its scores."""
_NEARLY_ALL = 0.9
_MOSTLY = 0.75
_MOST_SHOWN = 3
_BY_CHANCE = 4.0
"""Standard errors that a model which guesses exceeds once in 30,000 times."""
_OFF_BY_ROUNDING = 0.05
"""How far rounded probabilities of a sample may add up from 1, such as ten with two decimals."""


def score_notes(
    scores: Scores, predicted: Codes, labels: LabelSet, positive_label: str | None
) -> tuple[str, ...]:
    """Notes if the scores of n samples contradict their predicted classes, shape (n,).

    With a column per class: if classes are exchanged, so that nearly all predictions of each have
    their highest score under the next one. (scikit-learn sorts classes that are text as text, "10"
    before "2".) A decision that prefers one class to another with a higher score because of its
    costs does not count. With one column: if nearly all predictions of the positive class have
    lower scores than those of the other one, or if all scores are from 0.5 to 1 although both
    classes are predicted.

    For predicted sets: if labels are exchanged, so that each is predicted for nearly those samples
    that have the highest scores of the next one, and not of its own.
    """
    if are_sets(predicted):
        return _notes_on_sets(scores.values, predicted, labels)
    step = max(1, len(predicted) // _LOOKED_AT)
    values, codes = scores.values[::step], predicted[::step].astype(np.int64)
    if scores.n_columns == 1:
        if positive_label is None:
            return ()
        code = labels.index[positive_label]
        return _notes_on_one(values[:, 0], codes == code, positive_label, labels.names[1 - code])
    if _predict_by_lowest(values, codes):
        return (_BY_LOWEST.format("y_pred"),)
    exchanged = _exchanged(values.argmax(axis=_CLASS_AXIS), codes, n_classes=len(labels))
    return (_in_another_order(labels, exchanged),) if exchanged else ()


def counted_score_notes(
    cases: CountedSamples, labels: LabelSet, positive_label: str | None
) -> tuple[str, ...]:
    """`score_notes` for scores that were counted, from their mean in each kind of samples.

    Scores of every class have names, so that only a single score may be that of another class.
    """
    if cases.scores is None:
        return ()
    last = np.cumsum(cases.sizes)
    n_seen = int(min(last[-1], _LOOKED_AT))
    kinds = np.searchsorted(last, np.arange(n_seen) * (last[-1] / n_seen), side="right")
    means = (cases.scores.score / cases.scores.count).astype(np.float32)
    seen = Scores(np.stack([means[kinds]], axis=_CLASS_AXIS))
    return score_notes(seen, cases.predicted[kinds], labels, positive_label)


def truth_notes(
    scores: Scores, actual: Codes, labels: LabelSet, positive_label: str | None
) -> tuple[str, ...]:
    """Notes if the scores of n samples contradict their actual classes, shape (n,).

    They take the place of predictions where these are made from the scores. As a model is often
    wrong, its scores must be worse than chance: with a column per class, the examples of some
    classes mostly have their highest score under the next one, or samples have lower scores of
    their class than others; with one column, the positive class has lower scores than the other
    one.
    """
    step = max(1, len(actual) // _LOOKED_AT)
    values, codes = scores.values[::step], actual[::step].astype(np.int64)
    if scores.n_columns > 1:
        if _predict_by_lowest(values, codes):
            return (_BY_LOWEST.format("y_true"),)
        exchanged = _exchanged_in_truth(values.argmax(axis=_CLASS_AXIS), codes, len(labels))
        template = "where y_true is {}, the highest score is mostly that of {}"
        if exchanged:
            return (_in_another_order(labels, exchanged, template),)
        what = "where a class is y_true, its score is mostly lower than elsewhere"
        return (_other_order(labels, what),) if _are_below_chance(values, codes) else ()
    if positive_label is None or not _is_below_chance(
        values[:, 0], codes == labels.index[positive_label]
    ):
        return ()
    other = labels.names[1 - labels.index[positive_label]]
    note = (
        f"y_score is mostly lower where y_true is {positive_label!r} than where it is {other!r}: "
        f"it seems to be the score of {other!r}, and is read as that of {positive_label!r}, the "
        "positive class."
    )
    return (note,)


def sum_notes(table: NDArray[np.floating[Any]]) -> tuple[str, ...]:
    """A note if each row of finite scores (n, K) nearly adds up to 1, but some not exactly enough.

    So do probabilities in half precision, or with a few decimals. They are not made to add up,
    because what is stored is what was given.
    """
    n_classes = table.shape[_CLASS_AXIS]
    if n_classes == 1 or table.size == 0 or table.min() < 0 or table.max() > 1:
        return ()
    farthest = float(np.abs(table.sum(axis=_CLASS_AXIS, dtype=np.float64) - 1).max())
    if not sum_tolerance(n_classes) < farthest <= _OFF_BY_ROUNDING:
        return ()
    note = (
        "The rows of y_score add up to 1 only nearly, like probabilities that were rounded, so "
        "log loss, Brier score and calibration will be undefined. Compute the softmax in single "
        "precision, as in logits.float().softmax(-1), or divide each row by its sum."
    )
    return (note,)


_BY_LOWEST = (
    "Where {0} is a class, y_score is mostly lowest for it: it seems to hold losses or distances, "
    "and is read as higher for what is more likely. If so, give -y_score."
)


def _predict_by_lowest(values: NDArray[np.float32], codes: NDArray[np.int64]) -> bool:
    """Whether the lowest of three or more scores (n, K) is mostly that of the class of a sample.

    Of two scores, this is a wrong order of columns.
    """
    n_samples, n_classes = values.shape
    if n_classes == 2 or n_samples < _FEWEST:
        return False
    n_lowest = int(np.count_nonzero(values.argmin(axis=_CLASS_AXIS) == codes))
    by_chance = n_samples / n_classes
    many = max(_MOSTLY * n_samples, by_chance + _BY_CHANCE * math.sqrt(by_chance))
    return bool(n_lowest > many)


def _exchanged_in_truth(
    highest: NDArray[np.intp], actual: NDArray[np.int64], n_classes: int
) -> dict[int, int]:
    """Classes that are exchanged: each with the one that more than half of its examples score for.

    Of many classes, each has some other one that its few examples score for more often by chance.
    """
    pairs, sizes = np.unique(actual * n_classes + highest, return_counts=True)
    table = {
        divmod(pair, n_classes): size
        for pair, size in zip(pairs.tolist(), sizes.tolist(), strict=True)
    }
    n_actual = np.bincount(actual, minlength=n_classes)
    most = _round_trips(
        {
            code: other
            for (code, other), size in table.items()
            if n_actual[code] >= _FEWEST and size > n_actual[code] / 2
        }
    )
    exchanged: dict[int, int] = {}
    while most:
        trip = [min(most)]
        while (code := most.pop(trip[-1])) != trip[0]:
            trip.append(code)
        steps = dict(zip(trip, [*trip[1:], trip[0]], strict=True))
        n_other = sum(table[step] for step in steps.items())
        n_own = sum(table.get((code, code), 0) for code in trip)
        if n_other - n_own > _BY_CHANCE * math.sqrt(n_other + n_own):
            exchanged |= steps
    return exchanged


def _are_below_chance(values: NDArray[np.float32], actual: NDArray[np.int64]) -> bool:
    """Whether scores (n, K) of the actual classes are lower than in any order of the samples.

    The mean and variance of the sum of their ranks over all orders are exact.
    """
    step = max(1, values.size // _LOOKED_AT_IN_SETS)
    values, actual = values[::step], actual[::step]
    n_samples, n_classes = values.shape
    columns = [_ranks(values[:, code]) for code in range(n_classes)]
    ranks = np.stack(columns, axis=_CLASS_AXIS)
    ranks -= (n_samples + 1) / 2
    n_actual = np.bincount(actual, minlength=n_classes)
    among_classes = ranks - (ranks @ n_actual / n_samples)[:, np.newaxis]
    error = math.sqrt((among_classes**2).sum(axis=0) @ n_actual / max(1, n_samples - 1))
    return bool(ranks[np.arange(n_samples), actual].sum() < -_BY_CHANCE * error)


def _is_below_chance(score: NDArray[np.float32], is_positive: NDArray[np.bool_]) -> bool:
    """Whether the area under the ROC curve is below a half, by the test of Mann and Whitney."""
    n_positive = int(is_positive.sum())
    n_pairs = n_positive * (len(score) - n_positive)
    if n_pairs == 0:
        return False
    above = float(_ranks(score)[is_positive].sum()) - n_positive * (n_positive + 1) / 2
    error = math.sqrt(n_pairs * (len(score) + 1) / 12)
    return above - n_pairs / 2 < -_BY_CHANCE * error


def _ranks(score: NDArray[np.float32]) -> NDArray[np.float64]:
    """Ranks from 1 on; equal scores share their mean."""
    _, places, sizes = np.unique(score, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(sizes) - (sizes - 1) / 2)[places]
    return ranks


def _notes_on_one(
    score: NDArray[np.float32], is_positive: NDArray[np.bool_], positive: str, other: str
) -> tuple[str, ...]:
    n_positive = int(is_positive.sum())
    if min(n_positive, len(score) - n_positive) < _FEWEST:
        return ()
    highest = np.quantile(score[is_positive], _NEARLY_ALL)
    if highest < np.quantile(score[~is_positive], 1 - _NEARLY_ALL):
        note = (
            f"y_score is lower where y_pred is {positive!r} than where it is {other!r}: it seems "
            f"to be the score of {other!r}, and is read as that of {positive!r}, the positive "
            "class."
        )
    elif score.min() >= THRESHOLD and score.max() <= 1:
        note = (
            f"y_score is {THRESHOLD} or more everywhere, also where y_pred is {other!r}: it seems "
            "to be the confidence in the predicted class, and is read as the score of "
            f"{positive!r}, the positive class."
        )
    else:
        return ()
    return (note,)


def _exchanged(
    highest: NDArray[np.intp], predicted: NDArray[np.int64], *, n_classes: int
) -> dict[int, int]:
    """Classes that are exchanged: each with the class that its predictions score highest for."""
    pairs, sizes = np.unique(predicted * n_classes + highest, return_counts=True)
    n_predicted = np.bincount(predicted, minlength=n_classes)
    under: dict[int, int] = {}
    for pair, size in zip(pairs.tolist(), sizes.tolist(), strict=True):
        code, other = divmod(pair, n_classes)
        if n_predicted[code] >= _FEWEST and size >= _NEARLY_ALL * n_predicted[code]:
            under[code] = other
    return _round_trips(under)


def _round_trips(under: dict[int, int]) -> dict[int, int]:
    """Remove classes that map to themselves, or to which none of the others maps."""
    under = {code: other for code, other in under.items() if code != other}
    while len(left := {code: under[code] for code in under.values() if code in under}) < len(
        under
    ):
        under = left
    return under


def _notes_on_sets(
    values: NDArray[np.float32], predicted: Codes, labels: LabelSet
) -> tuple[str, ...]:
    step = max(1, values.size // _LOOKED_AT_IN_SETS)
    is_predicted = unpack_sets(predicted[::step], len(labels))
    highest_first = np.argsort(-values[::step], axis=0, kind="stable")
    # With many columns, some column soon ranks a few samples first by chance.
    fewest = _FEWEST + len(labels).bit_length()
    under: dict[int, int] = {}
    for code, size in enumerate(is_predicted.sum(axis=0).tolist()):
        if min(size, len(is_predicted) - size) < fewest:
            continue
        found = is_predicted[:, code][highest_first[:size]].sum(axis=0)
        best = code if found[code] >= _NEARLY_ALL * size else int(found.argmax())
        if found[best] >= _NEARLY_ALL * size:
            under[code] = best
    exchanged = _round_trips(under)
    template = "{} is predicted where the scores of {} are highest"
    return (_in_another_order(labels, exchanged, template),) if exchanged else ()


def _in_another_order(
    labels: LabelSet,
    exchanged: dict[int, int],
    template: str = "where y_pred is {}, the highest score is that of {}",
) -> str:
    shown = [
        template.format(repr(labels.names[code]), repr(labels.names[other]))
        for code, other in sorted(exchanged.items())[:_MOST_SHOWN]
    ]
    more = len(exchanged) - len(shown)
    rest = f"; and {more} more" if more else ""
    return _other_order(labels, f"{'; '.join(shown)}{rest}")


def _other_order(labels: LabelSet, what: str) -> str:
    return (
        f"The columns of y_score seem to be in another order than the labels {labels.preview()}: "
        f"{what}. Name the columns, as in {{class: scores}}, or declare labels= in their order."
    )
