"""Results by metric, and values of a metric by class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.number_text import number
from offdiag.domain.sentences import known_names
from offdiag.domain.suggestions import did_you_mean
from offdiag.domain.texts import shortened
from offdiag.domain.values import MetricValue
from offdiag.errors import UnknownKey
from offdiag.extras import optional

if TYPE_CHECKING:
    import pandas as pd

Value = TypeVar("Value")


class MetricTable(Mapping[str, Value]):
    """Results by metric key. An unknown key raises `UnknownKey`, a `KeyError` with similar keys.

    Names of scikit-learn's scorers are accepted: `["f1_macro"]` is `["macro_f1"]`, and
    `["neg_log_loss"]` is minus the log loss. `n_classes` distinguishes the two Brier scores;
    `of_positive` has the values of the positive class, for scorers of two classes such as `f1`.
    """

    def __init__(
        self,
        values: Mapping[str, Value],
        *,
        n_classes: int | None = None,
        of_positive: Mapping[str, Value] | None = None,
    ) -> None:
        self._values = dict(values)
        self._n_classes = n_classes
        self._of_positive = of_positive or {}

    def __getitem__(self, key: str) -> Value:
        if key in self._values:
            return self._values[key]
        from offdiag.metrics.names import find_metric

        for values in (self._values, self._of_positive):
            found = find_metric(key, values, n_classes=self._n_classes)
            if found is not None:
                value: Value = values[found.key]
                return cast("Value", _negated(value)) if found.is_negated else value
        raise UnknownKey(f"there is no metric {key!r}.", field="key", hint=self._similar(key))

    def _similar(self, key: str) -> str:
        from offdiag.metrics.catalogue import CATALOGUE
        from offdiag.metrics.names import averages_of, find_spec, nearest_names
        from offdiag.metrics.spec import Scope

        near = nearest_names(key, self._values)
        spec = find_spec(key)
        if spec is None or spec.key in self._values:
            return near or "The catalogue of metrics lists all keys."
        is_by_class = any(isinstance(value, ClassValues) for value in self._values.values())
        if spec.scope is Scope.PER_CLASS:
            averages = ", ".join(averages_of(spec.key, self._values))
            use = f"Use an average: {averages}" if averages else f"Use per_class[{spec.key!r}]"
            return f"It is a metric of one class. {use}."
        if spec.scope is Scope.AGGREGATE and is_by_class:
            return f"It is a metric of all classes. Use aggregate[{spec.key!r}]."
        if spec.scope is Scope.PROBABILISTIC and not self._values.keys() & CATALOGUE[spec.scope]:
            return f"{spec.key} needs scores: log them with the predictions, as y_score."
        of = "one class" if is_by_class else "such evaluations"
        return near or f"{spec.key} is not a metric of {of}."

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        shown = ", ".join(list(self._values)[:_MOST_NAMED])
        more = ", ..." if len(self._values) > _MOST_NAMED else ""
        return f"{type(self).__name__} of {len(self._values)} metrics: {shown}{more}"

    def __str__(self) -> str:
        lines = [f"{key:<{_KEY_WIDTH}}  {_line(value)}" for key, value in self._values.items()]
        return "\n".join(lines) or repr(self)

    def to_frame(self) -> pd.DataFrame:
        """The values as a frame; undefined values and missing intervals are NaN.

        A table with one value per metric has one row for each metric and the columns value,
        ci_low, ci_high and reason. A table of values by class has one row for each class, and
        columns that are pairs of a metric and "value", "ci_low" or "ci_high".
        """
        with optional:
            import pandas as pd

        tables = {
            key: value for key, value in self._values.items() if isinstance(value, ClassValues)
        }
        if not tables:
            return _value_frame(cast("Mapping[str, MetricValue]", self._values), "metric")
        frame = pd.concat(
            {key: values.to_frame()[list(_NUMBERS)] for key, values in tables.items()}, axis=1
        )
        frame.columns.names = ["metric", None]
        return frame

    def plain(self) -> dict[str, Any]:
        """Plain Python values by key; values by class are a list in label order."""
        return {
            key: [each.to_dict() for each in value.values()]
            if isinstance(value, ClassValues)
            else cast("MetricValue", value).to_dict()
            for key, value in self._values.items()
        }


class ClassValues(Mapping[str, MetricValue]):
    """Values of one metric by class, in label order.

    A class can be given as text, or as the int or bool in the data: `[1]` is `["1"]`.
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
                hint=did_you_mean(text, self._labels.names)
                or known_names("classes", self._labels.names),
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._labels.names)

    def __len__(self) -> int:
        return len(self._labels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_line(self)})"

    def __str__(self) -> str:
        values = self.counts() or self._values
        lines = [f"{shortened(name):<24}  {v}" for name, v in zip(self, values, strict=True)]
        return "\n".join(lines)

    def counts(self) -> list[str] | None:
        """The values as texts of whole numbers if they are counts, else None."""
        found = [each.value for each in self._values if each.ci_low is None]
        if len(found) < len(self) or not any(value is not None and value > 1 for value in found):
            return None
        whole = [value for value in found if value is not None and value.is_integer()]
        return [f"{value:,.0f}" for value in whole] if len(whole) == len(self) else None

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[np.float64]:
        """The values as floats in label order, shape (K,); NaN where undefined."""
        return np.array([float(value) for value in self._values], dtype or np.float64)

    def to_frame(self) -> pd.DataFrame:
        """One row for each class, with the columns value, ci_low, ci_high and reason."""
        return _value_frame(self, "class")

    def negated(self) -> ClassValues:
        """Minus each value."""
        from offdiag.metrics.names import negated

        return ClassValues(self._labels, tuple(map(negated, self._values)))


class MetricResults:
    """What evaluations without flags have in common: text, a page, a card and a frame."""

    aggregate: MetricTable[MetricValue]
    per_class: MetricTable[ClassValues]
    label_set: LabelSet
    confidence: float

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes or labels, in the order of all values by class."""
        return self.label_set.names

    def _by_class(self) -> MetricTable[ClassValues]:
        return self.per_class

    def _about(self) -> str:
        """The number of examples and classes, in words."""
        raise NotImplementedError

    def _title(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        from offdiag.sdk.display.evaluation_text import table_line

        return table_line(type(self).__name__, self._about(), self.aggregate)

    def __str__(self) -> str:
        from offdiag.sdk.display.evaluation_text import table_text

        return table_text(repr(self), self.aggregate, self._by_class(), self.confidence)

    def to_frame(self) -> pd.DataFrame:
        """Every metric by class, as in `Evaluation.to_frame`."""
        return self._by_class().to_frame()

    def _repr_html_(self) -> str:
        from offdiag.sdk.display.evaluation_card import metric_card

        return metric_card(self._title(), self.aggregate, self.confidence)


def _negated(value: Any) -> Any:
    from offdiag.metrics.names import negated

    return value.negated() if isinstance(value, ClassValues) else negated(value)


_MOST_NAMED = 6
_KEY_WIDTH = 30
_NUMBERS = ("value", "ci_low", "ci_high")


def _line(value: object) -> str:
    """A value with its interval, or the first values by class."""
    if not isinstance(value, ClassValues):
        return str(value)
    texts = value.counts() or _briefly(value.values())
    named = zip(value, texts, strict=True)
    shown = [f"{shortened(name)} {text}" for name, text in islice(named, _MOST_NAMED)]
    n_more = len(value) - len(shown)
    return ", ".join([*shown, f"... {n_more} more"] if n_more else shown)


def _briefly(values: Iterable[MetricValue]) -> Iterator[str]:
    """Each value, and why it is undefined unless an earlier one is for the same reason."""
    explained = set()
    for each in values:
        if each.value is not None:
            yield number(each.value)
        elif each.reason in explained:
            yield "undefined"
        else:
            explained.add(each.reason)
            yield each.undefined_text


def _value_frame(values: Mapping[str, MetricValue], index: str) -> pd.DataFrame:
    with optional:
        import pandas as pd

    found = list(values.values())
    columns = {
        name: np.array([getattr(each, name) for each in found], np.float64) for name in _NUMBERS
    }
    reasons = [None if each.reason is None else str(each.reason) for each in found]
    return pd.DataFrame({**columns, "reason": reasons}, index=pd.Index(list(values), name=index))
