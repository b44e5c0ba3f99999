"""`offdiag draft …`: labels that several people propose, and their publication."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TextIO

import click
from rich.table import Table

from offdiag.cli.call import Call, answerable, project_option, registry_options
from offdiag.cli.documents import ask
from offdiag.cli.labels.truth_tables import revision_sentence
from offdiag.cli.options import given_twice, help_text, limit_option, url_option
from offdiag.cli.tables import filled_table
from offdiag.domain.number_text import number
from offdiag.domain.sentences import visible
from offdiag.domain.texts import name_segment
from offdiag.errors import InvalidInput
from offdiag.inputs.content.label_tasks import CANNOT_BE_TOLD
from offdiag.records.base import InProject, Request
from offdiag.records.datasets.dataset import Dataset, asked_dataset
from offdiag.records.datasets.draft import Draft
from offdiag.sdk.samples.labels import LabelDraft
from offdiag.sdk.target import current_author

LEAVE_OUT = "-"
_TOOL = click.Choice(["label-studio", "argilla"])
_project = project_option("Project of the dataset.")
_reason = click.option(
    "--reason", required=True, help="Reason, stored with the new label version."
)


def _draft(dataset: str, project: str, call: Call, author: str | None = None) -> LabelDraft:
    return LabelDraft(call.registry, project, dataset, author or current_author())


@click.group()
def draft() -> None:
    """Propose labels with several people, and publish them as a label version."""


@help_text("draft show digits", see=("draft answer", "draft publish", "samples suspects"))
@draft.command()
@click.argument("dataset")
@_project
@registry_options
def show(dataset: str, project: str, call: Call) -> None:
    """Show the answers on DATASET and how well people agree.

    What one other person alone said of an example is hidden, so that your answer is independent.
    """
    with answerable():
        found = _draft(dataset, project, call).read()
    call.print(found, _shown(found))


def _stored(n: int) -> str:
    return f"{n:,} {'answer' if n == 1 else 'answers'} stored."


def _shown(found: Draft) -> Iterator[Table | str]:
    columns = ("sample", "label", "status", "outcome", "answers")
    rows = [
        (
            visible(str(each.sample)),
            "" if each.label is None else visible(each.label),
            each.status,
            "" if each.status == "disagree" or not each.answers else visible(_said(each.outcome)),
            visible(", ".join(f"{said.author}: {_said(said.label)}" for said in each.answers)),
        )
        for each in found.samples
    ]
    yield filled_table(columns, rows)
    yield f"{found.n_changes:,} of {len(found.samples):,} labels would change."
    for pair in found.agreement:
        kappa = pair.kappa.measured()
        text = kappa.undefined_text if kappa.value is None else number(kappa.value, decimals=2)
        names = " and ".join(visible(person) for person in pair.people)
        yield f"{names} agree on {pair.n_same:,} of {pair.n:,}; Cohen's kappa {text}."


def _said(label: str | None) -> str:
    return CANNOT_BE_TOLD if label is None else label


@help_text(
    "draft answer digits 17=3 21=-",
    'draft answer digits 17=8 --decide --note "Third reading"',
    see=("draft show", "draft publish"),
    arguments={"answers": "Samples with their labels; - if the label cannot be determined."},
)
@draft.command()
@click.argument("dataset")
@click.argument("answers", metavar="SAMPLE=LABEL…", nargs=-1, required=True)
@click.option(
    "--decide", "is_final", is_flag=True, help="Decide samples on which people disagree."
)
@click.option("--note", help="Reason for the labels.")
@click.option("--author", help="Author of the answers.  [default: the user of this machine]")
@_project
@registry_options
def answer(
    *,
    dataset: str,
    answers: tuple[str, ...],
    is_final: bool,
    note: str | None,
    author: str | None,
    project: str,
    call: Call,
) -> None:
    """Propose labels for samples of DATASET, or decide on them."""
    labels = {}
    for each in answers:
        sample, equals, label = each.rpartition("=")
        if not equals:
            raise InvalidInput(
                f"{each!r} names no label.", field="answers", hint="Write SAMPLE=LABEL."
            )
        if sample in labels:
            raise given_twice(sample, "answers")
        labels[sample] = None if label == LEAVE_OUT else label
    if None in labels.values():
        _require_other_classes(dataset, project, call)
    with answerable():
        found = _draft(dataset, project, call, author)
        n = (found.decide if is_final else found.propose)(labels, note=note)
    call.print({"n_answers": n}, _stored(n))


def _require_other_classes(dataset: str, project: str, call: Call) -> None:
    """Raise `InvalidInput` if an answer could mean either a class or that the label is unknown."""
    request = Request(
        f"/datasets/{name_segment(dataset)}",
        Dataset,
        lambda at: asked_dataset(at, project, dataset),
        InProject(project=project),
    )
    found = ask(call, request)
    if LEAVE_OUT in found.labels.names:
        raise InvalidInput(
            f"{LEAVE_OUT!r} is a class of this dataset, and says that a label cannot be told.",
            field="answers",
            hint="In Python the two differ: offdiag.label_draft(dataset=…).propose({sample: "
            f"{LEAVE_OUT!r}}}) or {{sample: None}}.",
        )


@help_text(
    'draft publish digits --reason "Second reading" --opinions 2',
    see=("draft show", "truth impact", "draft undo"),
)
@draft.command()
@click.argument("dataset")
@_reason
@click.option(
    "--opinions",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="Number of people who have to agree.",
)
@_project
@registry_options
def publish(
    *, dataset: str, reason: str, opinions: Literal[1, 2], project: str, call: Call
) -> None:
    """Create a label version from the samples of DATASET whose answers agree.

    All runs on these samples are re-evaluated. The other samples stay in the draft.
    """
    with answerable():
        made = _draft(dataset, project, call).publish(reason=reason, opinions=opinions)
    call.print(made.to_dict(), revision_sentence(made))


@help_text(
    'draft undo digits 2 --reason "Wrong file"',
    see=("draft publish", "truth diff"),
    arguments={"version": "Number of the label version to undo."},
)
@draft.command()
@click.argument("dataset")
@click.argument("version", type=int)
@_reason
@_project
@registry_options
def undo(*, dataset: str, version: int, reason: str, project: str, call: Call) -> None:
    """Revert the label changes of VERSION of DATASET in a new version."""
    with answerable():
        made = _draft(dataset, project, call).undo(version, reason=reason)
    call.print(made.to_dict(), revision_sentence(made))


@help_text(
    "draft export digits tasks.json",
    "draft export digits records.json --tool argilla",
    see=("draft import", "samples suspects"),
    arguments={"file": "File to write; - for standard output."},
    no_json="it writes JSON",
)
@draft.command(name="export")
@click.argument("dataset")
@click.argument("file", type=click.File("w", encoding="utf-8"))
@click.option(
    "--tool",
    type=_TOOL,
    default="label-studio",
    show_default=True,
    help="Annotation tool that reads the file.",
)
@limit_option("Maximum number of tasks.", default=200)
@_project
@url_option
def export_tasks(
    *,
    dataset: str,
    file: TextIO,
    tool: Literal["label-studio", "argilla"],
    limit: int,
    project: str,
    url: str | None,
) -> None:
    """Write the draft and suspect labels of DATASET as tasks of an annotation tool."""
    with answerable():
        tasks = _draft(dataset, project, Call(url, as_json=True)).tasks(tool, limit=limit)
    json.dump(tasks, file, ensure_ascii=False, indent=1)


@help_text(
    "draft import digits export.json",
    see=("draft export", "draft show"),
    arguments={"file": "JSON exported from Label Studio, or written by Argilla."},
)
@draft.command(name="import")
@click.argument("dataset")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@_project
@registry_options
def import_tasks(dataset: str, file: Path, project: str, call: Call) -> None:
    """Add the answers in FILE to the draft of DATASET, each under its author's name."""
    try:
        tasks = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidInput(
            f"{file.name} is not JSON ({error}).", field="file", hint="Export JSON."
        ) from None
    with answerable():
        n = _draft(dataset, project, call).import_answers(tasks)
    call.print({"n_answers": n}, _stored(n))
