"""What else differs between compared runs: facts, parameters and tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from offdiag.domain.runs import logged_by
from offdiag.store.compared_runs import ComparedRun

_ABSENT = "not set"


def differing_metadata(runs: Sequence[ComparedRun]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The facts that differ: those of the run first, then parameters and tags by name."""
    facts = [_facts(run) for run in runs]
    names = dict.fromkeys(name for each in facts for name in each)
    rows = ((name, tuple(each.get(name, _ABSENT) for each in facts)) for name in names)
    return tuple((name, values) for name, values in rows if len(set(values)) > 1)


def _facts(run: ComparedRun) -> dict[str, str]:
    known = {
        "model": run.model,
        **logged_by(run),
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
    return {
        f"{kind} {name}": ("none" if value is None else str(value))
        for name, value in sorted(entries.items())
    }
