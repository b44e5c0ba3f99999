"""Finding runs by id or name, searching runs into a frame, and evaluating pending runs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from offdiag.domain.look_alikes import warn_of
from offdiag.domain.runs import FoundRun, require_number_of_runs, without_slices_text
from offdiag.domain.suggestions import unknown_name
from offdiag.errors import (
    InvalidInput,
    MoreRunsMatch,
    NotEvaluated,
    NotFound,
    NotFoundBySlices,
    OutOfRange,
    UnknownName,
)
from offdiag.extras import optional
from offdiag.filters.conditions import Attribute, wanted_text
from offdiag.filters.parsing import parse_filter
from offdiag.filters.ranges import out_of_range
from offdiag.records.datasets.dataset import EVERY_DATASET
from offdiag.sdk.registry import MOST_NAMED, RUN_ID, Registry, SearchQuestion, only_id, quoted
from offdiag.sdk.run import Run
from offdiag.sdk.target import target

if TYPE_CHECKING:
    import pandas as pd

_FACTS = (
    *("run_id", "name", "model", "project", "dataset", "truth_version", "state", "author"),
    *("git_sha", "created_at", "n_predictions", "is_weighted", "badge", "may_hide"),
)
_HEADLINES = ("overall_accuracy", "balanced_accuracy", "macro_f1", "mcc")
"""Metrics that always have a column, even if no run has them, so scripts can rely on it."""


def get_run(
    run: object,
    *,
    dataset: str | None = None,
    project: str | None = None,
    url: str | None = None,
) -> Run:
    """The run with an id or a name.

    * `run`: an id such as "r_4bcd6fgh8jkm", the name of a run, or a row of the frame that
      `search_runs` returns.
    * `dataset`, `project`: select one of several runs with the same name.
    * `url`: the registry. Default: the configured one.

    Raises `NotFound` for an unknown run, `Conflict` with the ids if several runs have the name,
    and `InvalidInput` for anything else.
    """
    at = target(url)
    found = Run(at, resolved_id(at, run, dataset=dataset, project=project))
    _ = found.name  # Raises `NotFound`.
    return found


def registry_of(runs: Iterable[object], url: str | None) -> Registry:
    """The registry at a URL, else that of the first `Run` among the runs, else the default."""
    known = (run._registry for run in runs if isinstance(run, Run))  # noqa: SLF001 - it is one of us
    return target(url) if url is not None else next(known, None) or target(None)


def resolved_id(
    registry: Registry, run: object, *, dataset: str | None = None, project: str | None = None
) -> str:
    """The id of a run, given in any form that `get_run` takes."""
    if isinstance(run, Run):
        return run.id
    text = getattr(run, "run_id", run)
    if not isinstance(text, str):
        raise InvalidInput(
            f"{run!r} is not a run.",
            field="run",
            hint="Give its id, its name, a row of search_runs, or what log_run returned.",
        )
    if RUN_ID.fullmatch(text):
        return text
    return _only_run_named(registry, text, dataset, project)


def _only_run_named(
    registry: Registry, name: str, dataset: str | None, project: str | None
) -> str:
    condition = f"attributes.name = {quoted(name)}"
    if dataset is not None:
        condition += f" and attributes.dataset = {quoted(dataset)}"
    found = registry.search(SearchQuestion(condition, (), project, MOST_NAMED + 1)).runs
    run_id = only_id(name, found, hint="Give an id, or choose by dataset= or project=.")
    if run_id is None:
        raise NotFound(
            f"there is no run {name!r}.",
            field="run",
            hint="Give the id or the whole name; search_runs lists runs.",
        )
    return run_id


def evaluate_pending(*, timeout: float = 600.0, url: str | None = None) -> int:
    """Evaluate every run that is not evaluated yet, or whose results are outdated.

    Returns how many runs were evaluated. If the registry is a database, this process evaluates
    them one after another, with a progress bar on a terminal. If it is a server, the call waits
    for its workers.

    * `timeout`: how many seconds to wait for a server. Default: 600.
    * `url`: the registry. Default: the configured one.

    Raises `EvaluationPending` on timeout.
    """
    return target(url).evaluate_pending(timeout)


def evaluate_waiting(at: Registry, *, stacklevel: int) -> None:
    """Evaluate the pending runs of an embedded registry, or warn about their number."""
    n_left = at.evaluate_few()
    if n_left:
        are, them = ("run is", "it") if n_left == 1 else ("runs are", "them")
        warnings.warn(
            f"{n_left:,} {are} not evaluated: offdiag.evaluate_pending(), or the command "
            f"`offdiag worker --until-idle`, evaluates {them}.",
            NotEvaluated,
            stacklevel=stacklevel,
        )


_USUAL_RESULTS = 1_000


def search_runs(
    filter: str = "",  # noqa: A002 - the usual word of other registries
    *,
    order_by: str | Sequence[str] = (),
    project: str | None = None,
    max_results: int = _USUAL_RESULTS,
    url: str | None = None,
) -> pd.DataFrame:
    """The runs that match a filter, as a frame with one row for each run.

    * `filter`: a condition such as `metrics.mcc > 0.8 and tags.team = 'a'`. It compares
      `metrics.<key>`, `metrics.<key>[<class>]`, `params.<name>`, `tags.<name>` and
      `attributes.<name>` with =, !=, >, >=, <, <=, in or like, combined with and, or, not and
      parentheses. Quote texts, and names with characters other than letters, digits, _ and -. A
      run without the value matches no comparison with it.
    * `order_by`: a field with asc or desc, or several. Runs without the value come last; for a
      metric, runs with sample weights come just before them.
    * `project`: only runs of this project. Default: all projects.
    * `max_results`: the highest number of rows. Default: 1,000, with a `MoreRunsMatch` warning if
      there are more.
    * `url`: the registry. Default: the configured one.

    Columns are run_id, name, model, project, dataset, truth_version, state, author, git_sha,
    created_at, n_predictions, is_weighted (samples have weights, metrics are weighted), badge
    (accuracy hides a minority class) and may_hide (it may hide one, none is proved), then
    `metrics.<key>` (NaN if undefined), `params.<name>` and `tags.<name>` of all runs in the frame.

    In an SQLite file, up to 20 runs that are not evaluated yet are evaluated first. If there are
    more, a `NotEvaluated` warning reports their number. Runs with sample weights are not found by
    slices; a `NotFoundBySlices` warning reports their number. An `OutOfRange` warning names
    numbers that a metric cannot have, as 80 for 0.8. If nothing is found and no project or dataset
    has the name that was asked for, an `UnknownName` warning gives the nearest names.

    Raises `InvalidInput` that says which part of the filter cannot be read, and where.
    """
    with optional:
        import pandas as pd

    require_number_of_runs(max_results)
    fields = (order_by,) if isinstance(order_by, str) else tuple(order_by)
    at = target(url)
    evaluate_waiting(at, stacklevel=3)
    found = at.search(SearchQuestion(filter, fields, project, max_results))
    warn_of(out_of_range(parse_filter(filter)), OutOfRange)
    if found.n_without_slices:
        warnings.warn(without_slices_text(found.n_without_slices), NotFoundBySlices, stacklevel=2)
    if found.is_cut and max_results == _USUAL_RESULTS:
        warnings.warn(
            f"More runs match; these are the first {max_results:,}. max_results= returns more.",
            MoreRunsMatch,
            stacklevel=2,
        )
    if not found.runs:
        warn_of(_unknown_names(at, filter, project), UnknownName)
    rows = [_row(run) for run in found.runs]
    frame = pd.DataFrame.from_records(rows)
    for name in _with_large_numbers(rows):
        if frame[name].dtype.kind == "f":
            frame[name] = pd.Series([row.get(name) for row in rows], dtype=object)
    return frame.reindex(columns=_columns(found.runs))


def _unknown_names(at: Registry, filter_text: str, project: str | None) -> Sequence[str]:
    """A sentence if no project or dataset has the name that all runs of a search would have."""
    condition = parse_filter(filter_text)
    if project is None:
        project = wanted_text(condition, Attribute.PROJECT)
    dataset = wanted_text(condition, Attribute.DATASET)
    if project is None and dataset is None:
        return ()
    known = at.ask(EVERY_DATASET).datasets
    names = [(each.project, each.name) for each in known]
    # Where nothing was logged yet no name is wrong.
    sentence = unknown_name(names, project=project, dataset=dataset) if names else None
    return () if sentence is None else (sentence,)


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


_LARGEST_EXACT = 2**53
"""Whole numbers up to this stay exact in a column that a missing value makes a float column."""


def _with_large_numbers(rows: Iterable[Mapping[str, object]]) -> set[str]:
    return {
        name
        for row in rows
        for name, value in row.items()
        if isinstance(value, int) and abs(value) > _LARGEST_EXACT
    }


def _columns(runs: Sequence[FoundRun]) -> list[str]:
    """Facts and primary metrics, then other metrics, parameters and tags as the runs have them."""
    keys = chain(_HEADLINES, chain.from_iterable(run.metrics for run in runs))
    metrics = dict.fromkeys(f"metrics.{key}" for key in keys)
    params = dict.fromkeys(f"params.{name}" for run in runs for name in run.params)
    tags = dict.fromkeys(f"tags.{name}" for run in runs for name in run.tags)
    return [*_FACTS, *metrics, *params, *tags]
