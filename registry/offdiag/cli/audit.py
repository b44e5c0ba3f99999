"""`offdiag audit`: can these published numbers be true?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from offdiag.cli.options import json_option, parse_labels
from offdiag.cli.output import busy, print_json


@click.command(epilog="Exit codes: 0 nothing contradicts the numbers, 1 something does, 2 error.")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--reported",
    multiple=True,
    metavar="NAME=VALUE",
    help="A number as it was printed: accuracy=93.0%, recall[ill]=0.80. May be repeated.",
)
@click.option(
    "--class-counts",
    metavar="CLASS=N,…",
    help="Actual cases of each class, or just the numbers in the order of --labels.",
)
@click.option(
    "--matrix",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A printed confusion matrix; what its rows are is found out if anything tells.",
)
@click.option("--labels", metavar="A,B,…", help="Class names in their order.")
@click.option("--positive", metavar="CLASS", help="The class that numbers without one are about.")
@json_option
def audit(
    *,
    file: Path | None,
    reported: tuple[str, ...],
    class_counts: str | None,
    matrix: Path | None,
    labels: str | None,
    positive: str | None,
    as_json: bool,
) -> None:
    """Check published numbers: consistent, impossible, of another definition, or transposed.

    The numbers come from --reported, or from FILE, a JSON object with the members reported,
    class_counts, matrix, labels and positive_label; options win over the file. No registry is
    used.
    """
    from offdiag.cli.audit_input import AuditInput, parse_counts, parse_reported, read_audit_file
    from offdiag.cli.audit_table import print_audit
    from offdiag.sdk.audit import audit_reported

    given = AuditInput({}) if file is None else read_audit_file(file)
    stated = {} if matrix is None else _matrix(matrix)
    options = {
        "class_counts": parse_counts(class_counts),
        "labels": parse_labels(labels),
        "positive_label": positive,
    }
    stated |= {name: value for name, value in options.items() if value is not None}
    arguments = {**given.arguments, **stated}
    with busy("Auditing"):
        report = audit_reported(
            reported={**given.reported, **parse_reported(reported)}, **arguments
        )
    if as_json:
        print_json(report.to_dict())
    else:
        print_audit(report)
    if report.verdict.value != "consistent":
        click.get_current_context().exit(1)


def _matrix(file: Path) -> dict[str, Any]:
    """The counts and labels of a file; what it says of its orientation is to be found out."""
    from offdiag.arrays.files import read_matrix

    found = read_matrix(file)
    named = {} if found.labels is None else {"labels": found.labels}
    return {"matrix": found.matrix, **named}
