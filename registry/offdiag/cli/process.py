"""The entry point `main`: every error becomes one line and an exit code."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from offdiag.cli.commands import offdiag
from offdiag.cli.options import help_text
from offdiag.cli.output import note, printable
from offdiag.errors import LabelNote, OffdiagError
from offdiag.extras import missing_extra

OK = 0
NEGATIVE = 1
"""The command worked and found a problem: an outdated database, a failed check."""
ERROR = 2
INTERRUPTED = 130
PIPE_CLOSED = 141

COMPLETION_VARIABLE = "_OFFDIAG_COMPLETE"
"""Set by the script that `offdiag completion` prints, while it asks for completions."""

TRACEBACK_VARIABLE = "OFFDIAG_TRACEBACK"
"""Set to anything, it lets an unexpected error show where it happened."""


def main() -> None:
    """Entry point of the console script."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    if COMPLETION_VARIABLE in os.environ:
        return _completed(arguments)
    try:
        with _notes_as_lines():
            code = offdiag.main(args=list(arguments), prog_name="offdiag", standalone_mode=False)
        sys.stdout.flush()
    except (click.ClickException, OffdiagError) as error:
        return _refused(error)
    except (BrokenPipeError, SystemExit):
        # The reader of our output closed the pipe; click and rich end the process over it, and
        # Python would report the rest of the output once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except Exception as error:
        if TRACEBACK_VARIABLE in os.environ:
            raise
        known = missing_extra(error) or _unfit(error)
        return _failed(_defect(error) if known is None else _explained(known))
    return code if isinstance(code, int) else OK


def _completed(arguments: Sequence[str]) -> int:
    """Complete a command line; an error would be printed in the middle of it."""
    try:
        offdiag.main(args=list(arguments), prog_name="offdiag", standalone_mode=False)
    except (SystemExit, Exception):  # noqa: BLE001 - the shell cannot show it
        sys.stdout.flush()
    return OK


@contextmanager
def _notes_as_lines() -> Iterator[None]:
    """Print warnings of the SDK about labels as a line, without a place in the code."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(
            message: Warning | str, category: type[Warning], *where: Any, **more: Any
        ) -> None:
            if issubclass(category, LabelNote):
                note(f"Note: {printable(str(message))}")
            else:
                shown(message, category, *where, **more)

        warnings.simplefilter("always", LabelNote)
        warnings.showwarning = show
        yield


def _refused(error: click.ClickException | OffdiagError) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message())
        return ERROR
    return _failed(_explained(error))


def _failed(message: str) -> int:
    line = " ".join(message.split())
    click.echo(f"offdiag: {printable(line)}", err=True)
    return ERROR


def _explained(error: click.ClickException | OffdiagError) -> str:
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx is not None else "offdiag"
        return f"{error.format_message()} See: {command} --help"
    return error.format_message() if isinstance(error, click.ClickException) else str(error)


def _unfit(error: Exception) -> OffdiagError | None:
    """What is wrong, if the error is that an option does not fit the request it is for."""
    if type(error).__module__ != "pydantic_core._pydantic_core":
        return None
    from pydantic import ValidationError

    from offdiag.records.base import first_problem

    return first_problem(error) if isinstance(error, ValidationError) else None


def _defect(error: Exception) -> str:
    hint = f"This is a defect; {TRACEBACK_VARIABLE}=1 shows where it is."
    return f"unexpected {type(error).__name__}: {error}. {hint}"


@help_text(
    "completion bash",
    "completion fish",
    arguments={"shell": "bash, zsh or fish."},
    no_json="it prints a script for the shell",
)
@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that lets SHELL complete commands and options.

    \b
    bash: echo 'eval "$(offdiag completion bash)"' >> ~/.bashrc
    zsh:  echo 'eval "$(offdiag completion zsh)"' >> ~/.zshrc
    fish: offdiag completion fish > ~/.config/fish/completions/offdiag.fish
    """
    from click.shell_completion import ShellComplete, get_completion_class

    completer = get_completion_class(shell)
    if completer is None:
        raise click.BadParameter(f"{shell!r} is not supported.", param_hint="SHELL")
    # The base class has the script; that of bash would first start bash to get its version.
    script = ShellComplete.source(
        completer(context.find_root().command, {}, "offdiag", COMPLETION_VARIABLE)
    )
    click.echo(script)
