"""What a comparison looks like to the person who asked for it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from offdiag.comparison.class_values import class_values
from offdiag.comparison.differences import OF_CLASSES, MetricDifference
from offdiag.comparison.letters import letter
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import PairComparison
from offdiag.sdk.comparison_html import comparison_html
from offdiag.services.comparison.comparing import RunComparison
from offdiag.services.comparison.record import comparison_record

if TYPE_CHECKING:
    import pandas as pd


class Comparison:
    """Two or more runs beside each other; the first is A.

    `verdict` says in words what intervals and tests bear out. An undefined value is NaN in the
    frames, with its reason in `to_dict()`.
    """

    def __init__(self, found: RunComparison) -> None:
        if found.result is None or found.verdict is None:
            raise ValueError(found)
        self._found = found
        self._result = found.result
        self.runs: dict[str, str] = {
            letter(position): run.id for position, run in enumerate(found.runs)
        }
        """Ids of the runs by their letters."""
        self.verdict: str = found.verdict.text
        """The verdict in words."""

    def __repr__(self) -> str:
        runs = ", ".join(f"{name}={run_id}" for name, run_id in self.runs.items())
        return f"Comparison({runs}: {self._found.verdict.headline if self._found.verdict else ''})"

    @property
    def is_paired(self) -> bool:
        """Whether all runs were compared example by example."""
        if isinstance(self._result, PairComparison):
            return self._result.paired is not None
        return not self._result.unpaired

    @property
    def counts(self) -> dict[str, int] | None:
        """Of two paired runs how many examples `both_right`, `only_a`, `only_b`, `both_wrong`."""
        if not isinstance(self._result, PairComparison) or self._result.paired is None:
            return None
        return self._result.paired.churn.to_dict()

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """Headline metrics.

        Of two runs one row each: `a`, `b`, `difference` (b - a) with `ci_low` and `ci_high`,
        `p` where there is a test, and the `outcome`. Of more runs one row for each metric and
        run: `value`, `standing`, and the run minus the best one, `behind`, with its interval
        and p values.
        """
        import pandas as pd

        if isinstance(self._result, PairComparison):
            rows = [{"metric": each.key, **_row(each)} for each in self._result.metrics]
            return pd.DataFrame(rows).set_index("metric")
        return pd.DataFrame(_places(self._result, self.runs)).set_index(["metric", "run"])

    @cached_property
    def per_class(self) -> pd.DataFrame:
        """Recall, precision and F1 of every class, with the number `n` of its examples.

        Of two runs the columns of `metrics`; of more runs one row for each class and run, with
        the interval of the value itself.
        """
        import pandas as pd

        index = ["metric", "class"]
        if isinstance(self._result, PairComparison):
            sizes = dict(zip(self._result.labels, self._result.first.actual.tolist(), strict=True))
            rows = [
                {
                    "metric": key,
                    "class": each.class_label,
                    "n": sizes[str(each.class_label)],
                    **_row(each),
                }
                for key in OF_CLASSES
                for each in self._result.classes[key]
            ]
            return pd.DataFrame(rows).set_index(index)
        return pd.DataFrame(_class_rows(self._result)).set_index([*index, "run"])

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Every two paired runs: how many examples only one of them gets right, and McNemar's p.

        `p_adjusted` is Holm's over all pairs.
        """
        import pandas as pd

        columns = ["first", "second", "only_first", "only_second", "p", "p_adjusted"]
        return pd.DataFrame(_pair_rows(self._result), columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps(..., allow_nan=False)`."""
        return comparison_record(self._found)

    def _repr_html_(self) -> str:
        return comparison_html(self._found)


def _row(found: MetricDifference) -> dict[str, object]:
    return {
        "a": found.first.value,
        "b": found.second.value,
        "difference": found.difference.value,
        "ci_low": found.difference.ci_low,
        "ci_high": found.difference.ci_high,
        "p": found.p,
        "outcome": found.outcome.value,
    }


def _places(many: ManyComparison, runs: dict[str, str]) -> list[dict[str, object]]:
    return [
        {
            "metric": key,
            "run": name,
            "run_id": runs[name],
            "value": place.value.value,
            "standing": place.standing.value,
            "behind": None if place.behind is None else place.behind.value,
            "ci_low": None if place.behind is None else place.behind.ci_low,
            "ci_high": None if place.behind is None else place.behind.ci_high,
            "p": place.p,
            "p_adjusted": place.p_adjusted,
        }
        for key, places in many.places.items()
        for name, place in zip(runs, places, strict=True)
    ]


def _class_rows(many: ManyComparison) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for position, matrix in enumerate(many.matrices):
        values = class_values(matrix, confidence=many.confidence)
        for key in OF_CLASSES:
            for name, size, value in zip(
                many.labels, matrix.actual.tolist(), values[key], strict=True
            ):
                rows.append(
                    {
                        "metric": key,
                        "class": name,
                        "run": letter(position),
                        "n": size,
                        "value": value.value,
                        "ci_low": value.ci_low,
                        "ci_high": value.ci_high,
                    }
                )
    return rows


def _pair_rows(result: PairComparison | ManyComparison) -> list[tuple[object, ...]]:
    if isinstance(result, PairComparison):
        if result.paired is None:
            return []
        test = result.paired.mcnemar
        return [("A", "B", test.only_first, test.only_second, test.exact_p, test.exact_p)]
    return [
        (
            letter(pair.first),
            letter(pair.second),
            pair.only_first,
            pair.only_second,
            pair.p,
            pair.p_adjusted,
        )
        for pair in result.pairs
    ]
