"""What the evaluation of a run is computed from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Task
from offdiag.domain.slices import Slice
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, counted
from offdiag.metrics.multilabel.suite import LabelledSets
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.services.evaluation.cases import Cases
from offdiag.services.evaluation.membership import members_among, members_of
from offdiag.store import datasets, runs, truths, uploads
from offdiag.store.datasets import DatasetRecord
from offdiag.store.predictions import PackedCounts
from offdiag.store.runs import RunRecord
from offdiag.store.session import Session
from offdiag.store.slices import SliceChoices
from offdiag.store.truths import TruthRecord


@dataclass(frozen=True)
class EvaluationInputs:
    """Everything an evaluation depends on; `digest` changes whenever one of it does.

    `truth` is the version the cases are scored with; `part` is the slice whose cases are meant,
    None for all. `n_cases` is their number whether they have a label or not. Those that have
    are `counted`. `forecasts` are there where classes have scores, `sets` where cases have sets
    of labels.
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
    """Counts that chunks of the run should have and have not."""
    sets: LabelledSets | None = None


def read_inputs(session: Session, run_id: str, part: Slice | None = None) -> EvaluationInputs:
    """Read the inputs of a run, or of a slice of it, also if it was deleted in the meantime.

    Raises `NotFound` for an unknown run and `InvalidInput` for a slice that it cannot have.
    """
    run = runs.get_any_run(session, run_id)
    dataset = datasets.get_dataset(session, run.dataset_id)
    truth = truth_that_counts(session, run)
    new_parts: tuple[PackedCounts, ...] = ()
    found: Counted
    sets = None
    if run.source is not SourceOrientation.PREDICTIONS:
        found = _kept_matrix(session, run, dataset, part)
        n_cases, forecasts = found.total, None
    else:
        assert truth is not None  # noqa: S101  # Finishing predictions sets it.
        members = None if part is None else members_of(session, truth, part)
        n_cases = run.n_predictions if members is None else int(np.count_nonzero(members))
        of_sets = dataset.task is Task.MULTILABEL
        cases = Cases(session, run, truth, len(dataset.labels), members, of_sets)
        counts, new_parts = cases.count()
        found = counted(counts, dataset.labels)
        forecasts = None if of_sets else cases.forecasts(dataset)
        sets = cases.sets() if of_sets else None
    digest = input_digest(run, truth, part)
    return EvaluationInputs(
        run, dataset, truth, part, n_cases, found, forecasts, digest, new_parts, sets
    )


def _kept_matrix(
    session: Session, run: RunRecord, dataset: DatasetRecord, part: Slice | None
) -> ConfusionMatrix:
    if part is None:
        return uploads.read_matrix(session, run.id, dataset.labels, run.source)
    cases = uploads.find_counted_cases(session, run.id)
    if cases is None:
        raise _no_cases_to_choose_from(run)
    levels = {name: column.levels for name, column in cases.slices.items()}
    choices = SliceChoices(levels, cases.slices)
    return cases.matrix(dataset.labels, members_among(choices, part, n_samples=len(cases)))


def truth_that_counts(session: Session, run: RunRecord) -> TruthRecord | None:
    """The version a run is scored with: the newest correction of the one it was logged with.

    An uploaded matrix cannot be counted again, so it stays with the version it was compared
    with, if there was one.
    """
    if run.truth_version_id is None:
        return None
    logged_with = truths.get_truth(session, run.truth_version_id)
    if run.source is not SourceOrientation.PREDICTIONS:
        return logged_with
    return truths.head_of(session, logged_with)


def input_digest(run: RunRecord, truth: TruthRecord | None, part: Slice | None = None) -> str:
    """SHA-256 of what goes into an evaluation: predictions, truth version, suite and slice.

    A correction that was taken back is a version of its own although it says what an older one
    said; its number tells the two apart.
    """
    version = "" if truth is None else truth.digest
    if truth is not None and truth.parent_id is not None:
        version += f" revised as {truth.number}"
    facts = f"{run.content_digest}\n{version}\n{SUITE_VERSION}"
    if part is not None:
        facts += f"\n{part}"
    return hashlib.sha256(facts.encode()).hexdigest()


def _no_cases_to_choose_from(run: RunRecord) -> InvalidInput:
    return InvalidInput(
        f"run {run.id} is a matrix without predictions.",
        field="slice",
        hint="Slices need to know the cases; log the predictions, or a frame with slices=.",
    )
