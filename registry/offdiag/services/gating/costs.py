"""Which costs a gate takes: stated ones, named ones, or those of the dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix
from offdiag.services.cost_matrices import CostName, costs_named
from offdiag.store import cost_matrices
from offdiag.store.datasets import DatasetRecord
from offdiag.store.session import Session


@dataclass(frozen=True, slots=True)
class StatedCosts:
    """What errors cost, as somebody stated it: `weights[actual][predicted]` by label."""

    weights: Mapping[str, Mapping[str, float]]
    currency: str | None = None

    def on(self, labels: LabelSet) -> CostMatrix:
        """The costs in the order of the labels. Raises `InvalidInput` if they differ."""
        return cost_matrix(self.weights, labels=labels, currency=self.currency)


def costs_of(
    session: Session, dataset: DatasetRecord, wanted: StatedCosts | CostName | None
) -> CostMatrix | None:
    """The costs that are wanted, else the default ones of the dataset, if it has any.

    Raises `NotFound` for an unknown name, and `InvalidInput` for costs of other classes.
    """
    if isinstance(wanted, StatedCosts):
        return wanted.on(dataset.labels)
    if wanted is None:
        default = cost_matrices.default_costs(session, dataset.id)
        return None if default is None else default.costs
    costs = costs_named(session, project=dataset.project, wanted=wanted).costs
    if costs.labels.digest != dataset.labels.digest:
        raise InvalidInput(
            f"cost matrix {wanted} is about the classes {costs.labels.preview()}, the run tells "
            f"{dataset.labels.preview()} apart.",
            field="cost_matrix",
            hint="Name costs for the classes of the run.",
        )
    return costs
