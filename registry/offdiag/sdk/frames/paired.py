"""Logging several runs from one frame, or from a frame each, counted by all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.counted_samples import MAX_KINDS, too_many_kinds
from offdiag.inputs.slice_columns import require_columns
from offdiag.inputs.slice_ranges import Bins
from offdiag.sdk.frames.columns import EagerFrame, FrameColumns, LazyFrame, opened
from offdiag.sdk.frames.counted_query import CountedQuery, with_query
from offdiag.sdk.frames.joined import JoinedFrames, joined
from offdiag.sdk.frames.kinds import Kinds, find_kinds, table_of
from offdiag.sdk.logging import RunArguments, facts_of
from offdiag.sdk.run import Run
from offdiag.sdk.target import target
from offdiag.services.ingest.batch import GivenPairedCounts

MOST_PAIRS = 45
"""Pairs of runs that are counted one by one: those of ten runs."""
MOST_PAIRED_KINDS = 5 * MAX_KINDS
"""Combinations of all pairs together."""


def arguments_of(arguments: RunArguments, run: str) -> RunArguments:
    """What is said about one of several runs; its client key is its own."""
    key = arguments.get("client_key")
    own = RunArguments(**arguments)
    own["name"] = run
    own["client_key"] = None if key is None else f"{key}/{run}"
    return own


def log_counted_together(
    frame: object,
    columns: FrameColumns,
    *,
    dataset: str | None,
    labels: Sequence[object] | LabelSet | None,
    arguments: RunArguments,
    bins: Mapping[str, Bins] | None = None,
    periods: Mapping[str, str] | None = None,
    query: str | None = None,
) -> dict[str, Run]:
    """Store the counts of several runs. Raises `InvalidInput` and `Conflict`."""
    name = _require_countable(columns, dataset)
    require_columns(columns.slices, bins, periods)
    if query is not None:
        arguments = with_query(arguments, CountedQuery(query, columns, bins, periods))
    at = target(arguments["url"])
    runs = [facts_of(at, arguments_of(arguments, run)) for run in columns.runs]
    whole: EagerFrame | LazyFrame | JoinedFrames
    if isinstance(frame, Mapping):
        whole = joined(frame, columns)
        source, columns = whole.frame, whole.columns
    else:
        if columns.sample_id is not None:
            raise InvalidInput(
                f"column {columns.sample_id!r} belongs to single predictions, and none are kept.",
                field="sample_id",
                hint="Leave it out; it joins frames where each run has its own.",
            )
        whole = source = opened(frame, columns)
    tables = []
    for kinds, of_kinds in tables_of(source, columns):
        if isinstance(whole, JoinedFrames):
            whole.require_same(kinds)
        tables.append(table_of(kinds, of_kinds, bins, periods))
    given = GivenPairedCounts(
        tables,
        counted_on=str(source.implementation),
        labels=labels,
        ordinal=arguments["ordinal"],
        positive_label=arguments["positive_label"],
        hierarchy=arguments["hierarchy"],
    )
    try:
        ids = at.log_paired_counts(runs, name, given)
    except InvalidInput as error:
        if error.field != "actual":
            raise
        place = f"actual={columns.actual!r}"
        raise InvalidInput(error.message, field=place, hint=error.hint) from None
    return {run: Run(at, run_id) for run, run_id in zip(columns.runs, ids, strict=True)}


def _require_countable(columns: FrameColumns, dataset: str | None) -> str:
    if len(columns.runs) < 2:
        raise InvalidInput(
            "there are fewer than two runs.",
            field="predicted",
            hint="Name the column of one run as text, and its name as name=.",
        )
    if columns.scores:
        raise InvalidInput(
            "scores of several runs are not counted together.",
            field="score",
            hint="Log each run with its scores alone, or keep the predictions.",
        )
    if columns.actual is None:
        raise InvalidInput(
            "without the actual classes there is nothing to count.",
            field="actual",
            hint="Name their column, or keep the predictions.",
        )
    if dataset is None:
        raise InvalidInput(
            "counts do not tell which samples they are of.",
            field="dataset",
            hint="Name the dataset.",
        )
    return dataset


def tables_of(
    frame: EagerFrame | LazyFrame, columns: FrameColumns
) -> Iterator[tuple[Kinds, FrameColumns]]:
    """The counts by all runs together, or by each pair of runs where there are too many kinds."""
    whole = find_kinds(frame, columns)
    if whole is not None:
        yield whole, columns
        return
    pairs = list(combinations(columns.runs.items(), 2))
    if not 1 < len(pairs) <= MOST_PAIRS:
        raise too_many_kinds(MAX_KINDS + 1)
    n_kinds = 0
    for pair in pairs:
        of_pair = replace(columns, runs=dict(pair))
        kinds = find_kinds(frame, of_pair)
        n_kinds += MAX_KINDS + 1 if kinds is None else len(kinds.sizes)
        if kinds is None or n_kinds > MOST_PAIRED_KINDS:
            raise too_many_kinds(n_kinds)
        yield kinds, of_pair
