"""`offdiag token …`: create, list and revoke API tokens."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import note, print_json, print_tables
from offdiag.cli.registry import opened, settings_for

if TYPE_CHECKING:
    from offdiag.store.sessions import TokenRecord

ROLES = ("viewer", "logger", "editor", "admin")


@click.group()
def token() -> None:
    """Create, list and revoke API tokens."""


@help_text(
    "token create nightly --user ada --days 30",
    see=("token list", "token revoke"),
    arguments={"name": "What the token is for."},
)
@token.command()
@click.argument("name")
@click.option("--user", "owner", required=True, help="User that the token belongs to.")
@click.option("--role", type=click.Choice(ROLES), default="logger", show_default=True)
@click.option(
    "--project", help="The only project it gives access to.  [default: all of the user's]"
)
@click.option(
    "--days",
    type=click.IntRange(0, 3_650),
    default=90,
    show_default=True,
    help="Days until it expires; 0: never.",
)
@url_option
@json_option
def create(
    *,
    name: str,
    owner: str,
    role: str,
    project: str | None,
    days: int,
    url: str | None,
    as_json: bool,
) -> None:
    """Create a token and print it, once."""
    from offdiag.domain.access import Grant, Role
    from offdiag.services.access.sessions import create_token

    with opened(settings_for(url)) as database:
        made = create_token(
            database,
            owner=owner,
            name=name,
            scope=Grant(Role(role), project),
            lifetime=timedelta(days=days) if days else None,
        )
    if as_json:
        print_json({**_plain(made.record), "token": made.secret})
        return
    note("The token is shown only once. Set it as OFFDIAG_TOKEN where a job needs it.")
    click.echo(made.secret)


@help_text("token list", "token list --json", see=("token create",))
@token.command(name="list")
@url_option
@json_option
def list_tokens(url: str | None, as_json: bool) -> None:
    """List tokens, the newest first."""
    from offdiag.cli.tables import open_table
    from offdiag.cli.text import printable
    from offdiag.store.sessions import list_tokens as all_tokens

    with opened(settings_for(url)) as database:
        with database.read() as session:
            found = all_tokens(session)
        now = database.clock()
    if as_json:
        print_json({"tokens": [_plain(each) for each in found]})
        return
    if not found:
        click.echo("There are no tokens.")
        return
    table = open_table()
    for column in ("number", "name", "begins with", "user", "role", "project", "last used", ""):
        table.add_column(column)
    for each in found:
        table.add_row(
            str(each.id),
            printable(each.name),
            each.prefix,
            printable(each.owner),
            each.scope.role.value,
            printable(each.scope.project or "all"),
            "never" if each.used_at is None else f"{each.used_at:%Y-%m-%d %H:%M}",
            "" if each.is_valid(now) else "revoked" if each.revoked_at else "expired",
        )
    print_tables(table)


@help_text(
    "token revoke 4",
    see=("token list",),
    arguments={"number": "Number of the token, which `offdiag token list` shows."},
)
@token.command()
@click.argument("number", type=int)
@url_option
@json_option
def revoke(*, number: int, url: str | None, as_json: bool) -> None:
    """Revoke a token."""
    from offdiag.services.access.sessions import revoke_token

    with opened(settings_for(url)) as database:
        revoked = revoke_token(database, number)
    if as_json:
        print_json(_plain(revoked))
    else:
        click.echo(f"{revoked.prefix}… is revoked.")


def _plain(found: TokenRecord) -> dict[str, Any]:
    return {
        "number": found.id,
        "name": found.name,
        "prefix": found.prefix,
        "user": found.owner,
        "role": found.scope.role.value,
        "project": found.scope.project,
        "created_at": found.created_at.isoformat(),
        "expires_at": found.expires_at.isoformat() if found.expires_at else None,
        "used_at": found.used_at.isoformat() if found.used_at else None,
        "revoked_at": found.revoked_at.isoformat() if found.revoked_at else None,
    }
