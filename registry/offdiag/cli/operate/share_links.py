"""`offdiag link …`: read-only links to single pages, listed and revoked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.options import help_text, json_option
from offdiag.cli.output import print_json, print_tables
from offdiag.cli.registry import database_option, opened, settings_for

if TYPE_CHECKING:
    from offdiag.store.share_links import ShareLink


@click.group()
def link() -> None:
    """List and revoke read-only links to single pages."""


@help_text("link list", "link list --json", see=("link revoke",))
@link.command(name="list")
@database_option
@json_option
def list_links(url: str | None, as_json: bool) -> None:
    """List the share links of all users, the newest first.

    Editors create them on the page that they show.
    """
    from offdiag.cli.output import printable
    from offdiag.cli.tables import open_table
    from offdiag.store.share_links import list_share_links

    with opened(settings_for(url)) as database:
        with database.read() as session:
            found = list_share_links(session)
        now = database.clock()
    if as_json:
        print_json({"links": [_link_dict(each) for each in found]})
        return
    if not found:
        click.echo("There are no share links.")
        return
    table = open_table()
    for column in ("number", "page", "user", "expires", "last opened", ""):
        table.add_column(column)
    for each in found:
        table.add_row(
            str(each.id),
            printable(each.address),
            printable(each.owner),
            f"{each.expires_at:%Y-%m-%d %H:%M}",
            "never" if each.used_at is None else f"{each.used_at:%Y-%m-%d %H:%M}",
            "" if each.is_valid(now) else "revoked" if each.revoked_at else "expired",
        )
    print_tables(table)


@help_text(
    "link revoke 4",
    see=("link list",),
    arguments={"number": "Number of the link, which `offdiag link list` shows."},
)
@link.command()
@click.argument("number", type=int)
@database_option
@json_option
def revoke(*, number: int, url: str | None, as_json: bool) -> None:
    """Revoke a share link: it shows nothing from then on."""
    from offdiag.services.access.share_links import revoke_share_link

    with opened(settings_for(url)) as database:
        revoked = revoke_share_link(database, number)
    if as_json:
        print_json(_link_dict(revoked))
    else:
        click.echo(f"Link {revoked.id} is revoked.")


def _link_dict(found: ShareLink) -> dict[str, Any]:
    return {
        "number": found.id,
        "page": found.address,
        "user": found.owner,
        "created_at": found.created_at.isoformat(),
        "expires_at": found.expires_at.isoformat(),
        "used_at": found.used_at.isoformat() if found.used_at else None,
        "revoked_at": found.revoked_at.isoformat() if found.revoked_at else None,
    }
