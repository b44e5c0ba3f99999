"""How often an audit accuses correct tables, and how many corrupted ones it finds.

Confusion matrices are drawn, some of their metrics are printed as papers print them, rounded or
truncated, and the audit reads them with what papers report in addition: nothing, the sizes of the
classes, or the matrix. From each correct table another one is made by changing one digit of one
number.

    python benchmarks/audit_tables.py            1,000 true tables, about a minute and a half
    python benchmarks/audit_tables.py --full     10,000 true tables
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np
from harness import Report, wants_everything

import offdiag
from offdiag.sdk.evaluations.evaluation import Evaluation

SEED = 2026
TOLD = ("numbers", "class sizes", "matrix")
PRINTED = ("rounded", "cut off")
_AGGREGATES = (
    *("overall_accuracy", "balanced_accuracy", "macro_precision", "macro_f1", "weighted_f1"),
    *("weighted_precision", "mcc", "cohen_kappa", "error_rate"),
)
_OF_CLASS = ("recall", "precision", "f1", "specificity", "npv", "fpr", "informedness")
_EXACT = 10**7
"""Ratios of counts have smaller denominators, so this recovers the ratio from a float."""


@dataclass(frozen=True)
class Drawn:
    """A correct table: `text` by metric, or by (metric, label), and what the audit is told."""

    text: Mapping[str, str | Mapping[str, str]]
    counts: tuple[tuple[int, ...], ...]
    told: str
    printed: str

    def verdict(self) -> str:
        """What the audit says about the table as a whole."""
        names = [f"c{code}" for code in range(len(self.counts))]
        sizes = {name: sum(row) for name, row in zip(names, self.counts, strict=True)}
        report = offdiag.audit_reported(
            reported=self.text,
            labels=names,
            class_counts=sizes if self.told == "class sizes" else None,
            matrix=self.counts if self.told == "matrix" else None,
        )
        return report.verdict.value


def draw(rng: random.Random, *, told: str, printed: str) -> Drawn:
    """A matrix of 2 to 5 classes of 5 to 500 cases each, and 3 to 6 of its metrics."""
    n_classes = rng.choice((2, 2, 2, 3, 4, 5))
    sizes = [round(5 * 100 ** rng.random()) for _ in range(n_classes)]
    draws = np.random.default_rng(rng.getrandbits(64))
    counts = []
    for code, size in enumerate(sizes):
        chances = draws.dirichlet(np.where(np.arange(n_classes) == code, 8 * rng.random(), 0.5))
        counts.append(tuple(int(count) for count in draws.multinomial(size, chances)))
    evaluation = offdiag.evaluate_matrix(
        counts, labels=[f"c{code}" for code in range(n_classes)], orientation="actual_rows"
    )
    decimals, is_percent = rng.choice((2, 3, 4, 4, 5)), rng.random() < 0.3
    text: dict[str, str | dict[str, str]] = {}
    chosen = rng.sample((*_AGGREGATES, *_OF_CLASS), rng.randint(3, 6))
    for key in chosen:
        values = _values(evaluation, key)
        shown = {
            label: _shown(value, decimals, printed=printed, is_percent=is_percent)
            for label, value in values.items()
        }
        text[key] = shown if key in _OF_CLASS else shown[""]
    return Drawn(text, tuple(counts), told, printed)


def corrupted(rng: random.Random, table: Drawn) -> Drawn:
    """The table with a digit of one of its numbers changed."""
    places = [(key, label) for key, label, text in _numbers(table) if _digits(text)]
    key, label = rng.choice(places)
    held = table.text[key]
    old = held if isinstance(held, str) else held[label]
    at = rng.choice(_digits(old))
    new = rng.choice([digit for digit in "0123456789" if digit != old[at]])
    changed = f"{old[:at]}{new}{old[at + 1 :]}"
    entry = changed if isinstance(held, str) else {**held, label: changed}
    return Drawn({**table.text, key: entry}, table.counts, table.told, table.printed)


def simulated(n_tables: int, *, seed: int = SEED) -> list[dict[str, str | int]]:
    """By way of printing and reporting: tables, correct ones accused, corrupted ones found."""
    rows: list[dict[str, str | int]] = []
    for printed in PRINTED:
        for told in TOLD:
            rng = random.Random(f"{seed} {printed} {told}")
            found: Counter[str] = Counter()
            n_drawn = -(-n_tables // (len(TOLD) * len(PRINTED)))
            for _ in range(n_drawn):
                table = draw(rng, told=told, printed=printed)
                found["accused"] += table.verdict() != "consistent"
                found["found"] += corrupted(rng, table).verdict() != "consistent"
            rows.append(
                {
                    "printed": printed,
                    "told": told,
                    "tables": n_drawn,
                    "true_accused": found["accused"],
                    "corrupted_found": found["found"],
                }
            )
    return rows


def _values(evaluation: Evaluation, key: str) -> dict[str, float | None]:
    if key in _OF_CLASS:
        return {label: each.value for label, each in evaluation.per_class[key].items()}
    return {"": evaluation.aggregate[key].value}


def _shown(value: float | None, decimals: int, *, printed: str, is_percent: bool) -> str:
    if value is None:
        return "n/a"
    exact = Fraction(value).limit_denominator(_EXACT)
    if abs(exact - Fraction(value)) > Fraction(1, 10**15):
        exact = Fraction(value)
    steps = abs(exact) * 10**decimals
    whole = floor(steps) if printed == "cut off" else floor(steps + Fraction(1, 2))
    places = decimals - 2 * is_percent
    digits = f"{whole:0{places + 1}d}"
    number = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"{'-' if value < 0 and whole else ''}{number}{' %' if is_percent else ''}"


def _numbers(table: Drawn) -> Iterator[tuple[str, str, str]]:
    for key, held in table.text.items():
        for label, text in held.items() if not isinstance(held, str) else [("", held)]:
            yield key, label, text


def _digits(text: str) -> list[int]:
    """Positions of the digits after the point; in a number without one, of all but the first."""
    start = text.find(".") + 1 if "." in text else 1
    return [place for place, letter in enumerate(text) if letter.isdigit() and place >= start]


def main() -> None:
    n_tables = 10_000 if wants_everything(__doc__ or "") else 1_000
    report = Report("audit_tables")
    rows = simulated(n_tables)
    report.tables["tables"] = [dict(row) for row in rows]
    for row in rows:
        print("  ".join(f"{name}: {value}" for name, value in row.items()))
    report.fact("true tables", sum(int(row["tables"]) for row in rows))
    for printed in PRINTED:
        for told in TOLD:
            (row,) = (row for row in rows if (row["printed"], row["told"]) == (printed, told))
            share = int(row["corrupted_found"]) / int(row["tables"])
            report.fact(f"{printed}, with {told}: share of corrupted tables found", share)
    accused = sum(int(row["true_accused"]) for row in rows)
    report.goal("true tables accused", measured=accused, wanted=0, at_least=False)
    report.save()


if __name__ == "__main__":
    main()
