"""`offdiag truth …`: show ground truth, correct labels, and see the impact."""

from __future__ import annotations

from pathlib import Path

import click

from offdiag.cli.call import Call, answerable, project_option, registry_options
from offdiag.cli.documents import Server, ask, connected
from offdiag.cli.labels.truth_tables import (
    comparison_tables,
    history_table,
    impact_tables,
    ranking_metric,
    read_range,
    revision_sentence,
)
from offdiag.cli.options import help_text, id_column_option, limit_option
from offdiag.cli.output import busy
from offdiag.domain.texts import name_segment
from offdiag.records.base import InProject, Request
from offdiag.records.datasets.truth import (
    MOST_SAMPLES,
    ChangedSample,
    Difference,
    DifferenceQuery,
    Impact,
    ImpactQuery,
    TruthList,
    asked_difference,
    asked_impact,
    asked_truths,
)
from offdiag.sdk.target import current_author

_project = project_option("Project of the dataset.")


@click.group()
def truth() -> None:
    """Show ground truth, correct labels, and see the impact."""


@help_text("truth show holdout", see=("truth revise", "truth diff", "truth impact"))
@truth.command()
@click.argument("dataset")
@_project
@registry_options
def show(dataset: str, project: str, call: Call) -> None:
    """List the label versions of DATASET."""
    request = Request(
        f"/datasets/{name_segment(dataset)}/truth",
        TruthList,
        lambda at: asked_truths(at, project, dataset),
        InProject(project=project),
    )
    found = ask(call, request)
    call.print(found, history_table(found))


@help_text(
    'truth revise holdout labels.csv --reason "Second reading"',
    see=("truth show", "truth impact"),
    arguments={"file": "Identifiers and their labels as CSV, Parquet, JSON lines or Arrow."},
)
@truth.command()
@click.argument("dataset")
@click.argument("file", type=click.Path(path_type=Path))
@id_column_option
@click.option(
    "--label",
    "label_column",
    default="label",
    show_default=True,
    metavar="COLUMN",
    help="Column of the correct labels.",
)
@click.option(
    "--reason", required=True, help="Reason for the correction, stored with the new version."
)
@click.option("--version", type=int, help="Label version to correct.  [default: the active one]")
@_project
@registry_options
def revise(
    *,
    dataset: str,
    file: Path,
    id_column: str,
    label_column: str,
    reason: str,
    version: int | None,
    project: str,
    call: Call,
) -> None:
    """Correct labels: create a new label version with the labels in FILE.

    FILE is a table that `offdiag evaluate` can read. An empty cell removes a label, unless the
    empty text is one of the classes. All runs on these samples are re-evaluated.

    Sets of labels are lists, or text such as sea|sky. An empty cell removes the whole set; the
    empty set is [] in JSON lines, Parquet or Arrow, and has no form in CSV.
    """
    from offdiag.inputs.label_changes import ColumnNames
    from offdiag.sdk.registry import RevisionQuestion

    question = RevisionQuestion(
        project=project,
        dataset=dataset,
        labels=file,
        reason=reason,
        author=current_author(),
        version=version,
        names=ColumnNames(id_column, label_column),
    )
    with answerable(), busy(f"Correcting labels of {dataset}"):
        made = call.registry.revise_truth(question)
    call.print(made.to_dict(), revision_sentence(made))


@help_text(
    "truth diff holdout 1 2",
    see=("truth show", "truth impact"),
    arguments={"before": "Number of a version.", "after": "Number of a later version."},
)
@truth.command()
@click.argument("dataset")
@click.argument("before", metavar="A", type=int)
@click.argument("after", metavar="B", type=int)
@limit_option("Maximum number of lines.", least=0)
@_project
@registry_options
def diff(*, dataset: str, before: int, after: int, limit: int, project: str, call: Call) -> None:
    """Show the label changes from version A to version B."""
    wanted = DifferenceQuery.model_construct(
        project=project, before=before, after=after, limit=MOST_SAMPLES
    )
    with connected(call.url) as registry:
        if isinstance(registry, Server):
            found = _difference(registry, dataset, wanted)
        else:
            found = asked_difference(registry, dataset, wanted, limit=None)
    call.print(found, comparison_tables(found, limit=limit))


def _difference(server: Server, dataset: str, wanted: DifferenceQuery) -> Difference:
    path = f"/datasets/{name_segment(dataset)}/truth/difference"
    samples: list[ChangedSample] = []
    while True:
        asked = DifferenceQuery(**dict(wanted) | {"start": len(samples)})
        found = server.ask(path, Difference, asked)
        samples += found.samples
        if not found.samples or len(samples) >= found.n_changed:
            return found.model_copy(update={"samples": samples, "start": 0})


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
@limit_option("Maximum number of lines.", least=0)
@_project
@registry_options
def impact(
    *, dataset: str, versions: str, metric: str, limit: int, project: str, call: Call
) -> None:
    """Show how label changes from version OLD to NEW affected runs and their ranking.

    A value outside its previous 95 % CI is a significant change. The predictions are the same,
    so it is due to the labels alone.
    """
    older, newer = read_range(versions)
    metric = ranking_metric(metric)
    wanted = ImpactQuery(project=project, since=older)
    with busy(f"Comparing runs on {dataset}"):
        request = Request(
            f"/datasets/{name_segment(dataset)}/truth/{newer}/impact",
            Impact,
            lambda at: asked_impact(at, dataset, newer, wanted),
            wanted,
        )
        found = ask(call, request)
    call.print(found, impact_tables(found, metric=metric, limit=limit))
