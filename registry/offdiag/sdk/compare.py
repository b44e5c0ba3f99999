"""Comparing stored runs in a notebook or a script, and the result as text, frames and a card."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

from offdiag.comparison.churn import PairedOutcome
from offdiag.comparison.differences import DIFFERENCE_THAT_MATTERS
from offdiag.domain.labels import label_text, require_known
from offdiag.domain.runs import require_several
from offdiag.errors import Conflict
from offdiag.extras import optional
from offdiag.metrics.arguments import confidence_level
from offdiag.records.base import MOST_ON_A_PAGE
from offdiag.records.runs.comparison import (
    ComparedExample,
    ComparedExamplesQuery,
    ComparisonQuery,
    comparison_request,
    examples_request,
)
from offdiag.sdk.examples import whole_limit
from offdiag.sdk.registry import Registry
from offdiag.sdk.run import Run
from offdiag.sdk.search import registry_of, resolved_id

if TYPE_CHECKING:
    import pandas as pd


ExampleKind = Literal["only_a", "only_b", "both_right", "both_wrong"]
_NUMBERS = ("value", "ci_low", "ci_high")


class Comparison:
    """Two or more runs of one dataset compared, returned by `compare`; the first run is A.

    `verdict` says in words what intervals and tests support. `metrics`, `per_class`, `slices()`,
    `pairs` and `examples()` are frames. An undefined value is NaN in them; its reason is in
    `to_dict()`.
    """

    def __init__(self, record: Mapping[str, Any], registry: Registry) -> None:
        """`record` is a plain `Comparison` (of `offdiag.records`) of runs that can be compared."""
        self._record = record
        self._registry = registry
        self._result: Mapping[str, Any] = record["result"]
        self.runs: dict[str, str] = {run["letter"]: run["id"] for run in record["runs"]}
        """Ids of the runs by their letters."""
        verdict = record["verdict"]
        self.verdict: str = " ".join((verdict["headline"], *verdict["details"]))
        """The verdict in words."""

    def __repr__(self) -> str:
        from offdiag.sdk.display.comparison_text import comparison_line

        return comparison_line(self._record)

    def __str__(self) -> str:
        """The verdict, the primary metrics and the recall of each class, as a page of text."""
        from offdiag.sdk.display.comparison_text import comparison_text

        return comparison_text(self._record)

    @property
    def _is_pair(self) -> bool:
        return bool(self._result["kind"] == "pair")

    @property
    def is_paired(self) -> bool:
        """Whether all runs were compared example by example."""
        if self._is_pair:
            return bool(self._result["is_paired"])
        return not self._result["not_paired"]

    @property
    def counts(self) -> dict[str, int] | None:
        """Numbers of `both_right`, `only_a`, `only_b`, `both_wrong` of paired runs, else None."""
        counts = self._result.get("counts")
        return None if counts is None else dict(counts)

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """The primary metrics.

        With two runs, one row for each metric:

        * `a`, `b`, `difference`: the values, and b - a.
        * `ci_low`, `ci_high`: the interval of the difference of this metric alone.
        * `simultaneous_low`, `simultaneous_high`: the interval for all metrics together. It
          decides the `outcome`.
        * `p`, `p_adjusted`: the p value if there is a test, and adjusted over all classes.

        With more runs, one row for each metric and run:

        * `run_id`, `value`, `standing`: the run, its value, and its status among the runs.
        * `behind`, `ci_low`, `ci_high`: the run minus the run in `compared_with`, with the
          simultaneous interval that decides the standing.
        * `p`, `p_adjusted`: the p values.
        """
        with optional:
            import pandas as pd

        if self._is_pair:
            rows = [
                {"metric": key, **_difference(found)}
                for key, found in self._result["metrics"].items()
            ]
            return pd.DataFrame(rows).set_index("metric")
        rows = _ranked_rows(self._result["metrics"], self.runs)
        return pd.DataFrame(rows).set_index(["metric", "run"])

    @cached_property
    def per_class(self) -> pd.DataFrame:
        """Recall, precision and F1 of every class, with the number `n` of its examples.

        With two runs, the columns are those of `metrics`. With more runs there is one row for each
        class and run, with the interval of the value itself and, for recall, its `standing` among
        all runs and classes.
        """
        with optional:
            import pandas as pd

        index = ["metric", "class"]
        if self._is_pair:
            sizes = self._result["class_sizes"]["a"]
            rows = [
                {"metric": key, "class": name, "n": sizes[name], **_difference(found)}
                for key, classes in self._result["per_class"].items()
                for name, found in classes.items()
            ]
            return pd.DataFrame(rows).set_index(index)
        return pd.DataFrame(_class_rows(self._result)).set_index([*index, "run"])

    def slices(self) -> pd.DataFrame:
        """Accuracy of two paired runs on every slice, with the largest loss of B first.

        One row for each slice, and one called "all" for all examples:

        * `n`, `a`, `b`, `difference`: the number of examples, both values, and b - a.
        * `ci_low`, `ci_high`: the interval of the difference on this slice alone.
        * `simultaneous_low`, `simultaneous_high`: the interval for all slices together. It decides
          the `outcome`.
        * `p`, `p_adjusted`: the p value, and adjusted for all slices, their classes and the whole.

        `frame.attrs` has the `verdict`, the slices that are `too_small` and `n_suppressed` others.
        Raises `Conflict` for runs that are not paired or have no slice columns, and on a slice.
        """
        found = self._by_slice()
        frame = _slice_frame((found["whole"], *found["slices"]), ["slice"])
        frame.attrs |= {name: found[name] for name in ("verdict", "too_small", "n_suppressed")}
        return frame

    def class_slices(self) -> pd.DataFrame:
        """Recall of each class on every slice, by slice and class; columns as in `slices`."""
        return _slice_frame(self._by_slice()["classes"], ["slice", "class"])

    def _by_slice(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] | None = self._record.get("slices")
        if found is None:
            raise Conflict(
                "the runs are not compared by slice.",
                field="runs",
                hint="Compare two runs with predictions, without sample weights and without "
                "slice=, on examples that have slice columns.",
            )
        return found

    @cached_property
    def best_of_many(self) -> pd.DataFrame:
        """The highest of three or more runs by each metric, corrected for having been selected.

        `value` is its value on these examples, `corrected` the expected value on new ones: a run
        that was chosen for being highest is not as good as it looks. Empty if it could not be
        computed; NaN if a class has too few examples.
        """
        with optional:
            import pandas as pd

        rows = [
            {
                "metric": key,
                "run": found["run"],
                "value": found["value"],
                "corrected": found["corrected"]["value"],
            }
            for key, found in (self._result.get("best_of_many") or {}).items()
        ]
        columns = ["metric", "run", "value", "corrected"]
        return pd.DataFrame(rows, columns=columns).set_index("metric")

    @property
    def samples_needed(self) -> dict[str, Any] | None:
        """How many labelled examples are needed to decide between two runs; None if it is decided.

        `needed` (`needed_low` to `needed_high`) examples in total detect the `difference` in
        accuracy between `first` and `second`; the present `n_samples` detect a difference of
        `settled`.
        """
        found = self._result.get("samples_needed")
        return None if found is None else dict(found)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """For each pair of runs, how many examples only one of them gets right, and McNemar's p.

        Only paired runs are included. `p_adjusted` is corrected by Holm's method over all pairs.
        """
        with optional:
            import pandas as pd

        columns = ["first", "second", "only_first", "only_second", "p", "p_adjusted"]
        rows = self._paired_rows() if self._is_pair else self._result["pairs"]
        return pd.DataFrame([[row[name] for name in columns] for row in rows], columns=columns)

    def examples(
        self, kind: ExampleKind = "only_a", *, class_: object = None, limit: int = 1_000
    ) -> pd.DataFrame:
        """Examples of two paired runs, selected by which run is right about them.

        * `kind`: "only_a", "only_b", "both_right" or "both_wrong". Default: "only_a".
        * `class_`: only examples of this actual class.
        * `limit`: the highest number of rows. Default: 1,000.

        Columns are sample (id or position), actual, a and b (the predictions), a_confidence and
        b_confidence (their scores, NaN without), in the order of the dataset. The examples are
        those of the comparison: of its slice, or the shared ones.

        Raises `InvalidInput` for more than two runs, another `kind`, an unknown class and a
        `limit` below 1, and `Conflict` for runs without predictions.
        """
        with optional:
            import pandas as pd

        require_known(kind, get_args(ExampleKind), field_name="kind")
        limit = whole_limit(limit)
        query = ComparedExamplesQuery.model_construct(
            runs=",".join(self.runs.values()),
            which=PairedOutcome(kind),
            class_label=None if class_ is None else label_text(class_, field_name="class_"),
            slice=self._record["slice"],
            on_shared=self._record["on_shared"],
        )
        columns = ["sample", "actual", "a", "b", "a_confidence", "b_confidence"]
        frame = pd.DataFrame(
            [each.row(columns) for each in _examples(self._registry, query, limit)],
            columns=columns,
        )
        return frame.astype({"a_confidence": float, "b_confidence": float})

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for `json.dumps(..., allow_nan=False)`."""
        return dict(self._record)

    def _repr_html_(self) -> str:
        from offdiag.sdk.display.comparison_card import comparison_card

        return comparison_card(self._record, self._registry.server_url)

    def _paired_rows(self) -> list[dict[str, object]]:
        test = self._result.get("mcnemar")
        if test is None:
            return []
        return [
            {
                "first": "A",
                "second": "B",
                "only_first": test["only_first"],
                "only_second": test["only_second"],
                "p": test["exact_p"],
                "p_adjusted": test["exact_p"],
            }
        ]


def _examples(
    registry: Registry, query: ComparedExamplesQuery, limit: int
) -> list[ComparedExample]:
    """At most `limit` examples: from a server page by page, from a database in one query."""
    examples: list[ComparedExample] = []
    while True:
        size = min(limit - len(examples), MOST_ON_A_PAGE)
        asked = query.model_copy(update={"start": len(examples), "limit": size})
        page = registry.ask(examples_request(asked, limit))
        if page.refusal is not None:
            raise Conflict(page.refusal, field="runs", hint="Compare runs with predictions.")
        examples += page.examples
        if not page.examples or len(examples) >= min(limit, page.total):
            return examples


def _difference(found: Mapping[str, Any]) -> dict[str, object]:
    # Servers of the previous release send no simultaneous interval and no adjusted p value.
    difference, together = found["difference"], found.get("simultaneous_interval") or {}
    return {
        "a": found["a"]["value"],
        "b": found["b"]["value"],
        "difference": difference["value"],
        "ci_low": difference.get("ci_low"),
        "ci_high": difference.get("ci_high"),
        "simultaneous_low": together.get("ci_low"),
        "simultaneous_high": together.get("ci_high"),
        "p": found["p"],
        "p_adjusted": found.get("p_adjusted"),
        "outcome": found["outcome"],
    }


def _ranked_rows(metrics: Mapping[str, Any], runs: Mapping[str, str]) -> list[dict[str, object]]:
    return [
        {
            "metric": key,
            "run": name,
            "run_id": runs[name],
            "value": place["value"],
            "standing": place["standing"],
            "behind": behind.get("value"),
            "compared_with": place.get("compared_with"),
            "ci_low": behind.get("ci_low"),
            "ci_high": behind.get("ci_high"),
            "p": place["p"],
            "p_adjusted": place["p_adjusted"],
        }
        for key, places in metrics.items()
        for name, place in places.items()
        for behind in (place["behind"] or {},)
    ]


def _class_rows(result: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    # Servers before 0.3 do not compare the recall of more than two runs.
    standings = result.get("recall_standings")
    for run, metrics in result["per_class"].items():
        for key, classes in metrics.items():
            for name, value in classes.items():
                yield {
                    "metric": key,
                    "class": name,
                    "run": run,
                    "n": result["class_sizes"][run][name],
                    **{number: value.get(number) for number in _NUMBERS},
                    "standing": standings[name][run]["standing"]
                    if standings and key == "recall"
                    else None,
                }


def _slice_frame(found: Iterable[Mapping[str, Any]], index: list[str]) -> pd.DataFrame:
    """Slices, with the largest loss of B first."""
    with optional:
        import pandas as pd

    columns = [*index, *_OF_SLICES]
    frame = pd.DataFrame(map(_slice_row, found), columns=columns).set_index(index)
    return frame.sort_values("difference", kind="stable")


_OF_SLICES = (
    *("n", "a", "b", "difference", "ci_low", "ci_high"),
    *("simultaneous_low", "simultaneous_high", "p", "p_adjusted", "outcome"),
)


def _slice_row(found: Mapping[str, Any]) -> dict[str, Any]:
    alone, together = found["difference"], found["together"]
    return {
        "slice": "all" if found["slice"] is None else found["slice"],
        "class": found["label"],
        **{name: found[name] for name in ("n", "a", "b")},
        "difference": alone["value"],
        "ci_low": alone["ci_low"],
        "ci_high": alone["ci_high"],
        "simultaneous_low": together["ci_low"],
        "simultaneous_high": together["ci_high"],
        **{name: found[name] for name in ("p", "p_adjusted", "outcome")},
    }


def _listed(runs: object) -> tuple[Any, ...]:
    """The runs in a list, or those of a frame by its column `run_id`; anything else is one run."""
    ids = getattr(runs, "run_id", None)
    if ids is not None and not isinstance(ids, str):
        return tuple(ids)
    if ids is None and isinstance(runs, Iterable) and not isinstance(runs, str):
        return tuple(runs)
    return (runs,)


def compare(
    runs: str | Run | Iterable[object],
    *others: object,
    baseline: str | Run | None = None,
    slice: str | None = None,  # noqa: A002 - the word of the field
    on_shared: bool = False,
    confidence: float = 0.95,
    difference: float = DIFFERENCE_THAT_MATTERS,
    url: str | None = None,
) -> Comparison:
    """Compare two or more runs of one dataset, example by example if possible.

    Returns a `Comparison`, in which the first run is A and the second B.

    * `runs`, `others`: ids, names, or what `log_run` returned, one after another or in a list, or
      a frame that `search_runs` returned.
    * `baseline`: the run to put first; it is added if it is not among the runs.
    * `slice`: compare only a part of the examples, such as "country=DE".
    * `on_shared`: compare runs that predicted different examples, on those that all share.
      Default: False, which refuses such runs.
    * `confidence`: the level of the intervals. Default: 0.95.
    * `difference`: the difference in accuracy that matters to you, as a share. If none is
      significant, the verdict says how many examples would detect it. Default: 0.01.
    * `url`: the registry. Default: that of the runs; for ids and names the configured one.

    Raises `NotFound` for an unknown run, `InvalidInput` for fewer than two runs, and `Conflict`
    with the reason for runs that cannot be compared.
    """
    listed = (*_listed(runs), *others)
    registry = registry_of((*listed, baseline), url)
    ids = [resolved_id(registry, run) for run in listed]
    if baseline is not None:
        first = resolved_id(registry, baseline)
        ids = [first, *(each for each in ids if each != first)]
    require_several(ids)
    asked = ComparisonQuery.model_construct(
        runs=",".join(ids),
        slice=slice,
        on_shared=on_shared,
        confidence=confidence_level(confidence),
        difference=difference,
    )
    record = registry.ask(comparison_request(ids, asked)).plain()
    refusal = record["refusal"]
    if refusal is not None:
        hint = refusal["hint"]
        if refusal["n_shared"] is not None:
            hint = "Pass on_shared=True to compare them on the shared ones."
        raise Conflict(refusal["why"], field="runs", hint=hint)
    return Comparison(record, registry)
