"""What an evaluation looks like to the person who asked for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.values import MetricValue
from offdiag.errors import UnknownKey
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.suite import evaluate_stack
from offdiag.sdk.flag import Flag, Judgement

if TYPE_CHECKING:
    import pandas as pd

Value = TypeVar("Value")


class MetricTable(Mapping[str, Value]):
    """Results by metric key. A wrong key raises `UnknownKey`, a `KeyError` with similar keys."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = dict(values)

    def __getitem__(self, key: str) -> Value:
        try:
            return self._values[key]
        except KeyError:
            raise UnknownKey(
                f"there is no metric {key!r}.", field="key", hint=_similar(key, self._values)
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._values!r})"


class ClassValues(Mapping[str, MetricValue]):
    """Values of one metric by class, in label order.

    A class may be asked for as text or as the int or bool the data holds: `[1]` is `["1"]`.
    """

    def __init__(self, labels: LabelSet, values: Sequence[MetricValue]) -> None:
        self._labels = labels
        self._values = tuple(values)

    def __getitem__(self, label: object) -> MetricValue:
        text = label_text(label, field_name="label")
        try:
            return self._values[self._labels.index[text]]
        except KeyError:
            raise UnknownKey(
                f"there is no class {text!r}.",
                field="label",
                hint=_similar(text, self._labels.names),
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._labels.names)

    def __len__(self) -> int:
        return len(self._labels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)!r})"


@dataclass(frozen=True)
class Evaluation:
    """A confusion matrix, every metric of it, and what the rules say about it.

    `aggregate[key]` is one `MetricValue`; `per_class[key][label]` another for each class.
    `judgement` is what was stored with a run, None to ask the rules when somebody wants to know.
    """

    matrix: ConfusionMatrix
    aggregate: MetricTable[MetricValue]
    per_class: MetricTable[ClassValues]
    judgement: Judgement | None = None

    @classmethod
    def of_matrix(cls, matrix: ConfusionMatrix) -> Evaluation:
        """Compute the whole suite."""
        suite = evaluate_stack(matrix.counts, ordinal=matrix.labels.has_declared_order)
        return cls.of_values(
            matrix,
            aggregate={key: quantity.at() for key, quantity in suite.aggregate.items()},
            per_class={
                key: [quantity.at(code) for code in range(matrix.n_classes)]
                for key, quantity in suite.per_class.items()
            },
        )

    @classmethod
    def of_values(
        cls,
        matrix: ConfusionMatrix,
        *,
        aggregate: Mapping[str, MetricValue],
        per_class: Mapping[str, Sequence[MetricValue]],
        judgement: Judgement | None = None,
    ) -> Evaluation:
        """Take values computed before, with or without intervals; classes in label order."""
        return cls(
            matrix,
            MetricTable(aggregate),
            MetricTable(
                {key: ClassValues(matrix.labels, values) for key, values in per_class.items()}
            ),
            judgement,
        )

    @property
    def flags(self) -> list[Flag]:
        """What the rules say: of a run those that were raised and have not been closed.

        An evaluation that is stored nowhere is judged here, by the rules that need only a
        matrix, with their default thresholds.
        """
        return list(self._judged.flags)

    @property
    def badge(self) -> bool:
        """Whether accuracy hides a minority class; False also where nothing can be said."""
        return self._judged.badge

    @cached_property
    def _judged(self) -> Judgement:
        return self.judgement or Judgement.of_matrix(self.matrix)

    @property
    def labels(self) -> tuple[str, ...]:
        """Class names in the order of both axes of the matrix."""
        return self.matrix.labels.names

    @property
    def confusion_matrix(self) -> pd.DataFrame:
        """Counts as a DataFrame with the axes named "actual" (index) and "predicted"."""
        import pandas as pd

        return pd.DataFrame(
            self.matrix.counts.copy(),
            index=pd.Index(self.labels, name="actual"),
            columns=pd.Index(self.labels, name="predicted"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for `json.dumps(..., allow_nan=False)`."""
        return {
            "labels": list(self.labels),
            "orientation": "actual_rows",
            "matrix": self.matrix.counts.tolist(),
            "aggregate": {key: value.to_dict() for key, value in self.aggregate.items()},
            "per_class": {
                key: [value.to_dict() for value in values.values()]
                for key, values in self.per_class.items()
            },
        }

    def _repr_html_(self) -> str:
        from offdiag.sdk.evaluation_html import evaluation_html

        return evaluation_html(self.matrix, self.aggregate)


def _similar(wanted: object, known: Mapping[str, Any] | Sequence[str]) -> str:
    names = list(known)
    close = get_close_matches(str(wanted), names, n=3, cutoff=0.5)
    if close:
        return f"Did you mean {' or '.join(repr(name) for name in close)}?"
    shown = ", ".join(repr(name) for name in names[:5])
    return f"Known are {shown}{', …' if len(names) > 5 else ''}."
