"""The registry a verb works on, open while it works."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import click

from offdiag.domain.access import Actor
from offdiag.settings import Settings
from offdiag.store.audit_log import ANSWERABLE
from offdiag.store.database import Database
from offdiag.store.schema import open_database

STAYING = frozenset({"serve", "worker", "demo"})


@contextmanager
def opened(
    settings: Settings, *, synchronous: Literal["full", "normal"] = "full"
) -> Iterator[Database]:
    """The configured registry; an embedded one is created or upgraded on the way.

    What a command changes is written into the audit log, with the account that called it.
    """
    database = open_database(settings.database.url, synchronous=synchronous)
    try:
        yield database.seen_by(None, _actor())
    finally:
        database.close()


@contextmanager
def answerable() -> Iterator[None]:
    """Write into the audit log what the command changes in registries that the SDK opens."""
    token = ANSWERABLE.set(_actor())
    try:
        yield
    finally:
        ANSWERABLE.reset(token)


def _actor() -> Actor | None:
    """Whoever called the command, None for processes that stay and serve others."""
    context = click.get_current_context(silent=True)
    if context is None or context.command.name in STAYING:
        return None
    arguments = [
        str(context.params[parameter.name])
        for parameter in context.command.params
        if isinstance(parameter, click.Argument)
        and parameter.name
        and context.params.get(parameter.name) is not None
    ]
    return Actor("cli", _account(), context.command_path, " ".join(arguments))


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number that has no name.
        return "unknown"
