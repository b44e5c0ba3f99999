"""What makes the code harder to find one's way in does not grow.

The bounds are what was reached. Whoever gets below one lowers it; nobody raises one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

BENCHMARKS = str(Path(__file__).parents[2] / "benchmarks")
if BENCHMARKS not in sys.path:
    sys.path.append(BENCHMARKS)

import structure  # noqa: E402 - they are not our package

BOUNDS: dict[str, tuple[Callable[[], list[str]], int, str]] = {
    "modules that name every field of a run": (
        lambda: structure.files_naming("git_sha"),
        9,
        "Take what is known of a run from RunRecord, SaidOfRun or RunSaid.",
    ),
    "classes with a quarter of the fields of a run": (
        structure.classes_with_many_run_fields,
        5,
        "Hold a RunRecord, or inherit from RunSaid, instead of repeating its fields.",
    ),
    "modules named by a gerund": (
        structure.modules_named_by_a_gerund,
        2,
        "Name the module after what it is about: ranked_runs, not ranking_runs.",
    ),
    "modules with one importer that is not a table": (
        structure.modules_for_one_other,
        72,
        "Put the code into the only module that imports it, or join two others.",
    ),
    "folders of more than fifteen modules": (
        structure.large_folders,
        1,
        "Make a folder of the modules that share a subject.",
    ),
}


@pytest.mark.parametrize("measure", BOUNDS)
def test_a_measure_of_the_code_does_not_grow(measure: str) -> None:
    find, bound, advice = BOUNDS[measure]

    found = find()

    assert found
    assert len(found) <= bound, (
        f"{measure}: {len(found)}, at most {bound}. {advice} They are {found}."
    )
