"""Every metric once more, slowly, literally and without rounding.

Each value is composed from its definition (informedness is recall plus specificity minus one,
P4 the harmonic mean of four rates, R_K a correlation of indicator variables) in fractions,
roots and logarithms in 60 decimal digits. The vectorised suite, which reaches the same values
by other formulas, is compared with it. None means undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import comb
from typing import TypeAlias

Exact: TypeAlias = Fraction | Decimal | None
Matrix: TypeAlias = Sequence[Sequence[int | Fraction]]
DIGITS = Context(prec=60)


def per_class(matrix: Matrix) -> dict[str, list[Exact]]:
    """Every per-class key, one value for each class."""
    values = [_one_class(*_one_against_rest(matrix, k)) for k in range(len(matrix))]
    return {key: [value[key] for value in values] for key in values[0]}


def aggregate(matrix: Matrix) -> dict[str, Exact]:
    """Every aggregate key; the order of the classes is taken to have a meaning."""
    cells = [[Fraction(cell) for cell in row] for row in matrix]
    classes = range(len(cells))
    actual = [sum(row, Fraction()) for row in cells]
    predicted = [sum((row[k] for row in cells), Fraction()) for k in classes]
    total, hits = sum(actual, Fraction()), sum((cells[k][k] for k in classes), Fraction())
    counts: dict[str, Exact] = {
        "n": total,
        "n_classes": Fraction(len(cells)),
        "n_classes_actual": Fraction(sum(t > 0 for t in actual)),
        "n_classes_predicted": Fraction(sum(p > 0 for p in predicted)),
    }
    if not total:
        return counts | dict.fromkeys(_KEYS_THAT_NEED_CASES)
    by_class = per_class(matrix)
    accuracy = hits / total
    pooled = [(t + p) / (2 * total) for t, p in zip(actual, predicted, strict=True)]
    recalls = [value for value in _fractions(by_class["recall"]) if value is not None]
    balanced = sum(recalls, Fraction()) / len(recalls)
    chance = sum((t * p for t, p in zip(actual, predicted, strict=True)), Fraction()) / total**2
    averaged = _averages(by_class, actual, predicted)
    information = _mutual_information(cells, actual, predicted)
    entropies = _entropy(actual) + _entropy(predicted)
    return (
        counts
        | averaged
        | {
            "overall_accuracy": accuracy,
            "error_rate": 1 - accuracy,
            "average_accuracy": _mean(_fractions(by_class["accuracy_ovr"])),
            "average_error_rate": 1 - _need(_mean(_fractions(by_class["accuracy_ovr"]))),
            "majority_baseline": max(actual) / total,
            "nir_p_value": _binomial_tail(hits, total, max(actual) / total),
            "balanced_accuracy": balanced,
            "balanced_accuracy_adjusted": None
            if len(recalls) == 1
            else (balanced - Fraction(1, len(recalls))) / (1 - Fraction(1, len(recalls))),
            "gmean_multiclass": _geometric_mean(recalls),
            "mcc": _correlation(cells, actual, predicted),
            "cohen_kappa": _beyond_chance(accuracy, chance),
            "kappa_linear": _weighted_kappa(cells, lambda i, j: abs(i - j)),
            "kappa_quadratic": _weighted_kappa(cells, lambda i, j: (i - j) ** 2),
            "scott_pi": _beyond_chance(accuracy, sum((q * q for q in pooled), Fraction())),
            "gwet_ac1": None
            if len(cells) == 1
            else _beyond_chance(
                accuracy, sum((q * (1 - q) for q in pooled), Fraction()) / (len(cells) - 1)
            ),
            "mutual_information": information,
            "normalized_mutual_information": 2 * information / entropies if entropies else None,
            "informedness_multiclass": _mixed(by_class["informedness"], predicted),
            "markedness_multiclass": _mixed(by_class["markedness"], actual),
            "micro_precision": accuracy,
            "micro_recall": accuracy,
            "micro_f1": accuracy,
            "micro_jaccard": hits / (hits + 2 * (total - hits)),
        }
    )


_KEYS_THAT_NEED_CASES = (
    *("overall_accuracy", "error_rate", "average_accuracy", "average_error_rate"),
    *("majority_baseline", "nir_p_value", "balanced_accuracy", "balanced_accuracy_adjusted"),
    *("gmean_multiclass", "mcc", "cohen_kappa", "kappa_linear", "kappa_quadratic", "scott_pi"),
    *("gwet_ac1", "mutual_information", "normalized_mutual_information"),
    *("informedness_multiclass", "markedness_multiclass", "weighted_precision_defined"),
    *("macro_f1_harmonic", "weighted_f1_harmonic"),
    *(
        f"{average}_{key}{suffix}"
        for key in ("precision", "recall", "f1", "jaccard")
        for average, suffix in (
            *(("micro", ""), ("weighted", ""), ("macro", ""), ("macro", "_all_labels")),
            *(("macro", "_defined"), ("macro", "_strict")),
        )
    ),
)


def _one_against_rest(matrix: Matrix, k: int) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    tp = fn = fp = tn = Fraction()
    for actual, row in enumerate(matrix):
        for predicted, cell in enumerate(row):
            if actual == k and predicted == k:
                tp += cell
            elif actual == k:
                fn += cell
            elif predicted == k:
                fp += cell
            else:
                tn += cell
    return tp, fn, fp, tn


def _one_class(tp: Fraction, fn: Fraction, fp: Fraction, tn: Fraction) -> dict[str, Exact]:
    total = tp + fn + fp + tn
    recall, specificity = _ratio(tp, tp + fn), _ratio(tn, tn + fp)
    precision, npv = _ratio(tp, tp + fp), _ratio(tn, tn + fn)
    fpr, fnr = _ratio(fp, tn + fp), _ratio(fn, tp + fn)
    prevalence = _ratio(tp + fn, total)
    rates = (precision, recall, specificity, npv)
    return {
        "tp": tp,
        "fn": fn,
        "fp": fp,
        "tn": tn,
        "support": tp + fn,
        "predicted": tp + fp,
        "prevalence": prevalence,
        "imbalance_coefficient": _ratio(tp + fn - fp - tn, total),
        "predicted_rate": _ratio(tp + fp, total),
        "recall": recall,
        "specificity": specificity,
        "precision": precision,
        "npv": npv,
        "fpr": fpr,
        "fnr": fnr,
        "fdr": _ratio(fp, tp + fp),
        "for": _ratio(fn, tn + fn),
        "f1": _f_beta(tp, fn, fp, Fraction(1)),
        "f0_5": _f_beta(tp, fn, fp, Fraction(1, 2)),
        "f2": _f_beta(tp, fn, fp, Fraction(2)),
        "jaccard": _ratio(tp, tp + fn + fp),
        "accuracy_ovr": _ratio(tp + tn, total),
        "balanced_accuracy_ovr": _both(recall, specificity, lambda a, b: (a + b) / 2),
        "informedness": _both(recall, specificity, lambda a, b: a + b - 1),
        "markedness": _both(precision, npv, lambda a, b: a + b - 1),
        "gmean": _root(_both(recall, specificity, lambda a, b: a * b)),
        "fowlkes_mallows": _root(_both(precision, recall, lambda a, b: a * b)),
        "mcc_ovr": _phi(tp, fn, fp, tn),
        "lr_plus": _both(recall, fpr, _ratio),
        "lr_minus": _both(fnr, specificity, _ratio),
        "prevalence_threshold": _prevalence_threshold(recall, fpr),
        "dor": _ratio(tp * tn, fp * fn),
        "lift": _both(precision, prevalence, _ratio),
        "p4": _harmonic(rates),
    }


def _averages(
    by_class: Mapping[str, list[Exact]], actual: list[Fraction], predicted: list[Fraction]
) -> dict[str, Exact]:
    total = sum(actual, Fraction())
    found: dict[str, Exact] = {}
    for key in ("precision", "recall", "f1", "jaccard"):
        values = _fractions(by_class[key])
        zeroed = [value or Fraction() for value in values]
        occurring = [value for value, t, p in zip(zeroed, actual, predicted, strict=True) if t + p]
        found[f"macro_{key}"] = _mean(occurring)
        found[f"macro_{key}_all_labels"] = _mean(zeroed)
        found[f"macro_{key}_defined"] = _mean([v for v in values if v is not None])
        found[f"macro_{key}_strict"] = None if None in values else _mean(zeroed)
        found[f"weighted_{key}"] = _mixed(zeroed, actual)
    covered = sum((t for t, p in zip(actual, predicted, strict=True) if p), Fraction())
    precision_sum = _need(found["weighted_precision"]) * total
    found["weighted_precision_defined"] = precision_sum / covered if covered else None
    found["macro_f1_harmonic"] = _harmonic_or_zero(
        _need(found["macro_precision"]), _need(found["macro_recall"])
    )
    found["weighted_f1_harmonic"] = _harmonic_or_zero(
        _need(found["weighted_precision"]), _need(found["weighted_recall"])
    )
    return found


def _f_beta(tp: Fraction, fn: Fraction, fp: Fraction, beta: Fraction) -> Exact:
    if not tp + fn + fp:
        return None
    precision, recall = _ratio(tp, tp + fp), _ratio(tp, tp + fn)
    if not precision or not recall:
        return Fraction()
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def _phi(tp: Fraction, fn: Fraction, fp: Fraction, tn: Fraction) -> Exact:
    square = (tp + fn) * (fp + tn) * (tp + fp) * (fn + tn)
    return None if not square else _decimal(tp * tn - fp * fn) / _need_root(square)


def _prevalence_threshold(recall: Fraction | None, fpr: Fraction | None) -> Exact:
    """(sqrt(TPR FPR) - FPR) / (TPR - FPR), continued by 1/2 where both rates are equal."""
    if recall is None or fpr is None or (recall == 0 and fpr == 0):
        return None
    if recall == fpr:
        return Fraction(1, 2)
    with localcontext(DIGITS):
        return (_need_root(recall * fpr) - _decimal(fpr)) / _decimal(recall - fpr)


def _correlation(
    cells: list[list[Fraction]], actual: list[Fraction], predicted: list[Fraction]
) -> Exact:
    """Covariance of the indicator variables of truth and prediction, summed over classes."""
    total = sum(actual, Fraction())
    both = sum(
        (cells[k][k] / total - actual[k] * predicted[k] / total**2 for k in range(len(cells))),
        Fraction(),
    )
    of_actual = sum((t / total * (1 - t / total) for t in actual), Fraction())
    of_predicted = sum((p / total * (1 - p / total) for p in predicted), Fraction())
    if not of_actual or not of_predicted:
        return None
    with localcontext(DIGITS):
        return _decimal(both) / _need_root(of_actual * of_predicted)


def _weighted_kappa(cells: list[list[Fraction]], weight: Callable[[int, int], int]) -> Exact:
    total = sum((sum(row, Fraction()) for row in cells), Fraction())
    observed = expected = Fraction()
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            observed += weight(i, j) * cell / total
            column = sum((other[j] for other in cells), Fraction())
            expected += weight(i, j) * sum(row, Fraction()) * column / total**2
    return 1 - observed / expected if expected else None


def _beyond_chance(observed: Fraction, chance: Fraction) -> Exact:
    return None if chance == 1 else (observed - chance) / (1 - chance)


def _mutual_information(
    cells: list[list[Fraction]], actual: list[Fraction], predicted: list[Fraction]
) -> Decimal:
    total = sum(actual, Fraction())
    with localcontext(DIGITS):
        found = Decimal(0)
        for row, t in zip(cells, actual, strict=True):
            for cell, p in zip(row, predicted, strict=True):
                if cell:
                    found += _decimal(cell / total) * _decimal(cell * total / (t * p)).ln()
        return found


def _entropy(margin: list[Fraction]) -> Decimal:
    total = sum(margin, Fraction())
    with localcontext(DIGITS):
        return -sum(
            (_decimal(part / total) * _decimal(part / total).ln() for part in margin if part),
            Decimal(0),
        )


def _binomial_tail(hits: Fraction, total: Fraction, rate: Fraction) -> Exact:
    """Only for whole numbers of samples few enough to add up."""
    if hits.denominator > 1 or total.denominator > 1 or total > 2000:
        return None
    n = int(total)
    return sum(
        (comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(int(hits), n + 1)), Fraction()
    )


def _geometric_mean(values: list[Fraction]) -> Exact:
    if not all(values):
        return Fraction()
    with localcontext(DIGITS):
        logarithms = sum((_decimal(value).ln() for value in values), Decimal(0))
        return (logarithms / len(values)).exp()


def _harmonic(values: Sequence[Fraction | None]) -> Exact:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    return (
        len(known) / sum((1 / value for value in known), Fraction()) if all(known) else Fraction()
    )


def _harmonic_or_zero(a: Fraction, b: Fraction) -> Fraction:
    return 2 * a * b / (a + b) if a + b else Fraction()


def _mixed(values: Sequence[Exact], weights: list[Fraction]) -> Exact:
    known = _fractions(values)
    if None in known:
        return None
    products = (_need(value) * weight for value, weight in zip(known, weights, strict=True))
    return sum(products, Fraction()) / sum(weights, Fraction())


def _mean(values: Sequence[Fraction | None]) -> Fraction | None:
    known = [_need(value) for value in values]
    return sum(known, Fraction()) / len(known) if known else None


def _ratio(above: Fraction, below: Fraction) -> Fraction | None:
    return above / below if below else None


def _both(
    a: Fraction | None,
    b: Fraction | None,
    combine: Callable[[Fraction, Fraction], Fraction | None],
) -> Fraction | None:
    return None if a is None or b is None else combine(a, b)


def _root(value: Fraction | None) -> Decimal | None:
    return None if value is None else _need_root(value)


def _need_root(value: Fraction) -> Decimal:
    with localcontext(DIGITS):
        return _decimal(value).sqrt()


def _decimal(value: Fraction) -> Decimal:
    with localcontext(DIGITS):
        return Decimal(value.numerator) / Decimal(value.denominator)


def _fractions(values: Sequence[Exact]) -> list[Fraction | None]:
    return [None if value is None else Fraction(value) for value in values]


def _need(value: Exact) -> Fraction:
    if value is None:
        raise AssertionError("an exact value was expected")
    return Fraction(value)
