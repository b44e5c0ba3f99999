"""Where runs are logged to: settings and the open database, once for each process and URL."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from offdiag.services.work.perform import RetryPolicy
from offdiag.settings import Settings, load_settings
from offdiag.store.database import Database
from offdiag.store.schema import open_database


@dataclass(frozen=True, slots=True)
class Target:
    """A database that is ready to use, and the settings it was found with."""

    database: Database
    settings: Settings

    @property
    def policy(self) -> RetryPolicy:
        return RetryPolicy(max_attempts=self.settings.jobs.max_attempts)

    def page_of(self, run_id: str) -> str:
        """Address of a run in the dashboard that `offdiag serve` opens with these settings."""
        server = self.settings.server
        return f"http://{server.host}:{server.port}/runs/{run_id}"


def target(url: str | None) -> Target:
    """Connect to a registry: the given URL, else the configured one.

    An embedded database is created or upgraded on first use.
    """
    settings = load_settings()
    return Target(_opened(url or settings.database.url), settings)


@lru_cache(maxsize=8)
def _opened(url: str) -> Database:
    return open_database(url)
