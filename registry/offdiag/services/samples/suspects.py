"""Labels of a dataset that independent models contradict, over all of its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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
from offdiag.services.lru_cache import LruCache
from offdiag.services.samples.drafts import LabelDraft, draft_of, places_named
from offdiag.services.truth.versions import dataset_named, version_of
from offdiag.store import compared_runs as queries
from offdiag.store import label_answers, truths
from offdiag.store.compared_runs import ComparedRun
from offdiag.store.database import Database
from offdiag.store.dataset_page import DatasetSize, dataset_size
from offdiag.store.datasets import DatasetRecord
from offdiag.store.session import Session
from offdiag.store.truths import TruthRecord

FEWEST_WITHOUT_PROBABILITIES = 3
"""Families that are needed where none has probabilities: two can only agree or not."""
MOST_RUNS = 300
"""The newest runs of a dataset, among which the best of each family is looked for."""
SPLIT_NAMES = ("split", "data_split", "offdiag.split")
TRAINING = frozenset({"train", "training", "fit"})
"""A run whose tag or parameter says so predicted what its model was trained on."""


@dataclass(frozen=True, slots=True)
class Family:
    """One independent vote: the best run of a model, among `n_runs` with the same features."""

    name: str
    run_id: str
    run_name: str
    n_runs: int
    has_probabilities: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A family without a vote, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a family predicts; `probability` of that class, None where it has none."""

    label: str
    probability: float | None


@dataclass(frozen=True, slots=True)
class Suspect:
    """One sample. `score` is the mean margin of `suggested` over the label, from -1 to 1."""

    sample: int | str
    label: str
    suggested: str
    score: float
    against: int
    is_confident: bool
    answers: tuple[Answer, ...]

    @property
    def n_for_suggested(self) -> int:
        """Families that predict the suggested class."""
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

    `missing` says why there can be none. `n_labelled` labels were looked at, `total` fit the
    question; `n_confident` of the suspects are confident ones. `moves` count suspects by label
    and suggested class.
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
    """What was computed of all labels; `places` are those of labelled samples in the truth."""

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
    """Rank the labels of a dataset by what its models say of them.

    The newest label version counts. Of each family, told by the name of the model and its
    parameter `features`, the run with the highest accuracy votes. Runs that say that they
    predicted training data have no vote. Labels that people looked at already, and those that
    the asker answered in the draft, are left out. Raises `NotFound`, and `InvalidInput` for an
    unknown class.
    """
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        truth = version_of(session, known, None)
        size = dataset_size(session, known.id)
        if known.task is Task.MULTILABEL:
            return SuspectLabels(
                known,
                size,
                truth.number,
                missing="Samples with sets of labels have no single one.",
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
    """The labels of a dataset of classes, ranked, and how many runs are on training data."""
    runs = _voters(session, truth)
    voters = [run for run in runs if not _is_of_training(run)]
    key = (truth.id, tuple(run.id for run in voters))
    found = (
        _ranked(session, known, truth, voters)
        if kept is None
        else kept.get(key, lambda: _ranked(session, known, truth, voters))
    )
    return found, len(runs) - len(voters)


def _voters(session: Session, truth: TruthRecord) -> list[ComparedRun]:
    ids = truths.runs_scored_with(session, truth.root_id)[-MOST_RUNS:]
    found = queries.compared_runs(session, ids)
    return [found[run_id] for run_id in ids if run_id in found and found[run_id].has_predictions]


def _is_of_training(run: ComparedRun) -> bool:
    said = {**run.params, **run.tags}
    return any(str(said.get(name, "")).lower() in TRAINING for name in SPLIT_NAMES)


def _family_of(run: ComparedRun) -> str:
    features = run.params.get("features")
    name = run.model or run.name
    return name if features is None else f"{name}, features {features}"


def _ranked(
    session: Session, dataset: DatasetRecord, truth: TruthRecord, runs: Sequence[ComparedRun]
) -> RankedDataset:
    n_classes = len(dataset.labels)
    codes = truths.truth_codes(session, truth.id).astype(np.int64)
    places = np.flatnonzero(codes < n_classes).astype(np.int64)
    labels = codes[places]
    predictions = queries.predictions_of(session, [run.id for run in runs])
    in_order = {
        run.id: _in_truth_order(predictions[run.id], predictions[run.id].codes, truth)[places]
        for run in runs
        if run.id in predictions and len(predictions[run.id].positions) == truth.n_samples
    }
    best, left_out = _best_of_families(runs, in_order, labels, n_classes)
    scores = queries.scores_of(session, [run.id for run, _ in best if run.score_columns])
    families, votes = [], []
    for run, n_runs in best:
        table = None
        if run.id in scores:
            ordered = _in_truth_order(predictions[run.id], scores[run.id], truth)[places]
            table = _probabilities(run, labels, ordered, n_classes)
        families.append(Family(_family_of(run), run.id, run.name, n_runs, table is not None))
        votes.append(Votes(in_order[run.id], table))
    is_enough = len(votes) >= FEWEST_WITHOUT_PROBABILITIES or any(
        family.has_probabilities for family in families
    )
    ranked = planted = None
    if is_enough and len(labels):
        ranked = rank_labels(labels, votes, n_classes=n_classes)
        planted = plant_errors(labels, ranked.mean)
    return RankedDataset(
        tuple(families),
        left_out,
        labels,
        places,
        tuple(each.predicted for each in votes),
        tuple(_own(each) for each in votes),
        ranked,
        planted,
    )


def _in_truth_order(
    predicted: queries.Predicted, values: NDArray[Any], truth: TruthRecord
) -> NDArray[Any]:
    ordered = np.empty((truth.n_samples, *values.shape[1:]), values.dtype)
    ordered[predicted.positions] = values
    return ordered


def _best_of_families(
    runs: Sequence[ComparedRun],
    predicted: Mapping[str, NDArray[Any]],
    labels: NDArray[np.int64],
    n_classes: int,
) -> tuple[list[tuple[ComparedRun, int]], tuple[LeftOut, ...]]:
    """The run of each family with the highest accuracy, and families that know nothing."""
    by_family: dict[str, list[ComparedRun]] = {}
    for run in runs:
        if run.id in predicted:
            by_family.setdefault(_family_of(run), []).append(run)
    largest = np.bincount(labels, minlength=n_classes).max(initial=0)
    best, left_out = [], []
    for name, members in by_family.items():
        right = {run.id: int((predicted[run.id] == labels).sum()) for run in members}
        chosen = max(members, key=lambda run: right[run.id])
        if right[chosen.id] <= largest:
            left_out.append(LeftOut(name, "no more accurate than the largest class"))
        else:
            best.append((chosen, len(members)))
    return best, tuple(left_out)


def _probabilities(
    run: ComparedRun, labels: NDArray[np.int64], scores: NDArray[Any], n_classes: int
) -> NDArray[np.float32] | None:
    positive = None if run.positive_label is None else run.labels.index[run.positive_label]
    forecasts = Forecasts(labels, scores, n_classes, positive)
    if not np.isfinite(scores).all() or not forecasts.are_probabilities:
        return None
    return np.asarray(forecasts.table, np.float32)


def _own(votes: Votes) -> NDArray[np.float32] | None:
    """The probability of what each family predicts; whole tables are not kept."""
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
        else "No run has a vote."
    )
    return f"{text} Runs on training data have none." if trained_on else text


def _answer(
    session: Session,
    about: SuspectLabels,
    truth: TruthRecord,
    found: RankedDataset,
    question: SuspectQuestion,
) -> SuspectLabels:
    ranked = cast("RankedLabels", found.ranked)
    labels = about.dataset.labels
    answers, published = label_answers.open_answers(session, about.dataset.id)
    # What others propose stays on the list: second opinions do not depend on the first.
    seen = published | {each.sample for each in answers if each.author == question.person}
    unseen = ~np.isin(found.places, places_named(session, truth, sorted(seen)))
    suspect = ranked.is_suspect & unseen
    wanted = suspect & (ranked.against >= question.at_least)
    if question.class_label is not None:
        wanted &= found.labels == labels.code_of(question.class_label, field_name="class")
    order = ranked.order[wanted[ranked.order]]
    shown = order[question.start : question.start + question.limit]
    moves = Counter(
        zip(found.labels[order].tolist(), ranked.suggested[order].tolist(), strict=True)
    )
    names = labels.names
    samples = _sample_names(session, truth, found.places[shown])
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


def _sample_names(
    session: Session, truth: TruthRecord, places: NDArray[np.int64]
) -> Sequence[int | str]:
    ids = truths.truth_ids(session, truth) if len(places) else None
    positions: list[int] = places.tolist()
    return positions if ids is None else ids.take(places).to_list()


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
