"""Evaluating a matrix or labels in memory, also with weights, without a database or server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, overload

from numpy.typing import ArrayLike

from offdiag.domain.labels import LabelSet
from offdiag.domain.look_alikes import label_notes, warn_of
from offdiag.domain.values import MetricValue
from offdiag.inputs.labels import order_of_no_labels
from offdiag.metrics.arguments import refuse_totals, stated_matrix
from offdiag.metrics.confusion import ConfusionMatrix, confusion_matrix, notes_on_matrix
from offdiag.metrics.pair_counts import count_pairs
from offdiag.metrics.slices.finder import SliceFindings
from offdiag.metrics.suite import labelled_suite
from offdiag.metrics.weighted.counts import WeightedMatrix, weighted_matrix
from offdiag.sdk.evaluations.evaluation import Evaluation, label_frame
from offdiag.sdk.evaluations.slices import frame_of_slices, slices_of_labels
from offdiag.sdk.evaluations.tables import ClassValues, MetricResults, MetricTable

if TYPE_CHECKING:
    import pandas as pd

    from offdiag.inputs.labels import EncodedPair


@dataclass(frozen=True, repr=False)
class WeightedEvaluation(MetricResults):
    """Sums of sample weights by pair of classes, and every metric of them.

    It is read like an `Evaluation`: `aggregate[key]` is one `MetricValue`, `per_class[key][label]`
    one for each class. Metrics that need numbers of samples are undefined ("fractional_weights");
    `n`, `support` and similar values are sums of weights.
    """

    matrix: WeightedMatrix
    aggregate: MetricTable[MetricValue]
    per_class: MetricTable[ClassValues]
    slice_findings: SliceFindings | None = field(default=None, compare=False)
    confidence: float = 0.95

    @classmethod
    def of_matrix(cls, matrix: WeightedMatrix) -> WeightedEvaluation:
        """Compute all metrics of sums of weights."""
        suite = labelled_suite(matrix.weights, matrix.labels)
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
    def n_samples(self) -> int:
        """Number of samples, regardless of their weights."""
        return self.matrix.n_samples

    @property
    def n_effective(self) -> float:
        """Kish's effective sample size: how many samples of equal weight are as informative."""
        return self.matrix.counted.n_effective

    @property
    def n_cases(self) -> int:
        """Former name of `n_samples`, kept for one minor version."""
        return self.n_samples

    @property
    def confusion_matrix(self) -> pd.DataFrame:
        """Weights as a DataFrame with the axes named "actual" (index) and "predicted"."""
        return label_frame(self.matrix.weights, self.matrix.labels)

    def _about(self) -> str:
        return f"{self.n_samples:,} weighted examples, {len(self.labels)} classes"

    def slices(self, metric: str | None = None, *, limit: int = 100) -> pd.DataFrame:
        """The slices that are worse than the rest, as in `Evaluation.slices`.

        Values are weighted. `n_samples` and `cases` are numbers of samples; `n_effective` is how
        many samples of equal weight are as informative; rates are tested with it.
        """
        return frame_of_slices(self.slice_findings, self.labels, metric, limit)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for `json.dumps(..., allow_nan=False)`."""
        return {
            "labels": list(self.labels),
            "orientation": "actual_rows",
            "weighted": True,
            "n_cases": self.n_samples,
            "n_effective": self.n_effective,
            "matrix": self.matrix.weights.tolist(),
            "aggregate": self.aggregate.plain(),
            "per_class": self.per_class.plain(),
        }

    def _title(self) -> str:
        return f"Weighted metrics of {self.n_samples} examples"


def evaluate_matrix(
    matrix: Any,
    *,
    labels: LabelSet | Iterable[object] | None = None,
    orientation: str | None = None,
    ordinal: bool = False,
) -> Evaluation:
    """Compute every metric of a confusion matrix of counts, without storing anything.

    Returns an `Evaluation`.

    * `matrix`: (K, K) non-negative whole numbers: nested lists, an array or a DataFrame. The cells
      of a DataFrame are placed by the labels of its axes; a class in `labels` that an axis lacks
      has no samples there.
    * `labels`: the classes in the order of the axes. Default: the labels of a DataFrame's axes,
      else "0", "1", ….
    * `orientation`: what the rows are: "actual_rows" (scikit-learn, PyCM, TensorFlow) or
      "actual_columns" (R caret). A matrix cannot show it, so it is never guessed. Only a DataFrame
      whose two axes are named as by `pandas.crosstab`, scikit-learn or R ("actual", "True label",
      "Reference" and "predicted", "Predicted label", "Prediction") needs none.
    * `ordinal`: whether the order of `labels` has a meaning.

    Raises `InvalidInput` for anything that is not such a matrix, for a missing orientation, and
    for a DataFrame whose axes list other classes or contradict `orientation`.

    >>> evaluate_matrix([[8, 2], [1, 9]], orientation="actual_rows").aggregate["mcc"].value
    0.7035264706814485
    """
    given = stated_matrix(matrix, labels=labels, orientation=orientation)
    names = _label_set(given.labels, ordinal)
    found = confusion_matrix(given.matrix, labels=names, orientation=given.orientation)
    refuse_totals(found.counts, found.labels.names)
    warn_of(notes_on_matrix(given.matrix))
    return Evaluation.of_matrix(found)


@overload
def evaluate_labels(
    *,
    y_true: object,
    y_pred: object,
    labels: LabelSet | Iterable[object] | None = None,
    ordinal: bool = False,
    sample_weight: None = None,
    slices: object | None = None,
) -> Evaluation: ...
@overload
def evaluate_labels(
    *,
    y_true: object,
    y_pred: object,
    labels: LabelSet | Iterable[object] | None = None,
    ordinal: bool = False,
    sample_weight: ArrayLike,
    slices: object | None = None,
) -> WeightedEvaluation: ...
def evaluate_labels(
    *,
    y_true: object,
    y_pred: object,
    labels: LabelSet | Iterable[object] | None = None,
    ordinal: bool = False,
    sample_weight: ArrayLike | None = None,
    slices: object | None = None,
) -> Evaluation | WeightedEvaluation:
    """Compute every metric of predicted against actual classes, without storing anything.

    Returns an `Evaluation`, or with `sample_weight` a `WeightedEvaluation`.

    * `y_true`, `y_pred`: n labels each (str, int, bool or whole floats), in lists, numpy, pandas,
      polars or pyarrow columns, or tensors.
    * `labels`: the classes in order. Default: the sorted labels found in either array.
    * `ordinal`: whether the order of `labels` has a meaning.
    * `sample_weight`: n numbers of 0 or more. The matrix then has sums of weights, exact tests are
      undefined, and functions that need counts do not accept the result.
    * `slices`: a mapping of columns of n values, or a frame, as in `log_run`. The result then has
      `.slices()`.

    Raises `InvalidInput` for empty or unequal arrays, missing values, numbers that are not whole,
    undeclared labels and unusable weights; without `labels`, also for predictions that share no
    label with `y_true`. Warns with `LabelNote` about whole numbers stored as floats and about
    classes that look alike.

    >>> evaluation = evaluate_labels(y_true=["a", "a", "b"], y_pred=["a", "b", "b"])
    >>> evaluation.per_class["recall"]["a"].value
    0.5
    """
    from offdiag.inputs.ids import aligned
    from offdiag.inputs.labels import encode_pair

    given = aligned(y_true=y_true, y_pred=y_pred, sample_weight=sample_weight, slices=slices)
    pair = encode_pair(
        y_true=given["y_true"], y_pred=given["y_pred"], labels=labels, ordinal=ordinal
    )
    warn_of(label_notes(pair.labels.names, whole_floats=pair.whole_floats))
    if sample_weight is not None:
        weight = given["sample_weight"]
        weighted = weighted_matrix(pair.actual, pair.predicted, weight, labels=pair.labels)
        return replace(
            WeightedEvaluation.of_matrix(weighted), slice_findings=_findings(given, pair, weighted)
        )
    counts = count_pairs(pair.actual, pair.predicted, n_classes=len(pair.labels))
    matrix = ConfusionMatrix(counts, pair.labels)
    return replace(Evaluation.of_matrix(matrix), slice_findings=_findings(given, pair, matrix))


def _findings(
    given: Mapping[str, Any], pair: EncodedPair, matrix: ConfusionMatrix | WeightedMatrix
) -> SliceFindings | None:
    if given["slices"] is None:
        return None
    return slices_of_labels(given["slices"], pair.actual, pair.predicted, matrix)


def _label_set(labels: LabelSet | Iterable[object] | None, ordinal: bool) -> LabelSet | None:
    if labels is not None:
        return LabelSet.declared(labels, ordinal=ordinal)
    if ordinal:
        raise order_of_no_labels()
    return None
