"""How often the flag rules fire, on models that deserve it and on models that do not.

Each setting fixes the class sizes and the chances of each answer given the actual class; test
sets are drawn from it and judged by the rules of the registry, all draws of a setting in one
stack. Printed is the percentage of draws in which a rule fired for the run or for any class,
averaged over the settings of a group, beside the figure the thresholds were chosen by.

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
from offdiag.flags.costs import judge_costs
from offdiag.flags.subjects import Subjects
from offdiag.flags.thresholds import Thresholds

COLUMNS = ("F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12", "badge")
TEN_TO_ONE = np.array([[0.0, 1.0], [10.0, 0.0]])
"""Costs of two classes: a miss of class 1 is ten times as bad as a false alarm."""

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """Cases of each class, and for each actual class the chances of the answers."""

    support: tuple[int, ...]
    answers: tuple[tuple[float, ...], ...]

    def draw(self, n_draws: int, rng: np.random.Generator) -> Counts:
        """Matrices (n_draws, K, K), actual classes first, their sizes fixed."""
        rows = [
            rng.multinomial(cases, chances, size=n_draws)
            for cases, chances in zip(self.support, self.answers, strict=True)
        ]
        return np.stack(rows, axis=1)


def spread(recalls: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    """Answers with these recalls whose errors fall on all other classes alike."""
    size = len(recalls)
    return tuple(
        tuple(recall if code == place else (1 - recall) / (size - 1) for place in range(size))
        for code, recall in enumerate(recalls)
    )


def to_largest(recalls: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    """The same with errors falling on class 0, those of class 0 on all others alike."""
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
    """n cases in classes as equal as they can be."""
    return tuple(len(part) for part in np.array_split(np.arange(n), n_classes))


def majority(n: int, n_classes: int, share: float = 0.9) -> Setting:
    """Always class 0, which has the given share of the cases."""
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
RARE_CASES = (5, 10, 20, 50, 200)
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
            one_bad_class(cases, recall) for cases in RARE_CASES
        )
        for recall in FAILING
    },
    "D 10:1 costs, majority classifier": (two_classes(0.05, 1_000, specificity=1.0, recall=0.0),),
    "D 10:1 costs, tuned for accuracy": (two_classes(0.05, 1_000, specificity=0.976, recall=0.1),),
    "D 10:1 costs, good": (two_classes(0.05, 1_000, specificity=0.95, recall=0.95),),
}

EXPECTED: Mapping[str, Mapping[str, float]] = {
    "A balanced, recall .90": {"F4": 0.1, "F12": 8.3, "badge": 0},
    "A' balanced, recall .80 to .97": {"F4": 2.5, "badge": 0},
    "A2 imbalanced, recall .95 both": {"F7": 26, "F8": 0.3, "F9": 25, "F12": 12.5, "badge": 0},
    "A3 5 %, recall .995 and .85": {"F4": 5.9, "badge": 5.9},
    "B majority classifier, K = 2": {
        "F1": 100,
        "F2": 100,
        "F3": 94,
        "F4": 100,
        "F5": 100,
        "F6": 83,
        "F7": 100,
        "F8": 67,
        "F10": 94,
        "F12": 22,
        "badge": 100,
    },
    "B majority classifier, K = 3, 5, 10": {
        "F1": 100,
        "F2": 100,
        "F3": 83,
        "F4": 100,
        "F5": 100,
        "F6": 100,
        "F7": 100,
        "F8": 100,
        "F10": 83,
        "F12": 67,
        "badge": 100,
    },
    "B2 guesses with class shares": {
        "F3": 23,
        "F4": 100,
        "F5": 100,
        "F6": 100,
        "F7": 100,
        "F8": 99.7,
        "F9": 95,
        "F12": 17,
        "badge": 100,
    },
    "B3 nearly majority, recall .10": {
        "F1": 1,
        "F2": 1,
        "F3": 6,
        "F4": 100,
        "F5": 52,
        "F6": 100,
        "F7": 100,
        "F8": 89,
        "F9": 3,
        "F10": 85,
        "F12": 17,
        "badge": 100,
    },
    "C one 5 % class of four, recall 0.0": {
        "F2": 13.5,
        "F3": 80,
        "F4": 100,
        "F6": 100,
        "F7": 100,
        "F9": 29,
        "F10": 62,
        "F12": 60,
        "badge": 100,
    },
    "C one 5 % class of four, recall 0.2": {
        "F2": 3,
        "F3": 2,
        "F4": 96.8,
        "F6": 58,
        "F7": 20,
        "F10": 50,
        "F12": 60,
        "badge": 96.8,
    },
    "C one 5 % class of four, recall 0.4": {
        "F2": 0.8,
        "F4": 88.8,
        "F6": 8,
        "F7": 3,
        "F10": 9,
        "F12": 60,
        "badge": 88.8,
    },
    "C one 5 % class of four, recall 0.6": {
        "F2": 0.2,
        "F4": 71.1,
        "F6": 1.5,
        "F7": 0.3,
        "F10": 0.3,
        "F12": 60,
        "badge": 71.1,
    },
    "D 10:1 costs, majority classifier": {"F11": 100},
    "D 10:1 costs, tuned for accuracy": {"F11": 10},
    "D 10:1 costs, good": {"F11": 0},
}
"""Percent, where it was recorded; in groups A to C a rule that is missing never fired."""

EXPECTED_BADGES: Mapping[float, tuple[float, ...]] = {
    0.0: (100, 100, 100, 100, 100),
    0.2: (84.5, 99.7, 100, 100, 100),
    0.4: (54.4, 89.8, 99.9, 100, 100),
    0.6: (22.8, 50.2, 84.9, 97.5, 100),
}
"""Percent with the badge by recall of the failing class, for 5, 10, 20, 50 and 200 cases."""


def rates(
    setting: Setting,
    *,
    n_draws: int,
    rng: np.random.Generator,
    thresholds: Thresholds | None = None,
) -> dict[str, float]:
    """Percent of draws in which each rule fired, and with the badge."""
    limits = thresholds or Thresholds()
    counts = setting.draw(n_draws, rng)
    subjects = Subjects(counts, tuple(str(code) for code in range(len(setting.support))))
    judgements = judge(subjects, limits)
    found = {
        rule: percent(np.asarray(judgement.fires.reshape(n_draws, -1).any(axis=1)))
        for rule, judgement in judgements.items()
    }
    if len(setting.support) == 2:
        found["F11"] = percent(judge_costs(counts, TEN_TO_ONE).fires)
    return found | {"badge": percent(badges(judgements, subjects, limits))}


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
    yield "\nbadge by cases of the failing class; second line: expected"
    yield f"{'':36}" + "".join(f"{cases:>7}" for cases in RARE_CASES)
    rng = np.random.default_rng(seed)
    for recall in FAILING:
        found_badges = [
            rates(one_bad_class(cases, recall), n_draws=n_draws, rng=rng)["badge"]
            for cases in RARE_CASES
        ]
        yield f"{f'recall {recall}':36}" + "".join(cell(value) for value in found_badges)
        yield f"{'':36}" + "".join(cell(value) for value in EXPECTED_BADGES[recall])


def cell(value: float | None) -> str:
    return f"{'':>7}" if value is None else f"{value:>7.1f}"


if __name__ == "__main__":
    main()
