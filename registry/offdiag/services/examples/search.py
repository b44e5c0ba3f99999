"""Finding predictions in the chunks of a run without ever holding more than one with scores.

First all codes are read past, a byte a prediction, to count what matches and to see in which
chunks that is. Then, where there are scores, those chunks alone are read once more.
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
from offdiag.services.small_groups import SUPPRESSED, sizes_in_truth, suppressed, suppressed_below
from offdiag.store import truths
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
    """The predictions of a run beside one version of the truth.

    `n_columns` is the number of scores of a prediction, 0 without; `positive` the code of the
    positive class, if there is one. Where samples have sets of labels (`of_sets`) it is the label
    that the reader asks about.
    """

    run_id: str
    labels: LabelSet
    truth: TruthOfRun
    n_columns: int
    positive: int | None
    hierarchy: Hierarchy | None = None
    of_sets: bool = False

    @property
    def set_bytes(self) -> int:
        """Bytes of a row that holds a set, or that it is unknown; 0 for single classes."""
        return n_bytes(len(self.labels) + 1) if self.of_sets else 0


@dataclass(frozen=True, eq=False)
class FoundExamples:
    """A page of predictions: how many match in all, and how many of them come before it."""

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
    """One page of the predictions that match, in order. Raises `InvalidInput`.

    `agreeing` is the number of models by place in the truth, (n_samples,), if that is the order.
    """
    scan = _Scan(session, source, question)
    if order.key is SortKey.LOGGED:
        total, before, chosen = _in_run_order(scan, cursor=cursor, size=size)
        chosen = scores_of(session, source, chosen, scan.starts)
    elif agreeing is not None:
        total, before, chosen = _by_agreement(
            scan, agreeing, order=order, cursor=cursor, size=size
        )
        chosen = scores_of(session, source, chosen, scan.starts)
    else:
        total, before, chosen = _by_score(scan, order=order, cursor=cursor, size=size)
    if cursor is not None and cursor.backwards:
        before -= len(chosen)
    return FoundExamples(total, before, chosen, scan.facts_of(chosen))


@dataclass(frozen=True, eq=False)
class FirstExamples:
    """The first predictions that match, out of `total`, without what else is known of them.

    `starts` says where the chunks of the run begin that they are in, by number, `truth_starts`
    where those of the truth do.
    """

    total: int
    chosen: Chosen
    starts: dict[int, int]
    truth_starts: NDArray[np.int64]


def find_first(
    session: Session, source: ExampleSource, question: ExampleQuestion, *, size: int
) -> FirstExamples:
    """The first predictions that match in the order of the run. Raises `InvalidInput`."""
    scan = _Scan(session, source, question)
    total, _, chosen = _in_run_order(scan, cursor=None, size=size)
    return FirstExamples(total, chosen, scan.starts, scan.truth.starts)


class _Scan:
    """One reading of a run: the truth at hand, the chunks passing by."""

    def __init__(self, session: Session, source: ExampleSource, question: ExampleQuestion) -> None:
        self.session = session
        self.source = source
        self.what: ExampleSelection = wanted(question, source.labels, source.hierarchy)
        self.truth, self._chunks = read_beside_truth(
            session, source.run_id, source.truth, named=question.sample
        )
        self.members = self._members_of(question.part)
        self.starts: dict[int, int] = {}
        """Where the chunks begin that something matched in, by their number."""

    def _members_of(self, text: str | None) -> NDArray[np.bool_] | None:
        if text is None:
            return None
        part = parse_slice(text)
        k = suppressed_below()
        if k:
            truth = truths.get_truth(self.session, self.source.truth.truth_id)
            if sizes_in_truth(self.session, truth, k).is_hidden(part):
                raise suppressed(part, k)
        names = {term.name for term in part.terms}
        choices = slice_choices(self.session, self.source.truth.root_id, names)
        return members_among(choices, part, n_samples=len(self.truth.codes))

    def codes(self) -> Iterator[Chosen]:
        """The matches of every chunk that has any, in order; they pass by once."""
        start = 0
        for chunk in self._chunks:
            found = self.matches_in(chunk, start)
            if len(found):
                self.starts[chunk.seq] = start
                yield found
            start += len(chunk)

    def matches_in(self, chunk: PredictionChunk, start: int) -> Chosen:
        """What matches in a chunk whose first prediction has the number `start`."""
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

    def facts_of(self, chosen: Chosen) -> SampleFacts:
        """Names and slices of the samples of some predictions."""
        return facts_of(self.session, self.source, chosen, self.truth.starts)


def facts_of(
    session: Session, source: ExampleSource, chosen: Chosen, starts: NDArray[np.int64]
) -> SampleFacts:
    """Names and slices of the samples of some predictions.

    Where groups can be too small to be shown, no example shows to which it belongs.
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
    """Predictions with their scores.

    `starts` says where the chunks begin that they are in. Raises `NotFound` if they were removed
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
            hint="Nothing is wrong with what was read before.",
        )
    return replace(chosen, scores=scores)


def _in_run_order(scan: _Scan, *, cursor: Cursor | None, size: int) -> tuple[int, int, Chosen]:
    total, before, kept = 0, 0, none_chosen(set_bytes=scan.source.set_bytes)
    for found in scan.codes():
        total += len(found)
        if cursor is not None:
            before += count_before(found, descending=False, cursor=cursor)
        kept = following(kept, found, cursor=cursor, size=size)
    return total, before, kept


def _by_score(
    scan: _Scan, *, order: ExampleOrder, cursor: Cursor | None, size: int
) -> tuple[int, int, Chosen]:
    source = scan.source
    total = sum(len(found) for found in scan.codes())
    before, kept = 0, none_chosen(source.n_columns, set_bytes=source.set_bytes)
    for chunk in read_scored(scan.session, source.run_id, scan.starts):
        found = scan.matches_in(chunk, scan.starts[chunk.seq])
        assert found.scores is not None  # noqa: S101  # They were asked for.
        keys = sort_keys(order.key, found.scores, found.predicted, found.actual, source.positive)
        found = replace(found, key=keys)
        if cursor is not None:
            before += count_before(found, descending=order.descending, cursor=cursor)
        kept = nearest(
            kept.followed_by(found), descending=order.descending, cursor=cursor, size=size
        )
    return total, before, kept


def _by_agreement(
    scan: _Scan,
    agreeing: NDArray[np.int64],
    *,
    order: ExampleOrder,
    cursor: Cursor | None,
    size: int,
) -> tuple[int, int, Chosen]:
    total, before, kept = 0, 0, none_chosen(set_bytes=scan.source.set_bytes)
    for codes in scan.codes():
        total += len(codes)
        found = replace(codes, key=agreeing[codes.position].astype(np.float64))
        if cursor is not None:
            before += count_before(found, descending=order.descending, cursor=cursor)
        kept = nearest(
            kept.followed_by(found), descending=order.descending, cursor=cursor, size=size
        )
    return total, before, kept
