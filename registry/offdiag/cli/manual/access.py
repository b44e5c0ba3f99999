"""Entries of commands about users and tokens."""

from __future__ import annotations

from offdiag.cli.manual.entry import Entry

_USER = {"name": "Name the user signs in with."}

ENTRIES = {
    "user add": Entry(
        examples=("user add ada --role editor", "user add ada --role viewer --project fraud"),
        see=("user role", "token create"),
        arguments=_USER,
    ),
    "user list": Entry(examples=("user list", "user list --json"), see=("user add",)),
    "user role": Entry(
        examples=("user role ada admin", "user role ada none --project fraud"),
        see=("user list",),
        arguments={**_USER, "role": "viewer, logger, editor or admin; none takes it away."},
    ),
    "user password": Entry(
        examples=("user password ada",),
        see=("user disable",),
        arguments=_USER,
        no_json="it asks for a password and prints none",
    ),
    "user disable": Entry(
        examples=("user disable ada", "user disable ada --undo"),
        see=("user list", "token revoke"),
        arguments=_USER,
    ),
    "user audit": Entry(
        examples=("user audit --actor ada --limit 20", "user audit --json"), see=("user list",)
    ),
    "token create": Entry(
        examples=("token create nightly --user ada --days 30",),
        see=("token list", "token revoke"),
        arguments={"name": "What the token is for."},
    ),
    "token list": Entry(examples=("token list", "token list --json"), see=("token create",)),
    "token revoke": Entry(
        examples=("token revoke 4",),
        see=("token list",),
        arguments={"number": "Number of the token, which `offdiag token list` shows."},
    ),
}
