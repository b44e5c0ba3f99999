"""Questions about costs, answered from matrices alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import zero_one_costs
from offdiag.services.what_if.costs import WhatIf, answer
from offdiag.services.what_if.runs import BaseCosts, Preset, Question, SideBySide, WhatIfFrame
from offdiag.store.run_costs import RunWithCosts, TestedOn
from offdiag.store.runs import RunRecord

Ask = Callable[..., WhatIf]
TRUTH = TestedOn(1, 1, 1, 0)
RECORDED: dict[str, Any] = {
    **{field.name: None for field in fields(RunRecord) if field.name not in {"id", "name"}},
    "dataset_id": 1,
    "source": SourceOrientation.PREDICTIONS,
    "score_columns": 0,
}
"""What is recorded of all runs here, but for their ids and names."""


def answered(
    *counts: Sequence[Sequence[int]],
    labels: Sequence[str] = ("ill", "well"),
    paired: bool = True,
    **question: str,
) -> WhatIf:
    """Runs called "run 0", "run 1" and so on, asked under 0/1 costs.

    Paired ones predict the samples of each class in the order of the labels.
    """
    names = LabelSet.declared(list(labels))
    runs = tuple(
        RunWithCosts(
            id=f"r_{place}",
            name=f"run {place}",
            **RECORDED,
            project="default",
            dataset="clinic",
            positive_label=None,
            default_costs_id=None,
            truth=TRUTH,
            matrix=ConfusionMatrix(np.array(each), names),
            evaluation_id=place,
        )
        for place, each in enumerate(counts)
    )
    frame = WhatIfFrame(
        runs=runs,
        left_out=(),
        base=BaseCosts(zero_one_costs(names), None, Preset.ZERO_ONE),
        choices=(),
        others=(),
        pairs=_side_by_side(runs) if paired else None,
    )
    return answer(frame, Question(**question))


def _side_by_side(runs: Sequence[RunWithCosts]) -> SideBySide:
    size = runs[0].matrix.n_classes
    codes = np.arange(size, dtype=np.uint8)
    return SideBySide(
        np.repeat(codes, runs[0].matrix.actual),
        {
            run.id: np.concatenate([np.repeat(codes, row) for row in run.matrix.counts])
            for run in runs
        },
    )


@pytest.fixture
def ask() -> Ask:
    return answered
