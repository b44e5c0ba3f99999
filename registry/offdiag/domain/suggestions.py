"""Suggestions for names that do not exist: of datasets, models, classes and metrics."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MOST_SHOWN = 3


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A question with the known names that are similar, None if there are none."""
    near = get_close_matches(name, tuple(dict.fromkeys(known)), n=_MOST_SHOWN, cutoff=0.5)
    return f"Did you mean {' or '.join(map(repr, near))}?" if near else None


def unknown_name(
    datasets: Iterable[tuple[str, str]], *, project: str | None, dataset: str | None
) -> str | None:
    """A sentence about a project or dataset name that does not exist, None if both exist.

    `datasets` are pairs of project and name. Names with `*` are patterns, which may match nothing.
    """
    known = list(datasets)
    where = ""
    if project is not None and "*" not in project:
        projects = [each for each, _ in known]
        if project not in projects:
            return _with_suggestion(f"Project {project!r} has no datasets.", project, projects)
        known = [each for each in known if each[0] == project]
        where = f" in project {project!r}"
    names = [name for _, name in known]
    if dataset is None or "*" in dataset or dataset in names:
        return None
    return _with_suggestion(f"There is no dataset {dataset!r}{where}.", dataset, names)


def unknown_model(model: str, known: Iterable[str]) -> str | None:
    """A sentence about a model that no run has, None for a known model or a pattern."""
    names = list(known)
    if "*" in model or model in names:
        return None
    return _with_suggestion(f"No run is of model {model!r}.", model, names)


def _with_suggestion(sentence: str, name: str, known: Iterable[str]) -> str:
    meant = did_you_mean(name, known)
    return sentence if meant is None else f"{sentence} {meant}"
