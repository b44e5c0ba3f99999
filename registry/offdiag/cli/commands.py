"""The entry point `main` of the command line, and all commands by name.

A command is imported when it is called. Every error becomes one line and an exit code. Old names
of the previous version are still accepted.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from errno import ENAMETOOLONG, ENOSPC
from importlib import import_module
from io import TextIOWrapper
from typing import Any, cast

import click

from offdiag.cli.options import LoadingGroup, add_shared_options, help_text, show_no_color
from offdiag.cli.output import is_unicode, note
from offdiag.domain.sentences import visible
from offdiag.errors import InvalidInput, LabelNote, OffdiagError, RunKept
from offdiag.extras import missing_extra, require_extra

_SECTIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Log": {
        "log": ("log.log", "Log the predictions or the confusion matrix in FILE as a run."),
        "import": ("log.transfer", "Import results of another tool, or a project."),
        "watch": ("log.log", "Log every file of predictions in FOLDER, until Ctrl-C."),
        "sync": ("log.log", "Send the runs in the offline queue, each exactly once."),
    },
    "Read and compare": {
        "runs": ("read.runs", "Show, compare, delete and restore runs."),
        "compare": ("read.compare", "Compare runs of one dataset, example by example."),
        "leaders": ("read.leaders", "List the runs of DATASET that may be the best one."),
        "methods": ("read.methods", "Compare methods: runs that differ by seed or fold."),
        "cost": ("read.cost", "Manage cost matrices, and compare runs by cost."),
        "report": ("read.report", "Create and show reports: what changed significantly."),
        "schedule": ("read.schedule", "Create reports at scheduled times."),
        "sql": ("read.sql", "Run a read-only SQL QUERY over the registry."),
    },
    "Decide": {
        "problems": ("decide.problems", "List problems: flags grouped over the runs of a model."),
        "flags": ("decide.flags", "List and triage the flags of runs."),
        "gate": ("decide.gate", "Check RUN, or a file, against conditions."),
        "propose": ("decide.promote", "Make RUN the candidate of its dataset."),
        "approve": ("decide.promote", "Make RUN the champion of its dataset."),
    },
    "Ground truth": {
        "samples": ("labels.samples", "Store and show what the samples of a dataset look like."),
        "draft": ("labels.draft", "Propose labels with several people, and publish them."),
        "truth": ("labels.truth", "Show ground truth, correct labels, and see the impact."),
        "recount": ("labels.recount", "Repeat the counting query of RUN with corrected labels."),
        "hierarchy": ("labels.hierarchy", "Show and set the class hierarchy of a dataset."),
        "recompute": ("labels.recompute", "Queue runs for re-evaluation by the worker."),
    },
    "Without a registry": {
        "evaluate": (
            "without_registry.evaluate",
            "Compute every metric of the predictions in FILE.",
        ),
        "audit": ("without_registry.audit", "Check published numbers for consistency."),
    },
    "Use a server": {
        "login": ("operate.login", "Store a token for the server at URL."),
        "logout": ("operate.login", "Remove the stored token of the server at URL."),
        "whoami": ("operate.login", "Show who you are on a server, and with which roles."),
    },
    "Run a registry": {
        "demo": ("operate.demo", "Train models on real data and serve their dashboard."),
        "serve": ("operate.serve", "Serve the dashboard, with worker and scheduler."),
        "worker": ("operate.serve", "Run a worker that evaluates logged runs, until Ctrl-C."),
        "server": ("operate.server", "Set up a team server: settings, units, schema and admin."),
        "jobs": ("operate.jobs", "Show the job queue and retry failed jobs."),
        "user": ("operate.access", "Manage users and roles, and read the audit log."),
        "token": ("operate.access", "Create, list and revoke API tokens."),
    },
    "Maintain": {
        "doctor": ("operate.doctor", "Check installation, settings, database and job queue."),
        "db": ("operate.db", "Upgrade, check, back up, restore and copy the database."),
        "export": ("log.transfer", "Export PROJECT to a file for `offdiag import archive`."),
        "verify": (
            "operate.maintenance",
            "Recompute results and compare them with the stored ones.",
        ),
        "gc": ("operate.maintenance", "Delete old data permanently."),
        "completion": ("commands", "Print the script that lets SHELL complete commands."),
    },
}
"""Sections of the help with their commands: the module of each, and a one-line description.

The descriptions are here, so that the help does not import the commands.
"""
_COMMANDS = {name: entry for section in _SECTIONS.values() for name, entry in section.items()}
COMMANDS = tuple(_COMMANDS)
_FUNCTIONS = {"import": "importing"}
"""Functions of commands whose names are keywords of Python."""
_EXTRAS = {"serve": "server", "demo": "demo"}
"""Extras of commands that need more than `local`, which would otherwise be named first."""

OLD_NAMES = {
    "flags list --badge": "flags list --hides-minority",
    "recompute --stale": "recompute --outdated",
    "report now": "report create",
}
"""Old names of commands and options with their new names; the old ones are not in the help."""


def current_names(words: Iterable[str]) -> list[str]:
    """The words of a command line with old names replaced by new ones."""
    words = list(words)
    start = next((at for at, word in enumerate(words) if word != "--no-color"), len(words))
    for old, new in OLD_NAMES.items():
        *path, name = old.split()
        if words[start : start + len(path)] != path:
            continue
        is_option = name.startswith("--")
        for at in range(start + len(path), len(words)):
            if words[at] == name:
                words[at] = new.split()[-1]
            if not is_option or words[at] == "--":
                break
    return words


class CommandGroup(LoadingGroup):
    """Loads a command from the module of its name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, current_names(args))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in COMMANDS:
            return None
        if name in _EXTRAS:
            require_extra(_EXTRAS[name])
        module, _ = _COMMANDS[name]
        function = _FUNCTIONS.get(name, name)
        command = cast(click.Command, getattr(import_module(f"offdiag.cli.{module}"), function))
        add_shared_options(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        widest = max(map(len, COMMANDS))
        for heading, section in _SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(name.ljust(widest), line) for name, (_, line) in section.items()]
                )


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 99},
    epilog="Exit codes: 0 done, 1 failed check, 2 error, 130 interrupted.\n\n"
    "`offdiag COMMAND --help` has examples; `offdiag completion --help` sets up shell completion.",
)
@click.version_option(package_name="offdiag", message="%(prog)s %(version)s")
def offdiag() -> None:
    """Evaluation registry for classifiers."""


show_no_color(offdiag)


OK = 0
NEGATIVE = 1
"""The command worked but found a problem: an outdated database, a failed check."""
ERROR = 2
INTERRUPTED = 130
PIPE_CLOSED = 141

COMPLETION_VARIABLE = "_OFFDIAG_COMPLETE"
"""Set by the script of `offdiag completion` when it requests completions."""

TRACEBACK_VARIABLE = "OFFDIAG_TRACEBACK"
"""If set to any value, an unexpected error prints its traceback."""


def main() -> None:
    """Entry point of the console script."""
    # A user who closes an output, as with `>&-`, does not want what it would print.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and not is_unicode(stream):
            # A name that the terminal cannot show is no reason to show nothing.
            stream.reconfigure(errors="backslashreplace")
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
        # The reader of our output closed the pipe; click and rich end the process because of that,
        # and Python would report the rest of the output again.
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
    """Complete a command line silently, because an error would be printed in the middle of it."""
    try:
        offdiag.main(args=list(arguments), prog_name="offdiag", standalone_mode=False)
    except (SystemExit, Exception):  # noqa: BLE001 - the shell cannot show it
        sys.stdout.flush()
    return OK


@contextmanager
def _notes_as_lines() -> Iterator[None]:
    """Print warnings of the SDK as one line, without a location in the code."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(
            message: Warning | str, category: type[Warning], *where: Any, **more: Any
        ) -> None:
            if issubclass(category, (LabelNote, RunKept)):
                note(f"Note: {visible(str(message))}")
            else:
                shown(message, category, *where, **more)

        warnings.simplefilter("always", LabelNote)
        warnings.simplefilter("always", RunKept)
        warnings.showwarning = show
        yield


def _refused(error: click.ClickException | OffdiagError) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message())
        return ERROR
    return _failed(_explained(error))


def _failed(message: str) -> int:
    line = " ".join(message.split())
    note(f"offdiag: {visible(line)}")
    return ERROR


def _explained(error: click.ClickException | OffdiagError) -> str:
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx is not None else "offdiag"
        message = error.format_message()
        end = "" if message.endswith((".", "?", "!", ")")) else "."
        return f"{message}{end} See: {command} --help"
    return error.format_message() if isinstance(error, click.ClickException) else str(error)


def _unfit(error: Exception) -> OffdiagError | None:
    """The error, if an option does not fit its request, is too long a path, or a disk is full."""
    if isinstance(error, OSError) and error.errno == ENOSPC:
        return InvalidInput(
            "the disk is full.", field="output", hint="Make room, or write elsewhere."
        )
    if isinstance(error, OSError) and error.errno == ENAMETOOLONG:
        return InvalidInput(
            f"{str(error.filename)!r} is longer than a path may be.",
            field="path",
            hint="Use shorter names.",
        )
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
    # Take the script of the base class; the one for bash would first start bash to get its
    # version.
    script = ShellComplete.source(
        completer(context.find_root().command, {}, "offdiag", COMPLETION_VARIABLE)
    )
    click.echo(script)
