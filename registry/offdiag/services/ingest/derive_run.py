"""Deriving a run from the scores of a logged one, with another decision rule."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Derivation, RunState, Task
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.costs.decisions import Rule
from offdiag.metrics.counted import of_sets
from offdiag.metrics.pair_counts import count_labelled_pairs
from offdiag.services.ingest.batch import Batch
from offdiag.services.ingest.finish_run import COUNTED_HERE, content_digest
from offdiag.services.ingest.log_predictions import already_opened
from offdiag.services.jobs.submit import submit_evaluation
from offdiag.store import datasets, predictions, runs, truths
from offdiag.store.database import Database, Session
from offdiag.store.datasets import DatasetRecord
from offdiag.store.retries import after_races
from offdiag.store.runs import RunRecord


def derive_run(
    database: Database,
    *,
    source_id: str,
    rule: Rule,
    recipe: Mapping[str, Any],
    name: str,
    author: str | None = None,
) -> RunRecord:
    """Store the predictions that a rule makes from a run's scores as a run on the same samples.

    `recipe` describes the rule as plain values and is stored with the run. If a run with the same
    recipe exists, it is returned. The scores remain with the source. Raises `NotFound`, `Conflict`
    for a run that is open, and `InvalidInput` for one without scores, or with scores that the rule
    cannot use.
    """

    def transaction(session: Session) -> RunRecord:
        now, source = database.clock(), runs.get_run(session, source_id)
        _require_scores(source)
        dataset = datasets.get_dataset(session, source.dataset_id)
        if dataset.task is Task.MULTILABEL:
            raise of_sets()
        derivation = Derivation(source.id, recipe)
        facts = source.facts(
            name=name,
            project=dataset.project,
            client_key=_client_key(derivation),
            author=author,
        )
        known = already_opened(session, dataset, facts)
        if known is not None:
            return known
        run = runs.insert_run(
            session,
            dataset,
            facts,
            SourceOrientation.PREDICTIONS,
            now=now,
            derivation=derivation,
        )
        _decide(session, source, run.id, dataset, rule)
        stored = predictions.chunk_list(session, run.id)
        finished = runs.mark_finished(
            session,
            run.id,
            truth_version_id=source.truth_version_id,
            n_predictions=source.n_predictions,
            score_columns=0,
            content_digest=content_digest(stored),
            orientation=COUNTED_HERE,
            now=now,
        )
        submit_evaluation(session, run.id)
        return finished

    return after_races(database, transaction)


def _require_scores(run: RunRecord) -> None:
    if run.state is RunState.OPEN:
        raise Conflict(f"run {run.id} is still open.", field="run", hint="Finish it first.")
    if not run.score_columns:
        raise no_scores(run.id)
    if not run.has_predictions:
        raise InvalidInput(
            f"run {run.id} has counts of scores, not the scores of its examples.",
            field="run",
            hint="Log the frame with the new predictions, or with keep_predictions=True.",
        )


def _client_key(derivation: Derivation) -> str:
    """A key for this rule on this run, so that asking twice makes only one run."""
    text = json.dumps([derivation.run_id, dict(derivation.recipe)], sort_keys=True)
    return f"derived:{hashlib.sha256(text.encode()).hexdigest()}"


def _decide(
    session: Session, source: RunRecord, run_id: str, dataset: DatasetRecord, rule: Rule
) -> None:
    assert source.truth_version_id is not None  # noqa: S101  # Finishing predictions sets it.
    actual = truths.truth_codes(session, source.truth_version_id)
    size = len(dataset.labels)
    positive = (
        None if dataset.positive_label is None else dataset.labels.index[dataset.positive_label]
    )
    parts = predictions.read_chunks(session, source.id, n_classes=size)
    with closing(predictions.read_score_chunks(session, source.id)) as scores:
        for part, values in zip(list(parts), scores, strict=True):
            decided = rule.decide(values, positive=positive)
            batch = Batch(decided)
            predictions.insert_chunk(
                session,
                run_id=run_id,
                seq=part.seq,
                predicted=decided,
                scores=None,
                counts=None,
                sha256=batch.digest(dataset.labels),
            )
            predictions.place_chunk(
                session,
                run_id,
                part.seq,
                positions=None if part.positions is None else part.positions.astype("int64"),
                counts=count_labelled_pairs(part.actual_in(actual), decided, n_classes=size),
                predicted=decided,
            )


def no_scores(run_id: str) -> InvalidInput:
    """The error for a run without scores, from which nothing can be decided."""
    return InvalidInput(
        f"run {run_id} has no scores to decide from.",
        field="run",
        hint="Log the scores with the predictions: y_score=.",
    )
