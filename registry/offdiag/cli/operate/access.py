"""`offdiag user …` and `token …`: users, their roles and API tokens, and the audit log."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.call import Call, database_option, database_options, opened, settings_for
from offdiag.cli.options import help_text, limit_option, read_password
from offdiag.cli.output import note, print_json

if TYPE_CHECKING:
    from offdiag.store.sessions import TokenRecord
    from offdiag.store.users import UserRecord


ROLES = ("viewer", "labeler", "logger", "editor", "admin")
_project = click.option("--project", help="Project of the role.  [default: all projects]")
_role = click.option("--role", type=click.Choice(ROLES), required=True, help="Role of the user.")
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
@click.option("--email", help="E-mail address.")
@click.option("--no-password", is_flag=True, help="The user signs in with OpenID Connect.")
@_stdin
@database_options
def add(
    *,
    name: str,
    role: str,
    project: str | None,
    display_name: str | None,
    email: str | None,
    no_password: bool,
    password_stdin: bool,
    call: Call,
) -> None:
    """Add a user with a role; asks for the password."""
    from offdiag.domain.access import Grant, Role
    from offdiag.services.access.users import add_user

    if no_password and password_stdin:
        raise click.UsageError("Give --no-password or --password-stdin, not both.")
    with call.opened() as database:
        added = add_user(
            database,
            name=name,
            password=None if no_password else read_password(from_stdin=password_stdin),
            grants=(Grant(Role(role), project),),
            display_name=display_name,
            email=email,
        )
    call.print(_user_dict(added), f"{added.name} is added.")


@help_text("user list", "user list --json", see=("user add",))
@user.command(name="list")
@database_options
def list_users(call: Call) -> None:
    """List users with their roles."""
    from offdiag.cli.tables import filled_table
    from offdiag.store.users import list_users as all_users

    with call.opened() as database, database.read() as session:
        found = all_users(session)
    table = filled_table(
        ("name", "roles", "signed in", "state"),
        (
            (
                each.name,
                "; ".join(_roles(each)) or "none",
                _moment_text(each.signed_in_at),
                "disabled" if each.disabled_at else "",
            )
            for each in found
        ),
    )
    none = "There are no users. Add one: offdiag user add NAME --role admin"
    call.print({"users": [_user_dict(each) for each in found]}, table if found else none)


@help_text(
    "user role ada admin",
    "user role ada none --project fraud",
    see=("user list",),
    arguments={
        "name": "User name.",
        "role": "Role of the user; none removes it.",
    },
)
@user.command()
@click.argument("name")
@click.argument("role", type=click.Choice((*ROLES, "none")))
@_project
@database_options
def role(*, name: str, role: str, project: str | None, call: Call) -> None:
    """Set the role of a user; none removes it."""
    from offdiag.domain.access import Role
    from offdiag.services.access.users import set_role

    with call.opened() as database:
        changed = set_role(
            database, name=name, project=project, role=None if role == "none" else Role(role)
        )
    call.print(_user_dict(changed), f"{name}: {'; '.join(_roles(changed)) or 'no role'}.")


@help_text(
    "user disable ada",
    "user disable ada --undo",
    see=("user list", "token revoke"),
    arguments={"name": "User name."},
)
@user.command()
@click.argument("name")
@click.option("--undo", is_flag=True, help="Enable the user again.")
@database_options
def disable(*, name: str, undo: bool, call: Call) -> None:
    """Disable a user: sessions end, tokens stop working."""
    from offdiag.services.access.users import set_disabled

    with call.opened() as database:
        changed = set_disabled(database, name=name, disabled=not undo)
    state = "enabled" if undo else "disabled"
    call.print(_user_dict(changed), f"{name} is {state}.")


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
@limit_option("Maximum number of changes.", most=10_000)
@database_options
def audit(*, actor: str, project: str, text: str, limit: int, call: Call) -> None:
    """Show the audit log, newest first."""
    from offdiag.cli.tables import filled_table
    from offdiag.store.audit_log import AuditFilter, audit_page

    with call.opened() as database, database.read() as session:
        page = audit_page(session, AuditFilter(actor, project, text), limit=limit)
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
    table = filled_table(
        ("at (UTC)", "actor", "action", "object", "project"),
        (
            (
                f"{event.at:%Y-%m-%d %H:%M:%S}",
                f"{event.actor} ({event.actor_kind})",
                event.action,
                event.subject,
                event.project or "",
            )
            for event in page.events
        ),
    )
    call.print({"events": events}, table)
    if page.following is not None:
        note(f"There are more changes; these are the newest {limit:,}. --limit shows more.")


def _moment_text(moment: datetime | None) -> str:
    """When something was last done, to the minute."""
    return "never" if moment is None else f"{moment:%Y-%m-%d %H:%M}"


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
@click.option(
    "--role",
    type=click.Choice(ROLES),
    default="logger",
    show_default=True,
    help="Role of the token, at most that of the user.",
)
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
@database_options
def create(
    *, name: str, owner: str, role: str, project: str | None, days: int, call: Call
) -> None:
    """Create a token and print it, once."""
    from offdiag.domain.access import Grant, Role
    from offdiag.services.access.sessions import create_token

    with call.opened() as database:
        made = create_token(
            database,
            owner=owner,
            name=name,
            scope=Grant(Role(role), project),
            lifetime=timedelta(days=days) if days else None,
        )
    if call.as_json:
        print_json({**_token_dict(made.record), "token": made.secret})
        return
    note("The token is shown only once. Set it as OFFDIAG_TOKEN where a job needs it.")
    click.echo(made.secret)


@help_text("token list", "token list --json", see=("token create",))
@token.command(name="list")
@database_options
def list_tokens(call: Call) -> None:
    """List tokens, newest first."""
    from offdiag.cli.tables import filled_table
    from offdiag.store.sessions import list_tokens as all_tokens

    with call.opened() as database:
        with database.read() as session:
            found = all_tokens(session)
        now = database.clock()
    table = filled_table(
        ("number", "name", "begins with", "user", "role", "project", "last used", ""),
        (
            (
                str(each.id),
                each.name,
                each.prefix,
                each.owner,
                each.scope.role.value,
                each.scope.project or "all",
                _moment_text(each.used_at),
                "" if each.is_valid(now) else "revoked" if each.revoked_at else "expired",
            )
            for each in found
        ),
    )
    document = {"tokens": [_token_dict(each) for each in found]}
    call.print(document, table if found else "There are no tokens.")


@help_text(
    "token revoke 4",
    see=("token list",),
    arguments={"number": "Number of the token, which `offdiag token list` shows."},
)
@token.command()
@click.argument("number", type=int)
@database_options
def revoke(*, number: int, call: Call) -> None:
    """Revoke a token."""
    from offdiag.services.access.sessions import revoke_token

    with call.opened() as database:
        revoked = revoke_token(database, number)
    call.print(_token_dict(revoked), f"{revoked.prefix}… is revoked.")


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
