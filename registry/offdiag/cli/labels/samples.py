"""`offdiag samples …`: what the samples of a dataset look like."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from offdiag.cli.documents import document
from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import busy, print_json, print_tables, printable
from offdiag.cli.registry import answerable, database_option, opened, settings_for
from offdiag.cli.tables import filled_table
from offdiag.domain.sample_content import ContentPlaces, LoggedSamples
from offdiag.domain.texts import name_segment
from offdiag.errors import InvalidInput
from offdiag.records.base import InProject
from offdiag.records.datasets.label_errors import (
    MOST_SUSPECTS,
    Noise,
    NoiseQuery,
    Suspects,
    SuspectsQuery,
    noise_document,
    suspects_document,
)
from offdiag.records.datasets.sample import ContentShown, content_document
from offdiag.sdk.target import registry_at

if TYPE_CHECKING:
    from rich.table import Table

    from offdiag.store.database import Database

_project = click.option("--project", help="Project of the dataset.  [default: the configured one]")


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
@click.option("--id", "id_column", default="id", show_default=True, metavar="COLUMN")
@click.option("--image", "image_column", metavar="COLUMN", help="Column of paths of images.")
@click.option("--text", "text_column", metavar="COLUMN", help="Column of texts.")
@click.option("--field", "fields", multiple=True, metavar="COLUMN", help="Column to show; repeat.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder that paths of images start at.  [default: that of FILE]",
)
@_project
@url_option
@json_option
def log(
    *,
    dataset: str,
    file: Path,
    id_column: str,
    image_column: str | None,
    text_column: str | None,
    fields: tuple[str, ...],
    folder: Path | None,
    project: str | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Store images, texts and fields of the samples in FILE.

    Images are decoded and encoded again, at most 640 pixels wide. Repeating an interrupted
    command stores what is missing.
    """
    from offdiag.inputs.content.given_samples import chunked_samples, given_samples
    from offdiag.inputs.files import read_columns

    named = [name for name in (image_column, text_column, *fields) if name is not None]
    if not named:
        raise InvalidInput(
            "no column of content is named.",
            field="file",
            hint="Give --image, --text or --field.",
        )
    columns = read_columns(file, [id_column, *named], empty_text=named, with_gaps=named)
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
    settings = settings_for(url)
    total = LoggedSamples(dataset, 0, 0, 0, 0)
    with answerable(), busy(f"Storing samples of {dataset}"):
        registry = registry_at(settings.database.url, settings)
        for chunk in chunked_samples(given):
            part = registry.log_samples(project or settings.project, dataset, chunk)
            total = total.followed_by(part)
    if as_json:
        print_json(asdict(total))
        return
    click.echo(
        f"{total.n_added:,} samples added, {total.n_changed:,} changed, "
        f"{total.n_unchanged:,} as before."
    )
    if total.n_waiting:
        click.echo(f"{total.n_waiting:,} wait in the offline queue; `offdiag sync` sends them.")
    if total.n_unknown:
        click.echo(f"{total.n_unknown:,} are no samples of the newest labels of {dataset}.")


def _plain(column: object) -> list[object]:
    """A column of a file as Python values."""
    for method in ("to_pylist", "tolist"):
        if hasattr(column, method):
            values: list[object] = getattr(column, method)()
            return values
    raise TypeError(type(column))


@help_text("samples show digits", see=("samples log", "samples set"))
@samples.command()
@click.argument("dataset")
@_project
@url_option
@json_option
def show(dataset: str, project: str | None, url: str | None, as_json: bool) -> None:
    """Show where the content of the samples of DATASET lies."""
    where = project or settings_for(url).project

    def stored(database: Database) -> ContentShown:
        from offdiag.services.samples.content import browse_content

        found = browse_content(database, project=where, dataset=dataset)
        return content_document(found.places)

    found = document(
        url,
        f"/datasets/{name_segment(dataset)}/content",
        ContentShown,
        query=InProject(project=where),
        stored=stored,
    )
    if as_json:
        print_json(found.plain())
        return
    click.echo(f"Images: {printable(found.image_template or 'as stored')}")
    click.echo(f"Links: {printable(found.link_template or 'none')}")
    click.echo(f"Shown: {'to readers who ask for it' if found.is_hidden else 'at once'}")


@help_text(
    "samples set derm --images https://images.example.org/{sample}.jpg --hidden",
    see=("samples show",),
)
@samples.command(name="set")
@click.argument("dataset")
@click.option("--images", metavar="ADDRESS", help="Address of images, with {sample} in it.")
@click.option("--links", metavar="ADDRESS", help="Address a sample links to, with {sample} in it.")
@click.option("--hidden", is_flag=True, help="Show content only to readers who ask for it.")
@_project
@url_option
@json_option
def set_places(
    *,
    dataset: str,
    images: str | None,
    links: str | None,
    hidden: bool,
    project: str | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Set where images and links of the samples of DATASET lie.

    Hosts are those of the setting server.content_hosts. What is left out is removed.
    """
    settings = settings_for(url)
    places = ContentPlaces(images, links, hidden)
    with answerable():
        registry = registry_at(settings.database.url, settings)
        registry.show_samples(project or settings.project, dataset, places)
    if as_json:
        print_json(content_document(places).plain())
    else:
        click.echo(f"Content of {printable(dataset)} is set.")


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
@database_option
@json_option
def remove(
    *,
    dataset: str,
    names: tuple[str, ...],
    is_all: bool,
    project: str | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Remove what is stored of some samples of DATASET; predictions and labels stay."""
    from offdiag.services.samples.log import remove_samples

    if bool(names) == is_all:
        raise InvalidInput(
            "it is not clear which samples are meant.",
            field="sample",
            hint="Name samples, or give --all.",
        )
    settings = settings_for(url)
    with opened(settings) as database:
        n_removed = remove_samples(
            database,
            project=project or settings.project,
            dataset=dataset,
            names=None if is_all else list(names),
        )
    if as_json:
        print_json({"n_removed": n_removed})
    else:
        click.echo(f"Content of {n_removed:,} samples removed.")


@help_text(
    "samples suspects digits",
    "samples suspects derm-7 --label mel --at-least 3 --json",
    see=("truth revise", "samples show"),
)
@samples.command()
@click.argument("dataset")
@click.option("--label", metavar="CLASS", help="Only labels of this class.")
@click.option("--at-least", type=click.IntRange(1), default=1, show_default=True, metavar="N")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@_project
@url_option
@json_option
def suspects(
    *,
    dataset: str,
    label: str | None,
    at_least: int,
    limit: int,
    project: str | None,
    url: str | None,
    as_json: bool,
) -> None:
    """List labels of DATASET that independent models contradict, most suspect first."""
    where = project or settings_for(url).project
    wanted = SuspectsQuery(
        project=where, class_label=label, at_least=at_least, limit=min(limit, MOST_SUSPECTS)
    )

    def stored(database: Database) -> Suspects:
        from offdiag.services.samples.suspects import suspect_labels

        return suspects_document(
            suspect_labels(database, project=where, dataset=dataset, question=wanted.question())
        )

    path = f"/datasets/{name_segment(dataset)}/suspects"
    found = document(url, path, Suspects, query=wanted, stored=stored)
    if as_json:
        print_json(found.plain())
        return
    if found.missing is not None:
        click.echo(found.missing)
        return
    print_tables(_suspect_table(found))
    click.echo(
        f"{found.n_suspect:,} of {found.n_labelled:,} labels are contradicted by most of "
        f"{len(found.models)} models, {found.n_confident:,} also by confident learning."
    )
    if found.planted is not None:
        planted = found.planted
        click.echo(
            f"Of labels made wrong on purpose, {planted.found:.0%} are among the first "
            f"{planted.budget:,} (95 % of plantings: {planted.found_low:.0%} to "
            f"{planted.found_high:.0%})."
        )


@help_text("samples noise digits", "samples noise derm-7 --share 0.05", see=("samples suspects",))
@samples.command()
@click.argument("dataset")
@click.option(
    "--share",
    type=click.FloatRange(0, 0.5),
    default=0.03,
    show_default=True,
    help="Share of labels that may be wrong, whichever.",
)
@_project
@url_option
@json_option
def noise(dataset: str, share: float, project: str | None, url: str | None, as_json: bool) -> None:
    """Show how much wrong labels of DATASET matter: accuracy and order of models as ranges."""
    where = project or settings_for(url).project

    def stored(database: Database) -> Noise:
        from offdiag.services.samples.noise import label_noise

        return noise_document(label_noise(database, project=where, dataset=dataset, share=share))

    path = f"/datasets/{name_segment(dataset)}/noise"
    query = NoiseQuery(project=where, share=share)
    found = document(url, path, Noise, query=query, stored=stored)
    if as_json:
        print_json(found.plain())
        return
    rows = [
        (
            printable(each.model),
            f"{each.accuracy:.1%}",
            "" if each.low is None else f"{each.low:.1%} to {each.high:.1%}",
            f"{each.any_low:.1%} to {each.any_high:.1%}",
            f"{each.rank_low} to {each.rank_high}",
        )
        for each in found.models
    ]
    any_noise = f"up to {share:.1%} wrong"
    columns = ("model", "accuracy", "estimated noise", any_noise, f"rank {any_noise}")
    if rows:
        print_tables(filled_table(columns, rows))
    if found.estimated is not None:
        wrong = found.estimated
        click.echo(
            f"Estimated noise: {wrong.share:.1%} (CI {wrong.ci_low:.1%} to {wrong.ci_high:.1%})."
        )
    for line in (found.missing, *(pair.statement for pair in found.pairs), found.method):
        if line:
            click.echo(printable(line))


def _suspect_table(found: Suspects) -> Table:
    rows = [
        (
            printable(str(each.sample)),
            printable(each.label),
            printable(each.suggested),
            f"{each.score:+.2f}",
            f"{each.against} of {len(found.models)}",
        )
        for each in found.suspects
    ]
    return filled_table(("sample", "label", "suggested", "margin", "against"), rows)
