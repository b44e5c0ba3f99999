"""How often the flag rules fire, on models that deserve it and on models that do not.

Each setting fixes the class sizes and the probabilities of each prediction given the actual class;
test sets are drawn from it and judged by the rules of the registry, all draws of a setting in one
stack. The output is the percentage of draws in which a rule fired for the run or for any class,
averaged over the settings of a group, next to the figure recorded with the current rules. F4 has
two states: a proved gap, and under F4' a gap in sight. So has the badge: red "hides" and, if
nothing is proved, amber "may hide".

In the settings of the second table the sizes are drawn too; the recorded figures are those by
which the two states were chosen, from another program and its draws. With 60 examples fewer gaps
are in sight now, because the recall of the rest counts as the estimate that it is.

    python benchmarks/flag_rates.py            2,000 draws per setting, a few seconds
    python benchmarks/flag_rates.py --draws 200
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.flags.assessment import badges, judge
from offdiag.flags.rule_evaluation import Subjects
from offdiag.flags.rules.costs import judge_costs
from offdiag.flags.rules.recall import IN_SIGHT_SEVERITY
from offdiag.flags.thresholds import Thresholds
from offdiag.metrics.orientation import actual_totals
from offdiag.metrics.tally import CLASS_AXIS

COLUMNS = (
    *("F1", "F2", "F3", "F4", "F4'", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12"),
    *("hides", "may"),
)
TEN_TO_ONE = np.array([[0.0, 1.0], [10.0, 0.0]])
"""Costs of two classes: a miss of class 1 is ten times as bad as a false alarm."""

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """Cases of each class, and for each actual class the probabilities of the predictions."""

    support: tuple[int, ...]
    answers: tuple[tuple[float, ...], ...]

    def draw(self, n_draws: int, rng: np.random.Generator) -> Counts:
        """Matrices (n_draws, K, K), actual classes first, with fixed class sizes."""
        rows = [
            rng.multinomial(cases, chances, size=n_draws)
            for cases, chances in zip(self.support, self.answers, strict=True)
        ]
        return np.stack(rows, axis=1)


@dataclass(frozen=True)
class Shares:
    """Shares of the classes, their recalls, and the total number of cases drawn."""

    shares: tuple[float, ...]
    recalls: tuple[float, ...]
    n: int

    def draw(self, n_draws: int, rng: np.random.Generator) -> Counts:
        """Matrices (n_draws, K, K) in which every class has a case."""
        size = len(self.shares)
        chances = np.array(self.shares)[:, np.newaxis] * np.array(spread(self.recalls))
        found: list[Counts] = []
        while sum(map(len, found)) < n_draws:
            drawn = rng.multinomial(self.n, chances.ravel(), size=n_draws)
            counts = drawn.reshape(n_draws, size, size)
            found.append(counts[actual_totals(counts).all(axis=CLASS_AXIS)])
        return np.concatenate(found)[:n_draws]


def spread(recalls: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    """Predictions with these recalls whose errors are uniform over all other classes."""
    size = len(recalls)
    return tuple(
        tuple(recall if code == place else (1 - recall) / (size - 1) for place in range(size))
        for code, recall in enumerate(recalls)
    )


def to_largest(recalls: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    """Predictions with these recalls and errors on class 0; those of class 0 are uniform."""
    first, *others = spread(recalls)
    return (
        first,
        *(
            tuple(
                recalls[code] if place == code else (1 - recalls[code]) * (place == 0)
                for place in range(len(recalls))
            )
            for code in range(1, len(others) + 1)
        ),
    )


def two_classes(rare: float, n: int, *, specificity: float, recall: float) -> Setting:
    """Class 1 has the share `rare` of n cases."""
    cases = round(rare * n)
    return Setting((n - cases, cases), spread((specificity, recall)))


def even(n: int, n_classes: int) -> tuple[int, ...]:
    """n cases in classes that are as equal as possible."""
    return tuple(len(part) for part in np.array_split(np.arange(n), n_classes))


def majority(n: int, n_classes: int, share: float = 0.9) -> Setting:
    """Always predicts class 0, which has the given share of the cases."""
    rest = even(n - round(share * n), n_classes - 1)
    always_first = tuple(float(place == 0) for place in range(n_classes))
    return Setting((round(share * n), *rest), (always_first,) * n_classes)


def one_bad_class(rare_cases: int, recall: float) -> Setting:
    """Four classes of 50, 30, 15 and 5 %; the last is found with `recall`, others well."""
    n = 20 * rare_cases
    sizes = (n - round(0.3 * n) - round(0.15 * n) - rare_cases, round(0.3 * n), round(0.15 * n))
    return Setting((*sizes, rare_cases), to_largest((0.95, 0.92, 0.92, recall)))


RARE = (0.4, 0.3, 0.2, 0.1, 0.05, 0.01)
SIZES = (1_000, 10_000)
RARE_SAMPLES = (5, 10, 20, 50, 200)
FAILING = (0.0, 0.2, 0.4, 0.6)

GROUPS: Mapping[str, tuple[Setting, ...]] = {
    "A balanced, recall .90": tuple(
        Setting(even(n, k), spread((0.9,) * k)) for k in (2, 3, 5, 10) for n in (200, *SIZES)
    ),
    "A' balanced, recall .80 to .97": tuple(
        Setting(even(n, k), spread(tuple(np.linspace(0.80, 0.97, k))))
        for k in (3, 5)
        for n in (300, 3_000)
    ),
    "A2 imbalanced, recall .95 both": tuple(
        two_classes(rare, n, specificity=0.95, recall=0.95) for rare in RARE[2:] for n in SIZES
    ),
    "A3 5 %, recall .995 and .85": tuple(
        two_classes(0.05, n, specificity=0.995, recall=0.85) for n in SIZES
    ),
    "B majority classifier, K = 2": tuple(
        two_classes(rare, n, specificity=1.0, recall=0.0) for rare in RARE for n in (200, *SIZES)
    ),
    "B majority classifier, K = 3, 5, 10": tuple(
        majority(n, k) for k in (3, 5, 10) for n in (500, 2_000)
    ),
    "B2 guesses with class shares": tuple(
        two_classes(rare, n, specificity=1 - rare, recall=rare) for rare in RARE[3:] for n in SIZES
    ),
    "B3 nearly majority, recall .10": tuple(
        two_classes(rare, n, specificity=0.998, recall=0.10) for rare in RARE[3:] for n in SIZES
    ),
    **{
        f"C one 5 % class of four, recall {recall}": tuple(
            one_bad_class(cases, recall) for cases in RARE_SAMPLES
        )
        for recall in FAILING
    },
    "D 10:1 costs, majority classifier": (two_classes(0.05, 1_000, specificity=1.0, recall=0.0),),
    "D 10:1 costs, tuned for accuracy": (two_classes(0.05, 1_000, specificity=0.976, recall=0.1),),
    "D 10:1 costs, good": (two_classes(0.05, 1_000, specificity=0.95, recall=0.95),),
}

EXPECTED: Mapping[str, Mapping[str, float]] = {
    "A balanced, recall .90": {"F4'": 0.2, "F12": 8.3},
    "A' balanced, recall .80 to .97": {"F4'": 20.9},
    "A2 imbalanced, recall .95 both": {"F7": 26.3, "F8": 0.3, "F9": 25, "F12": 12.5},
    "A3 5 %, recall .995 and .85": {"F4'": 23, "may": 23},
    "B majority classifier, K = 2": {
        **dict.fromkeys(("F1", "F2", "F3", "F4", "F10", "hides"), 94.4),
        "F4'": 5.6,
        "F5": 100,
        "F6": 83.3,
        "F7": 100,
        "F8": 66.7,
        "F12": 22.2,
        "may": 5.6,
    },
    "B majority classifier, K = 3, 5, 10": {
        **dict.fromkeys(("F1", "F4", "F5", "F6", "F7", "F8", "hides"), 100),
        "F2": 83.3,
        "F3": 83.3,
        "F10": 83.3,
        "F12": 66.7,
    },
    "B2 guesses with class shares": {
        **dict.fromkeys(("F4", "F5", "F6", "F7", "hides"), 100),
        "F3": 22.8,
        "F8": 99.7,
        "F9": 95.6,
        "F12": 16.7,
    },
    "B3 nearly majority, recall .10": {
        **dict.fromkeys(("F4", "F6", "F7", "hides"), 100),
        "F1": 0.8,
        "F2": 0.8,
        "F3": 5.8,
        "F5": 52.1,
        "F8": 88.6,
        "F9": 2.7,
        "F10": 85.6,
        "F12": 16.7,
    },
    "C one 5 % class of four, recall 0.0": {
        "F2": 4.6,
        "F3": 80,
        "F4": 100,
        "F6": 100,
        "F7": 100,
        "F9": 29.2,
        "F10": 61.6,
        "F12": 60,
        "hides": 100,
    },
    "C one 5 % class of four, recall 0.2": {
        "F2": 0.5,
        "F3": 2.4,
        "F4": 83.9,
        "F4'": 12,
        "F6": 56.6,
        "F7": 20.9,
        "F10": 50.8,
        "F12": 60,
        "hides": 83.9,
        "may": 12,
    },
    "C one 5 % class of four, recall 0.4": {
        "F3": 0.1,
        "F4": 64.2,
        "F4'": 21.7,
        "F6": 8.1,
        "F7": 2.6,
        "F10": 8.3,
        "F12": 60,
        "hides": 64.2,
        "may": 21.7,
    },
    "C one 5 % class of four, recall 0.6": {
        "F4": 30.5,
        "F4'": 38.1,
        "F6": 1.2,
        "F7": 0.2,
        "F10": 0.2,
        "F12": 60,
        "hides": 30.5,
        "may": 38,
    },
    "D 10:1 costs, majority classifier": {"F11": 100},
    "D 10:1 costs, tuned for accuracy": {"F11": 0},
    "D 10:1 costs, good": {"F11": 0},
}
"""Percent, as recorded; in groups A to C a rule that is missing never fired."""


def five_percent(cases: int, recall: float) -> Setting:
    """Four classes of 50, 30, 15 and 5 %; the last is found with `recall`, others with .90."""
    sizes = (10 * cases, 6 * cases, 3 * cases, cases)
    return Setting(sizes, to_largest((0.9, 0.9, 0.9, recall)))


def half_percent(n: int, recall: float) -> Shares:
    return Shares((0.995, 0.005), (0.99, recall), n)


OPERATING: Mapping[str, tuple[tuple[Setting | Shares, float, float], ...]] = {
    "binary .5 %, recall .90 of .99": (
        (half_percent(200, 0.9), 0, 0),
        (half_percent(2_000, 0.9), 0, 2.5),
        (half_percent(10_000, 0.9), 0, 10.3),
        (half_percent(100_000, 0.9), 0, 0),
    ),
    "binary .5 %, recall .80 (gap .199)": (
        (half_percent(200, 0.8), 0.2, 1.3),
        (half_percent(2_000, 0.8), 0.6, 12.7),
        (half_percent(10_000, 0.8), 0.1, 76.3),
        (half_percent(100_000, 0.8), 0, 26.1),
    ),
    "binary .5 %, recall .30": (
        (half_percent(200, 0.3), 3.9, 14),
        (half_percent(500, 0.3), 18.5, 23.8),
        (half_percent(2_000, 0.3), 69.3, 27.2),
        (half_percent(10_000, 0.3), 100, 0),
    ),
    "binary .5 %, recall 0": (
        (half_percent(200, 0.0), 13.7, 26.2),
        (half_percent(500, 0.0), 50.9, 27.3),
        (half_percent(2_000, 0.0), 99.6, 0.4),
    ),
    "binary 30 %, recall .70 of .90": (
        (Shares((0.7, 0.3), (0.9, 0.7), 60), 0.9, 12),
        (Shares((0.7, 0.3), (0.9, 0.7), 1_000), 2.7, 93.3),
        (Shares((0.7, 0.3), (0.9, 0.7), 100_000), 5.7, 90.4),
    ),
    "K 50 balanced, recall .90": (
        (Shares((0.02,) * 50, (0.9,) * 50, 200), 0, 0.4),
        (Shares((0.02,) * 50, (0.9,) * 50, 2_000), 0, 0),
    ),
    "5 % of four, recall .2 of .90": (
        (five_percent(5, 0.2), 34.4, 43.3),
        (five_percent(10, 0.2), 80.9, 17.8),
        (five_percent(20, 0.2), 99.5, 0.5),
        (five_percent(50, 0.2), 100, 0),
    ),
    "5 % of four, recall .4 of .90": (
        (five_percent(5, 0.4), 9.1, 26.9),
        (five_percent(10, 0.4), 31.5, 45.4),
        (five_percent(20, 0.4), 61.3, 37.3),
        (five_percent(50, 0.4), 97.7, 2.3),
    ),
    "5 % of four, recall .6 of .90": (
        (five_percent(5, 0.6), 0.7, 10),
        (five_percent(10, 0.6), 5.6, 26.5),
        (five_percent(20, 0.6), 8.2, 60.6),
        (five_percent(50, 0.6), 16.6, 82.3),
    ),
    "5 % of four, recall .7 of .90": (
        (five_percent(5, 0.7), 0.1, 4.5),
        (five_percent(10, 0.7), 0.9, 12.2),
        (five_percent(20, 0.7), 0.8, 30.7),
        (five_percent(50, 0.7), 1.1, 78.4),
    ),
    "5 % of four, recall .9 of .90": (
        (five_percent(5, 0.9), 0, 0.4),
        (five_percent(10, 0.9), 0, 0.6),
        (five_percent(20, 0.9), 0, 0.7),
        (five_percent(50, 0.9), 0, 0.1),
    ),
}
"""Settings with the percentages of red and amber badges by which the states were chosen."""


def rates(
    setting: Setting | Shares,
    *,
    n_draws: int,
    rng: np.random.Generator,
    thresholds: Thresholds | None = None,
) -> dict[str, float]:
    """Percent of draws in which each rule fired, and in which there was a badge."""
    limits = thresholds or Thresholds()
    counts = setting.draw(n_draws, rng)
    size = counts.shape[-1]
    subjects = Subjects(counts, tuple(str(code) for code in range(size)))
    judgements = judge(subjects, limits)
    found = {
        rule: percent(np.asarray(judgement.fires.reshape(n_draws, -1).any(axis=1)))
        for rule, judgement in judgements.items()
    }
    gap = judgements["F4"]
    in_sight = gap.fires & (gap.severity == IN_SIGHT_SEVERITY.rank)
    found["F4"] = percent((gap.fires & ~in_sight).any(axis=1))
    found["F4'"] = percent(in_sight.any(axis=1))
    if size == 2:
        found["F11"] = percent(judge_costs(subjects, TEN_TO_ONE, limits).fires)
    shown = badges(judgements, subjects, limits)
    return found | {"hides": percent(shown.hides), "may": percent(shown.may_hide)}


def percent(fires: NDArray[np.bool_]) -> float:
    return 100.0 * float(fires.mean())


def group_rates(
    name: str, *, n_draws: int, seed: int, thresholds: Thresholds | None = None
) -> dict[str, float]:
    """Rates averaged over the settings of a group."""
    rng = np.random.default_rng(seed)
    found = [
        rates(setting, n_draws=n_draws, rng=rng, thresholds=thresholds) for setting in GROUPS[name]
    ]
    known = set.intersection(*(set(one) for one in found))
    return {key: float(np.mean([one[key] for one in found])) for key in known}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=20_261_120)
    arguments = parser.parse_args()
    started = time.perf_counter()
    n_settings = sum(len(settings) for settings in GROUPS.values())
    print(f"{n_settings} settings, {arguments.draws} draws each, seed {arguments.seed}")
    for line in report(arguments.draws, arguments.seed):
        print(line)
    print(f"{time.perf_counter() - started:.1f} s")


def report(n_draws: int, seed: int) -> Iterator[str]:
    yield "\npercent of draws in which a rule fired; second line: expected"
    yield f"{'':36}" + "".join(f"{column:>7}" for column in COLUMNS)
    for name in GROUPS:
        found = group_rates(name, n_draws=n_draws, seed=seed)
        yield f"{name:36}" + "".join(cell(found.get(column)) for column in COLUMNS)
        silent = None if name.startswith("D") else 0.0
        expected = EXPECTED[name]
        yield f"{'':36}" + "".join(
            cell(expected.get(column, None if column == "F11" else silent)) for column in COLUMNS
        )
    yield "\nred / amber badge, in percent; second line: expected"
    rng = np.random.default_rng(seed)
    for name, settings in OPERATING.items():
        found_badges = [rates(setting, n_draws=n_draws, rng=rng) for setting, *_ in settings]
        yield f"{name:36}" + "".join(pair(each["hides"], each["may"]) for each in found_badges)
        yield f"{'':36}" + "".join(pair(red, amber) for _, red, amber in settings)


def pair(red: float, amber: float) -> str:
    return f"{f'{red:.1f} / {amber:.1f}':>16}"


def cell(value: float | None) -> str:
    return f"{'':>7}" if value is None else f"{value:>7.1f}"


if __name__ == "__main__":
    main()
