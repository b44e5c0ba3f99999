"""Reading everything a question about costs is answered from, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import Conflict, NotFound
from offdiag.inputs.labels import Codes
from offdiag.metrics.costs.matrix import CostMatrix, prevalence_costs, zero_one_costs
from offdiag.services.cost_matrices import CostName, costs_named
from offdiag.services.truth.lookup import dataset_named
from offdiag.store import cost_matrices, truths
from offdiag.store.cost_matrices import CostMatrixRecord
from offdiag.store.database import Database
from offdiag.store.predictions import in_truth_order
from offdiag.store.priced_runs import (
    CostChoice,
    OtherRun,
    PricedRun,
    cost_choices,
    newest_runs,
    priced_runs,
)
from offdiag.store.session import Session

MOST_RUNS = 8
"""Runs that one answer compares."""
MOST_OTHERS = 50


class Preset(StrEnum):
    """Costs that need nobody to state them. No cost matrix can have such a name."""

    ZERO_ONE = "@0-1"
    PREVALENCE = "@prevalence"


@dataclass(frozen=True)
class BaseCosts:
    """The costs that changes start from: a stored version, or a preset."""

    costs: CostMatrix
    record: CostMatrixRecord | None
    preset: Preset | None

    @property
    def reference(self) -> str:
        """How an address names them."""
        if self.record is not None:
            return str(CostName(self.record.name, self.record.version))
        return str(self.preset)


@dataclass(frozen=True)
class SideBySide:
    """What runs answered for the same samples: codes of shape (n_samples,) each.

    A code beyond the last class stands for "no label" in `actual` and for "no prediction" in
    `predicted`, which has the runs that could be paired.
    """

    actual: Codes
    predicted: Mapping[str, Codes]


@dataclass(frozen=True)
class WhatIfFrame:
    """Runs of one dataset, the costs to start from, and what else there is to choose.

    `left_out` are the ids that were asked for and are not among the runs, with the reason.
    """

    runs: tuple[PricedRun, ...]
    left_out: tuple[tuple[str, str], ...]
    base: BaseCosts
    choices: tuple[CostChoice, ...]
    others: tuple[OtherRun, ...]
    pairs: SideBySide | None


def read_frame(
    database: Database, run_ids: Sequence[str], costs: str | None, *, most: int = MOST_RUNS
) -> WhatIfFrame:
    """Read runs beside each other, with the costs `name@version`, a preset, or the default ones.

    Those beyond the first `most` are left out.

    Raises `NotFound` where none of the runs has been evaluated and for unknown costs, and
    `Conflict` for costs of other classes.
    """
    with database.read() as session:
        runs, left_out = _runs_of_one_dataset(session, run_ids, most)
        first = runs[0]
        return WhatIfFrame(
            runs=runs,
            left_out=left_out,
            base=base_costs(session, first, costs),
            choices=cost_choices(session, project=first.project, labels=first.matrix.labels),
            others=tuple(
                other
                for other in newest_runs(session, first.dataset_id, limit=MOST_OTHERS)
                if other.id not in run_ids
            ),
            pairs=_side_by_side(session, runs),
        )


def read_base(
    database: Database, run_ids: Sequence[str], costs: str | None
) -> tuple[PricedRun, BaseCosts]:
    """The first of the runs and the costs to start from. Raises as `read_frame`."""
    with database.read() as session:
        runs, _ = _runs_of_one_dataset(session, run_ids[:MOST_RUNS], MOST_RUNS)
        return runs[0], base_costs(session, runs[0], costs)


def newest_run_ids(
    database: Database, *, project: str, dataset: str, most: int = MOST_RUNS
) -> tuple[str, ...]:
    """The newest evaluated runs of a dataset, `most` of them. Raises `NotFound`."""
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        return tuple(run.id for run in newest_runs(session, known.id, limit=most))


def _runs_of_one_dataset(
    session: Session, run_ids: Sequence[str], most: int
) -> tuple[tuple[PricedRun, ...], tuple[tuple[str, str], ...]]:
    wanted = list(dict.fromkeys(run_ids))[:most]
    found = {run.id: run for run in priced_runs(session, wanted)}
    if not found:
        raise NotFound(
            "none of these runs has been evaluated.",
            field="runs",
            hint="They may have been deleted, or be waiting for their evaluation.",
        )
    frame = next(found[run_id] for run_id in wanted if run_id in found)
    kept, left_out = [], []
    for run_id in dict.fromkeys(run_ids):
        run = found.get(run_id)
        if run_id not in wanted:
            left_out.append((run_id, f"at most {most} runs are compared at once"))
        elif run is None:
            left_out.append((run_id, "it does not exist or has not been evaluated"))
        elif run.dataset_id != frame.dataset_id:
            left_out.append((run_id, f"it is a run on {run.dataset}, not on {frame.dataset}"))
        elif run.matrix.total == 0:
            left_out.append((run_id, "it has no cases with a label"))
        else:
            kept.append(run)
    if not kept:
        raise NotFound(
            "none of these runs has cases with a label.",
            field="runs",
            hint="Errors can be counted once the labels are there.",
        )
    return tuple(kept), tuple(left_out)


def base_costs(session: Session, run: PricedRun, costs: str | None) -> BaseCosts:
    """The costs `name@version`, a preset, or the default ones of the dataset of a run.

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
            f"cost matrix {record.name!r} is about the classes "
            f"{record.costs.labels.preview()}, the runs tell "
            f"{run.matrix.labels.preview()} apart.",
            field="cost",
            hint="Choose costs for the classes of the runs.",
        )
    return BaseCosts(record.costs, record, None)


def _side_by_side(session: Session, runs: Sequence[PricedRun]) -> SideBySide | None:
    """The runs that were scored with the same truth as the first one, case by case."""
    truth = runs[0].truth
    paired = [
        run.id
        for run in runs
        if run.truth == truth and run.source is SourceOrientation.PREDICTIONS
    ]
    if truth is None or len(paired) < 2:
        return None
    actual = truths.truth_codes(session, truth.id)
    predicted = in_truth_order(
        session,
        paired,
        n_samples=len(actual),
        n_classes=runs[0].matrix.n_classes,
    )
    return SideBySide(actual, predicted)
