"""The input of `offdiag audit`: a file, options, or both."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from offdiag.cli.options import parse_labels
from offdiag.errors import InvalidInput

if TYPE_CHECKING:
    from offdiag.audit.table_text.interpretation import Corrections

_MEMBERS = ("reported", "class_counts", "matrix", "labels", "positive_label")


@dataclass(frozen=True, slots=True)
class AuditInput:
    """The arguments of `audit_reported`, as far as they were given."""

    reported: Mapping[str, object]
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """The content of a file or of stdin, and what messages call it."""

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
                f"{self.name} is no text in UTF-8.",
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
    """A JSON object with the arguments of `audit_reported`. Raises `InvalidInput`.

    Numbers with decimals stay text, so that 0.6030 keeps the zero it was printed with.
    """
    from offdiag.inputs.files.json_files import read_json

    content = read_json(source.content, source.name, decimals_as_text=True)
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
            hint=f"Known are {', '.join(_MEMBERS)}.",
        )
    arguments = {name: value for name, value in content.items() if name != "reported"}
    return AuditInput(content["reported"], arguments)


def parse_reported(pairs: Sequence[str]) -> dict[str, object]:
    """`name=value` and `name[class]=value`, the values as they were printed.

    Raises `InvalidInput` for what is no such pair, and for a number that is given twice.
    """
    alone: dict[str, str] = {}
    by_class: dict[str, dict[str, str]] = {}
    for pair in pairs:
        name, separator, value = pair.rpartition("=")
        metric, bracket, label = name.strip().partition("[")
        if not separator or not metric or (bracket and not label.endswith("]")):
            raise InvalidInput(
                f"{pair!r} is no number with a name.",
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
) -> Corrections:
    """What the options say about a table text. Raises `InvalidInput`."""
    heads: dict[str, str] = {}
    for pair in readings:
        head, separator, meaning = pair.rpartition("=")
        if not separator or not head.strip():
            raise InvalidInput(
                f"{pair!r} gives no meaning to a header.",
                field="read",
                hint="Write 'Error=average_error_rate', 'row 3=[ill]' or 'AUC=-'.",
            )
        heads[head.strip()] = meaning
    counts, names = parse_counts(class_counts), parse_labels(labels)
    if names is not None and isinstance(counts, list) and len(counts) == len(names):
        counts = dict(zip(names, counts, strict=True))
    if isinstance(counts, dict):
        classes = "; ".join(f"{name} {count}" for name, count in counts.items())
    else:
        classes = "; ".join(names or [str(count) for count in counts or ()])
    from offdiag.audit.table_text.interpretation import Corrections

    return Corrections(heads=heads, classes=classes, positive=positive or "")


def parse_counts(text: str | None) -> dict[str, int] | list[int] | None:
    """`ill=100,well=200`, or `100,200` in label order. Raises `InvalidInput`."""
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
