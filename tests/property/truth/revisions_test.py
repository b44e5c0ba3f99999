"""Laws of revised ground truth, over random sequences of corrections and arrivals of labels.

The model is a list: the label of each sample now, None where there is none. Whatever the
sequence was, the registry must hold what it would hold had that list been logged at once.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from offdiag.errors import Conflict
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.truth.revise import Revision, revise_truth
from offdiag.services.truth.versions import TruthComparison, compare_truths
from offdiag.services.verification.verify import verify
from offdiag.store import truths
from offdiag.store.database import Database
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.models import (
    ClassValuesRow,
    ConfusionMatrixRow,
    EvaluationRow,
    MetricValueRow,
    TruthChunkRow,
    TruthVersionRow,
)
from support.logging_runs import evaluate, log

Labels = list[str | None]

CLASSES = ("cat", "dog", "fox")
# Each example logs, corrects and evaluates in a database of its own.
A_FEW = settings(max_examples=3)


@dataclass(frozen=True)
class Story:
    """A run on samples, and the corrections that follow each other; `labels` are the first."""

    ids: list[int]
    labels: Labels
    predicted: list[str]
    scores: list[list[float]] | None
    sites: list[str]
    corrections: list[dict[int, str | None]]

    @property
    def versions(self) -> list[Labels]:
        """The labels after each correction that changes something, the first ones before."""
        found = [self.labels]
        for correction in self.corrections:
            after = corrected(self.ids, found[-1], correction)
            if after != found[-1]:
                found.append(after)
        return found


def corrected(ids: Sequence[int], labels: Labels, correction: Mapping[int, str | None]) -> Labels:
    return [correction.get(name, label) for name, label in zip(ids, labels, strict=True)]


@st.composite
def stories(draw: st.DrawFn, *, complete: bool) -> Story:
    """A story that begins with all labels, or with none."""
    size = draw(st.integers(1, 9))
    ids = draw(st.lists(st.integers(-5, 60), min_size=size, max_size=size, unique=True))
    column = st.lists(st.sampled_from(CLASSES), min_size=size, max_size=size)
    label = st.sampled_from(CLASSES) if complete else st.sampled_from((*CLASSES, None))
    correction = st.dictionaries(st.sampled_from(ids), label, min_size=1)
    shares = st.lists(st.integers(1, 6), min_size=len(CLASSES), max_size=len(CLASSES))
    scores = draw(st.none() | st.lists(shares, min_size=size, max_size=size))
    return Story(
        ids=ids,
        labels=list(draw(column)) if complete else [None] * size,
        predicted=draw(column),
        scores=None if scores is None else [[part / sum(row) for part in row] for row in scores],
        sites=draw(st.lists(st.sampled_from("AB"), min_size=size, max_size=size)),
        corrections=draw(st.lists(correction, min_size=1, max_size=4)),
    )


@contextmanager
def registry(migrated_file: Path) -> Iterator[Database]:
    """A database of its own for one example."""
    with TemporaryDirectory() as folder:
        path = shutil.copy(migrated_file, Path(folder) / "registry.db")
        database = Database(f"sqlite:///{path}", synchronous="normal")
        yield database
        database.close()


def log_story(database: Database, story: Story, labels: Labels, dataset: str, **given: Any) -> str:
    """Log the run of a story with these labels; those that some lack come by a correction."""
    known = {name: label for name, label in zip(story.ids, labels, strict=True) if label}
    is_complete = len(known) == len(labels)
    run = log(
        database,
        y_true=labels if is_complete else None,
        y_pred=story.predicted,
        y_score=story.scores,
        sample_ids=story.ids,
        labels=CLASSES,
        dataset=dataset,
        **given,
    )
    if known and not is_complete:
        revise(database, dataset, known)
    return run.id


def revise(
    database: Database, dataset: str, labels: Mapping[int, str | None], *, reason: str = "r"
) -> Revision:
    return revise_truth(
        database, project="default", dataset=dataset, labels=labels, reason=reason, author=None
    )


def tell(database: Database, story: Story, *, evaluate_each: bool) -> tuple[str, list[Revision]]:
    """Log the run and correct its labels again and again, with every kind of call."""
    run_id = log_story(database, story, story.labels, "story", slices={"site": story.sites})
    revisions: list[Revision] = []
    labels = story.labels
    for number, correction in enumerate(story.corrections):
        after = corrected(story.ids, labels, correction)
        if after == labels:
            try:
                revise(database, "story", correction, reason=f"look {number}")
            except Conflict:
                continue
            raise AssertionError("a correction of nothing made a version")
        revisions.append(revise(database, "story", correction, reason=f"look {number}"))
        # Who calls again, because the answer was lost, makes no second version.
        again = revise(database, "story", correction, reason=f"look {number}")
        assert (again.was_there, again.version) == (True, revisions[-1].version)
        labels = after
        if evaluate_each:
            evaluate(database, run_id)
    return run_id, revisions


def values_of(found: StoredEvaluation) -> tuple[Any, ...]:
    """Everything an evaluation says, but for its name and the time."""
    return (
        found.n_cases,
        found.n_labelled,
        found.matrix.counts.tolist(),
        found.matrix_digest,
        dict(found.aggregate),
        dict(found.per_class),
        found.hides_minority,
    )


def stored_result(database: Database, evaluation_id: int) -> list[Any]:
    """The rows of an evaluation, to the byte."""
    with database.read() as session:
        return [
            [
                tuple(value for name, value in row.items() if name != "evaluation_id")
                for row in session.execute(
                    select(model.__table__)
                    .where(model.evaluation_id == evaluation_id)
                    .order_by(*model.__table__.primary_key)
                ).mappings()
            ]
            for model in (ConfusionMatrixRow, MetricValueRow, ClassValuesRow)
        ]


def stored_truth(database: Database, evaluation_id: int) -> tuple[Any, ...]:
    """The truth an evaluation was made with: its counts and digest, its codes to the byte."""
    with database.read() as session:
        truth = session.scalars(
            select(TruthVersionRow)
            .join(EvaluationRow, EvaluationRow.truth_version_id == TruthVersionRow.id)
            .where(EvaluationRow.id == evaluation_id)
        ).one()
        chunks = session.scalars(
            select(TruthChunkRow).where(TruthChunkRow.truth_version_id == truth.id)
        )
        codes = [(chunk.seq, chunk.n, chunk.dtype, chunk.codes) for chunk in chunks]
        return truth.digest, truth.n_samples, truth.n_labelled, truth.class_counts, codes


@A_FEW
@given(
    story=st.booleans().flatmap(lambda complete: stories(complete=complete)), each=st.booleans()
)
def test_revising_again_and_again_is_logging_once_with_the_last_labels(
    migrated_file: Path, story: Story, each: bool
) -> None:
    with registry(migrated_file) as database:
        run_id, revisions = tell(database, story, evaluate_each=each)
        told = evaluate(database, run_id)
        fresh_id = log_story(database, story, story.versions[-1], "fresh")
        fresh = evaluate(database, fresh_id)

        assert len(revisions) == len(story.versions) - 1
        assert values_of(told) == values_of(fresh)
        assert stored_result(database, told.id) == stored_result(database, fresh.id)
        assert stored_truth(database, told.id) == stored_truth(database, fresh.id)
        assert verify(database).is_clean


@A_FEW
@given(story=st.booleans().flatmap(lambda complete: stories(complete=complete)))
def test_every_version_keeps_the_labels_it_was_made_with(
    migrated_file: Path, story: Story
) -> None:
    with registry(migrated_file) as database:
        tell(database, story, evaluate_each=False)

        with database.read() as session:
            stored = [
                truths.truth_codes(session, version.id).tolist()
                for version in truths.all_truths(session)
            ]
        for codes, labels in zip(stored, story.versions, strict=True):
            by_id = dict(zip(story.ids, labels, strict=True))
            assert [(*CLASSES, None)[code] for code in codes] == [
                by_id[name] for name in sorted(story.ids)
            ]


def changes_in(compared: TruthComparison) -> dict[int | str, tuple[str | None, str | None]]:
    return {
        changed.sample: (changed.before, changed.after)
        for changed in compared.difference.samples()
    }


@A_FEW
@given(story=stories(complete=False))
def test_differences_of_versions_compose(migrated_file: Path, story: Story) -> None:
    with registry(migrated_file) as database:
        tell(database, story, evaluate_each=False)
        last = len(story.versions)

        def between(before: int, after: int) -> TruthComparison:
            return compare_truths(
                database, project="default", dataset="story", before=before, after=after
            )

        for middle in range(1, last + 1):
            first, second = changes_in(between(1, middle)), changes_in(between(middle, last))
            whole = between(1, last)

            composed = {
                sample: (
                    first.get(sample, second.get(sample, (None, None)))[0],
                    second.get(sample, first.get(sample, (None, None)))[1],
                )
                for sample in first.keys() | second.keys()
            }
            moved = {sample: pair for sample, pair in composed.items() if pair[0] != pair[1]}
            assert changes_in(whole) == moved
            back = changes_in(between(last, 1))
            assert back == {sample: (after, before) for sample, (before, after) in moved.items()}
            difference = whole.difference
            assert sum(move.n for move in difference.moves) == len(difference) == len(moved)
            assert len(difference) == (
                difference.n_corrected + difference.n_newly_labelled + difference.n_unlabelled
            )


@A_FEW
@given(story=stories(complete=False), data=st.data())
def test_the_coverage_of_late_labels_adds_up(
    migrated_file: Path, story: Story, data: st.DataObject
) -> None:
    final = data.draw(
        st.lists(st.sampled_from(CLASSES), min_size=len(story.ids), max_size=len(story.ids)),
        label="labels that arrive",
    )
    order = data.draw(st.permutations(list(zip(story.ids, final, strict=True))), label="order")
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=5), label="batches")
    with registry(migrated_file) as database:
        run_id = log_story(database, story, story.labels, "story", slices={"site": story.sites})
        assert evaluate(database, run_id).n_labelled == 0
        arrived = 0
        for number, size in enumerate(sizes):
            batch = dict(order[arrived : arrived + size])
            if not batch:
                break
            made = revise(database, "story", batch, reason=f"batch {number}")
            arrived += len(batch)

            found = evaluate(database, run_id)
            assert made.difference.n_newly_labelled == len(batch) == len(made.difference)
            assert made.version.n_labelled == sum(made.version.class_counts) == arrived
            assert found.n_cases == len(story.ids)
            assert found.n_labelled == found.matrix.total == arrived
            parts = [
                evaluation_of_slice(database, run_id, f"site={site}")
                for site in sorted(set(story.sites))
            ]
            assert sum(part.n_cases for part in parts) == found.n_cases
            assert sum(part.n_labelled for part in parts) == arrived
            counts = np.add.reduce([part.matrix.counts for part in parts])
            assert np.array_equal(counts, found.matrix.counts)
        assert verify(database).is_clean
