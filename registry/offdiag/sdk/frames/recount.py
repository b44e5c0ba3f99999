"""Counting the query of a run again after labels changed where its rows are.

Stored counts never change. The new counts are a new run that names the old one, and a tag of the
old run names the new one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from offdiag.domain.labels import label_text
from offdiag.domain.look_alikes import warn_of
from offdiag.domain.runs import FoundRun, RunFacts
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.sdk.frames.columns import opened
from offdiag.sdk.frames.counted_query import SOURCE, TOGETHER, CountedQuery, query_of
from offdiag.sdk.frames.kinds import counts_of, table_of
from offdiag.sdk.frames.paired import tables_of
from offdiag.sdk.registry import Registry, SearchQuestion, quoted
from offdiag.sdk.run import Run
from offdiag.sdk.search import registry_of, resolved_id
from offdiag.sdk.target import current_author
from offdiag.services.ingest.batch import GivenPairedCounts

REPLACED_BY = "recounted_as"
"""The tag of a run that was counted again: the id of the run that replaces it."""


@dataclass(frozen=True, slots=True)
class Recounted:
    """A run whose query was counted again, and the run with the new counts."""

    old: Run
    new: Run


def recount(run: object, frame: object, *, url: str | None = None) -> Run:
    """Count the query of a run again after labels were corrected, and return the new `Run`.

    * `run`: an id, a name or a `Run`, logged by `log_frame(keep_predictions=False, query=...)`.
    * `frame`: what the query, `run.params["counted.query"]`, returns now, in any library that
      `log_frame` takes.
    * `url`: the registry. Default: that of a `Run`, else the configured one.

    The new run has the name, model, parameters and tags of the old one, and its id as the
    parameter `counted.from`. The old run stays and gets the tag `recounted_as` with the new id.
    Runs that were counted together are counted again together.

    Nothing is stored if the numbers of predictions of each class changed. Raises `Conflict` then
    and for a run without a query, `InvalidInput` for a frame that lacks a column, and `NotFound`.
    """
    at = registry_of([run], url)
    return recounted(at, resolved_id(at, run), frame)[0].new


def recounted(registry: Registry, run_id: str, frame: object) -> tuple[Recounted, ...]:
    """Log the new counts of a run, which comes first, and of the runs counted together with it.

    Nothing is stored if the frame has other predictions than the run. Raises `NotFound`,
    `Conflict` for a run without a query, and `InvalidInput` for a frame that lacks a column.
    """
    run = _found(registry, run_id)
    query = query_of(run.id, run.params)
    columns = query.columns
    runs = _counted_together(registry, run, query)
    facts = _facts(runs)
    whole = opened(frame, columns)
    if columns.runs:
        tables = [table_of(kinds, part) for kinds, part in tables_of(whole, columns)]
        for each in runs:
            table = next(table for table in tables if each.name in table.predicted)
            place = columns.place_of_column(columns.runs[each.name])
            _require_same(registry, each, table.predicted[each.name], table.sizes, place)
        paired = GivenPairedCounts(tables, counted_on=str(whole.implementation))
        ids = registry.log_paired_counts(facts, run.dataset, paired)
        warn_of(paired.notes)
    else:
        given = counts_of(whole, columns)
        place = columns.place_of_column(columns.predicted or "")
        _require_same(registry, run, given.predicted, given.sizes, place)
        ids = [registry.log_counts(facts[0], run.dataset, given)]
        warn_of(given.notes)
    pairs = tuple(
        Recounted(Run(registry, old.id), Run(registry, new))
        for old, new in zip(runs, ids, strict=True)
    )
    for pair in pairs:
        pair.old.add_tags({REPLACED_BY: pair.new.id})
    return pairs


def _found(registry: Registry, run_id: str) -> FoundRun:
    found = registry.find(run_id)
    if found is None:
        raise NotFound(f"there is no run {run_id!r}.", field="run", hint="It may be deleted.")
    return found


def _counted_together(
    registry: Registry, run: FoundRun, query: CountedQuery
) -> tuple[FoundRun, ...]:
    """The run and those of the same call. Raises `Conflict` if one of them no longer exists."""
    names = query.columns.runs
    if not names:
        return (run,)
    condition = f"params.{quoted(TOGETHER)} = {quoted(str(run.params.get(TOGETHER)))}"
    among = registry.search(SearchQuestion(condition, (), run.project, len(names) + 1))
    by_name = {each.name: each for each in among.runs if each.dataset == run.dataset}
    missing = [name for name in names if name not in by_name]
    if missing:
        raise Conflict(
            f"run {run.id} was counted together with {missing[0]!r}, which no longer exists.",
            field="run",
            hint="Restore it (offdiag runs restore), or log the other runs with log_frame.",
        )
    return (run, *(by_name[name] for name in names if name != run.name))


def _facts(runs: Sequence[FoundRun]) -> list[RunFacts]:
    token = token_hex(8)
    return [
        run.facts(
            params={**run.params, SOURCE: run.id}
            | ({TOGETHER: token} if TOGETHER in run.params else {}),
            tags={key: value for key, value in run.tags.items() if key != REPLACED_BY},
            author=current_author(),
        )
        for run in runs
    ]


def _require_same(
    registry: Registry,
    run: FoundRun,
    predicted: Sequence[object],
    sizes: Sequence[int],
    place: str,
) -> None:
    """Raise `Conflict` if predictions changed too: it would be another run."""
    matrix = Run(registry, run.id).evaluation().matrix
    before = _totals(matrix.labels.names, matrix.predicted.tolist())
    now = _totals([label_text(each) for each in predicted], sizes)
    differing = (name for name in sorted(before.keys() | now.keys()) if before[name] != now[name])
    if (name := next(differing, None)) is not None:
        raise Conflict(
            f"{now[name]:,} rows are predicted as {name!r}, but {before[name]:,} were when run "
            f"{run.id} was counted.",
            field=place,
            hint="Labels may change, predictions may not: query the same rows, or log what there "
            "is now as a new run with log_frame.",
        )


def _totals(names: Sequence[str], sizes: Sequence[int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, size in zip(names, sizes, strict=True):
        found[name] += size
    return found


@contextmanager
def rows_of_query(text: str, file: Path) -> Iterator[Any]:
    """The result of a query in a DuckDB database, as a lazy frame that is valid inside the block.

    The text comes from the registry, where another person may have written it. It can read the
    tables of this one file and nothing else. Raises `InvalidInput` for what DuckDB refuses.
    """
    import duckdb

    config: Mapping[str, Any] = {
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "python_enable_replacements": "false",
        "lock_configuration": "true",
    }
    try:
        connection = duckdb.connect(str(file), read_only=True, config=dict(config))
    except duckdb.Error as error:
        raise _refused(error, "database", "Name the DuckDB file that has the rows.") from None
    with closing(connection):
        try:
            statements = connection.extract_statements(text)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise InvalidInput(
                    "the stored query is not a single SELECT.", field="query", hint=_BY_HAND
                )
            yield connection.sql(text)
        except duckdb.Error as error:
            raise _refused(error, "query", _BY_HAND) from None


_BY_HAND = "Read the rows in Python, and give them to offdiag.recount."


def _refused(error: Exception, field: str, hint: str) -> InvalidInput:
    text, _, _ = str(error).partition("\n\nLINE ")
    sentence = " ".join(text.split())
    return InvalidInput(
        sentence if sentence.endswith((".", "?", "!")) else f"{sentence}.", field=field, hint=hint
    )
