"""Messages about projects, datasets and models that are asked for but do not exist."""

from __future__ import annotations

from collections.abc import Iterable

from offdiag.domain.look_alikes import did_you_mean


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
            return _asked(f"Project {project!r} has no datasets.", project, projects)
        known = [each for each in known if each[0] == project]
        where = f" in project {project!r}"
    names = [name for _, name in known]
    if dataset is None or "*" in dataset or dataset in names:
        return None
    return _asked(f"There is no dataset {dataset!r}{where}.", dataset, names)


def unknown_model(model: str, known: Iterable[str]) -> str | None:
    """A sentence about a model that no run has, None for a known model or a pattern."""
    names = list(known)
    if "*" in model or model in names:
        return None
    return _asked(f"No run is of model {model!r}.", model, names)


def _asked(sentence: str, name: str, known: Iterable[str]) -> str:
    meant = did_you_mean(name, known)
    return sentence if meant is None else f"{sentence} {meant}"
