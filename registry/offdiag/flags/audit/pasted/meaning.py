"""What a head says about the numbers under or beside it, and how that is written.

A meaning is written as people would note it in the margin: `macro_f1`, `recall[B]` for a
class, `macro` for an average, `[B]` for a class alone, `@SVM` for a model, `support`, `-` for
numbers to leave out; and any of these followed by `@` and a model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from offdiag.errors import InvalidInput
from offdiag.flags.audit.claims import AVERAGED, AVERAGES
from offdiag.flags.audit.names import AGGREGATES, CLASS_KEYS, known_metric

CELLS_OF_TWO = ("tp", "fn", "fp", "tn")
"""The four counts of a matrix of two classes, for the positive one."""
SUPPORT, TOTAL = "support", "total"
COUNTS = (SUPPORT, TOTAL, *CELLS_OF_TWO)
LEFT_OUT = "-"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What is known of a number: the metric or count, the average, the class, the model.

    `what` is a key of the catalogue or one of `COUNTS`. A head usually says one of these
    things, and the head on the other axis says the rest.
    """

    what: str | None = None
    average: str | None = None
    label: str | None = None
    model: str | None = None

    @property
    def is_nothing(self) -> bool:
        return self == Meaning()

    @property
    def is_metric(self) -> bool:
        return self.what is not None and self.what not in COUNTS

    @property
    def is_aggregate(self) -> bool:
        return self.what in AGGREGATES


NO_MEANING = Meaning()


def written(meaning: Meaning) -> str:
    """The short form; `read_meaning` reads it back."""
    label = "" if meaning.label is None else f"[{meaning.label}]"
    model = "" if meaning.model is None else f"@{meaning.model}"
    text = f"{meaning.what or meaning.average or ''}{label}"
    return f"{text}{' ' if text and model else ''}{model}" or LEFT_OUT


def read_meaning(text: str) -> Meaning:
    """The meaning that a short form stands for. Raises `InvalidInput` for anything else."""
    body = text.strip()
    if body == LEFT_OUT:
        return NO_MEANING
    rest, at, model = body.partition("@") if "@" in body else (body, "", "")
    what, bracket, label = rest.strip().partition("[")
    if (bracket and not label.endswith("]")) or (at and not model.strip()):
        raise _unreadable(text)
    known = Meaning(
        label=label[:-1].strip() if bracket else None, model=model.strip() if at else None
    )
    what = what.strip()
    if not what:
        if known.is_nothing:
            raise _unreadable(text)
        return known
    if what.lower() in AVERAGES:
        return replace(known, average=what.lower())
    key = what.lower() if what.lower() in COUNTS else known_metric(what)
    if key is None:
        raise _unreadable(text)
    return replace(known, what=key)


def combined(row: Meaning, column: Meaning) -> Meaning:
    """What a number means whose row and column say so.

    A metric of the whole matrix stays that, whatever stands above it: the accuracy of a report
    has no class. Two metrics on one number are none.
    """
    what = row.what or column.what
    if row.what is not None and column.what is not None and row.what != column.what:
        if SUPPORT in (row.what, column.what):
            return NO_MEANING
        aggregates = [one.what for one in (row, column) if one.is_aggregate]
        if len(aggregates) != 1:
            return NO_MEANING
        what = aggregates[0]
    merged = Meaning(
        what=what,
        average=row.average or column.average,
        label=row.label or column.label,
        model=", ".join(filter(None, (row.model, column.model))) or None,
    )
    return _averaged(merged)


def _averaged(meaning: Meaning) -> Meaning:
    """ "macro" over "precision" as macro_precision; nothing where there is no such average."""
    if meaning.is_aggregate:
        return replace(meaning, average=None, label=None)
    if meaning.average is None:
        return meaning
    if meaning.what in AVERAGED:
        return Meaning(what=f"{meaning.average}_{meaning.what}", model=meaning.model)
    if meaning.what in CLASS_KEYS or meaning.what in COUNTS:
        return NO_MEANING
    return meaning


def _unreadable(text: str) -> InvalidInput:
    return InvalidInput(
        f"{text!r} says not what the numbers are.",
        field="reading",
        hint="Write a metric such as macro_f1, recall[A] for a class, [A], @model, support, or - "
        "to leave the numbers out.",
    )
