"""`offdiag truth …`: show ground truth, correct labels, and see the impact."""

from __future__ import annotations

from pathlib import Path

import click

from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import busy, print_json, print_tables
from offdiag.cli.registry import opened, settings_for

_project = click.option("--project", help="Project of the dataset.  [default: the configured one]")


@click.group()
def truth() -> None:
    """Show ground truth, correct labels, and see the impact."""


@help_text("truth show holdout", see=("truth revise", "truth diff", "truth impact"))
@truth.command()
@click.argument("dataset")
@_project
@url_option
@json_option
def show(dataset: str, project: str | None, url: str | None, as_json: bool) -> None:
    """List the label versions of DATASET."""
    from offdiag.cli.truth_tables import history_table
    from offdiag.records.truth import truth_list
    from offdiag.services.truth.versions import truth_history

    settings = settings_for(url)
    with opened(settings) as database:
        history = truth_history(database, project=project or settings.project, dataset=dataset)
    if as_json:
        print_json(truth_list(history).plain())
    else:
        print_tables(history_table(history))


@help_text(
    'truth revise holdout labels.csv --reason "Second reading"',
    see=("truth show", "truth impact"),
    arguments={"file": "Identifiers and their labels as CSV, Parquet, JSON lines or Arrow."},
)
@truth.command()
@click.argument("dataset")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--id", "id_column", default="id", show_default=True, metavar="COLUMN")
@click.option("--label", "label_column", default="label", show_default=True, metavar="COLUMN")
@click.option(
    "--reason", required=True, help="Reason of the correction, stored with the new version."
)
@click.option("--version", type=int, help="Label version to correct.  [default: the active one]")
@_project
@url_option
@json_option
def revise(
    *,
    dataset: str,
    file: Path,
    id_column: str,
    label_column: str,
    reason: str,
    version: int | None,
    project: str | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Correct labels: make a new label version with the labels in FILE.

    FILE is a table as `offdiag evaluate` reads it. An empty cell removes a label, unless
    the empty text is one of the classes. All runs on these samples are re-evaluated.
    """
    from offdiag.cli.truth_tables import revision_sentence
    from offdiag.inputs.label_changes import ColumnNames
    from offdiag.sdk import provenance
    from offdiag.services.truth.revise import revise_truth, summary_of

    settings = settings_for(url)
    with opened(settings) as database, busy(f"Correcting labels of {dataset}"):
        made = revise_truth(
            database,
            project=project or settings.project,
            dataset=dataset,
            labels=file,
            reason=reason,
            author=provenance.author(),
            version=version,
            names=ColumnNames(id_column, label_column),
        )
    summary = summary_of(dataset, made)
    if as_json:
        print_json(summary.to_dict())
    else:
        click.echo(revision_sentence(summary))


@help_text(
    "truth diff holdout 1 2",
    see=("truth show", "truth impact"),
    arguments={"before": "Number of a version.", "after": "Number of a later version."},
)
@truth.command()
@click.argument("dataset")
@click.argument("before", metavar="A", type=int)
@click.argument("after", metavar="B", type=int)
@click.option("--limit", type=click.IntRange(0), default=50, show_default=True)
@_project
@url_option
@json_option
def diff(
    *,
    dataset: str,
    before: int,
    after: int,
    limit: int,
    project: str | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Show the label changes from version A to version B."""
    from offdiag.cli.truth_tables import comparison_tables
    from offdiag.records.truth import difference_document
    from offdiag.services.truth.versions import compare_truths

    settings = settings_for(url)
    where = project or settings.project
    with opened(settings) as database:
        compared = compare_truths(
            database,
            project=where,
            dataset=dataset,
            before=before,
            after=after,
        )
    if as_json:
        print_json(difference_document(compared, project=where, dataset=dataset).plain())
    else:
        print_tables(*comparison_tables(compared, limit=limit))


@help_text(
    "truth impact holdout 1..2",
    see=("truth diff", "runs history"),
    arguments={"versions": "Two versions, the older one first."},
)
@truth.command()
@click.argument("dataset")
@click.argument("versions", metavar="OLD..NEW")
@click.option(
    "--metric", default="balanced_accuracy", show_default=True, help="Metric to rank runs by."
)
@click.option("--limit", type=click.IntRange(0), default=50, show_default=True)
@_project
@url_option
@json_option
def impact(
    *,
    dataset: str,
    versions: str,
    metric: str,
    limit: int,
    project: str | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Show how label changes from version OLD to NEW affected runs and their ranking.

    A value outside its previous 95 % CI is a significant change. The predictions are the same,
    so it is due to the labels alone.
    """
    from offdiag.cli.truth_tables import (
        impact_tables,
        ranking_metric,
        read_range,
    )
    from offdiag.records.truth import impact_document
    from offdiag.services.truth.impact import truth_impact

    older, newer = read_range(versions)
    metric = ranking_metric(metric)
    settings = settings_for(url)
    with opened(settings) as database, busy(f"Comparing runs on {dataset}"):
        found = truth_impact(
            database,
            project=project or settings.project,
            dataset=dataset,
            number=newer,
            since=older,
        )
    if as_json:
        print_json(impact_document(found).plain())
    else:
        print_tables(*impact_tables(found, metric=metric, limit=limit))
