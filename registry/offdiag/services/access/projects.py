"""Which projects a thing belongs to, for whoever decides whether somebody may have it."""

from __future__ import annotations

from offdiag.store import project_access
from offdiag.store.database import Database

Projects = frozenset[str]
"""Names of projects; empty where there is no such thing."""


def all_projects(database: Database) -> list[str]:
    """All projects that whoever asks may see, by name."""
    with database.read() as session:
        return project_access.project_names(session)


def projects_of_run(database: Database, run_id: str) -> Projects:
    """The project of a run."""
    with database.read() as session:
        return project_access.project_of_run(session, run_id)


def projects_of_flag(database: Database, flag_id: int) -> Projects:
    """The project of the run that a flag is about."""
    with database.read() as session:
        return project_access.project_of_flag(session, flag_id)


def projects_with_dataset(database: Database, name: str) -> Projects:
    """The projects that have a dataset of a name."""
    with database.read() as session:
        return project_access.projects_with_dataset(session, name)


def projects_with_costs(database: Database, name: str) -> Projects:
    """The projects that have a cost matrix of a name."""
    with database.read() as session:
        return project_access.projects_with_costs(session, name)


def projects_with_report(database: Database, name: str) -> Projects:
    """The projects that have a report of a name."""
    with database.read() as session:
        return project_access.projects_with_report(session, name)
