"""Logging several runs that are counted together, from one frame or from one frame each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from typing import Any, cast

import narwhals as nw

from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.look_alikes import warn_of
from offdiag.errors import InvalidInput
from offdiag.inputs.counted_samples import MAX_KINDS, too_many_kinds
from offdiag.inputs.slice_columns import require_columns
from offdiag.sdk.frames.columns import EagerFrame, FrameColumns, LazyFrame, opened
from offdiag.sdk.frames.counted_query import CountedQuery, with_query
from offdiag.sdk.frames.kinds import Kinds, find_kinds, table_of
from offdiag.sdk.logging import RunArguments, facts_of
from offdiag.sdk.run import Run
from offdiag.sdk.target import target
from offdiag.services.ingest.batch import GivenPairedCounts

_ROWS, _IDS, _GAPS, _SIZE = "offdiag: rows", "offdiag: ids", "offdiag: gaps", "offdiag: size"


@dataclass(frozen=True)
class JoinedFrames:
    """Rows of several frames, joined by sample id; `n_rows` is the size of each frame by run."""

    frame: EagerFrame | LazyFrame
    columns: FrameColumns
    n_rows: Mapping[str, int]

    def require_same(self, kinds: Kinds) -> None:
        """Raise `InvalidInput` if the frames differ in samples or actual classes."""
        n_shared = sum(kinds.sizes)
        other = next((run for run, n in self.n_rows.items() if n != n_shared), None)
        if other is not None:
            sizes = ", ".join(f"{run!r} has {n:,} rows" for run, n in self.n_rows.items())
            raise InvalidInput(
                f"{sizes}, and {n_shared:,} of their ids are in all frames.",
                field="sample_id",
                hint="Give frames of the same samples; filter out those that are not in all.",
            )
        for name in self.columns.other_actual:
            self._require_equal_actual(kinds, name)

    def _require_equal_actual(self, kinds: Kinds, name: str) -> None:
        actual = kinds.columns[self.columns.actual or ""]
        differing = [
            (size, one, other)
            for size, one, other in zip(kinds.sizes, actual, kinds.columns[name], strict=True)
            if label_text(one) != label_text(other)
        ]
        if differing:
            n_rows = sum(size for size, *_ in differing)
            _, one, other = differing[0]
            raise InvalidInput(
                f"{n_rows:,} of {sum(kinds.sizes):,} samples have different actual classes in two "
                f"frames, such as {one!r} and {other!r}.",
                field=f"actual={self.columns.actual!r}",
                hint="Join runs on one version of the labels.",
            )


def joined(frames: Mapping[str, object], columns: FrameColumns) -> JoinedFrames:
    """One row for each sample id, by run, from all frames; slice columns are those of the first.

    Actual classes are compared if several frames have them. Raises `InvalidInput` for frames of
    several libraries, and for missing or repeated ids.
    """
    sample_id = columns.sample_id
    if sample_id is None:
        raise InvalidInput(
            "rows of several frames need an id to join on.",
            field="sample_id",
            hint="Name the column with the id of the sample.",
        )
    if frames.keys() != columns.runs.keys():
        raise InvalidInput(
            f"the frames are of {sorted(frames)}, the predicted columns of "
            f"{sorted(columns.runs)}.",
            field="frame",
            hint="Name a frame and its predicted column for each run.",
        )
    parts, n_rows, actuals = [], {}, []
    for number, (run, native) in enumerate(frames.items()):
        part, of_part = _part(native, columns, run, is_first=number == 0)
        n_rows[run] = _distinct_rows(part, sample_id, run)
        parts.append(part)
        actuals += of_part
    if len({(part.implementation, type(part)) for part in parts}) > 1:
        raise InvalidInput(
            "the frames are of several libraries, or some are lazy and some are not.",
            field="frame",
            hint="Give frames of one library, all lazy or none.",
        )

    def join(left: Any, right: Any) -> Any:
        return left.join(right, on=sample_id, how="inner")

    whole: EagerFrame | LazyFrame = reduce(join, _with_ids_of_one_type(parts, sample_id, frames))
    runs = {run: _predicted(run) for run in columns.runs}
    found = replace(columns, sample_id=None, runs=runs, other_actual=tuple(actuals))
    return JoinedFrames(whole.select(*found.names), found, n_rows)


def _with_ids_of_one_type(
    parts: Sequence[EagerFrame | LazyFrame], sample_id: str, runs: Iterable[str]
) -> Sequence[EagerFrame | LazyFrame]:
    """The frames with ids of a type that can be joined: whole numbers of several sizes become one.

    Raises `InvalidInput` for numbers next to text, which only DuckDB treats as equal.
    """
    types = {run: part.collect_schema()[sample_id] for run, part in zip(runs, parts, strict=True)}
    if len(set(types.values())) > 1 and all(each.is_integer() for each in types.values()):
        return [part.with_columns(nw.col(sample_id).cast(nw.Int64)) for part in parts]
    number = next((run for run, each in types.items() if each.is_numeric()), None)
    text = next((run for run, each in types.items() if each == nw.String), None)
    if number is not None and text is not None and not parts[0].implementation.is_duckdb():
        raise InvalidInput(
            f"ids are numbers ({types[number]}) in the frame of {number!r} and text in that of "
            f"{text!r}.",
            field=f"sample_id={sample_id!r}",
            hint="Give the column one type in all frames.",
        )
    return parts


def _predicted(run: str) -> str:
    return f"offdiag: predicted {run}"


def _part(
    native: object, columns: FrameColumns, run: str, *, is_first: bool
) -> tuple[EagerFrame | LazyFrame, list[str]]:
    """The columns of one frame under names of its own, and its actual classes."""
    own = replace(columns, runs={run: columns.runs[run]})
    if not is_first:
        own = replace(own, actual=None, slices=())
        if columns.actual is not None and _has(native, columns.actual):
            own = replace(own, actual=columns.actual)
    frame = opened(native, own)
    kept = [nw.col(name) for name in own.names if name not in (own.actual, columns.runs[run])]
    wanted = [*kept, nw.col(columns.runs[run]).alias(_predicted(run))]
    if own.actual is None:
        return frame.select(*wanted), []
    name = own.actual if is_first else f"offdiag: actual {run}"
    return frame.select(*wanted, nw.col(own.actual).alias(name)), [] if is_first else [name]


def _has(native: object, name: str) -> bool:
    frame: EagerFrame | LazyFrame = nw.from_native(cast("Any", native))
    return name in frame.collect_schema().names()


def _distinct_rows(frame: EagerFrame | LazyFrame, sample_id: str, run: str) -> int:
    """The number of rows. Raises `InvalidInput` for missing and for repeated ids."""
    by_id: Any = frame.group_by(sample_id).agg(nw.len().alias(_SIZE))
    is_missing = nw.col(sample_id).is_null()
    counted = _collected(
        by_id.select(
            nw.col(_SIZE).sum().alias(_ROWS),
            (nw.col(_SIZE) > 1).sum().alias(_IDS),
            is_missing.sum().alias(_GAPS),
        )
    )
    n_rows, n_repeated, n_missing = (int(counted[name][0] or 0) for name in (_ROWS, _IDS, _GAPS))
    field = f"sample_id={sample_id!r}"
    # Pandas leaves rows without an id out of all groups; the join would, too.
    if n_missing:
        raise InvalidInput(
            f"some rows of the frame of {run!r} have no id.", field=field, hint="Filter them out."
        )
    if n_repeated:
        example = _collected(by_id.filter(nw.col(_SIZE) > 1).head(1))
        raise InvalidInput(
            f"{n_repeated:,} ids are repeated in the frame of {run!r}, such as "
            f"{example[sample_id][0]!r} in {example[_SIZE][0]:,} rows.",
            field=field,
            hint="Keep one row for each sample.",
        )
    return n_rows


def _collected(frame: Any) -> dict[str, list[Any]]:
    found: nw.DataFrame[Any] = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return {name: found[name].to_list() for name in found.columns}


MOST_PAIRS = 45
"""The most pairs of runs that are counted one by one: those of ten runs."""
MOST_PAIRED_KINDS = 5 * MAX_KINDS
"""The most combinations of all pairs together."""


def arguments_of(arguments: RunArguments, run: str) -> RunArguments:
    """The arguments of one of several runs, with its own name and client key."""
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
    query: str | None = None,
) -> dict[str, Run]:
    """Store the counts of several runs. Raises `InvalidInput` and `Conflict`."""
    name = _require_countable(columns, dataset)
    require_columns(columns.slices, columns.bins, columns.periods)
    if query is not None:
        arguments = with_query(arguments, CountedQuery(query, columns))
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
        tables.append(table_of(kinds, of_kinds))
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
    warn_of(given.notes)
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
    return dataset_of_counts(dataset)


def dataset_of_counts(dataset: str | None) -> str:
    """The name of the dataset. Raises `InvalidInput` without one."""
    if dataset is None:
        raise InvalidInput(
            "counts do not say which samples they cover.",
            field="dataset",
            hint="Name the dataset.",
        )
    return dataset


def tables_of(
    frame: EagerFrame | LazyFrame, columns: FrameColumns
) -> Iterator[tuple[Kinds, FrameColumns]]:
    """The counts by all runs together, or by each pair if there are too many combinations."""
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
