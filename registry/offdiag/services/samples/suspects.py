"""Suspect labels: labels of a dataset that independent models contradict, over all its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.runs import Task
from offdiag.domain.sample_content import SuspectQuestion
from offdiag.metrics.label_errors.suspects import (
    PlantedErrors,
    RankedLabels,
    Votes,
    plant_errors,
    rank_labels,
)
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.services.lru_cache import LruCache, result_of
from offdiag.services.samples.draft_samples import draft_truth, known_among, places_named
from offdiag.services.samples.drafts import LabelDraft, draft_of
from offdiag.store import compared_runs as queries
from offdiag.store import label_answers, truths
from offdiag.store.compared_runs import ComparedRun
from offdiag.store.database import Database, Session
from offdiag.store.dataset_page import DatasetSize, dataset_size
from offdiag.store.datasets import DatasetRecord, dataset_named
from offdiag.store.predictions import scores_of
from offdiag.store.ranked_runs import accuracies_of
from offdiag.store.truths import TruthRecord

FEWEST_WITHOUT_PROBABILITIES = 3
"""Families required if none has probabilities: two can only agree or disagree."""
MOST_RUNS = 300
"""The newest runs of a dataset, among which the best of each family is chosen."""
MOST_MODELS = 20
"""The most accurate models; few, because the predictions and scores of each are read."""
_TOO_MANY = f"not among the {MOST_MODELS} most accurate models"
SPLIT_NAMES = ("split", "data_split", "offdiag.split")
TRAINING = frozenset({"train", "training", "fit"})
"""A run with such a tag or parameter predicted the data on which its model was trained."""


@dataclass(frozen=True, slots=True)
class Family:
    """One independent vote: the best run of a model, among `n_runs` with the same features."""

    name: str
    run_id: str
    run_name: str
    n_runs: int
    has_probabilities: bool
    is_weighted: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A family without a vote, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The class that a family predicts, with its `probability`, None if it has none."""

    label: str
    probability: float | None


@dataclass(frozen=True, slots=True)
class Suspect:
    """A suspect label. `score` is the mean margin of `suggested` over the label, from -1 to 1."""

    sample: int | str
    label: str
    suggested: str
    score: float
    against: int
    is_confident: bool
    answers: tuple[Answer, ...]

    @property
    def n_for_suggested(self) -> int:
        """The number of families that predict the suggested class."""
        return sum(answer.label == self.suggested for answer in self.answers)

    @property
    def reason(self) -> str:
        """ "3 of 4 models predict nv: mean probability 0.81 above that of mel"."""
        return (
            f"{self.n_for_suggested} of {len(self.answers)} models predict {self.suggested}; "
            f"its mean probability is {self.score:+.2f} against {self.label}"
        )


@dataclass(frozen=True)
class SuspectLabels:
    """The suspect labels of the newest label version, most suspect first.

    `missing` says why there can be none. `n_labelled` labels were examined, `total` suspects match
    the question; `n_confident` of the suspects are confident ones. `moves` counts suspects by
    label and suggested class.
    """

    dataset: DatasetRecord
    size: DatasetSize
    version: int
    families: tuple[Family, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    trained_on: int = 0
    n_labelled: int = 0
    n_suspect: int = 0
    n_confident: int = 0
    total: int = 0
    start: int = 0
    suspects: tuple[Suspect, ...] = ()
    moves: tuple[tuple[str, str, int], ...] = ()
    planted: PlantedErrors | None = None
    missing: str | None = None
    draft: LabelDraft | None = None


@dataclass(frozen=True, eq=False)
class RankedDataset:
    """The ranking of all labels; `places` are the places of labelled samples in the truth."""

    families: tuple[Family, ...]
    left_out: tuple[LeftOut, ...]
    labels: NDArray[np.int64]
    places: NDArray[np.int64]
    predicted: tuple[NDArray[np.int64], ...]
    own: tuple[NDArray[np.float32] | None, ...]
    ranked: RankedLabels | None
    planted: PlantedErrors | None


def suspect_labels(
    database: Database,
    *,
    project: str,
    dataset: str,
    question: SuspectQuestion,
    kept: LruCache[RankedDataset] | None = None,
) -> SuspectLabels:
    """Rank the labels of a dataset by how strongly its models contradict them.

    This uses the newest label version, or the one of an open draft. Of each family, identified by
    the name of the model and its parameter `features`, the run with the highest accuracy votes.
    Runs that state that they predicted training data have no vote. Labels that people have already
    reviewed, and those for which the asking person has an answer in the draft, are left out.
    Raises `NotFound`, and `InvalidInput` for an unknown class.
    """
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        truth = draft_truth(session, known)
        size = dataset_size(session, known.id)
        if known.task is Task.MULTILABEL:
            return SuspectLabels(
                known,
                size,
                truth.number,
                missing="Suspect labels need one label per example, not sets of labels.",
            )
        found, trained_on = ranked_dataset(session, known, truth, kept)
        about = SuspectLabels(
            known, size, truth.number, found.families, found.left_out, trained_on
        )
        if found.ranked is None:
            return replace(about, missing=_too_few(found, trained_on))
        return _answer(session, about, truth, found, question)


def ranked_dataset(
    session: Session,
    known: DatasetRecord,
    truth: TruthRecord,
    kept: LruCache[RankedDataset] | None,
) -> tuple[RankedDataset, int]:
    """The ranked labels of a dataset of classes, and how many runs are on training data."""
    runs = _voters(session, truth)
    voters = [run for run in runs if not _is_of_training(run)]
    chosen = _best_of_families(session, voters)
    key = (truth.id, tuple(run.id for run in voters), tuple(run.id for run, _ in chosen))
    found = result_of(kept, key, lambda: _ranked(session, known, truth, chosen))
    return found, len(runs) - len(voters)


def _voters(session: Session, truth: TruthRecord) -> list[ComparedRun]:
    ids = truths.runs_scored_with(session, truth.root_id)[-MOST_RUNS:]
    found = queries.compared_runs(session, ids)
    return [
        run
        for run_id in ids
        if (run := found.get(run_id)) is not None
        and run.has_predictions
        and run.n_predictions == truth.n_samples
        and not run.is_chosen_here
    ]


def _is_of_training(run: ComparedRun) -> bool:
    said = {**run.params, **run.tags}
    return any(str(said.get(name, "")).lower() in TRAINING for name in SPLIT_NAMES)


def _family_of(run: ComparedRun) -> str:
    features = run.params.get("features")
    name = run.model or run.name
    return name if features is None else f"{name}, features {features}"


def _best_of_families(
    session: Session, runs: Sequence[ComparedRun]
) -> list[tuple[ComparedRun, int]]:
    """The most accurate run of each family and the number of its runs, by stored accuracy.

    If none is evaluated yet, the newest run is chosen. A weighted accuracy is a different
    quantity, so runs without weights come first, within a family and overall. Predictions of the
    others are never read.
    """
    accuracy = accuracies_of(session, [run.id for run in runs])
    by_family: dict[str, list[ComparedRun]] = {}
    for run in runs:
        by_family.setdefault(_family_of(run), []).append(run)
    best = [
        (
            max(
                reversed(members),
                key=lambda run: (not run.is_weighted, accuracy.get(run.id, -1.0)),
            ),
            len(members),
        )
        for members in by_family.values()
    ]
    return sorted(best, key=lambda each: (each[0].is_weighted, -accuracy.get(each[0].id, -1.0)))


def _ranked(
    session: Session,
    dataset: DatasetRecord,
    truth: TruthRecord,
    chosen: Sequence[tuple[ComparedRun, int]],
) -> RankedDataset:
    n_classes = len(dataset.labels)
    codes = truths.truth_codes(session, truth.id).astype(np.int64)
    places = np.flatnonzero(codes < n_classes).astype(np.int64)
    labels = codes[places]
    largest = np.bincount(labels, minlength=n_classes).max(initial=0)
    families: list[Family] = []
    left_out: list[LeftOut] = []
    predictions: list[NDArray[np.int64]] = []
    own: list[NDArray[np.float32] | None] = []

    # Votes are read one by one, because their tables of probabilities are large.
    def votes() -> Iterator[Votes]:
        for run, n_runs in chosen[:MOST_MODELS]:
            found = queries.predictions_of(session, [run.id])[run.id]
            predicted = _in_truth_order(found, found.codes, truth)[places].astype(np.int64)
            if int((predicted == labels).sum()) <= largest:
                why = "no more accurate than the largest class"
                left_out.append(LeftOut(_family_of(run), why))
                continue
            table = None
            if run.score_columns:
                scores = scores_of(session, [run.id])[run.id]
                ordered = _in_truth_order(found, scores, truth)[places]
                table = _probabilities(run, labels, ordered, n_classes)
            vote = Votes(predicted, table)
            families.append(
                Family(
                    _family_of(run),
                    run.id,
                    run.name,
                    n_runs,
                    has_probabilities=table is not None,
                    is_weighted=run.is_weighted,
                )
            )
            predictions.append(predicted)
            own.append(_own(vote))
            yield vote

    ranked: RankedLabels | None = rank_labels(labels, votes(), n_classes=n_classes)
    left_out += [LeftOut(_family_of(run), _TOO_MANY) for run, _ in chosen[MOST_MODELS:]]
    is_enough = len(families) >= FEWEST_WITHOUT_PROBABILITIES or any(
        family.has_probabilities for family in families
    )
    planted = None
    if ranked is not None and is_enough and len(labels):
        planted = plant_errors(labels, ranked.mean)
    else:
        ranked = None
    return RankedDataset(
        tuple(families),
        tuple(left_out),
        labels,
        places,
        tuple(predictions),
        tuple(own),
        ranked,
        planted,
    )


def _in_truth_order(
    predicted: queries.Predicted, values: NDArray[Any], truth: TruthRecord
) -> NDArray[Any]:
    ordered = np.empty((truth.n_samples, *values.shape[1:]), values.dtype)
    ordered[predicted.positions] = values
    return ordered


def _probabilities(
    run: ComparedRun, labels: NDArray[np.int64], scores: NDArray[Any], n_classes: int
) -> NDArray[np.float32] | None:
    positive = None if run.positive_label is None else run.labels.index[run.positive_label]
    forecasts = Forecasts(labels, scores, n_classes, positive)
    if not np.isfinite(scores).all() or not forecasts.are_probabilities:
        return None
    return np.asarray(forecasts.table, np.float32)


def _own(votes: Votes) -> NDArray[np.float32] | None:
    """The probabilities of the predicted classes by family; whole tables are not kept."""
    if votes.probabilities is None:
        return None
    return np.asarray(
        votes.probabilities[np.arange(len(votes.predicted)), votes.predicted], np.float32
    )


def _too_few(found: RankedDataset, trained_on: int) -> str:
    n = len(found.families)
    text = (
        f"Needs a model with probabilities, or {FEWEST_WITHOUT_PROBABILITIES} models without; "
        f"there {'is' if n == 1 else 'are'} {n} without."
        if n
        else "No run has a vote. A model votes with an evaluated run that is more accurate than "
        "always predicting the largest class."
    )
    return f"{text} Runs on training data have no vote." if trained_on else text


def _answer(
    session: Session,
    about: SuspectLabels,
    truth: TruthRecord,
    found: RankedDataset,
    question: SuspectQuestion,
) -> SuspectLabels:
    ranked = cast("RankedLabels", found.ranked)
    labels = about.dataset.labels
    answers = label_answers.open_answers(session, about.dataset.id)
    published = label_answers.published_samples(session, about.dataset.id, root_id=truth.root_id)
    # Proposals of other people stay on the list: second opinions must not depend on the first.
    seen = published | {each.sample for each in answers if each.author == question.person}
    here = known_among(session, truth, sorted(seen))
    unseen = ~np.isin(found.places, places_named(session, truth, here))
    suspect = ranked.is_suspect & unseen
    wanted = suspect & (ranked.against >= question.at_least)
    if question.class_label is not None:
        wanted &= found.labels == labels.code_of(question.class_label, field_name="class")
    order = ranked.order[wanted[ranked.order]]
    shown = order[question.start :][: question.limit]
    moves = Counter(
        zip(found.labels[order].tolist(), ranked.suggested[order].tolist(), strict=True)
    )
    names = labels.names
    samples = truths.names_at(session, truth, found.places[shown])
    return replace(
        about,
        n_labelled=len(found.labels),
        n_suspect=int(suspect.sum()),
        n_confident=int((ranked.is_confident & unseen).sum()),
        total=len(order),
        start=question.start,
        suspects=tuple(
            _suspect(sample, at, found, ranked, names)
            for sample, at in zip(samples, shown.tolist(), strict=True)
        ),
        moves=tuple((names[a], names[b], n) for (a, b), n in moves.most_common()),
        planted=found.planted,
        draft=draft_of(session, about.dataset, truth, about.size, answers),
    )


def _suspect(
    sample: int | str, at: int, found: RankedDataset, ranked: RankedLabels, names: Sequence[str]
) -> Suspect:
    return Suspect(
        sample,
        names[found.labels[at]],
        names[ranked.suggested[at]],
        float(ranked.score[at]),
        int(ranked.against[at]),
        bool(ranked.is_confident[at]),
        tuple(
            Answer(names[predicted[at]], None if own is None else float(own[at]))
            for predicted, own in zip(found.predicted, found.own, strict=True)
        ),
    )
