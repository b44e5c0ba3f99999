"""One prediction with everything that is known of it, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from offdiag.inputs.label_sets import set_members, set_text
from offdiag.inputs.partial_labels import is_labelled
from offdiag.metrics.multilabel.sets import unpack_sets
from offdiag.services.examples.reading import ExampleSource
from offdiag.services.examples.selection import Chosen, confidences, margins
from offdiag.store.predictions_read import SampleFacts

TOP_CLASSES = 3
"""So many classes are named with their scores, the largest first."""


@dataclass(frozen=True, slots=True)
class ClassScore:
    """What a class got."""

    label: str
    score: float


@dataclass(frozen=True, slots=True)
class Example:
    """A prediction and its sample, which has no label yet where `actual` is None.

    `index` is the number of the prediction in the run, counted from 0, `sample` the identifier,
    or its position in the dataset where it has none. `confidence`, `margin` and `top` are there
    where scores were logged; with one column `top` is the score of the positive class. Of sets
    of labels `actual` and `predicted` are the sets as text, and `sets` holds them.
    """

    index: int
    sample: int | str
    actual: str | None
    predicted: str
    confidence: float | None
    margin: float | None
    top: tuple[ClassScore, ...]
    slices: Mapping[str, str]
    sets: LabelSets | None = None


@dataclass(frozen=True, slots=True)
class LabelSets:
    """The labels of a case in label order; `actual` is None where nobody knows them yet."""

    actual: tuple[str, ...] | None
    predicted: tuple[str, ...]

    @property
    def missed(self) -> tuple[str, ...]:
        """Labels that are true and were not predicted."""
        return tuple(name for name in self.actual or () if name not in self.predicted)

    @property
    def spurious(self) -> tuple[str, ...]:
        """Labels that were predicted and are not true."""
        actual = self.predicted if self.actual is None else self.actual
        return tuple(name for name in self.predicted if name not in actual)


def examples_from(source: ExampleSource, chosen: Chosen, facts: SampleFacts) -> Iterator[Example]:
    """The chosen predictions one by one, in their order."""
    if source.of_sets:
        yield from _sets_from(source, chosen, facts)
        return
    names = source.labels.names
    sure: Sequence[float | None] = [None] * len(chosen)
    margin: Sequence[float | None] = sure
    top: Sequence[tuple[ClassScore, ...]] = [()] * len(chosen)
    if chosen.scores is not None:
        sure = confidences(chosen.scores, chosen.predicted, source.positive).tolist()
        margin = margins(chosen.scores, chosen.predicted, source.positive).tolist()
        top = [_top(source, row.tolist()) for row in chosen.scores]
    for at, (index, actual, predicted) in enumerate(
        zip(chosen.index.tolist(), chosen.actual.tolist(), chosen.predicted.tolist(), strict=True)
    ):
        yield Example(
            index=index,
            sample=facts.names[at],
            actual=None if actual == len(names) else names[actual],
            predicted=names[predicted],
            confidence=sure[at],
            margin=margin[at],
            top=top[at],
            slices=_slices(facts, at),
        )


def _sets_from(source: ExampleSource, chosen: Chosen, facts: SampleFacts) -> Iterator[Example]:
    labels = source.labels
    known = is_labelled(chosen.actual.astype(np.uint8), len(labels)).tolist()
    actual, predicted = (
        unpack_sets(each.astype(np.uint8), len(labels))
        for each in (chosen.actual, chosen.predicted)
    )
    for at, index in enumerate(chosen.index.tolist()):
        scores = None if chosen.scores is None else chosen.scores[at].tolist()
        yield Example(
            index=index,
            sample=facts.names[at],
            actual=set_text(labels, actual[at]) if known[at] else None,
            predicted=set_text(labels, predicted[at]),
            confidence=_score_of(source.positive, scores),
            margin=None,
            top=() if scores is None else _largest(source, scores),
            slices=_slices(facts, at),
            sets=LabelSets(
                set_members(labels, actual[at]) if known[at] else None,
                set_members(labels, predicted[at]),
            ),
        )


def _score_of(label: int | None, scores: Sequence[float] | None) -> float | None:
    return None if label is None or scores is None else scores[label]


def _slices(facts: SampleFacts, at: int) -> dict[str, str]:
    return {name: column.levels[int(column.codes[at])] for name, column in facts.slices.items()}


def _top(source: ExampleSource, scores: Sequence[float]) -> tuple[ClassScore, ...]:
    names = source.labels.names
    if len(scores) == 1 and source.positive is not None:
        return (ClassScore(names[source.positive], scores[0]),)
    return _largest(source, scores)


def _largest(source: ExampleSource, scores: Sequence[float]) -> tuple[ClassScore, ...]:
    names = source.labels.names
    largest = np.argsort(-np.asarray(scores), kind="stable")[:TOP_CLASSES].tolist()
    return tuple(ClassScore(names[code], scores[code]) for code in largest)
