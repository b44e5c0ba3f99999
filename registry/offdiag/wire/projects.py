"""Projects, and in which of them a name is looked up."""

from __future__ import annotations

from offdiag.wire.bodies import Answered, Asked

DEFAULT_PROJECT = "default"


class InProject(Asked):
    """The part of a query that says in which project a name is looked up."""

    project: str = DEFAULT_PROJECT


class Project(Answered):
    """A project that has datasets."""

    name: str
    n_datasets: int
    n_runs: int


class ProjectList(Answered):
    """Projects by name."""

    projects: list[Project]
