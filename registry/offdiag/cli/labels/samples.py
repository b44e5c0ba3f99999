"""`offdiag samples …`: content of samples, suspect labels and label noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from offdiag.cli.call import Call, answerable, database_options, project_option, registry_options
from offdiag.cli.documents import ask
from offdiag.cli.named_columns import read_named
from offdiag.cli.options import help_text, id_column_option, limit_option
from offdiag.cli.output import busy, note
from offdiag.cli.tables import filled_table
from offdiag.domain.number_text import count, percent
from offdiag.domain.sample_content import ContentPlaces, LoggedSamples
from offdiag.domain.sentences import visible
from offdiag.domain.texts import name_segment
from offdiag.errors import InvalidInput
from offdiag.records.base import InProject, Request
from offdiag.records.datasets.label_errors import (
    MOST_SUSPECTS,
    Noise,
    NoiseQuery,
    Suspects,
    SuspectsQuery,
    noise_request,
    suspects_request,
)
from offdiag.records.datasets.sample import ContentShown, asked_content

if TYPE_CHECKING:
    from rich.table import Table

    from offdiag.inputs.files.checks import FileColumn

_project = project_option("Project of the dataset.")


@click.group()
def samples() -> None:
    """Store and show what the samples of a dataset look like.

    Content is stored once per sample and shared by all runs and label versions.
    """


@help_text(
    "samples log digits digits.csv --image file --folder images",
    "samples log tickets tickets.csv --text message",
    see=("samples show", "samples remove"),
    arguments={"file": "Identifiers and content as CSV, Parquet, JSON lines or Arrow."},
)
@samples.command()
@click.argument("dataset")
@click.argument("file", type=click.Path(path_type=Path))
@id_column_option
@click.option("--image", "image_column", metavar="COLUMN", help="Column of image paths.")
@click.option("--text", "text_column", metavar="COLUMN", help="Column of texts.")
@click.option(
    "--field", "fields", multiple=True, metavar="COLUMN", help="Column to show; may be repeated."
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder that image paths are relative to.  [default: that of FILE]",
)
@_project
@registry_options
def log(
    *,
    dataset: str,
    file: Path,
    id_column: str,
    image_column: str | None,
    text_column: str | None,
    fields: tuple[str, ...],
    folder: Path | None,
    project: str,
    call: Call,
) -> None:
    """Store images, texts and fields of the samples in FILE.

    Images are decoded and encoded again, at most 640 pixels wide. Repeating an interrupted
    command stores what is missing.
    """
    from offdiag.inputs.content.given_samples import chunked_samples, given_samples

    named = [name for name in (image_column, text_column, *fields) if name is not None]
    if not named:
        raise InvalidInput(
            "no column of content is named.",
            field="file",
            hint="Give --image, --text or --field.",
        )
    columns = read_named(file, [id_column, *named], empty_text=named, with_gaps=named)
    listed = {name: _plain(columns[name]) for name in named}
    start = folder or file.parent
    given = given_samples(
        _plain(columns[id_column]),
        images=None
        if image_column is None
        else [start / str(path) if path else None for path in listed[image_column]],
        text=None if text_column is None else [each or None for each in listed[text_column]],
        fields=[
            dict(zip(fields, row, strict=True))
            for row in zip(*(listed[name] for name in fields), strict=True)
        ]
        if fields
        else None,
    )
    total = LoggedSamples(dataset, 0, 0, 0, 0)
    with answerable(), busy(f"Storing samples of {dataset}"):
        registry = call.registry
        for chunk in chunked_samples(given):
            part = registry.log_samples(project, dataset, chunk)
            total = total.followed_by(part)
    call.print(asdict(total), _stored_lines(total))


def _stored_lines(total: LoggedSamples) -> Iterator[str]:
    yield (
        f"{total.n_added:,} {'sample' if total.n_added == 1 else 'samples'} added, "
        f"{total.n_changed:,} changed, "
        f"{total.n_unchanged:,} as before."
    )
    if total.n_waiting:
        yield f"{total.n_waiting:,} wait in the offline queue; `offdiag sync` sends them."
    if total.n_unknown:
        yield f"{total.n_unknown:,} are not samples of the newest labels of {total.dataset}."


def _plain(column: FileColumn) -> list[object]:
    """The values of a column of a file as Python objects."""
    return column if isinstance(column, list) else list(column.to_pylist())


@help_text("samples show digits", see=("samples log", "samples set"))
@samples.command()
@click.argument("dataset")
@_project
@registry_options
def show(dataset: str, project: str, call: Call) -> None:
    """Show the addresses of images and links of the samples of DATASET."""
    request = Request(
        f"/datasets/{name_segment(dataset)}/content",
        ContentShown,
        lambda at: asked_content(at, project, dataset),
        InProject(project=project),
    )
    found = ask(call, request)
    call.print(
        found,
        (
            f"Images: {visible(found.image_template or 'as stored')}",
            f"Links: {visible(found.link_template or 'none')}",
            f"Shown: {'to readers who ask for it' if found.is_hidden else 'at once'}",
        ),
    )


@help_text(
    "samples set derm --images https://images.example.org/{sample}.jpg --hidden",
    see=("samples show",),
)
@samples.command(name="set")
@click.argument("dataset")
@click.option("--images", metavar="ADDRESS", help="Address of images, with {sample} in it.")
@click.option(
    "--links", metavar="ADDRESS", help="Address that a sample links to, with {sample} in it."
)
@click.option("--hidden", is_flag=True, help="Show content only to readers who ask for it.")
@_project
@registry_options
def set_content(
    *, dataset: str, images: str | None, links: str | None, hidden: bool, project: str, call: Call
) -> None:
    """Set the addresses of images and links of the samples of DATASET.

    Hosts must be in the setting server.content_hosts. An address that you leave out is removed.
    """
    from offdiag.sdk.dataset import set_places

    places = ContentPlaces(images, links, hidden)
    with answerable():
        set_places(call.registry, project, dataset, places)
    call.print(ContentShown.made_of(places), f"Content of {visible(dataset)} is set.")


@help_text(
    "samples remove digits 17 18",
    "samples remove digits --all",
    see=("samples log",),
    arguments={"names": "Ids of samples."},
)
@samples.command()
@click.argument("dataset")
@click.argument("names", metavar="SAMPLE…", nargs=-1)
@click.option("--all", "is_all", is_flag=True, help="Remove the content of all samples.")
@_project
@database_options
def remove(
    *, dataset: str, names: tuple[str, ...], is_all: bool, project: str, call: Call
) -> None:
    """Remove the stored content of samples of DATASET; predictions and labels stay."""
    from offdiag.services.samples.content import remove_samples

    if bool(names) == is_all:
        raise InvalidInput(
            "it is not clear which samples are meant.",
            field="sample",
            hint="Name samples, or give --all.",
        )
    with call.opened() as database:
        n_removed = remove_samples(
            database, project=project, dataset=dataset, names=None if is_all else list(names)
        )
    call.print(
        {"n_removed": n_removed},
        f"Content of {n_removed:,} {'sample' if n_removed == 1 else 'samples'} removed.",
    )


@help_text(
    "samples suspects digits",
    "samples suspects derm-7 --label mel --at-least 3 --json",
    see=("truth revise", "samples show"),
)
@samples.command()
@click.argument("dataset")
@click.option("--label", metavar="CLASS", help="Only labels of this class.")
@click.option(
    "--at-least",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Only labels that at least this many models contradict.",
)
@limit_option("Maximum number of labels.")
@_project
@registry_options
def suspects(
    *, dataset: str, label: str | None, at_least: int, limit: int, project: str, call: Call
) -> None:
    """List labels of DATASET that independent models contradict, most suspect first."""
    wanted = SuspectsQuery(
        project=project, class_label=label, at_least=at_least, limit=min(limit, MOST_SUSPECTS)
    )
    found = ask(call, suspects_request(dataset, wanted))
    call.print(found, _shown_suspects(found))
    n_listed = len(found.suspects)
    if found.total > n_listed:
        way_out = (
            "--limit shows more" if n_listed < MOST_SUSPECTS else "--label lists those of one"
        )
        note(f"{found.total:,} labels match; these are the first {n_listed:,}. {way_out}.")


def _shown_suspects(found: Suspects) -> Iterator[Table | str]:
    if found.missing is not None:
        yield found.missing
        return
    yield _suspect_table(found)
    yield (
        f"{found.n_suspect:,} of {count(found.n_labelled, 'label')} "
        f"{'is' if found.n_suspect == 1 else 'are'} contradicted by most of "
        f"{count(len(found.models), 'model')}, {found.n_confident:,} also by confident learning."
    )
    if found.planted is not None:
        planted = found.planted
        yield (
            f"Of labels made wrong on purpose, {percent(planted.found)} are among the first "
            f"{planted.budget:,} (95 % of plantings: "
            f"{_range(planted.found_low, planted.found_high)})."
        )


@help_text("samples noise digits", "samples noise derm-7 --share 0.05", see=("samples suspects",))
@samples.command()
@click.argument("dataset")
@click.option(
    "--share",
    type=click.FloatRange(0, 0.5),
    default=0.03,
    show_default=True,
    help="Share of labels that may be wrong, whichever they are.",
)
@_project
@registry_options
def noise(dataset: str, share: float, project: str, call: Call) -> None:
    """Show how much wrong labels in DATASET matter: ranges of the accuracy and rank of models."""
    found = ask(call, noise_request(dataset, NoiseQuery(project=project, share=share)))
    call.print(found, _shown_noise(found))


def _shown_noise(found: Noise) -> Iterator[Table | str]:
    rows = [
        (
            visible(each.model),
            percent(each.accuracy, 1),
            "" if each.low is None else _range(each.low, each.high or 0.0, 1),
            _range(each.any_low, each.any_high, 1),
            f"{each.rank_low} to {each.rank_high}",
        )
        for each in found.models
    ]
    any_noise = f"up to {100 * found.share:g} % wrong"
    columns = ("model", "accuracy", "estimated noise", any_noise, f"rank {any_noise}")
    if rows:
        yield filled_table(columns, rows)
    if found.estimated is not None:
        estimated = percent(found.estimated, 1)
        yield f"Estimated noise: {estimated}, errors that all models make included."
    for line in (found.missing, *(pair.statement for pair in found.pairs), found.method):
        if line:
            yield visible(line)


def _range(low: float, high: float, decimals: int = 0) -> str:
    """Two shares in percent: "97.0 to 99.4 %"."""
    return f"{percent(low, decimals).removesuffix(' %')} to {percent(high, decimals)}"


def _suspect_table(found: Suspects) -> Table:
    rows = [
        (
            visible(str(each.sample)),
            visible(each.label),
            visible(each.suggested),
            f"{each.score:+.2f}",
            f"{each.against} of {len(found.models)}",
        )
        for each in found.suspects
    ]
    return filled_table(("sample", "label", "suggested", "margin", "against"), rows)
