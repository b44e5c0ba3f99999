"""Searching runs into a table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from offdiag.domain.runs import FoundRun
from offdiag.sdk.registry import SearchQuestion
from offdiag.sdk.target import target

if TYPE_CHECKING:
    import pandas as pd

_FACTS = (
    *("run_id", "name", "model", "project", "dataset", "truth_version", "state", "author"),
    *("git_sha", "created_at", "n_predictions", "badge", "may_hide"),
)
_HEADLINES = ("overall_accuracy", "balanced_accuracy", "macro_f1", "mcc")
"""Metrics whose columns are there even if no run has them, so that scripts need not ask."""


def search_runs(
    *,
    filter: str = "",  # noqa: A002 - the word that everybody knows from other registries
    order_by: str | Sequence[str] = (),
    project: str | None = None,
    max_results: int = 1_000,
    url: str | None = None,
) -> pd.DataFrame:
    """The runs that fulfil a condition, one row each.

    `filter` compares `metrics.<key>`, `metrics.<key>[<class>]`, `params.<name>`,
    `tags.<name>` and `attributes.<name>` by = != > >= < <= in like, joined by and, or, not and
    parentheses; texts stand in quotes, and so do names with other characters than letters,
    digits, _ and -. A run without such a value fulfils no comparison with it. `order_by` names
    fields, each with asc or desc; runs without the value come last. `project` is all projects
    by default.

    Returns a frame with the columns run_id, name, model, project, dataset, truth_version,
    state, author, git_sha, created_at, n_predictions, badge (accuracy hides a minority class)
    and may_hide (it may hide one, none is proved), then `metrics.<key>` (NaN where a metric is
    undefined), `params.<name>` and `tags.<name>` of all runs in it. Raises
    `InvalidInput` that names what cannot be read, and where.
    """
    import pandas as pd

    fields = (order_by,) if isinstance(order_by, str) else tuple(order_by)
    found = target(url).search(SearchQuestion(filter, fields, project, max_results))
    frame = pd.DataFrame.from_records([_row(run) for run in found])
    return frame.reindex(columns=_columns(found))


def _row(run: FoundRun) -> dict[str, object]:
    facts: dict[str, object] = {name: getattr(run, name) for name in _FACTS[1:-2]}
    return {
        "run_id": run.id,
        **facts,
        "state": run.state.value,
        "badge": run.hides_minority,
        "may_hide": run.may_hide_minority,
        **{f"metrics.{key}": value.value for key, value in run.metrics.items()},
        **{f"params.{name}": value for name, value in run.params.items()},
        **{f"tags.{name}": value for name, value in run.tags.items()},
    }


def _columns(runs: Sequence[FoundRun]) -> list[str]:
    """Facts, headline metrics; then all metrics, parameters and tags in the order of the runs."""
    keys = chain(_HEADLINES, chain.from_iterable(run.metrics for run in runs))
    metrics = dict.fromkeys(f"metrics.{key}" for key in keys)
    params = dict.fromkeys(f"params.{name}" for run in runs for name in run.params)
    tags = dict.fromkeys(f"tags.{name}" for run in runs for name in run.tags)
    return [*_FACTS, *metrics, *params, *tags]
