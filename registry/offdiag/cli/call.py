"""The call of a command: its registry, which is open while it runs, and its output."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click

from offdiag.cli.options import Function, json_option, url_option, with_options
from offdiag.cli.output import print_json, print_tables
from offdiag.errors import InvalidInput
from offdiag.extras import has_extra
from offdiag.settings import Settings, load_settings

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from offdiag.domain.access import Actor
    from offdiag.records.base import ResponseBody
    from offdiag.sdk.registry import Registry
    from offdiag.store.database import Database

Shown: TypeAlias = "str | Table | Text"
STAYING = frozenset({"serve", "worker", "demo"})
_SERVERS = ("http://", "https://")


def settings_for(url: str | None) -> Settings:
    """The current settings, with the registry of `--url` if it was given."""
    settings = load_settings()
    if url is None:
        return settings
    database = settings.database.model_copy(update={"url": url})
    return settings.model_copy(update={"database": database})


def is_server(url: str) -> bool:
    """Whether a URL is that of a server rather than a database."""
    return url.startswith(_SERVERS)


def database_url(settings: Settings) -> str:
    """The URL of the configured database. Raises `InvalidInput` if it is that of a server."""
    url = settings.database.url
    if not is_server(url):
        return url
    context = click.get_current_context(silent=True)
    command = "this command" if context is None else f"`{context.command_path}`"
    raise InvalidInput(
        f"{command} works on the database itself, and {url} is a server.",
        field="url",
        hint="Run it on the server's machine, or name the database with --url.",
    )


def _database_at(
    context: click.Context, _parameter: click.Parameter, url: str | None
) -> str | None:
    if not context.resilient_parsing:
        database_url(settings_for(url))
    return url


database_option = click.option(
    "--url",
    metavar="URL",
    is_eager=True,
    callback=_database_at,
    help="Database to use.  [default: OFFDIAG_URL, else the configured one]",
)
"""`--url` of a command that needs direct access to the database.

A server is refused while the options are read, before the command imports what opens a database:
if only the client is installed, an error would name an extra that does not help.
"""


@dataclass(frozen=True, slots=True)
class Call:
    """How a command was called: the registry of `--url`, and whether `--json` was given."""

    url: str | None
    as_json: bool

    @property
    def settings(self) -> Settings:
        """The current settings, with this registry."""
        return settings_for(self.url)

    @property
    def registry(self) -> Registry:
        """The registry of the SDK: a server or a database."""
        from offdiag.sdk.target import registry_at

        settings = self.settings
        return registry_at(settings.database.url, settings)

    def opened(self) -> AbstractContextManager[Database]:
        """The database, as returned by `opened`."""
        return opened(self.settings)

    def print(
        self,
        document: ResponseBody | Mapping[str, Any],
        shown: Shown | Iterable[Shown],
    ) -> None:
        """Print a document with `--json`, else its texts and tables for people."""
        if self.as_json:
            print_json(document if isinstance(document, Mapping) else document.plain())
            return
        for each in (
            [shown] if isinstance(shown, str) or not isinstance(shown, Iterable) else shown
        ):
            if isinstance(each, str):
                click.echo(each)
            else:
                print_tables(each)


def _with_call(command: Callable[..., None]) -> Callable[..., None]:
    @wraps(command)
    def called(*context: click.Context, url: str | None, as_json: bool, **given: Any) -> None:
        command(*context, call=Call(url, as_json), **given)

    return called


registry_options = with_options(url_option, json_option, _with_call)
"""`--url` of a database or a server, and `--json`; the command gets both as `call`."""

database_options = with_options(database_option, json_option, _with_call)
"""The same for a command that needs direct access to the database."""


def project_option(about: str) -> Callable[[Function], Function]:
    """`--project`: where a name is looked up; by default the configured project."""
    return click.option(
        "--project", callback=_project, help=f"{about}  [default: the configured one]"
    )


def _project(context: click.Context, _parameter: click.Parameter, named: str | None) -> str | None:
    if named or context.resilient_parsing:
        return named
    return settings_for(context.params.get("url")).project


@contextmanager
def opened(
    settings: Settings,
    *,
    synchronous: Literal["full", "normal"] = "full",
    may_be_away: bool = False,
) -> Iterator[Database]:
    """The configured registry; an embedded one is created or upgraded if needed.

    A note says that one was created: in another folder, a command does not find the known runs.

    `may_be_away` is that of `open_database`. Raises `InvalidInput` for a server. Changes made by
    the command are recorded in the audit log, with the account that called it.
    """
    from offdiag.cli.output import note
    from offdiag.store.schema import open_database

    database = open_database(
        database_url(settings), synchronous=synchronous, may_be_away=may_be_away
    )
    try:
        if database.is_new:
            note(
                f"A new registry was created: {database.place}. "
                "OFFDIAG_URL or --url names another."
            )
        yield database.seen_by(None, _actor())
    finally:
        database.close()


def evaluate_waiting(database: Database) -> None:
    """Evaluate the queued runs of an embedded registry, if they are few. Otherwise a note on
    stderr says how many are not evaluated.
    """
    from offdiag.cli.output import measured, note
    from offdiag.services.evaluation.pending import evaluate_few

    with measured("Evaluating runs") as on_step:
        n_left = evaluate_few(database, load_settings().jobs, on_step).n_left
    if n_left:
        are = "run is" if n_left == 1 else "runs are"
        note(f"{n_left:,} {are} not evaluated. Run: offdiag worker --until-idle")


@contextmanager
def answerable() -> Iterator[None]:
    """Record in the audit log what the command changes in registries that the SDK opens."""
    if not has_extra("local"):
        # A client opens no database, and a server identifies the caller by the token.
        yield
        return
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
        # A container may run under a user id without a name.
        return "unknown"
