"""`offdiag user …` and `token …`: users, their roles and API tokens, and the audit log."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.options import help_text, json_option
from offdiag.cli.output import note, print_json, print_tables
from offdiag.cli.registry import database_option, opened, settings_for

if TYPE_CHECKING:
    from offdiag.store.sessions import TokenRecord
    from offdiag.store.users import UserRecord


ROLES = ("viewer", "logger", "editor", "admin")
_project = click.option("--project", help="Project of the role.  [default: all projects]")
_role = click.option("--role", type=click.Choice(ROLES), required=True)
_stdin = click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input."
)


@click.group()
def user() -> None:
    """Manage users and roles, and read the audit log."""


@help_text(
    "user add ada --role editor",
    "user add ada --role viewer --project fraud",
    see=("user role", "token create"),
    arguments={"name": "User name."},
)
@user.command()
@click.argument("name")
@_role
@_project
@click.option("--display-name", help="Full name.")
@click.option("--email", help="Address.")
@click.option("--no-password", is_flag=True, help="The user signs in with OpenID Connect.")
@_stdin
@database_option
@json_option
def add(
    *,
    name: str,
    role: str,
    project: str | None,
    display_name: str | None,
    email: str | None,
    no_password: bool,
    password_stdin: bool,
    url: str | None,
    as_json: bool,
) -> None:
    """Add a user with a role; asks for the password."""
    from offdiag.domain.access import Grant, Role
    from offdiag.services.access.users import add_user

    if no_password and password_stdin:
        raise click.UsageError("Give --no-password or --password-stdin, not both.")
    with opened(settings_for(url)) as database:
        added = add_user(
            database,
            name=name,
            password=None if no_password else read_password(from_stdin=password_stdin),
            grants=(Grant(Role(role), project),),
            display_name=display_name,
            email=email,
        )
    _say(added, f"{added.name} is added.", as_json=as_json)


@help_text("user list", "user list --json", see=("user add",))
@user.command(name="list")
@database_option
@json_option
def list_users(url: str | None, as_json: bool) -> None:
    """List users with their roles."""
    from offdiag.cli.output import printable
    from offdiag.cli.tables import open_table
    from offdiag.store.users import list_users as all_users

    with opened(settings_for(url)) as database, database.read() as session:
        found = all_users(session)
    if as_json:
        print_json({"users": [_user_dict(each) for each in found]})
        return
    if not found:
        click.echo("There are no users. Add one: offdiag user add NAME --role admin")
        return
    table = open_table()
    for column in ("name", "roles", "signed in", "state"):
        table.add_column(column)
    for each in found:
        signed_in = "never" if each.signed_in_at is None else f"{each.signed_in_at:%Y-%m-%d %H:%M}"
        table.add_row(
            printable(each.name),
            printable("; ".join(_roles(each)) or "none"),
            signed_in,
            "disabled" if each.disabled_at else "",
        )
    print_tables(table)


@help_text(
    "user role ada admin",
    "user role ada none --project fraud",
    see=("user list",),
    arguments={
        "name": "User name.",
        "role": "viewer, logger, editor or admin; none removes it.",
    },
)
@user.command()
@click.argument("name")
@click.argument("role", type=click.Choice((*ROLES, "none")))
@_project
@database_option
@json_option
def role(*, name: str, role: str, project: str | None, url: str | None, as_json: bool) -> None:
    """Set the role of a user; none removes it."""
    from offdiag.domain.access import Role
    from offdiag.services.access.users import set_role

    with opened(settings_for(url)) as database:
        changed = set_role(
            database, name=name, project=project, role=None if role == "none" else Role(role)
        )
    _say(changed, f"{name}: {'; '.join(_roles(changed)) or 'no role'}.", as_json=as_json)


@help_text(
    "user disable ada",
    "user disable ada --undo",
    see=("user list", "token revoke"),
    arguments={"name": "User name."},
)
@user.command()
@click.argument("name")
@click.option("--undo", is_flag=True, help="Enable the user again.")
@database_option
@json_option
def disable(*, name: str, undo: bool, url: str | None, as_json: bool) -> None:
    """Disable a user: sessions end, tokens stop working."""
    from offdiag.services.access.users import set_disabled

    with opened(settings_for(url)) as database:
        changed = set_disabled(database, name=name, disabled=not undo)
    state = "enabled" if undo else "disabled"
    _say(changed, f"{name} is {state}.", as_json=as_json)


@help_text(
    "user password ada",
    see=("user disable",),
    arguments={"name": "User name."},
    no_json="it reads a password and prints none",
)
@user.command()
@click.argument("name")
@_stdin
@database_option
def password(*, name: str, password_stdin: bool, url: str | None) -> None:
    """Replace a password; all sessions of the user end."""
    from offdiag.services.access.users import find_user, set_password

    with opened(settings_for(url)) as database:
        find_user(database, name)
        set_password(database, name=name, password=read_password(from_stdin=password_stdin))
    click.echo(f"The password of {name} is replaced.")


@help_text("user audit --actor ada --limit 20", "user audit --json", see=("user list",))
@user.command()
@click.option("--actor", default="", help="Only changes by this user, token or account.")
@click.option("--project", default="", help="Only changes in this project.")
@click.option("--text", default="", help="Only changes whose action or object contains this text.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@database_option
@json_option
def audit(
    *, actor: str, project: str, text: str, limit: int, url: str | None, as_json: bool
) -> None:
    """Show the audit log, newest first."""
    from offdiag.cli.output import printable
    from offdiag.cli.tables import open_table
    from offdiag.store.audit_log import AuditFilter, audit_page

    with opened(settings_for(url)) as database, database.read() as session:
        page = audit_page(session, AuditFilter(actor, project, text), limit=limit)
    if as_json:
        events = [
            {
                "number": event.id,
                "at": event.at.isoformat(),
                "actor_kind": event.actor_kind,
                "actor": event.actor,
                "action": event.action,
                "object": event.subject,
                "project": event.project,
                "request_id": event.request_id,
                "detail": dict(event.detail),
            }
            for event in page.events
        ]
        print_json({"events": events})
        return
    table = open_table()
    for column in ("at (UTC)", "actor", "action", "object", "project"):
        table.add_column(column)
    for event in page.events:
        table.add_row(
            f"{event.at:%Y-%m-%d %H:%M:%S}",
            printable(f"{event.actor} ({event.actor_kind})"),
            printable(event.action),
            printable(event.subject),
            printable(event.project or ""),
        )
    print_tables(table)


def read_password(*, from_stdin: bool) -> str:
    """A password that is in no argument, where every user of the machine could read it."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    text: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return text


def _say(changed: UserRecord, sentence: str, *, as_json: bool) -> None:
    if as_json:
        print_json(_user_dict(changed))
    else:
        click.echo(sentence)


def _roles(found: UserRecord) -> list[str]:
    return [
        grant.role.value if grant.project is None else f"{grant.role.value} in {grant.project}"
        for grant in found.grants
    ]


def _user_dict(found: UserRecord) -> dict[str, Any]:
    return {
        "name": found.name,
        "display_name": found.display_name,
        "email": found.email,
        "disabled": found.disabled_at is not None,
        "signed_in_at": found.signed_in_at.isoformat() if found.signed_in_at else None,
        "roles": [{"role": grant.role.value, "project": grant.project} for grant in found.grants],
    }


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
@database_option
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
        print_json({**_token_dict(made.record), "token": made.secret})
        return
    note("The token is shown only once. Set it as OFFDIAG_TOKEN where a job needs it.")
    click.echo(made.secret)


@help_text("token list", "token list --json", see=("token create",))
@token.command(name="list")
@database_option
@json_option
def list_tokens(url: str | None, as_json: bool) -> None:
    """List tokens, the newest first."""
    from offdiag.cli.output import printable
    from offdiag.cli.tables import open_table
    from offdiag.store.sessions import list_tokens as all_tokens

    with opened(settings_for(url)) as database:
        with database.read() as session:
            found = all_tokens(session)
        now = database.clock()
    if as_json:
        print_json({"tokens": [_token_dict(each) for each in found]})
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
@database_option
@json_option
def revoke(*, number: int, url: str | None, as_json: bool) -> None:
    """Revoke a token."""
    from offdiag.services.access.sessions import revoke_token

    with opened(settings_for(url)) as database:
        revoked = revoke_token(database, number)
    if as_json:
        print_json(_token_dict(revoked))
    else:
        click.echo(f"{revoked.prefix}… is revoked.")


def _token_dict(found: TokenRecord) -> dict[str, Any]:
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
