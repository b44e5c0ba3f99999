"""Finding what a reader wants to go to by a few letters."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.store.database import Database
from offdiag.store.search import FoundName, find_datasets, find_models, find_runs

OF_EACH_KIND = 8


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found of each kind, at most eight of each."""

    runs: tuple[FoundName, ...] = ()
    datasets: tuple[FoundName, ...] = ()
    models: tuple[FoundName, ...] = ()


def find(database: Database, text: str) -> Findings:
    """Runs, datasets and models whose name holds the text; without text the newest runs."""
    with database.read() as session:
        return Findings(
            tuple(find_runs(session, text, limit=OF_EACH_KIND)),
            tuple(find_datasets(session, text, limit=OF_EACH_KIND)),
            tuple(find_models(session, text, limit=OF_EACH_KIND)),
        )
