"""Finding predictions of a run without holding more than one chunk with scores in memory.

First all codes are read, one byte per prediction, to count the matches and find their chunks.
Then, if scores are needed, only those chunks are read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet
from offdiag.domain.slices import parse_slice
from offdiag.errors import NotFound
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import in_roomy_rows
from offdiag.inputs.slice_columns import sorted_levels
from offdiag.metrics.multilabel.sets import n_bytes
from offdiag.services.evaluation.inputs import members_among
from offdiag.services.examples.selection import (
    SUM_OF_PROBABILITIES,
    Chosen,
    Cursor,
    ExampleOrder,
    ExampleQuestion,
    ExampleSelection,
    SortKey,
    count_before,
    following,
    matches,
    matching_sets,
    nearest,
    none_chosen,
    sort_keys,
    wanted,
)
from offdiag.services.small_groups import SUPPRESSED, not_by_slice, suppressed_below
from offdiag.store.database import Session
from offdiag.store.predictions_beside_truth import (
    PredictionChunk,
    SampleFacts,
    TruthOfRun,
    read_beside_truth,
    read_scored,
    sample_facts,
)
from offdiag.store.slices import slice_choices


@dataclass(frozen=True, slots=True)
class ExampleSource:
    """The predictions of a run, with one version of the truth.

    `n_columns` is the number of scores of a prediction, 0 without; `positive` the code of the
    positive class, if there is one. If samples have sets of labels (`of_sets`), it is the label
    that was asked about. The scores of two classes add up to `sum_of_both`.
    """

    run_id: str
    labels: LabelSet
    truth: TruthOfRun
    n_columns: int
    positive: int | None
    hierarchy: Hierarchy | None = None
    of_sets: bool = False
    sum_of_both: float = SUM_OF_PROBABILITIES

    @property
    def set_bytes(self) -> int:
        """Bytes of a row for a set, or for an unknown set; 0 for single classes."""
        return n_bytes(len(self.labels) + 1) if self.of_sets else 0


@dataclass(frozen=True, eq=False)
class FoundExamples:
    """A page of predictions, with how many match in total and how many come before it."""

    total: int
    n_before: int
    chosen: Chosen
    facts: SampleFacts


def find_page(
    session: Session,
    source: ExampleSource,
    question: ExampleQuestion,
    *,
    order: ExampleOrder,
    cursor: Cursor | None,
    size: int,
    agreeing: NDArray[np.int64] | None = None,
) -> FoundExamples:
    """One page of the matching predictions, in order. Raises `InvalidInput`.

    `agreeing` has the number of models for each place in the truth, (n_samples,), if sorted by it.
    """
    scan = _Scan(session, source, question)
    if order.key is SortKey.LOGGED:
        before, chosen = _in_run_order(scan, cursor=cursor, size=size)
    else:
        keyed = _by_score(scan, order.key) if agreeing is None else _by_agreement(scan, agreeing)
        before, chosen = 0, none_chosen(set_bytes=source.set_bytes)
        for found in keyed:
            if cursor is not None:
                before += count_before(found, descending=order.descending, cursor=cursor)
            chosen = nearest(
                chosen.followed_by(found), descending=order.descending, cursor=cursor, size=size
            )
    if chosen.scores is None:
        chosen = scores_of(session, source, chosen, scan.starts)
    if cursor is not None and cursor.backwards:
        before -= len(chosen)
    facts = facts_of(session, source, chosen, scan.truth.starts)
    return FoundExamples(scan.total, before, chosen, facts)


@dataclass(frozen=True, eq=False)
class FirstExamples:
    """The first matching predictions, out of `total`, without further facts about them.

    `starts` has the starts of the chunks of the run in which they are, by number, `truth_starts`
    those of the chunks of the truth.
    """

    total: int
    chosen: Chosen
    starts: dict[int, int]
    truth_starts: NDArray[np.int64]


def find_first(
    session: Session, source: ExampleSource, question: ExampleQuestion, *, size: int
) -> FirstExamples:
    """The first matching predictions in the order of the run. Raises `InvalidInput`."""
    scan = _Scan(session, source, question)
    _, chosen = _in_run_order(scan, cursor=None, size=size)
    return FirstExamples(scan.total, chosen, scan.starts, scan.truth.starts)


class _Scan:
    """One pass over a run, with the truth in memory and the chunks read one by one."""

    def __init__(self, session: Session, source: ExampleSource, question: ExampleQuestion) -> None:
        self.session = session
        self.source = source
        self.what: ExampleSelection = wanted(question, source.labels, source.hierarchy)
        self.truth, self._chunks = read_beside_truth(
            session,
            source.run_id,
            source.truth,
            n_classes=len(source.labels),
            named=question.sample,
        )
        self.members = self._members_of(question.part)
        self.starts: dict[int, int] = {}
        """The starts of the chunks with matches, by chunk number."""
        self.total = 0
        """The number of matches in the chunks that were read."""

    def _members_of(self, text: str | None) -> NDArray[np.bool_] | None:
        if text is None:
            return None
        part = parse_slice(text)
        if suppressed_below():
            raise not_by_slice()
        names = {term.name for term in part.terms}
        choices = slice_choices(self.session, self.source.truth.root_id, names)
        return members_among(choices, part, n_samples=len(self.truth.codes))

    def codes(self) -> Iterator[Chosen]:
        """The matches of every chunk with any, in order; can be iterated only once."""
        start = 0
        for chunk in self._chunks:
            found = self.matches_in(chunk, start)
            if len(found):
                self.starts[chunk.seq] = start
                self.total += len(found)
                yield found
            start += len(chunk)

    def matches_in(self, chunk: PredictionChunk, start: int) -> Chosen:
        """The matches in a chunk whose first prediction has the number `start`."""
        following = slice(start, start + len(chunk))
        places = following if chunk.positions is None else chunk.positions
        actual = self.truth.codes[places]
        matching = matching_sets if self.source.of_sets else matches
        found = matching(self.what, actual, chunk.predicted, len(self.source.labels))
        if self.truth.named is not None:
            found &= self.truth.named[places]
        if self.members is not None:
            found &= self.members[places]
        offsets = np.flatnonzero(found).astype(np.int64)
        position = offsets + start if chunk.positions is None else chunk.positions[offsets]
        return Chosen(
            offsets + start,
            np.zeros(len(offsets)),
            self._rows(actual[offsets]),
            self._rows(chunk.predicted[offsets]),
            position.astype(np.int64),
            None if chunk.scores is None else chunk.scores[offsets],
        )

    def _rows(self, codes: Codes) -> NDArray[np.int64]:
        return in_roomy_rows(codes, len(self.source.labels)).astype(np.int64)


def facts_of(
    session: Session, source: ExampleSource, chosen: Chosen, starts: NDArray[np.int64]
) -> SampleFacts:
    """The names and slices of the samples of some predictions.

    If small groups are hidden, no example shows the groups to which it belongs.
    """
    found = sample_facts(
        session,
        root_id=source.truth.root_id,
        id_kind=source.truth.id_kind,
        positions=chosen.position,
        starts=starts,
    )
    if not suppressed_below():
        return found
    word = sorted_levels([SUPPRESSED], np.zeros(len(chosen), np.int64))
    return replace(found, slices=dict.fromkeys(found.slices, word))


def scores_of(
    session: Session, source: ExampleSource, chosen: Chosen, starts: dict[int, int]
) -> Chosen:
    """Add the scores to predictions.

    `starts` has the starts of the chunks in which they are. Raises `NotFound` if they were removed
    in the meantime.
    """
    if not source.n_columns or not len(chosen):
        return chosen
    scores = np.empty((len(chosen), source.n_columns), dtype=np.float32)
    begins = np.array(list(starts.values()), dtype=np.int64)
    seqs = np.array(list(starts), dtype=np.int64)
    of_chunk = seqs[np.searchsorted(begins, chosen.index, side="right") - 1]
    missing = set(of_chunk.tolist())
    for chunk in read_scored(session, source.run_id, missing):
        missing.discard(chunk.seq)
        here = of_chunk == chunk.seq
        assert chunk.scores is not None  # noqa: S101  # They were asked for.
        scores[here] = chunk.scores[chosen.index[here] - starts[chunk.seq]]
    if missing:
        raise NotFound(
            f"run {source.run_id} was removed while it was read.",
            field="run",
            hint="What was read before is correct.",
        )
    return replace(chosen, scores=scores)


def _in_run_order(scan: _Scan, *, cursor: Cursor | None, size: int) -> tuple[int, Chosen]:
    before, kept = 0, none_chosen(set_bytes=scan.source.set_bytes)
    for found in scan.codes():
        if cursor is not None:
            before += count_before(found, descending=False, cursor=cursor)
        kept = following(kept, found, cursor=cursor, size=size)
    return before, kept


def _by_score(scan: _Scan, key: SortKey) -> Iterator[Chosen]:
    source = scan.source
    # Scores are read of the chunks that have matches.
    for _ in scan.codes():
        pass
    for chunk in read_scored(scan.session, source.run_id, scan.starts):
        found = scan.matches_in(chunk, scan.starts[chunk.seq])
        assert found.scores is not None  # noqa: S101  # They were asked for.
        keys = sort_keys(
            key,
            found.scores,
            found.predicted,
            found.actual,
            source.positive,
            sum_of_both=source.sum_of_both,
        )
        yield replace(found, key=keys)


def _by_agreement(scan: _Scan, agreeing: NDArray[np.int64]) -> Iterator[Chosen]:
    for found in scan.codes():
        yield replace(found, key=agreeing[found.position].astype(np.float64))
