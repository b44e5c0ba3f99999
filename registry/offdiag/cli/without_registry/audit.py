"""`offdiag audit`: check published numbers, from a file, options or both, for consistency."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text

from offdiag.audit.findings import AuditReport, AuditVerdict
from offdiag.audit.table_text.interpretation import Reading
from offdiag.cli.options import given_twice, help_text, json_option, labels_option, parse_labels
from offdiag.cli.output import busy, label, print_json, print_tables
from offdiag.cli.tables import filled_table, open_table
from offdiag.domain.sentences import known_names, visible
from offdiag.errors import InvalidInput

if TYPE_CHECKING:
    from offdiag.audit.table_text.interpretation import Corrections


@help_text(
    "audit table.txt",
    "audit - --class-counts ill=40,well=160 --json",
    see=("evaluate", "import sklearn"),
    arguments={"file": "Text of a table, or - for stdin."},
    no="a number is not consistent",
)
@click.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True), required=False)
@click.option(
    "--reported",
    multiple=True,
    metavar="NAME=VALUE",
    help="A number as printed: accuracy=93.0%, recall[ill]=0.80. May be repeated.",
)
@click.option(
    "--class-counts",
    metavar="CLASS=N,…",
    help="Examples of each class, or just the numbers in the order of --labels.",
)
@click.option(
    "--matrix",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A printed confusion matrix; its orientation is inferred where possible.",
)
@labels_option
@click.option("--positive", metavar="CLASS", help="Class of the numbers that do not name one.")
@click.option(
    "--read",
    "readings",
    multiple=True,
    metavar="HEADER=MEANING",
    help="Meaning of a header of the table: 'Error=average_error_rate', 'Ours=@ours', "
    "'row 3=[ill]', 'AUC=-'. May be repeated.",
)
@click.option(
    "--unit",
    type=click.Choice(["percent", "fraction"]),
    help="Unit of the numbers of a table that have no percent sign.",
)
@json_option
def audit(
    *,
    file: Path | None,
    reported: tuple[str, ...],
    class_counts: str | None,
    matrix: Path | None,
    labels: str | None,
    positive: str | None,
    readings: tuple[str, ...],
    unit: str | None,
    as_json: bool,
) -> None:
    """Check published numbers: consistent, impossible, another definition, or transposed.

    FILE, or stdin for -, is a table copied from a paper, a page or a terminal, with its headers
    and optionally a confusion matrix and class counts. It may also be a JSON object with the
    members reported, class_counts, matrix, labels and positive_label; options add to it. Without
    FILE, the numbers come from --reported. No registry is used.
    """
    source = None if file is None else read_source(file)
    if source is not None and not source.is_json:
        _audit_text(
            source.text(),
            class_counts=class_counts,
            labels=labels,
            positive=positive,
            readings=readings,
            unit=unit,
            unfit=[
                name for name, given in (("--reported", reported), ("--matrix", matrix)) if given
            ],
            as_json=as_json,
        )
        return
    if source is None and not reported:
        raise InvalidInput(
            "no number was reported.",
            field="reported",
            hint="Name a FILE with a table, or give --reported accuracy=0.93.",
        )
    if readings or unit:
        option = "read" if readings else "unit"
        raise InvalidInput(
            "there is no table text.", field=option, hint=f"Give --{option} with a text as FILE."
        )
    _audit_numbers(
        source,
        reported=reported,
        class_counts=class_counts,
        matrix=matrix,
        labels=labels,
        positive=positive,
        as_json=as_json,
    )


def _audit_numbers(
    source: Source | None,
    *,
    reported: tuple[str, ...],
    class_counts: str | None,
    matrix: Path | None,
    labels: str | None,
    positive: str | None,
    as_json: bool,
) -> None:
    from offdiag.sdk.evaluations.audit import audit_reported

    given = AuditInput({}) if source is None else read_audit_object(source)
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
        print_tables(_table(report, title=None))
    _end(report.verdict.value)


def _audit_text(
    text: str,
    *,
    class_counts: str | None,
    labels: str | None,
    positive: str | None,
    readings: tuple[str, ...],
    unit: str | None,
    unfit: list[str],
    as_json: bool,
) -> None:
    from offdiag.audit.table_text.audit import audit_record, audit_table_text

    if unfit:
        raise InvalidInput(
            f"{unfit[0]} cannot be used with a table text.",
            field="file",
            hint="Put the number or the matrix into the text.",
        )
    corrections = parse_corrections(
        readings=readings,
        class_counts=class_counts,
        labels=labels,
        positive=positive,
        unit=unit,
    )
    with busy("Auditing"):
        found = audit_table_text(text, corrections)
    if as_json:
        print_json(audit_record(found))
    else:
        print_tables(
            _reading_table(found.reading),
            *(_table(each.report, title=each.model or None) for each in found.models),
        )
    _end(found.verdict.value)


def _end(verdict: str) -> None:
    if verdict != "consistent":
        click.get_current_context().exit(1)


def _matrix(file: Path) -> dict[str, Any]:
    """The counts and labels of a file; its orientation is inferred later."""
    from offdiag.inputs.files.matrix import read_matrix

    found = read_matrix(file)
    named = {} if found.labels is None else {"labels": found.labels}
    return {"matrix": found.matrix, **named}


MOST_NUMBERS_SHOWN = 6
"""Numbers shown next to a header, to recognise its column."""


def _table(report: AuditReport, *, title: str | None) -> Table:
    """The verdict on each number with its reason, and on the table as a whole."""
    return filled_table(
        ("number", "reported", "verdict", "reason"),
        (
            (
                finding.claim.place_name(report.labels),
                finding.claim.printed.text,
                Text(
                    finding.verdict.value.replace("_", " "),
                    style="" if finding.verdict is AuditVerdict.CONSISTENT else "bold",
                ),
                finding.why,
            )
            for finding in report.findings
        ),
        title=title,
        caption=" ".join(_conclusions(report)),
    )


def _reading_table(reading: Reading) -> Table:
    """Headers with their meaning, and notes."""
    table = open_table(
        title="How the text was read; correct it with --read 'HEADER=MEANING'",
        caption=visible(" ".join(_facts(reading))) or None,
    )
    for name in ("header", "meaning", "numbers"):
        table.add_column(name)
    for head in reading.heads:
        numbers = list(head.numbers[:MOST_NUMBERS_SHOWN])
        if len(numbers) < len(head.numbers):
            numbers.append("…")
        table.add_row(
            Text(label(head.head)),
            Text(visible(head.meaning), style="bold" if head.is_corrected else ""),
            Text(visible("  ".join(numbers))),
        )
    return table


def _facts(reading: Reading) -> list[str]:
    lines = []
    if reading.classes is not None:
        lines.append(f"Classes: {reading.classes.written()}.")
    if reading.matrix is not None:
        lines.append(f"A matrix of {len(reading.matrix.labels)} classes was found.")
    lines += reading.remarks
    if reading.unread:
        lines.append(f"Not read: {'; '.join(f'line {n}: {text}' for n, text in reading.unread)}.")
    return lines


def _conclusions(report: AuditReport) -> list[str]:
    lines = [report.headline]
    if report.reading:
        lines.append(f"Read as: {report.reading}.")
    if report.matrix is not None:
        lines.append(f"The matrix: {report.matrix.why}.")
    if report.tables is not None and report.tables.is_complete:
        lines.append(f"Matrices of whole numbers that fit: {report.tables.count}.")
    return lines


_MEMBERS = ("reported", "class_counts", "matrix", "labels", "positive_label")


@dataclass(frozen=True, slots=True)
class AuditInput:
    """The arguments of `audit_reported` that were given."""

    reported: Mapping[str, object]
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """The content of a file or of stdin, and its name in messages."""

    content: bytes
    name: str

    @property
    def is_json(self) -> bool:
        """Whether it is a JSON object; anything else is the text of a table."""
        return self.name.endswith(".json") or self.content.lstrip().startswith(b"{")

    def text(self) -> str:
        """The content as text. Raises `InvalidInput` if it is not UTF-8."""
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidInput(
                f"{self.name} is not text in UTF-8.",
                field="file",
                hint="Save it as UTF-8, or paste it: offdiag audit -",
            ) from None


def read_source(path: Path) -> Source:
    """The content of a file, of stdin for "-". Raises `InvalidInput` if it cannot be read."""
    from offdiag.inputs.files.checks import unreadable

    if str(path) == "-":
        return Source(sys.stdin.buffer.read(), "stdin")
    try:
        return Source(path.read_bytes(), path.name)
    except OSError as error:
        raise unreadable(path, error) from None


def read_audit_object(source: Source) -> AuditInput:
    """Read a JSON object with the arguments of `audit_reported`. Raises `InvalidInput`.

    Numbers with decimals remain text, so that 0.6030 keeps its trailing zero.
    """
    from offdiag.inputs.files.json_files import read_json

    content = read_json(source.content, source.name, decimal=str)
    if not isinstance(content, dict) or not isinstance(content.get("reported"), dict):
        raise InvalidInput(
            f"{source.name} has no member 'reported' with the published numbers.",
            field="file",
            hint='Write {"reported": {"accuracy": 0.93, "recall": {"ill": 0.8}}, …}.',
        )
    unknown = next((name for name in content if name not in _MEMBERS), None)
    if unknown is not None:
        raise InvalidInput(
            f"{source.name} has a member {unknown!r}.",
            field="file",
            hint=known_names("members", _MEMBERS),
        )
    arguments = {name: value for name, value in content.items() if name != "reported"}
    return AuditInput(content["reported"], arguments)


def parse_reported(pairs: Sequence[str]) -> dict[str, object]:
    """The numbers in `name=value` and `name[class]=value`, as they were printed.

    Raises `InvalidInput` for other texts, and for a number that is given twice.
    """
    alone: dict[str, str] = {}
    by_class: dict[str, dict[str, str]] = {}
    for pair in pairs:
        name, separator, value = pair.rpartition("=")
        metric, bracket, label = name.strip().partition("[")
        if not separator or not metric or (bracket and not label.endswith("]")):
            raise InvalidInput(
                f"{pair!r} is not a number with a name.",
                field="reported",
                hint="Write accuracy=0.93, or recall[ill]=0.80 for one class.",
            )
        target = by_class.setdefault(metric, {}) if bracket else alone
        key = label.removesuffix("]") if bracket else metric
        if key in target or (metric in alone and metric in by_class):
            raise InvalidInput(
                f"{name.strip()!r} is given twice.",
                field="reported",
                hint="Give each number once.",
            )
        target[key] = value.strip()
    return {**alone, **by_class}


def parse_corrections(
    *,
    readings: Sequence[str],
    class_counts: str | None,
    labels: str | None,
    positive: str | None,
    unit: str | None,
) -> Corrections:
    """The corrections of a table text from the options. Raises `InvalidInput`."""
    heads: dict[str, str] = {}
    for pair in readings:
        head, separator, meaning = pair.rpartition("=")
        if not separator or not head.strip():
            raise InvalidInput(
                f"{pair!r} gives no meaning to a header.",
                field="read",
                hint="Write 'Error=average_error_rate', 'row 3=[ill]' or 'AUC=-'.",
            )
        if head.strip() in heads:
            raise given_twice(head.strip(), "read")
        heads[head.strip()] = meaning
    counts, names = parse_counts(class_counts), parse_labels(labels)
    if names is not None and isinstance(counts, list) and len(counts) == len(names):
        counts = dict(zip(names, counts, strict=True))
    if isinstance(counts, dict):
        classes = "; ".join(f"{name} {count}" for name, count in counts.items())
    else:
        classes = "; ".join(names or [str(count) for count in counts or ()])
    from offdiag.audit.table_text.interpretation import Corrections

    return Corrections(
        heads=heads,
        classes=classes,
        positive=positive or "",
        is_percent=None if unit is None else unit == "percent",
    )


def parse_counts(text: str | None) -> dict[str, int] | list[int] | None:
    """The counts in `ill=100,well=200`, or `100,200` in label order. Raises `InvalidInput`."""
    if text is None:
        return None
    entries = [entry.rpartition("=") for entry in next(csv.reader([text]))]
    numbers = [_whole(number, text) for _, _, number in entries]
    if not any(separator for _, separator, _ in entries):
        return numbers
    labels = [label for label, separator, _ in entries if separator]
    if len(set(labels)) != len(entries):
        raise InvalidInput(
            f"{text!r} does not name each class once.",
            field="class_counts",
            hint="Write ill=100,well=200, or 100,200 in the order of --labels.",
        )
    return dict(zip(labels, numbers, strict=True))


def _whole(number: str, text: str) -> int:
    if not number.strip().isdecimal():
        raise InvalidInput(
            f"{text!r} has {number!r} instead of a number of examples.",
            field="class_counts",
            hint="Write ill=100,well=200, or 100,200 in the order of --labels.",
        )
    return int(number)
