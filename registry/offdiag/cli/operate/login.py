"""`offdiag login`, `logout` and `whoami`: store and check the user's token for a server."""

from __future__ import annotations

import sys

import click

from offdiag.cli.call import Call, is_server, registry_options
from offdiag.cli.documents import Server
from offdiag.cli.options import help_text
from offdiag.errors import InvalidInput
from offdiag.records.access import Me
from offdiag.sdk.remote.connection import Connection, server_address
from offdiag.settings.tokens import remove_token, store_token, tokens_file


def _server_url(text: str) -> str:
    if not is_server(text):
        raise InvalidInput(
            f"{text!r} is not an address of a server.",
            field="url",
            hint="Write it as https://registry.example.org.",
        )
    return server_address(text)


@help_text(
    "login https://registry.example.org",
    "login https://registry.example.org --token-stdin",
    see=("logout", "whoami", "token create"),
    arguments={"url": "Address of the server."},
    no_json="it reads a token and prints none",
)
@click.command()
@click.argument("url", metavar="URL")
@click.option("--token-stdin", is_flag=True, help="Read the token from standard input.")
def login(url: str, token_stdin: bool) -> None:
    """Store a token for the server at URL, after checking it.

    The token is created on the page Tokens of the server, or with `offdiag token create`. Only
    your account can read the stored token. OFFDIAG_TOKEN takes precedence over it.
    """
    address = _server_url(url)
    token = (
        sys.stdin.readline().strip()
        if token_stdin
        else str(click.prompt("Token", hide_input=True, err=True)).strip()
    )
    if not token:
        raise InvalidInput("no token is given.", field="token", hint="Paste it, or pipe it in.")
    found = Server(Connection(address, token)).ask("/me", Me)
    file = store_token(address, token)
    click.echo(f"You are {found.with_roles} at {address}; the token is in {file}.")


@help_text(
    "logout https://registry.example.org",
    see=("login",),
    arguments={"url": "Address of the server."},
    no_json="it prints one sentence",
)
@click.command()
@click.argument("url", metavar="URL")
def logout(url: str) -> None:
    """Remove the stored token of the server at URL.

    The token stays valid; `offdiag token revoke` or the page Tokens revokes it.
    """
    address = _server_url(url)
    if remove_token(address):
        click.echo(f"The token for {address} is removed from {tokens_file()}.")
    else:
        click.echo(f"No token is stored for {address}.")


@help_text("whoami", "whoami --url https://registry.example.org --json", see=("login",))
@click.command()
@registry_options
def whoami(call: Call) -> None:
    """Show who you are on a server, and with which roles."""
    settings = call.settings
    address = _server_url(settings.database.url)
    found = Server(Connection.of(address, settings)).ask("/me", Me)
    call.print(
        {**found.plain(), "url": address},
        f"You are {found.with_roles} at {address}, offdiag {found.version}.",
    )
