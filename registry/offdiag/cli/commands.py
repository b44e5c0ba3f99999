"""The commands by name, each imported when it is called, and the names of earlier versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import cast

import click

from offdiag.cli.options import add_shared_options, show_no_color
from offdiag.extras import require_extra

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
        "leaders": ("decide.promote", "List the runs of DATASET that may be the best one."),
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
        "recount": ("labels.recount", "Count RUN again with corrected labels, by its query."),
        "hierarchy": ("labels.hierarchy", "Show and set the class hierarchy of a dataset."),
        "recompute": ("operate.maintenance", "Queue runs for re-evaluation by the worker."),
    },
    "Without a registry": {
        "evaluate": ("offline.evaluate", "Compute every metric of the predictions in FILE."),
        "audit": ("offline.audit", "Check published numbers for consistency."),
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
        "server": ("operate.team", "Set up a team server: settings, units, schema and admin."),
        "jobs": ("operate.jobs", "Show the job queue and retry failed jobs."),
        "user": ("operate.access", "Manage users and roles, and read the audit log."),
        "token": ("operate.access", "Create, list and revoke API tokens."),
        "link": ("operate.share_links", "List and revoke read-only links to single pages."),
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
        "completion": ("process", "Print the script that lets SHELL complete commands."),
    },
}
"""Headings of the help with their commands: the module of each, and what it does in one line.

The lines are here, so that the help imports no command.
"""
_COMMANDS = {name: entry for section in _SECTIONS.values() for name, entry in section.items()}
COMMANDS = tuple(_COMMANDS)
_FUNCTIONS = {"import": "importing"}
"""Of commands whose names are keywords of Python."""
_EXTRAS = {"serve": "server", "demo": "demo"}
"""Of commands that need another one than `local`, which would be named first."""

OLD_NAMES = {
    "flags list --badge": "flags list --hides-minority",
    "recompute --stale": "recompute --outdated",
    "report now": "report create",
}
"""Commands and options of the version before, with their new names; neither is in the help."""


def current_names(words: Iterable[str]) -> list[str]:
    """The words of a command line with names of the version before replaced by new ones."""
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


class CommandGroup(click.Group):
    """Looks a command up in the module of its name."""

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
