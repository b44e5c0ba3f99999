"""Measuring variants of one piece of work side by side.

All variants of a case run in one process, in turns and in shuffled order, so that other work on
the machine or a clock change affects all of them; the median of the turns is reported and the
goals are ratios between medians. Absolute times belong to the machine that is printed above.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from math import log
from pathlib import Path
from statistics import linear_regression, median
from time import perf_counter
from typing import Any

RESULTS = Path(__file__).parent / "results"
SHORTEST_TURN_S = 0.002
"""Shorter work is repeated within a turn, because the clock is not precise enough for it."""

Work = Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """Seconds per call of one variant in each turn."""

    variant: str
    seconds: tuple[float, ...]

    @property
    def median_s(self) -> float:
        return median(self.seconds)


@dataclass(frozen=True)
class Goal:
    """A ratio that has to be reached: `measured` compared with `wanted`.

    `at_least` gives the direction.
    """

    name: str
    wanted: float
    measured: float
    at_least: bool = True

    @property
    def is_met(self) -> bool:
        return self.measured >= self.wanted if self.at_least else self.measured <= self.wanted


@dataclass
class Report:
    """The results of one benchmark script; prints while it grows, and is saved as a JSON file."""

    name: str
    libraries: Iterable[str] = ("numpy",)
    cases: dict[str, dict[str, Timing]] = field(default_factory=dict)
    goals: list[Goal] = field(default_factory=list)
    facts: dict[str, float | str] = field(default_factory=dict)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Rows of figures that belong together, by the name of their table."""
    where: dict[str, str | float] = field(init=False)
    """The machine, and its load before anything was measured."""

    def __post_init__(self) -> None:
        self.where = machine()
        print(f"# {self.name}")
        print(f"machine: {json.dumps(self.where)}")
        print(f"versions: {json.dumps(versions(self.libraries))}")

    def measure(
        self,
        case: str,
        variants: Mapping[str, Work],
        *,
        turns: int = 7,
        fewer_turns: Mapping[str, int] | None = None,
    ) -> dict[str, Timing]:
        """Time the variants in turns, print the medians and ratios to the first one."""
        timings = in_turns(variants, turns=turns, fewer_turns=fewer_turns or {})
        self.record(case, timings)
        return timings

    def record(self, case: str, timings: dict[str, Timing]) -> None:
        """Add timings that were taken elsewhere, and print them."""
        self.cases[case] = timings
        first = next(iter(timings.values())).median_s
        print(f"\n## {case}")
        for timing in timings.values():
            ratio = timing.median_s / first
            print(
                f"{timing.variant:<44} {readable(timing.median_s):>10}  x{ratio:<10.4g}"
                f" n={len(timing.seconds)}"
            )

    def fact(self, name: str, value: float | str) -> None:
        """Record a figure that is not a time, such as bytes or a fitted exponent."""
        self.facts[name] = value
        print(f"{name}: {value}")

    def goal(self, name: str, *, measured: float, wanted: float, at_least: bool = True) -> None:
        """Add a goal and compare the measured ratio with it."""
        goal = Goal(name, wanted, measured, at_least)
        self.goals.append(goal)
        sign, verdict = (">=" if at_least else "<="), ("met" if goal.is_met else "MISSED")
        print(f"goal {name}: {measured:.4g} (wanted {sign} {wanted:g}) {verdict}")

    def save(self) -> Path:
        """Write everything to results/<name>.json."""
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{self.name}.json"
        path.write_text(result_text(self.to_dict()), encoding="utf-8")
        missed = [goal.name for goal in self.goals if not goal.is_met]
        print(f"\nwritten to {path.name}; goals missed: {', '.join(missed) or 'none'}")
        return path

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "date": datetime.now(UTC).date().isoformat(),
            "machine": self.where,
            "versions": versions(self.libraries),
            "cases": {
                case: {
                    timing.variant: {
                        "median_s": timing.median_s,
                        "lowest_s": min(timing.seconds),
                        "highest_s": max(timing.seconds),
                        "turns": len(timing.seconds),
                    }
                    for timing in timings.values()
                }
                for case, timings in self.cases.items()
            },
            "facts": self.facts,
            "tables": self.tables,
            "goals": [asdict(goal) | {"is_met": goal.is_met} for goal in self.goals],
        }


def result_text(result: Mapping[str, object]) -> str:
    """JSON with a line for each goal and each row of a table."""
    text = json.dumps(result, indent=1)
    return re.sub(r"\{[^{}]*\}", lambda found: re.sub(r"\n *", " ", found[0]), text) + "\n"


def in_turns(
    variants: Mapping[str, Work], *, turns: int, fewer_turns: Mapping[str, int], seed: int = 7
) -> dict[str, Timing]:
    """Run all variants once per turn in shuffled order, after one untimed call of each.

    `fewer_turns` limits slow variants, which only take part in the first turns.
    """
    order = random.Random(seed)
    repeats = {name: _repeats(work) for name, work in variants.items()}
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for turn in range(turns):
        names = [name for name in variants if turn < fewer_turns.get(name, turns)]
        order.shuffle(names)
        for name in names:
            seconds[name].append(_seconds_per_call(variants[name], repeats[name]))
    return {name: Timing(name, tuple(found)) for name, found in seconds.items()}


def ratio(timings: Mapping[str, Timing], slower: str, faster: str) -> float:
    """How many times longer one variant takes than the other."""
    return timings[slower].median_s / timings[faster].median_s


def fitted_exponent(sizes: Sequence[int], timings: Iterable[Timing]) -> float:
    """The exponent with which time grows with size: 1 for linear, by least squares of logs."""
    slope, _ = linear_regression(
        [log(size) for size in sizes], [log(timing.median_s) for timing in timings]
    )
    return slope


def readable(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def machine() -> dict[str, str | float]:
    """Processor, cores, memory, system, Python and the load at this moment."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load_1_min": round(os.getloadavg()[0], 2),
    }


def versions(libraries: Iterable[str]) -> dict[str, str]:
    return {name: version(name) for name in ("offdiag", *libraries)}


def in_a_process(program: str) -> dict[str, float]:
    """The JSON in the last line that a Python program, run in a separate process, prints."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parent,
        check=True,
        capture_output=True,
        text=True,
    )
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def wants_everything(description: str) -> bool:
    """Whether the script was called with --full and not for the quick set."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--full", action="store_true", help="measure the large cases as well")
    return bool(parser.parse_args().full)


def _repeats(work: Work) -> int:
    """How often to call the work within a turn. Also warms up caches."""
    once = _seconds_per_call(work, 1)
    if once >= SHORTEST_TURN_S:
        return 1
    once = _seconds_per_call(work, 1)
    return max(1, round(SHORTEST_TURN_S / max(once, 1e-9)))


def _seconds_per_call(work: Work, repeats: int) -> float:
    start = perf_counter()
    for _ in range(repeats):
        work()
    return (perf_counter() - start) / repeats


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
