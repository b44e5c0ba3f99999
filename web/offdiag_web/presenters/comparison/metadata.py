"""What else differs between runs: model, author, parameters, tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from offdiag.store.compared_runs import ComparedRun

_ABSENT = "not set"


@dataclass(frozen=True, slots=True)
class MetadataRow:
    """One fact that is not the same for all runs, with its text for each of them."""

    name: str
    values: tuple[str, ...]


def differing_metadata(runs: Sequence[ComparedRun]) -> tuple[MetadataRow, ...]:
    """The facts that differ: those of the run first, then parameters and tags by name."""
    facts = [_facts(run) for run in runs]
    names = dict.fromkeys(name for each in facts for name in each)
    rows = (MetadataRow(name, tuple(each.get(name, _ABSENT) for each in facts)) for name in names)
    return tuple(row for row in rows if len(set(row.values)) > 1)


def _facts(run: ComparedRun) -> dict[str, str]:
    known = {
        "model": run.model,
        "author": run.author,
        "git commit": run.git_sha,
        "logged": run.created_at.strftime("%Y-%m-%d %H:%M UTC"),
        "logged as": "predictions" if run.has_predictions else "a matrix",
        "scores per example": str(run.score_columns) if run.has_predictions else None,
    }
    return {
        **{name: text for name, text in known.items() if text is not None},
        **_entries("parameter", run.params),
        **_entries("tag", run.tags),
    }


def _entries(kind: str, entries: Mapping[str, object]) -> dict[str, str]:
    return {f"{kind} {name}": _text(value) for name, value in sorted(entries.items())}


def _text(value: object) -> str:
    return "none" if value is None else str(value)
