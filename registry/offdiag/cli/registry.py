"""The registry a command works on, open while it runs."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import click

from offdiag.settings import Settings, load_settings

if TYPE_CHECKING:
    from offdiag.domain.access import Actor
    from offdiag.store.database import Database

STAYING = frozenset({"serve", "worker", "demo"})


def settings_for(url: str | None) -> Settings:
    """The settings in force, with the registry of `--url` if it was given."""
    settings = load_settings()
    if url is None:
        return settings
    database = settings.database.model_copy(update={"url": url})
    return settings.model_copy(update={"database": database})


@contextmanager
def opened(
    settings: Settings, *, synchronous: Literal["full", "normal"] = "full"
) -> Iterator[Database]:
    """The configured registry; an embedded one is created or upgraded on the way.

    What a command changes is written into the audit log, with the account that called it.
    """
    from offdiag.store.schema import open_database

    database = open_database(settings.database.url, synchronous=synchronous)
    try:
        yield database.seen_by(None, _actor())
    finally:
        database.close()


@contextmanager
def answerable() -> Iterator[None]:
    """Write into the audit log what the command changes in registries that the SDK opens."""
    from offdiag.store.audit_log import ANSWERABLE

    token = ANSWERABLE.set(_actor())
    try:
        yield
    finally:
        ANSWERABLE.reset(token)


def _actor() -> Actor | None:
    """The account that called the command; None for processes that serve others."""
    context = click.get_current_context(silent=True)
    if context is None or context.command.name in STAYING:
        return None
    from offdiag.domain.access import Actor

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
