"""The runs that a what-if question is about, and the costs they start from.

Everything needed for the answer is read in one transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from offdiag.domain.runs import PromotionRole
from offdiag.domain.slices import Slice, parse_slice
from offdiag.domain.texts import CostName
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import masked
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix, prevalence_costs, zero_one_costs
from offdiag.metrics.counted import matrix_of
from offdiag.metrics.many_runs.confidence_set import BestSet
from offdiag.services.champions.leaders import leaders_in
from offdiag.services.cost_matrices import costs_named
from offdiag.services.evaluation.inputs import members_of
from offdiag.services.evaluation.slices import evaluation_of_slice, slice_levels
from offdiag.services.lru_cache import LruCache
from offdiag.store import cost_matrices, truths
from offdiag.store.cost_matrices import CostMatrixRecord
from offdiag.store.database import Database, Session
from offdiag.store.datasets import dataset_named
from offdiag.store.predictions import in_truth_order
from offdiag.store.promotions import promotions_in_force
from offdiag.store.run_costs import (
    CostChoice,
    OtherRun,
    RunWithCosts,
    cost_choices,
    newest_without_weights,
    runs_with_costs,
)

MOST_RUNS = 8
"""Most runs that one answer compares."""
MOST_OTHERS = 50


class Preset(StrEnum):
    """Costs that need not be stated. No cost matrix can have one of these names."""

    ZERO_ONE = "@0-1"
    PREVALENCE = "@prevalence"


@dataclass(frozen=True)
class BaseCosts:
    """The costs to which changes are applied: a stored version, or a preset."""

    costs: CostMatrix
    record: CostMatrixRecord | None
    preset: Preset | None

    @property
    def reference(self) -> str:
        """The name of the costs in a URL."""
        if self.record is not None:
            return str(CostName(self.record.name, self.record.version))
        return str(self.preset)


@dataclass(frozen=True, slots=True)
class Question:
    """What a user asks about runs, as text. Empty text asks for nothing special.

    `costs` names the base, None for the default of the dataset. `edits` are as in
    `offdiag.metrics.costs.edits`, `shares` as in `deployment`, `merged` as in `groups`. `lever` is
    `actual>predicted`, or `actual>*` for all errors on a class. `part` is a slice such as
    `site=z`.
    """

    costs: str | None = None
    edits: str = ""
    lever: str = ""
    shares: str = ""
    merged: str = ""
    part: str = ""


@dataclass(frozen=True)
class SideBySide:
    """The predictions of runs for the same samples: codes of shape (n_samples,) each.

    A code beyond the last class means "no label" in `actual` and "no prediction" in `predicted`,
    which has the runs that could be paired.
    """

    actual: Codes
    predicted: Mapping[str, Codes]


@dataclass(frozen=True)
class WhatIfFrame:
    """Runs of one dataset, the costs to start from, and the other available choices.

    `left_out` are the ids that were asked for but are not among the runs, with the reason.
    `n_weighted` runs of the dataset have sample weights and are in neither. `part` is the slice,
    and `levels` are the values of slice columns that can be chosen for the first run.
    """

    runs: tuple[RunWithCosts, ...]
    left_out: tuple[tuple[str, str], ...]
    base: BaseCosts
    choices: tuple[CostChoice, ...]
    others: tuple[OtherRun, ...]
    pairs: SideBySide | None
    n_weighted: int = 0
    part: str = ""
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_frame(
    database: Database, run_ids: Sequence[str], question: Question, *, most: int = MOST_RUNS
) -> WhatIfFrame:
    """Read runs side by side, with the costs `name@version`, a preset, or the default ones.

    Runs beyond the first `most` are left out, and so are those that are not on the newest labels
    among all of them. On a slice, the runs have only its counts.

    Raises `NotFound` if none of the runs has been evaluated and for unknown costs, `Conflict` for
    costs of other classes, and for a slice what `evaluation_of_slice` raises.
    """
    part = parse_slice(question.part) if question.part else None
    of_slice = {} if part is None else _on_slice(database, run_ids[:most], str(part))
    costs = question.costs
    with database.read() as session:
        runs, left_out = _runs_of_one_dataset(session, run_ids, most, of_slice)
        first = runs[0]
        newest, n_weighted = newest_without_weights(session, first.dataset_id, limit=MOST_OTHERS)
        return WhatIfFrame(
            runs=runs,
            left_out=left_out,
            base=base_costs(session, first, costs),
            choices=cost_choices(session, project=first.project, labels=first.matrix.labels),
            others=tuple(other for other in newest if other.id not in run_ids),
            pairs=_side_by_side(session, runs, part),
            n_weighted=n_weighted,
            part="" if part is None else str(part),
            levels=_levels(session, first),
        )


def read_base(
    database: Database, run_ids: Sequence[str], costs: str | None
) -> tuple[RunWithCosts, BaseCosts]:
    """The first of the runs and the costs to start from. Raises like `read_frame`."""
    with database.read() as session:
        runs, _ = _runs_of_one_dataset(session, run_ids[:MOST_RUNS], MOST_RUNS)
        return runs[0], base_costs(session, runs[0], costs)


def newest_run_ids(
    database: Database, *, project: str, dataset: str, most: int = MOST_RUNS
) -> tuple[str, ...]:
    """The ids of the newest `most` evaluated runs of a dataset. Raises `NotFound`."""
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        newest, _ = newest_without_weights(session, known.id, limit=most)
        return tuple(run.id for run in newest)


def runs_to_start_with(
    database: Database, *, project: str, dataset: str, kept: LruCache[BestSet | None]
) -> tuple[str, ...]:
    """The newest runs of a dataset with its champion and its best set, `MOST_RUNS` in all.

    Those older than the newest ones come last. Best sets are taken from `kept`. Raises `NotFound`.
    """
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        newest, _ = newest_without_weights(session, known.id, limit=MOST_RUNS)
        first = []
        roles = promotions_in_force(session, [known.id]).get(known.id, {})
        champion = roles.get(PromotionRole.CHAMPION)
        if champion is not None and champion.run_id is not None and not champion.is_weighted:
            first.append(champion.run_id)
        best = leaders_in(session, known, kept=kept).best_set
        first += [each.run.id for each in best]
    recent = [run.id for run in newest]
    chosen = list(dict.fromkeys([*first, *recent]))[:MOST_RUNS]
    return tuple(
        sorted(chosen, key=lambda each: recent.index(each) if each in recent else MOST_RUNS)
    )


def runs_asked_for(
    database: Database, run_ids: str, *, project: str, dataset: str | None, most: int
) -> tuple[str, ...]:
    """The comma-separated ids in a text; without any, the newest runs of the dataset.

    Raises `InvalidInput` without either, and `NotFound` for a dataset without evaluated runs.
    """
    named = tuple(each.strip() for each in run_ids.split(",") if each.strip())
    if named:
        return named
    if dataset is None:
        raise InvalidInput(
            "neither runs nor a dataset is named.", field="runs", hint="Name one of both."
        )
    newest = newest_run_ids(database, project=project, dataset=dataset, most=most)
    if not newest:
        raise NotFound(
            f"dataset {dataset!r} has no evaluated runs.",
            field="dataset",
            hint="Log one without sample weights, or wait for its evaluation.",
        )
    return newest


def _levels(session: Session, run: RunWithCosts) -> Mapping[str, tuple[str, ...]]:
    truth = run.truth
    if not run.counted_on and (truth is None or not truth.has_slices):
        return {}
    return slice_levels(session, run, None if truth is None else truth.root_id)


def _on_slice(database: Database, run_ids: Iterable[str], part: str) -> dict[str, ConfusionMatrix]:
    """The matrices of runs on a slice; the first run must have one."""
    with database.read() as session:
        known = [run.id for run in runs_with_costs(session, list(run_ids))]
    found: dict[str, ConfusionMatrix] = {}
    for run_id in known:
        try:
            found[run_id] = matrix_of(evaluation_of_slice(database, run_id, part).counted)
        except InvalidInput:
            if not found:
                raise
    return found


def _runs_of_one_dataset(
    session: Session,
    run_ids: Sequence[str],
    most: int,
    of_slice: Mapping[str, ConfusionMatrix] = MappingProxyType({}),
) -> tuple[tuple[RunWithCosts, ...], tuple[tuple[str, str], ...]]:
    wanted = list(dict.fromkeys(run_ids))[:most]
    found = {run.id: run for run in runs_with_costs(session, wanted)}
    for run_id, matrix in of_slice.items():
        found[run_id] = replace(found[run_id], matrix=matrix)
    if not found:
        raise NotFound(
            f"none of these runs has been evaluated: {', '.join(map(repr, wanted))}.",
            field="runs",
            hint="They may not exist, have been deleted, or be waiting for their evaluation.",
        )
    frame = next(found[run_id] for run_id in wanted if run_id in found)
    labels = _newest_labels(run for run in found.values() if run.dataset_id == frame.dataset_id)
    kept, left_out = [], []
    for run_id in dict.fromkeys(run_ids):
        run = found.get(run_id)
        if run_id not in wanted:
            left_out.append((run_id, f"at most {most} runs are compared at once"))
        elif run is None:
            left_out.append((run_id, "it does not exist or has not been evaluated"))
        elif of_slice and run_id not in of_slice and run.dataset_id == frame.dataset_id:
            left_out.append((run_id, "its examples are not known by this slice"))
        elif (why := _not_comparable(run, frame, labels)) is not None:
            left_out.append((run_id, why))
        else:
            kept.append(run)
    if not kept:
        raise NotFound(
            "none of these runs has examples with a label.",
            field="runs",
            hint="Errors can be counted once the labels are there.",
        )
    return tuple(kept), tuple(left_out)


def _not_comparable(run: RunWithCosts, first: RunWithCosts, labels: int | None) -> str | None:
    """Why a run is not compared with others; None if it is on the same labels, or on none."""
    if run.dataset_id != first.dataset_id:
        return f"it is a run on {run.dataset}, not on {first.dataset}"
    if run.matrix.total == 0:
        return "it has no examples with a label"
    if (number := _labels_of(run)) not in (None, labels):
        return f"it was evaluated on labels v{number}, not v{labels}"
    return None


def _newest_labels(runs: Iterable[RunWithCosts]) -> int | None:
    """The newest label version on which any of the runs has examples."""
    numbers = (_labels_of(run) for run in runs if run.matrix.total)
    return max((number for number in numbers if number is not None), default=None)


def _labels_of(run: RunWithCosts) -> int | None:
    return None if run.truth is None else run.truth.number


def base_costs(session: Session, run: RunWithCosts, costs: str | None) -> BaseCosts:
    """The costs `name@version`, a preset, or the default ones of the run's dataset.

    Raises `NotFound` for unknown costs and `Conflict` for costs of other classes.
    """
    if costs is None:
        if run.default_costs_id is None:
            return BaseCosts(zero_one_costs(run.matrix.labels), None, Preset.ZERO_ONE)
        record = cost_matrices.get_costs(session, run.default_costs_id)
        return BaseCosts(record.costs, record, None)
    if costs == Preset.ZERO_ONE:
        return BaseCosts(zero_one_costs(run.matrix.labels), None, Preset.ZERO_ONE)
    if costs == Preset.PREVALENCE:
        return BaseCosts(prevalence_costs(run.matrix), None, Preset.PREVALENCE)
    record = costs_named(session, project=run.project, wanted=CostName.parse(costs))
    if record.costs.labels.digest != run.matrix.labels.digest:
        raise Conflict(
            f"cost matrix {record.name!r} is for the classes {record.costs.labels.preview()}, the "
            f"runs have {run.matrix.labels.preview()}.",
            field="cost",
            hint="Choose costs for the classes of the runs.",
        )
    return BaseCosts(record.costs, record, None)


def _side_by_side(
    session: Session, runs: Sequence[RunWithCosts], part: Slice | None
) -> SideBySide | None:
    """The runs that were scored with the same truth as the first one, sample by sample.

    Samples outside the slice count as unlabelled. Runs whose threshold was chosen on these samples
    are left out.
    """
    truth = runs[0].truth
    paired = [
        run.id
        for run in runs
        if run.truth == truth and run.has_predictions and not run.is_chosen_here
    ]
    if truth is None or len(paired) < 2:
        return None
    actual = truths.truth_codes(session, truth.id)
    if part is not None:
        members = members_of(session, truths.get_truth(session, truth.id), part)
        actual = masked(actual, members, runs[0].matrix.n_classes)
    predicted = in_truth_order(
        session,
        paired,
        n_samples=len(actual),
        n_classes=runs[0].matrix.n_classes,
    )
    return SideBySide(actual, predicted)
