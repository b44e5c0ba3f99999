"""Counting codes into a confusion matrix, compared with the memory limit and other libraries."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
from harness import Report, Work, fitted_exponent, ratio, wants_everything
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from offdiag.metrics.pair_counts import count_pairs

Codes = NDArray[np.unsignedinteger[Any]]
CLASS_COUNTS = (2, 10, 100, 1000)
# Smallest speed-up over scikit-learn with int64 codes, and with the same narrow codes.
AGAINST_SCIKIT_LEARN = {2: (200, 60), 10: (80, 20), 100: (40, 11), 1000: (25, 10)}
# Largest time as a multiple of that of reading both columns.
AGAINST_READING = {2: 5, 10: 16, 100: 33, 1000: 45}


def main() -> None:
    everything = wants_everything("Measure counting pairs of codes.")
    report = Report("matrix_kernel", libraries=("numpy", "scikit-learn", "duckdb"))
    for n_classes in CLASS_COUNTS:
        measure_beside_peers(report, n_classes, n_pairs=10**7, turns=5 if everything else 3)
    for n_classes in CLASS_COUNTS:
        measure_beside_reading(report, n_classes, n_pairs=10**8)
    measure_growth(report, largest=10**8 if everything else 10**7)
    report.save()


def measure_beside_peers(report: Report, n_classes: int, *, n_pairs: int, turns: int) -> None:
    actual, predicted = codes(n_classes, n_pairs)
    wide_actual, wide_predicted = actual.astype(np.int64), predicted.astype(np.int64)
    timings = report.measure(
        f"K={n_classes}, N={n_pairs:.0e}, beside other libraries",
        {
            "count_pairs": lambda: count_pairs(actual, predicted, n_classes=n_classes),
            "fused bincount, int64": lambda: np.bincount(
                wide_actual * n_classes + wide_predicted, minlength=n_classes**2
            ),
            "scikit-learn, int64": lambda: confusion_matrix(wide_actual, wide_predicted),
            "scikit-learn, same codes": lambda: confusion_matrix(actual, predicted),
            "DuckDB group by": duckdb_of(actual, predicted),
        },
        turns=turns,
    )
    from_int64, from_codes = AGAINST_SCIKIT_LEARN[n_classes]
    against = f"at K={n_classes}, N={n_pairs:.0e}"
    report.goal(
        f"P1 scikit-learn from int64 {against}",
        measured=ratio(timings, "scikit-learn, int64", "count_pairs"),
        wanted=from_int64,
    )
    report.goal(
        f"P2 scikit-learn from the same codes {against}",
        measured=ratio(timings, "scikit-learn, same codes", "count_pairs"),
        wanted=from_codes,
    )
    report.goal(
        f"P3 fused bincount {against}",
        measured=ratio(timings, "fused bincount, int64", "count_pairs"),
        wanted=2 if n_classes <= 16 else 1 / 1.3,
    )
    report.fact(
        f"DuckDB / count_pairs {against}", ratio(timings, "DuckDB group by", "count_pairs")
    )


def measure_beside_reading(report: Report, n_classes: int, *, n_pairs: int) -> None:
    """The columns must exceed the last-level cache, or reading them would look too fast."""
    actual, predicted = codes(n_classes, n_pairs)
    timings = report.measure(
        f"K={n_classes}, N={n_pairs:.0e}, beside reading the columns",
        {
            "read both columns": lambda: (actual.max(), predicted.max()),
            "count_pairs": lambda: count_pairs(actual, predicted, n_classes=n_classes),
        },
        turns=5,
    )
    report.goal(
        f"P4 reading limit at K={n_classes}, N={n_pairs:.0e}",
        measured=ratio(timings, "count_pairs", "read both columns"),
        wanted=AGAINST_READING[n_classes],
        at_least=False,
    )


def measure_growth(report: Report, *, largest: int) -> None:
    """Cost must grow linearly with the number of pairs."""
    for n_classes in CLASS_COUNTS:
        actual, predicted = codes(n_classes, largest)
        sizes = [size for size in (10**5, 10**6, 10**7, 10**8) if size <= largest]
        variants = {
            f"N={size:.0e}": counting(actual[:size], predicted[:size], n_classes) for size in sizes
        }
        timings = report.measure(f"K={n_classes}, growth", variants, turns=5)
        report.goal(
            f"P16 growth exponent at K={n_classes}",
            measured=fitted_exponent(sizes, list(timings.values())),
            wanted=1.15,
            at_least=False,
        )


def counting(actual: Codes, predicted: Codes, n_classes: int) -> Work:
    return lambda: count_pairs(actual, predicted, n_classes=n_classes)


def codes(n_classes: int, n_pairs: int) -> tuple[Codes, Codes]:
    """Uniform classes, four predictions in five right, with uniform errors."""
    generator = np.random.default_rng(20_26)
    dtype = np.uint8 if n_classes <= 256 else np.uint16
    actual: NDArray[Any] = generator.integers(0, n_classes, n_pairs, dtype=dtype)
    predicted: NDArray[Any] = generator.integers(0, n_classes, n_pairs, dtype=dtype)
    is_right = generator.random(n_pairs, dtype=np.float32) < 0.8
    np.copyto(predicted, actual, where=is_right)
    return actual, predicted


def duckdb_of(actual: Codes, predicted: Codes) -> Work:
    connection = duckdb.connect()
    connection.register("pairs", {"actual": actual, "predicted": predicted})
    connection.execute("create table stored as select * from pairs")
    query = "select actual, predicted, count(*) from stored group by all"
    return lambda: connection.execute(query).fetchnumpy()


if __name__ == "__main__":
    main()
