"""How large a seeded registry is: kinds of datasets, from a few large ones to many small."""

from __future__ import annotations

from dataclasses import dataclass

CLASSES = (2, 3, 2, 5, 10, 2, 4, 7, 2, 20)
"""Numbers of classes that datasets have in turn."""
PROJECTS = 10


@dataclass(frozen=True, slots=True)
class Kind:
    """So many datasets alike: with how many runs each, of how many cases."""

    n_datasets: int
    n_runs: int
    n_samples: int


@dataclass(frozen=True, slots=True)
class SeededDataset:
    """One dataset of a plan; `place` numbers all of them from 0."""

    place: int
    n_runs: int
    n_samples: int

    @property
    def project(self) -> str:
        return f"team {self.place % PROJECTS}"

    @property
    def name(self) -> str:
        return f"dataset {self.place:03d}"

    @property
    def n_classes(self) -> int:
        return CLASSES[self.place // PROJECTS % len(CLASSES)]


@dataclass(frozen=True, slots=True)
class Plan:
    """`n_originals` runs of each dataset are logged and evaluated; the others are made of them."""

    kinds: tuple[Kind, ...]
    n_originals: int

    @property
    def datasets(self) -> tuple[SeededDataset, ...]:
        sizes = [kind for kind in self.kinds for _ in range(kind.n_datasets)]
        return tuple(
            SeededDataset(place, kind.n_runs, kind.n_samples) for place, kind in enumerate(sizes)
        )

    @property
    def n_runs(self) -> int:
        return sum(kind.n_datasets * kind.n_runs for kind in self.kinds)

    @property
    def n_predictions(self) -> int:
        return sum(kind.n_datasets * kind.n_runs * kind.n_samples for kind in self.kinds)


FULL = Plan(
    (
        Kind(2, 50, 100_000),
        Kind(8, 100, 12_500),
        Kind(30, 1_000, 600),
        Kind(59, 1_150, 170),
        Kind(1, 1_250, 380),
    ),
    n_originals=5,
)
"""100 datasets, 100,000 runs, 50 million predictions."""

TENTH = Plan(
    (
        Kind(2, 10, 50_000),
        Kind(8, 10, 12_500),
        Kind(30, 100, 600),
        Kind(59, 115, 170),
        Kind(1, 115, 380),
    ),
    n_originals=5,
)
"""100 datasets and 10,000 runs, to see what grows."""

QUICK = Plan((Kind(1, 20, 100_000), Kind(4, 120, 1_000), Kind(15, 100, 170)), n_originals=4)
"""20 datasets and 2,000 runs: in a minute, to see that everything works."""

TINY = Plan((Kind(1, 2, 66_000), Kind(2, 20, 60)), n_originals=2)
"""3 datasets and 42 runs, for a test."""

PLANS = {"full": FULL, "tenth": TENTH, "quick": QUICK, "tiny": TINY}
