"""One prediction with everything that is known of it, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from offdiag.services.examples.reading import ExampleSource
from offdiag.services.examples.selection import Chosen, confidences, margins
from offdiag.store.queries.samples import SampleFacts

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
    where scores were logged; with one column `top` is the score of the positive class.
    """

    index: int
    sample: int | str
    actual: str | None
    predicted: str
    confidence: float | None
    margin: float | None
    top: tuple[ClassScore, ...]
    slices: Mapping[str, str]


def examples_from(source: ExampleSource, chosen: Chosen, facts: SampleFacts) -> Iterator[Example]:
    """The chosen predictions one by one, in their order."""
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
            slices={
                name: column.levels[int(column.codes[at])] for name, column in facts.slices.items()
            },
        )


def _top(source: ExampleSource, scores: Sequence[float]) -> tuple[ClassScore, ...]:
    names = source.labels.names
    if len(scores) == 1 and source.positive is not None:
        return (ClassScore(names[source.positive], scores[0]),)
    largest = np.argsort(-np.asarray(scores), kind="stable")[:TOP_CLASSES].tolist()
    return tuple(ClassScore(names[code], scores[code]) for code in largest)
