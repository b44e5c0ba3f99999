"""Pages and exports of the individual predictions of a run.

Each prediction comes with everything known about it, and with how many models agree with its
label, by the same votes as for suspect labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.runs import Task
from offdiag.inputs.label_sets import set_members, set_text
from offdiag.inputs.partial_labels import is_labelled
from offdiag.metrics.multilabel.sets import unpack_sets
from offdiag.services.examples.search import (
    ExampleSource,
    FirstExamples,
    facts_of,
    find_first,
    find_page,
    scores_of,
)
from offdiag.services.examples.selection import (
    AS_LOGGED,
    MOST_CONFIDENT_FIRST,
    SUM_OF_OTHER_SCORES,
    SUM_OF_PROBABILITIES,
    Chosen,
    Cursor,
    ExampleOrder,
    ExampleQuestion,
    Place,
    SortKey,
    confidences,
    margins,
)
from offdiag.services.lru_cache import LruCache
from offdiag.services.samples.suspects import RankedDataset, ranked_dataset
from offdiag.store import truths
from offdiag.store.database import Database, Session
from offdiag.store.datasets import get_dataset
from offdiag.store.evaluations import scored_otherwise
from offdiag.store.predictions_beside_truth import SampleFacts, TruthOfRun
from offdiag.store.run_page import RunDetail, read_run
from offdiag.store.slices import slice_choices

WITHOUT_LABEL = -1


@dataclass(frozen=True, eq=False)
class AgreeingModels:
    """How many of `n_models` predict the label of each sample, (n_samples,) in truth order.

    It is `WITHOUT_LABEL` for samples without a label.
    """

    n_models: int
    by_place: NDArray[np.int64]


def agreeing_models(
    session: Session, truth_id: int, kept: LruCache[RankedDataset] | None
) -> AgreeingModels:
    """Count the models whose best run agrees with the labels of a version.

    `suspect_labels` describes which models have a vote.
    """
    truth = truths.get_truth(session, truth_id)
    found, _ = ranked_dataset(session, get_dataset(session, truth.dataset_id), truth, kept)
    by_place = np.full(truth.n_samples, WITHOUT_LABEL, np.int64)
    by_place[found.places] = sum(
        (predicted == found.labels for predicted in found.predicted),
        start=np.zeros(len(found.labels), np.int64),
    )
    return AgreeingModels(len(found.predicted), by_place)


TOP_CLASSES = 3
"""Number of classes that are named with their scores, the largest first."""


@dataclass(frozen=True, slots=True)
class ClassScore:
    """A class and its score."""

    label: str
    score: float


@dataclass(frozen=True, slots=True)
class Example:
    """A prediction and its sample, which has no label yet if `actual` is None.

    `index` is the number of the prediction in the run, counted from 0, `sample` the identifier, or
    the position in the dataset if it has none. `confidence`, `margin` and `top` are set if scores
    were logged; with one column `top` is the score of the positive class. For sets of labels
    `actual` and `predicted` are the sets as text, and `sets` has them as labels.
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
    """The labels of a sample in label order; `actual` is None while they are unknown."""

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
    """The chosen predictions, one at a time, in their order."""
    if source.of_sets:
        yield from _sets_from(source, chosen, facts)
        return
    names = source.labels.names
    sure: Sequence[float | None] = [None] * len(chosen)
    margin: Sequence[float | None] = sure
    top: Sequence[tuple[ClassScore, ...]] = [()] * len(chosen)
    if chosen.scores is not None:
        of_scores = (chosen.scores, chosen.predicted, source.positive)
        sure = confidences(*of_scores, sum_of_both=source.sum_of_both).tolist()
        margin = margins(*of_scores, sum_of_both=source.sum_of_both).tolist()
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
            confidence=(
                None if source.positive is None or scores is None else scores[source.positive]
            ),
            margin=None,
            top=() if scores is None else _largest(source, scores),
            slices=_slices(facts, at),
            sets=LabelSets(
                set_members(labels, actual[at]) if known[at] else None,
                set_members(labels, predicted[at]),
            ),
        )


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


EXAMPLES_PER_PAGE = 50
MOST_EXPORTED = 100_000
"""Most examples that are exported, in the order in which they were logged."""
_EXPORTED_AT_ONCE = 5_000


class NoExamples(StrEnum):
    """Why a run has no predictions to show."""

    ONLY_A_MATRIX = "only_a_matrix"
    STILL_OPEN = "still_open"


@dataclass(frozen=True, slots=True)
class ExamplePage:
    """A page of predictions, with `start` of `total` before it; `missing` says why there are none.

    `before` and `after` lead to the previous and next page, None if there is none. When sorted by
    agreeing models, `n_agreeing` of `n_models` predict the label of each example, None if it has
    no label. With one score per example, those of both classes add up to `sum_of_both`.
    """

    detail: RunDetail
    order: ExampleOrder
    total: int = 0
    start: int = 0
    examples: tuple[Example, ...] = ()
    before: Cursor | None = None
    after: Cursor | None = None
    slice_names: tuple[str, ...] = ()
    missing: NoExamples | None = None
    has_scores: bool = False
    """Whether examples have a score by which they can be sorted."""
    n_models: int = 0
    n_agreeing: tuple[int | None, ...] = ()
    sum_of_both: float = SUM_OF_PROBABILITIES

    @property
    def has_ids(self) -> bool:
        """Whether samples have identifiers; otherwise they are identified by position."""
        truth = self.detail.run.truth
        return truth is not None and truth.id_kind != "position"


@dataclass(frozen=True, slots=True)
class ExampleExport:
    """The first examples of `total`, read from the database while they are iterated.

    `n_exported` is how many there are; `slice_names` are the columns that each of them has.
    """

    detail: RunDetail
    total: int
    n_exported: int
    slice_names: tuple[str, ...]
    examples: Iterator[Example]


def browse_examples(
    database: Database,
    run_id: str,
    question: ExampleQuestion,
    *,
    cursor: Cursor | None = None,
    size: int = EXAMPLES_PER_PAGE,
    kept: LruCache[RankedDataset] | None = None,
) -> ExamplePage:
    """One page of the requested predictions of a run.

    They are shown with the truth on which the run was evaluated, so that they match its matrix. If
    the requested order is not available, they are in the order in which they were logged; `kept`
    caches the count of agreeing models. Raises `NotFound`, and `InvalidInput` for an unknown
    class.
    """
    with database.read() as session:
        detail = read_run(session, run_id, aggregates=False)
        source = example_source(session, detail, question)
        if isinstance(source, NoExamples):
            return ExamplePage(detail, question.order or AS_LOGGED, missing=source)
        order = question.order or default_order(source)
        models = None
        if order.key is SortKey.AGREEMENT and not source.of_sets:
            models = agreeing_models(session, source.truth.truth_id, kept)
        if not _can_sort(source, order, models):
            order, cursor, models = AS_LOGGED, None, None
        found = find_page(
            session,
            source,
            question,
            order=order,
            cursor=cursor,
            size=size,
            agreeing=None if models is None else models.by_place,
        )
    n_models = 0 if models is None else models.n_models
    chosen = found.chosen
    end = found.n_before + len(chosen)
    ends = [
        Cursor(Place(float(chosen.key[at]), int(chosen.index[at])), backwards=at == 0)
        for at in ((0, -1) if len(chosen) else ())
    ]
    return ExamplePage(
        detail=detail,
        order=order,
        total=found.total,
        start=found.n_before,
        examples=tuple(examples_from(source, chosen, found.facts)),
        before=ends[0] if ends and found.n_before > 0 else None,
        after=ends[1] if ends and end < found.total else None,
        slice_names=tuple(found.facts.slices),
        has_scores=_has_scores(source),
        n_models=n_models,
        sum_of_both=source.sum_of_both,
        n_agreeing=tuple(int(n) if n >= 0 else None for n in chosen.key.tolist())
        if n_models
        else (),
    )


def export_examples(
    database: Database, run_id: str, question: ExampleQuestion
) -> ExampleExport | NoExamples:
    """All requested predictions, up to `MOST_EXPORTED`, in the order of the run.

    What is exported never changes, so it is read in many short transactions instead of one that
    lasts as long as a download. Raises like `browse_examples`.
    """
    with database.read() as session:
        detail = read_run(session, run_id, aggregates=False)
        source = example_source(session, detail, question)
        if isinstance(source, NoExamples):
            return source
        first = find_first(session, source, question, size=MOST_EXPORTED)
        slice_names = tuple(slice_choices(session, source.truth.root_id, ()).levels)
    return ExampleExport(
        detail, first.total, len(first.chosen), slice_names, _read_on(database, source, first)
    )


def default_order(source: ExampleSource) -> ExampleOrder:
    """The order of a run's predictions unless the user chooses another."""
    return MOST_CONFIDENT_FIRST if _has_scores(source) else AS_LOGGED


def _can_sort(source: ExampleSource, order: ExampleOrder, models: AgreeingModels | None) -> bool:
    if order.key is SortKey.AGREEMENT:
        return models is not None and models.n_models > 0
    return order.key is SortKey.LOGGED or _has_scores(source)


def _has_scores(source: ExampleSource) -> bool:
    """Whether there is a confidence; for sets only if a label is named: each has its own score."""
    return source.n_columns > 0 and not (source.of_sets and source.positive is None)


def example_source(
    session: Session, detail: RunDetail, question: ExampleQuestion
) -> ExampleSource | NoExamples:
    """The source of the requested examples of a run, or why there are none.

    It has the labels on which the run was evaluated, or the newest ones if it has no results yet.
    """
    run = detail.run
    if not run.has_predictions:
        return NoExamples.ONLY_A_MATRIX
    if run.truth is None:
        return NoExamples.STILL_OPEN
    scored_with = None if detail.results is None else detail.results.facts.truth_id
    if scored_with is None:
        scored_with = truths.head_of(session, run.truth.id).id
    of_sets = run.task is Task.MULTILABEL
    positive = run.positive_label
    if of_sets:
        asked = question.predicted if question.actual is None else question.actual
        positive = asked if asked in run.labels.index else None
    is_other = run.score_columns == 1 and scored_otherwise(session, [run.id])
    return ExampleSource(
        run_id=run.id,
        labels=run.labels,
        truth=TruthOfRun(scored_with, run.truth.root_id, run.truth.id_kind),
        n_columns=run.score_columns,
        positive=None if positive is None else run.labels.index[positive],
        hierarchy=run.hierarchy,
        of_sets=of_sets,
        sum_of_both=SUM_OF_OTHER_SCORES if is_other else SUM_OF_PROBABILITIES,
    )


def _read_on(database: Database, source: ExampleSource, first: FirstExamples) -> Iterator[Example]:
    for start in range(0, len(first.chosen), _EXPORTED_AT_ONCE):
        stop = min(start + _EXPORTED_AT_ONCE, len(first.chosen))
        part = first.chosen.take(np.arange(start, stop, dtype=np.int64))
        with database.read() as session:
            part = scores_of(session, source, part, first.starts)
            facts = facts_of(session, source, part, first.truth_starts)
        yield from examples_from(source, part, facts)
