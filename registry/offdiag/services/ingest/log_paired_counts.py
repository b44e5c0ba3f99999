"""Logging runs whose samples were counted together, so that they can be compared as pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from offdiag.domain.labels import LabelSet, refuse_fractions
from offdiag.domain.look_alikes import warn_of
from offdiag.domain.runs import RunFacts, require_name
from offdiag.errors import InvalidInput, KeyUsed
from offdiag.inputs.counted_samples import CountedSamples, PairedSamples, paired_samples
from offdiag.inputs.slice_columns import SliceColumns
from offdiag.services.ingest.batch import GivenPairedCounts
from offdiag.services.ingest.log_counts import counted_dataset, insert_counts, labels_of
from offdiag.store import datasets, paired_counts
from offdiag.store.database import Database, Session
from offdiag.store.retries import after_races
from offdiag.store.runs import RunRecord


def log_paired_counts(
    database: Database,
    *,
    runs: Sequence[RunFacts],
    dataset: str,
    given: GivenPairedCounts,
    tell: Callable[[Iterable[str]], None] = warn_of,
) -> tuple[RunRecord, ...]:
    """Store finished runs from counts together with their joint counts: all of them, or none.

    Each is a run as after `log_counts`, named as in the tables; the tables are stored for
    comparisons. `tell` is called with sentences on a dataset that may not be meant. Raises
    `InvalidInput` for counts that are unusable or contradict each other and `Conflict` for
    contradictions to what is stored.
    """
    require_name(given.counted_on, "counted_on")
    _require_tables(runs, given)
    for table in given.tables:
        refuse_fractions(table.actual, field="actual")
        for run, values in table.predicted.items():
            refuse_fractions(values, field=f"predicted[{run!r}]")
    declared = (
        None if given.labels is None else LabelSet.declared(given.labels, ordinal=given.ordinal)
    )

    logged, notes = after_races(
        database,
        lambda session: _log(session, runs, dataset, given, declared, now=database.clock()),
        finds_itself=all(each.client_key for each in runs),
    )
    tell(notes)
    return logged


def _require_tables(runs: Sequence[RunFacts], given: GivenPairedCounts) -> None:
    names = [each.name for each in runs]
    if len(set(names)) != len(names) or len(names) < 2:
        raise InvalidInput(
            "there are fewer than two runs, or two of one name.",
            field="runs",
            hint="Give each run a name of its own; log_counts stores a single one.",
        )
    if len({each.project for each in runs}) > 1:
        raise InvalidInput(
            "the runs are of several projects.", field="runs", hint="Name one project."
        )
    tables = [frozenset(table.predicted) for table in given.tables]
    pairs = {frozenset((one, other)) for one in names for other in names if one != other}
    if tables != [frozenset(names)] and (len(tables) != len(pairs) or set(tables) != pairs):
        raise InvalidInput(
            "the tables do not have the predictions of the runs.",
            field="tables",
            hint="Count all runs in one table, or each pair of them in a table of its own.",
        )


def _log(
    session: Session,
    runs: Sequence[RunFacts],
    dataset: str,
    given: GivenPairedCounts,
    declared: LabelSet | None,
    *,
    now: datetime,
) -> tuple[tuple[RunRecord, ...], tuple[str, ...]]:
    """The runs, and what may not be meant."""
    project = runs[0].project
    known = datasets.find_dataset(session, project=project, name=dataset)
    labels = labels_of(known, declared, given)
    frame = counted_dataset(session, project, dataset, labels, given, now=now)
    tables = [
        paired_samples(
            actual=table.actual,
            predicted=table.predicted,
            sizes=table.sizes,
            slices=table.slices,
            labels=labels,
        )
        for table in given.tables
    ]
    logged = {
        facts.name: insert_counts(
            session, frame, facts, _samples_of(tables, facts.name), given.counted_on, now=now
        )
        for facts in runs
    }
    records = tuple(run for run, _ in logged.values())
    if any(is_new for _, is_new in logged.values()):
        if not all(is_new for _, is_new in logged.values()):
            raise _other_runs(logged)
        for table in tables:
            by_id = {logged[name][0].id: codes for name, codes in table.predicted.items()}
            paired_counts.insert(session, replace(table, predicted=by_id))
    else:
        for table in tables:
            by_id = {logged[name][0].id: codes for name, codes in table.predicted.items()}
            if not _is_stored(session, replace(table, predicted=by_id)):
                raise _other_runs(logged)
    return records, frame.notes


def _is_stored(session: Session, table: PairedSamples) -> bool:
    ids = list(table.predicted)
    known = paired_counts.paired_among(session, ids)
    stored = next((each for each, runs in known.items() if len(runs) == len(ids)), None)
    if stored is None:
        return False
    there = paired_counts.read(session, stored, ids)
    return (
        np.array_equal(there.actual, table.actual)
        and np.array_equal(there.sizes, table.sizes)
        and all(np.array_equal(there.predicted[run], table.predicted[run]) for run in ids)
        and _are_equal_columns(there.slices, table.slices)
    )


def _samples_of(tables: Sequence[PairedSamples], name: str) -> CountedSamples:
    """The samples of one run, which must be the same in every table with this run."""
    found, *others = (table.of_run(name) for table in tables if name in table.predicted)
    for other in others:
        if not _are_equal(found, other):
            raise InvalidInput(
                f"the counts of {name!r} differ from one table to another.",
                field="tables",
                hint="Count all pairs on the same samples, without changes in between.",
            )
    return found


def _are_equal(one: CountedSamples, other: CountedSamples) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("actual", "predicted", "sizes")
    ) and _are_equal_columns(one.slices, other.slices)


def _are_equal_columns(one: SliceColumns, other: SliceColumns) -> bool:
    return one.keys() == other.keys() and all(
        column.levels == other[name].levels
        and column.of_tags == other[name].of_tags
        and np.array_equal(column.codes, other[name].codes)
        for name, column in one.items()
    )


def _other_runs(logged: dict[str, tuple[RunRecord, bool]]) -> KeyUsed:
    there = ", ".join(run.id for run, is_new in logged.values() if not is_new)
    return KeyUsed(
        f"client keys belong to runs that were not counted together with the others: {there}.",
        field="client_key",
        hint="Use new keys for new runs; a retry must send the same runs.",
    )
