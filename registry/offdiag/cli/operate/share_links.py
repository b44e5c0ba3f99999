"""`offdiag link …`: read-only links to single pages, listed and revoked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.call import Call, database_options
from offdiag.cli.operate.access import moment_text
from offdiag.cli.options import help_text

if TYPE_CHECKING:
    from offdiag.store.share_links import ShareLink


@click.group()
def link() -> None:
    """List and revoke read-only links to single pages."""


@help_text("link list", "link list --json", see=("link revoke",))
@link.command(name="list")
@database_options
def list_links(call: Call) -> None:
    """List the share links of all users, newest first.

    Editors create a link on the page that it shows.
    """
    from offdiag.cli.tables import filled_table
    from offdiag.store.share_links import list_share_links

    with call.opened() as database:
        with database.read() as session:
            found = list_share_links(session)
        now = database.clock()
    table = filled_table(
        ("number", "page", "user", "expires", "last opened", ""),
        (
            (
                str(each.id),
                each.address,
                each.owner,
                moment_text(each.expires_at),
                moment_text(each.used_at),
                "" if each.is_valid(now) else "revoked" if each.revoked_at else "expired",
            )
            for each in found
        ),
    )
    document = {"links": [_link_dict(each) for each in found]}
    call.print(document, table if found else "There are no share links.")


@help_text(
    "link revoke 4",
    see=("link list",),
    arguments={"number": "Number of the link, which `offdiag link list` shows."},
)
@link.command()
@click.argument("number", type=int)
@database_options
def revoke(*, number: int, call: Call) -> None:
    """Revoke a share link, which then shows nothing."""
    from offdiag.services.access.share_links import revoke_share_link

    with call.opened() as database:
        revoked = revoke_share_link(database, number)
    call.print(_link_dict(revoked), f"Link {revoked.id} is revoked.")


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
