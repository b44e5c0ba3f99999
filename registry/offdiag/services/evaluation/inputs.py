"""The inputs of an evaluation: the predictions of a run and the ground truth.

Predictions are counted, read with their scores, and restricted to the samples of a slice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunState, Task
from offdiag.domain.slices import Slice, SliceTerm
from offdiag.errors import Conflict, InvalidInput
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import is_labelled, masked
from offdiag.inputs.slice_columns import SliceColumn
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, SampleCounts, added_up, count_samples, counted
from offdiag.metrics.custom import custom_digest
from offdiag.metrics.multilabel.sets import unpack_sets
from offdiag.metrics.multilabel.suite import LabelledSets
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.score_cells import ClassCells, ScoreCells, count_scores
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.metrics.weighted.scores import WeightedForecasts
from offdiag.services.small_groups import suppressed_below
from offdiag.settings import load_settings
from offdiag.store import datasets, logged_counts, predictions, runs, slices, truths
from offdiag.store.database import Session
from offdiag.store.datasets import DatasetRecord
from offdiag.store.predictions import PackedCounts, StoredChunk
from offdiag.store.runs import RunRecord
from offdiag.store.slices import SliceChoices
from offdiag.store.truths import TruthRecord


@dataclass(frozen=True)
class Cases:
    """The predictions of a run with the truth; `members` restricts them to some samples."""

    session: Session
    run: RunRecord
    truth: TruthRecord
    n_classes: int
    members: NDArray[np.bool_] | None
    of_sets: bool = False

    def count(self) -> tuple[SampleCounts, tuple[PackedCounts, ...]]:
        """Counts of the samples that have a label.

        Also returns the counts that should be stored with chunks but are not: they were dropped,
        and have been rebuilt from the predictions.
        """
        if not self.are_as_logged:
            return self._recounted(), ()
        parts = predictions.partial_counts(self.session, self.run.id, n_classes=self.n_classes)
        known = [part for part in parts if part is not None]
        if len(known) == len(parts):
            return self._sum(known), ()
        packed = []
        counted = []
        for chunk in self._chunks():
            counts = self._counts_of(chunk) if chunk.counts is None else chunk.counts
            counted.append(counts)
            if chunk.counts is None:
                packed.append(predictions.pack_counts(chunk.seq, counts, chunk.predicted))
        return self._sum(counted), tuple(part for part in packed if part is not None)

    def weigh(self, labels: LabelSet) -> WeightedCounts:
        """Numbers, weights and squared weights of the labelled samples."""
        nothing = np.zeros((self.n_classes, self.n_classes))
        total = WeightedCounts(nothing.astype(np.int64), nothing.copy(), nothing.copy(), labels)
        for chunk in self._chunks():
            assert chunk.weight is not None  # noqa: S101  # So do all chunks of weighted runs.
            actual = chunk.actual_in(self.actual)
            total += WeightedCounts.of_samples(actual, chunk.predicted, chunk.weight, labels)
        return total

    @property
    def are_as_logged(self) -> bool:
        """Whether the stored counts of chunks are for exactly these samples and this truth."""
        return self.members is None and self.truth.id == self.run.truth_version_id

    def forecasts(self, dataset: DatasetRecord) -> Forecasts | None:
        """The scores of the labelled samples, in the order in which they were logged."""
        scores = predictions.read_scores(self.session, self.run.id)
        if scores is None:
            return None
        actual = np.concatenate([chunk.actual_in(self.actual) for chunk in self._chunks()])
        labelled = actual < self.n_classes
        positive = dataset.positive_label
        return Forecasts(
            actual if labelled.all() else actual[labelled],
            scores if labelled.all() else scores[labelled],
            n_classes=self.n_classes,
            positive=None if positive is None else dataset.labels.index[positive],
        )

    def weighted_forecasts(self, dataset: DatasetRecord) -> WeightedForecasts | None:
        """The scores of the labelled samples of a weighted run, without those of weight 0."""
        forecasts = self.forecasts(dataset)
        if forecasts is None:
            return None
        weights = [np.zeros(0)]
        for chunk in self._chunks():
            assert chunk.weight is not None  # noqa: S101  # So do all chunks of weighted runs.
            weights.append(chunk.weight[chunk.actual_in(self.actual) < self.n_classes])
        return WeightedForecasts.of(forecasts, np.concatenate(weights))

    def count_scores(self, dataset: DatasetRecord) -> ScoreCells | None:
        """The scores of the labelled samples, counted in cells chunk by chunk.

        None if they are not probabilities, or there are none. Memory never holds more scores than
        those of one chunk.
        """
        positive = positive_code(dataset)

        def parts() -> Iterator[tuple[NDArray[np.bool_], NDArray[np.float32]]]:
            with closing(predictions.read_score_chunks(self.session, self.run.id)) as scores:
                for chunk, values in zip(self._chunks(), scores, strict=True):
                    actual = chunk.actual_in(self.actual)
                    labelled = actual < self.n_classes
                    yield actual[labelled] == positive, values[labelled, 0]

        return count_scores(parts())

    def sets(self) -> LabelledSets:
        """The label sets of the samples with known truth, in the order they were logged in."""
        actual, predicted, known = [], [], []
        for chunk in self._chunks():
            true = chunk.actual_in(self.actual)
            is_known = is_labelled(true, self.n_classes)
            known.append(is_known)
            actual.append(unpack_sets(true[is_known], self.n_classes))
            predicted.append(unpack_sets(chunk.predicted[is_known], self.n_classes))
        scores = predictions.read_scores(self.session, self.run.id)
        return LabelledSets(
            np.concatenate(actual),
            np.concatenate(predicted),
            None if scores is None else scores[np.concatenate(known)],
        )

    @cached_property
    def actual(self) -> Codes:
        """Codes of all samples; samples outside `members` count as unlabelled."""
        codes = truths.truth_codes(self.session, self.truth.id)
        if self.members is None:
            return codes
        return masked(codes, self.members, self.n_classes)

    def _recounted(self) -> SampleCounts:
        return self._sum(self._counts_of(chunk) for chunk in self._chunks())

    def _counts_of(self, chunk: StoredChunk) -> SampleCounts:
        return count_samples(
            chunk.actual_in(self.actual), chunk.predicted, n_classes=self.n_classes
        )

    def _sum(self, parts: Iterable[SampleCounts]) -> SampleCounts:
        return added_up(parts, n_classes=self.n_classes, of_sets=self.of_sets)

    def _chunks(self) -> Iterator[StoredChunk]:
        return predictions.read_chunks(self.session, self.run.id, n_classes=self.n_classes)


def members_of(session: Session, truth: TruthRecord, part: Slice) -> NDArray[np.bool_]:
    """Whether each sample of a truth is in a slice, shape (n_samples,).

    Raises `InvalidInput` for a column that the dataset does not have and for a value that no
    sample has: both are probably misspelt.
    """
    names = {term.name for term in part.terms}
    choices = slices.slice_choices(session, truth.root_id, names)
    return members_among(choices, part, n_samples=truth.n_samples)


def members_among(choices: SliceChoices, part: Slice, *, n_samples: int) -> NDArray[np.bool_]:
    """Whether each sample is in a slice, from columns already read. Raises `InvalidInput`."""
    members = np.ones(n_samples, dtype=np.bool_)
    for term in part.terms:
        members &= _members_by_term(choices, term)
    return members


def _members_by_term(choices: SliceChoices, term: SliceTerm) -> NDArray[np.bool_]:
    column = choices.columns.get(term.name)
    if column is None:
        known = ", ".join(choices.levels)
        raise InvalidInput(
            f"the dataset has no slice column {term.name!r}.",
            field="slice",
            hint=f"It has {known}." if known else "Log a run with slices= to give it one.",
        )
    if term.value not in (*column.choices, *column.levels):
        raise InvalidInput(
            f"no sample has {term.name} {term.value!r}.", field="slice", hint=_values_of(column)
        )
    return column.has(term.value)


def _values_of(column: SliceColumn) -> str:
    """A hint with values that may have been meant; none are named if small groups are hidden."""
    if suppressed_below():
        return "The page of a run offers the values that are shown."
    shown = ", ".join(repr(level) for level in column.choices[:10])
    more = ", …" if len(column.choices) > 10 else ""
    return f"Its values are {shown}{more}."


@dataclass(frozen=True)
class EvaluationInputs:
    """Everything an evaluation depends on; `digest` changes whenever any of it does.

    `truth` is the label version with which the samples are scored; `part` is the slice, None for
    all samples. `n_cases` is their number, with or without a label; `counted` has the counts of
    those with one. `forecasts` are set if classes have scores, `sets` if samples have sets of
    labels.
    """

    run: RunRecord
    dataset: DatasetRecord
    truth: TruthRecord | None
    part: Slice | None
    n_cases: int
    counted: Counted
    forecasts: Forecasts | None
    digest: str
    new_parts: tuple[PackedCounts, ...] = ()
    """Counts that should be stored with chunks of the run but are not."""
    sets: LabelledSets | None = None
    cells: ScoreCells | ClassCells | None = None
    """Counted scores, of the positive class or of every class, if there are no `forecasts`."""
    weighted: WeightedForecasts | None = None
    """Scores of samples with weights, instead of `forecasts`."""


def read_inputs(session: Session, run_id: str, part: Slice | None = None) -> EvaluationInputs:
    """Read the inputs of a run, or of a slice of it, even if it was deleted in the meantime.

    Raises `NotFound` for an unknown run and `InvalidInput` for a slice that is not in its dataset.
    """
    run = runs.get_any_run(session, run_id)
    dataset = datasets.get_dataset(session, run.dataset_id)
    truth = truth_that_counts(session, run)
    new_parts: tuple[PackedCounts, ...] = ()
    found: Counted
    sets = weighted = None
    cells: ScoreCells | ClassCells | None = None
    if not run.has_predictions:
        found, cells = _kept_counts(session, run, dataset, part)
        n_cases, forecasts = found.total, None
    else:
        assert truth is not None  # noqa: S101  # Finishing predictions sets it.
        members = None if part is None else members_of(session, truth, part)
        n_cases = run.n_predictions if members is None else int(np.count_nonzero(members))
        of_sets = dataset.task is Task.MULTILABEL
        cases = Cases(session, run, truth, len(dataset.labels), members, of_sets)
        counts, new_parts = cases.count()
        found = cases.weigh(dataset.labels) if run.is_weighted else counted(counts, dataset.labels)
        forecasts = None
        if run.is_weighted:
            # Cells count samples, so scores that are too many to sort are stored but not
            # evaluated.
            weighted = None if counts_scores(run) else cases.weighted_forecasts(dataset)
        else:
            cells = cases.count_scores(dataset) if counts_scores(run) else None
            forecasts = cases.forecasts(dataset) if not of_sets and cells is None else None
        sets = cases.sets() if of_sets else None
    digest = input_digest(run, truth, part)
    return EvaluationInputs(
        run,
        dataset,
        truth,
        part,
        n_cases,
        found,
        forecasts,
        digest,
        new_parts,
        sets,
        cells,
        weighted,
    )


def _kept_counts(
    session: Session, run: RunRecord, dataset: DatasetRecord, part: Slice | None
) -> tuple[ConfusionMatrix, ScoreCells | ClassCells | None]:
    if part is None and not run.score_columns:
        return logged_counts.read_matrix(session, run.id, dataset.labels, run.source), None
    cases = logged_counts.find_counted_samples(session, run.id)
    if cases is None:
        raise InvalidInput(
            f"run {run.id} is a matrix without predictions.",
            field="slice",
            hint="Log the predictions, or a frame with slices=; slices need samples.",
        )
    members = None
    if part is not None:
        levels = {name: column.levels for name, column in cases.slices.items()}
        choices = SliceChoices(levels, cases.slices)
        members = members_among(choices, part, n_samples=len(cases))
    matrix = cases.matrix(dataset.labels, members)
    if cases.events:
        return matrix, cases.class_cells()
    if dataset.positive_label is None:
        return matrix, None
    return matrix, cases.score_cells(dataset.labels.index[dataset.positive_label], members)


def truth_that_counts(session: Session, run: RunRecord) -> TruthRecord | None:
    """The label version with which a run is scored: the newest correction of the logged one.

    An uploaded matrix cannot be counted again, so it keeps the version with which it was compared,
    if there was one.
    """
    if run.truth_version_id is None:
        return None
    if not run.has_predictions:
        return truths.get_truth(session, run.truth_version_id)
    return truths.head_of(session, run.truth_version_id)


def input_digest(run: RunRecord, truth: TruthRecord | None, part: Slice | None = None) -> str:
    """SHA-256 of the inputs of an evaluation: predictions, truth version, metrics and slice.

    A correction that undoes another one is a version of its own although its labels equal those of
    an older version; the number distinguishes the two.
    """
    version = "" if truth is None else truth.digest
    if truth is not None and truth.parent_id is not None:
        version += f" revised as {truth.number}"
    facts = f"{run.content_digest}\n{version}\n{SUITE_VERSION}"
    if part is not None:
        facts += f"\n{part}"
    if counts_scores(run):
        facts += "\nscores counted in cells"
    if metrics := custom_digest():
        facts += f"\nmetrics {metrics}"
    return hashlib.sha256(facts.encode()).hexdigest()


def counts_scores(run: RunRecord) -> bool:
    """Whether a run has so many scores that they are counted in cells instead of sorted."""
    return (
        run.has_predictions
        and run.score_columns == 1
        and run.n_predictions > load_settings().evaluation.exact_scores_up_to
    )


def positive_code(dataset: DatasetRecord) -> int:
    """The code of the class to which a single score per sample refers."""
    assert dataset.positive_label is not None  # noqa: S101  # Otherwise it has no scores.
    return dataset.labels.index[dataset.positive_label]


def require_closed(run: RunRecord) -> None:
    """Raise `Conflict` for a run that is still open."""
    if run.state is RunState.OPEN:
        raise Conflict(
            f"run {run.id} is still open.",
            field="run",
            hint="Call finish() first, or leave the with block.",
        )
