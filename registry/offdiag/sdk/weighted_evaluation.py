"""What an evaluation of weighted cases looks like to the person who asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from offdiag.domain.values import MetricValue
from offdiag.metrics.suite import evaluate_stack
from offdiag.metrics.weighted import WeightedMatrix
from offdiag.sdk.evaluation import ClassValues, MetricTable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class WeightedEvaluation:
    """Sums of sample weights by pair of classes, and every metric of them.

    Read like an `Evaluation`: `aggregate[key]` is one `MetricValue`, `per_class[key][label]`
    another for each class. What needs numbers of cases is undefined ("fractional_weights"),
    and `n`, `support` and the like are sums of weights.
    """

    matrix: WeightedMatrix
    aggregate: MetricTable[MetricValue]
    per_class: MetricTable[ClassValues]

    @classmethod
    def of_matrix(cls, matrix: WeightedMatrix) -> WeightedEvaluation:
        """Compute the whole suite."""
        suite = evaluate_stack(matrix.weights, ordinal=matrix.labels.has_declared_order)
        codes = range(matrix.n_classes)
        return cls(
            matrix,
            MetricTable({key: quantity.at() for key, quantity in suite.aggregate.items()}),
            MetricTable(
                {
                    key: ClassValues(matrix.labels, [quantity.at(code) for code in codes])
                    for key, quantity in suite.per_class.items()
                }
            ),
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """Class names in the order of both axes of the matrix."""
        return self.matrix.labels.names

    @property
    def n_cases(self) -> int:
        """Number of cases, whatever their weights."""
        return self.matrix.cases.n_cases

    @property
    def confusion_matrix(self) -> pd.DataFrame:
        """Weights as a DataFrame with the axes named "actual" (index) and "predicted"."""
        import pandas as pd

        return pd.DataFrame(
            self.matrix.weights.copy(),
            index=pd.Index(self.labels, name="actual"),
            columns=pd.Index(self.labels, name="predicted"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for `json.dumps(..., allow_nan=False)`."""
        return {
            "labels": list(self.labels),
            "orientation": "actual_rows",
            "weighted": True,
            "n_cases": self.n_cases,
            "matrix": self.matrix.weights.tolist(),
            "aggregate": {key: value.to_dict() for key, value in self.aggregate.items()},
            "per_class": {
                key: [value.to_dict() for value in values.values()]
                for key, values in self.per_class.items()
            },
        }

    def _repr_html_(self) -> str:
        from offdiag.sdk.metric_html import metric_table

        return metric_table(f"Weighted metrics of {self.n_cases} cases", self.aggregate)
