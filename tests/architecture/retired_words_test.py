"""Words that were retired in favour of those of the field name no module, class or function.

A word is matched as a whole part of a name: `run_due` and `RunDue` have the parts run and due.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("registry/offdiag", "web/offdiag_web", "workers/offdiag_workers")
RETIRED = {
    "notifier, notify": "bell bells rung",
    "claim, release, fail permanently": "taking bury buried buries",
    "reconcile": "sweep sweeps swept",
    "run due schedules, due time": "tick ticked ticker ticking fire fires",
    "authentication": "door doors",
    "register provider": "vouch vouches",
    "metrics": "vitals",
    "outcome, status": "fate fates standing standings",
    "rule inputs, neighbours": "circumstances surroundings",
    "cost, expensive": "dear dearer dearest prices pricing",
    "message": "parcel parcels",
    "view": "presenter presenters",
    "data errors": "unstorable",
    "severe": "graver gravest",
    "the user, the caller": "whoever somebody nobody",
    "export, format": "twin twins",
}
OF_LIBRARIES = {"get_next_fire_time"}
"""Methods that APScheduler calls by these names."""
_DEFINED = re.compile(r"^\s*(?:async def|def|class) (\w+)", re.MULTILINE)
_PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def _parts(name: str) -> set[str]:
    return {part.lower() for part in _PART.findall(name)}


def _names(path: Path) -> list[str]:
    return [path.stem, *_DEFINED.findall(path.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def names() -> list[tuple[str, str]]:
    return [
        (path.relative_to(ROOT).as_posix(), name)
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for name in _names(path)
    ]


def test_names_are_found_wherever_they_are_defined(names: list[tuple[str, str]]) -> None:
    here = "registry/offdiag/domain/access.py"

    assert {(here, "access"), (here, "Role"), (here, "Grant")} <= set(names)
    assert _DEFINED.findall("class A:\n    async def b(self): ...\ndef c(): ...") == list("Abc")


def test_a_word_is_found_as_a_part_of_a_name() -> None:
    assert _parts("_LocalBell") == {"local", "bell"}
    assert _parts("tick_every_s") == {"tick", "every", "s"}
    assert "tick" not in _parts("sticky_ticks")


@pytest.mark.parametrize("instead", RETIRED)
def test_no_module_class_or_function_is_named_by_a_retired_word(
    names: list[tuple[str, str]], instead: str
) -> None:
    retired = set(RETIRED[instead].split())

    ours = [(path, name) for path, name in names if name not in OF_LIBRARIES]
    found = [f"{path}: {name}" for path, name in ours if _parts(name) & retired]

    assert not found, f"Use {instead} in place of the words in {found}."
