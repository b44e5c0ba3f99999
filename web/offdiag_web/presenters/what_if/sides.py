"""For two classes: how many are missed and how many raised in vain, whichever class is meant."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.comparison.wording import letter
from offdiag.metrics.costs.what_if import other_positive_class
from offdiag.metrics.suite import evaluate_stack
from offdiag.services.what_if.answering import WhatIf
from offdiag_web.presenters import numbers
from offdiag_web.presenters.segments import Segment
from offdiag_web.presenters.values import Notes, ShownValue, shown
from offdiag_web.urls.what_if import WhatIfAddress


@dataclass(frozen=True, slots=True)
class SidesLine:
    """One run seen from the positive class."""

    letter: str
    name: str
    missed: str
    raised: str
    recall: ShownValue
    precision: ShownValue


@dataclass(frozen=True, slots=True)
class BinarySides:
    """All runs seen from one of the two classes; `choices` lead to the other."""

    positive: str
    negative: str
    choices: tuple[Segment, ...]
    lines: tuple[SidesLine, ...]
    notes: tuple[str, ...]


def binary_sides(found: WhatIf, address: WhatIfAddress) -> BinarySides | None:
    """Present misses and false alarms; None unless there are two classes."""
    first = found.frame.runs[0]
    names = first.matrix.labels.names
    if len(names) != 2:
        return None
    stated = address.positive or first.positive_label
    # Without a word about it the rarer class is the one that is looked for.
    rarer = names[int(first.matrix.actual[1] <= first.matrix.actual[0])]
    positive = stated if stated in names else rarer
    negative = names[1 - names.index(positive)]
    notes = Notes()
    return BinarySides(
        positive,
        negative,
        tuple(
            Segment(
                numbers.shortened(name),
                WhatIfAddress(address.runs, address.question, name).url(),
                name == positive,
            )
            for name in names
        ),
        tuple(_line(found, place, positive, notes) for place in range(len(found.answers))),
        tuple(notes.texts),
    )


def _line(found: WhatIf, place: int, positive: str, notes: Notes) -> SidesLine:
    run = found.answers[place].run
    matrix = run.matrix
    # The positive class is read as the second one.
    if matrix.labels.names[1] != positive:
        matrix = other_positive_class(matrix)
    (_, raised), (missed, _) = matrix.counts.tolist()
    negatives, positives = matrix.actual.tolist()
    suite = evaluate_stack(matrix.counts, ordinal=False)
    return SidesLine(
        letter(place),
        run.name,
        numbers.hits_of(missed, positives),
        numbers.hits_of(raised, negatives),
        shown(suite.per_class["recall"].at(1), notes),
        shown(suite.per_class["precision"].at(1), notes),
    )
