"""What processes that lived through came to hold, and others beside them from the same age on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from soak.plan import Soak
from soak.samples import Life, Sample
from soak.trend import Trend, trend

_CHILD_OF = "child of the "


@dataclass(frozen=True, slots=True)
class Grown:
    """All about the programs of one kind, with their children.

    Trends are those of the process that has grown most, among those that no fault hits; `n_gone`
    of them did not live through. `files_beyond` and `threads_beyond` are about those that faults
    hit: what the one with most holds more than the same process of a program that was spared.
    """

    role: str
    n_lasting: int
    n_gone: int
    files: Trend
    threads: Trend
    memory_mib: Trend
    n_restarted: int
    files_beyond: float
    threads_beyond: float


def growth_of(lives: Sequence[Life], plan: Soak) -> list[Grown]:
    """For each kind of program what became of it. Raises `RuntimeError` if none lived through."""
    programs = sorted({life.role.removeprefix(_CHILD_OF) for life in lives})
    return [
        _grown(program, [life for life in lives if life.role.endswith(program)], plan)
        for program in programs
    ]


def _grown(program: str, lives: Sequence[Life], plan: Soak) -> Grown:
    begun = [life for life in lives if not life.is_exposed and life.at_s[0] < plan.warm_s]
    over_s = max(life.at_s[-1] for life in lives)
    lasting = [life for life in begun if life.at_s[-1] > over_s - 2 * plan.look_every_s]
    if not lasting:
        raise RuntimeError(f"no {program} lived through")
    restarted = [
        life for life in lives if life.is_exposed and life.at_s[-1] - life.at_s[0] > plan.warm_s
    ]
    return Grown(
        program,
        len(lasting),
        len(begun) - len(lasting),
        _largest(lasting, _files, plan),
        _largest(lasting, _threads, plan),
        _largest(lasting, _memory, plan),
        len(restarted),
        _beyond(restarted, lasting, _files, plan),
        _beyond(restarted, lasting, _threads, plan),
    )


def _largest(lasting: Sequence[Life], value: Callable[[Sample], float], plan: Soak) -> Trend:
    trends = [trend(e.at_s, _values(e, value), warm_until_s=plan.warm_s) for e in lasting]
    found = [each for each in trends if each is not None]
    if not found:
        raise RuntimeError("processes were looked at too seldom")
    return max(found, key=lambda each: each.growth)


def _beyond(
    restarted: Sequence[Life],
    lasting: Sequence[Life],
    value: Callable[[Sample], float],
    plan: Soak,
) -> float:
    """Compared from the age on at which what lived through was warm."""
    known = {
        role: max(median(_values(life, value)) for life in lasting if life.role == role)
        for role in {life.role for life in lasting}
    }
    return max(
        (
            median(_values(life, value, from_s=life.at_s[0] + plan.warm_s)) - known[life.role]
            for life in restarted
            if life.role in known
        ),
        default=0.0,
    )


def _values(life: Life, value: Callable[[Sample], float], *, from_s: float = 0.0) -> list[float]:
    pairs = zip(life.at_s, life.samples, strict=True)
    return [value(sample) for at_s, sample in pairs if at_s >= from_s]


def _files(sample: Sample) -> float:
    return sample.files


def _threads(sample: Sample) -> float:
    return sample.threads


def _memory(sample: Sample) -> float:
    return sample.memory_mib
