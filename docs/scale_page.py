"""The page docs/scale.md: keys, and arithmetic from what was measured to what is extrapolated.

Every number of it is read from benchmarks/results or computed from such numbers here, so that it
follows when a benchmark is run again.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import Table

from offdiag.store.models import Base

PATH = PurePosixPath("scale.md")
GENERATED = "<!-- Written by docs/generate.py from docs/scale_page.py; edit that. -->"
RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"

A_DAY = 1_000_000_000
"""Predictions a day that the arithmetic ends with."""
DAY_S = 86_400
BUSIEST = 10
"""How many times the average the busiest hour is taken to be."""
LONGEST_QUEUE_SHARE = 0.5
"""Share of its time that a worker is planned to work."""

_OF_RUN = (
    *("prediction_chunk", "score_chunk", "pending_truth", "pending_slice", "uploaded_matrix"),
    *("counted_cases", "counted_slice"),
)
_OF_EVALUATION = ("metric_value", "class_values", "confusion_matrix", "score_curve")
_OF_TRUTH = ("truth_chunk", "truth_slice")
PARTED_BY = {
    **dict.fromkeys(_OF_RUN, "run_id"),
    **dict.fromkeys(_OF_EVALUATION, "evaluation_id"),
    **dict.fromkeys(_OF_TRUTH, "truth_version_id"),
}
"""Tables that can be parted, and by which column; all others are small enough to be everywhere."""

KEYS = """\
# Scale

A registry begins as a file on a laptop. This page says how far it goes from there, what would
change on the way, and which numbers of that are measured.

## Keys

Predictions, scores and values lie in rows of few tables, and no key of these reaches beyond its
run, evaluation or version of the truth. So these tables can be parted by hash, by PostgreSQL
itself or over several servers by Citus, without another key. Both want the column that a table is
parted by in each of its unique keys. Citus also wants each reference to lead to the same part, or
to a table that every server has a copy of (a reference table), as those are that the last column
calls everywhere. An evaluation is of one run and nothing joins chunks with values, so values are
parted by their evaluation and need no second column.

A test makes a twin of each of these tables in parts, with the same keys, copies rows through it
and looks a run up in one part; others compare this table with the schema
(`tests/store/partitioning_test.py`). Rows and bytes are those of a run of {n:,} predictions of two
classes with a score each, whose truth is known already, indexes included. A table that grew by
less than a page in all of these runs has no figure.

| table | primary key | rows a run | bytes a run | lies by |
| --- | --- | --- | --- | --- |
{tables}

What is not done here: offdiag does not create parted tables by itself, and its tests run on one
server. Citus was not run; its rules are checked on the schema. A team that needs it makes the
tables in parts before the first row is logged, with the statements of `offdiag db upgrade` as
they are and a `PARTITION BY HASH` at the end of these. `flag` and `evaluation` are numbered
through and unique by that number, so they are
everywhere, with a few hundred bytes a run.
"""

ARITHMETIC = """\
## From a laptop to a billion predictions a day

Measured with one client against one server on the machine named below, in the benchmark of that
name; `make bench` measures again, and `make docs` counts again.

| | | from |
| --- | --- | --- |
{measured}

Computed from these for {a_day:,} predictions a day in runs of {n:,}, without any slack but what
is said. **Nothing below was run at this size**; it says where to look first, not what will be.

| | extrapolated | how |
| --- | --- | --- |
{extrapolated}

| | laptop | a team | a billion a day |
| --- | --- | --- | --- |
| predictions a day | up to {laptop:,.0f} | up to {team:,.0f} | {a_day:,} |
| database | a SQLite file | one PostgreSQL | PostgreSQL, chunks in parts or over servers |
| disk a year | {laptop_disk} | {team_disk} | {year_disk} |
| processes | `offdiag serve` | one or two servers, two workers | {processes} |
| what limits | one writer at a time | backup and restore as a file | disk; runs kept for ever |

What has to be decided at that size is how long runs are kept. The values of such a run take
{values_bytes:,.0f} bytes, its predictions {share:.0f} times as much. `offdiag gc` removes runs
that were deleted and old evaluations, and nothing else. Backups at that size are those of the
server (base backups and archived log), not `offdiag db backup`.

Storage was measured on {machine}, PostgreSQL {server}, {date}, with a load of {load}
from other work: sizes do not depend on it, processor time a little, and the backup is rather slow.
"""


def pages() -> dict[PurePosixPath, str]:
    """The page by its path below docs."""
    storage, ingest = _result("storage"), _result("http_ingest")
    return {PATH: f"{GENERATED}\n\n{_keys(storage)}\n{_arithmetic(storage, ingest)}"}


def _keys(storage: dict[str, Any]) -> str:
    facts = storage["facts"]
    rows = [_row(table, facts) for name, table in sorted(Base.metadata.tables.items())]
    return KEYS.format(n=facts["predictions of a run"], tables="\n".join(rows))


def _row(table: Table, facts: dict[str, Any]) -> str:
    key = ", ".join(f"`{column.name}`" for column in table.primary_key.columns)
    n_rows, size = (facts.get(f"{what} of a run in {table.name}") for what in ("rows", "bytes"))
    shown = ("", "") if size is None else (f"{n_rows:,.0f}", f"{size:,.0f}")
    by = PARTED_BY.get(table.name)
    lies = f"`{by}`" if by else "everywhere"
    return f"| `{table.name}` | {key} | {' | '.join(shown)} | {lies} |"


def _arithmetic(storage: dict[str, Any], ingest: dict[str, Any]) -> str:
    facts, n = storage["facts"], storage["facts"]["predictions of a run"]
    per_second = ingest["facts"]["predictions per second, postgresql, SDK"]
    of_cpu = ingest["facts"]["processor seconds of the server per million, postgresql, Arrow"]
    evaluation_s = facts["processor seconds to evaluate a run"]
    bytes_each, log_each = facts["bytes of a prediction"], facts["log bytes of a prediction"]
    log_of_run, saved = (
        facts["log bytes of a run, evaluating"],
        facts["backup, predictions a second"],
    )
    runs = A_DAY / n
    disk, wal = bytes_each * A_DAY, log_each * A_DAY + log_of_run * runs
    average = A_DAY / DAY_S
    busiest = average * BUSIEST
    servers = max(2, -(-busiest // per_second))
    workers = max(2, -(-runs * evaluation_s // (DAY_S * LONGEST_QUEUE_SHARE)))
    values = sum(facts.get(f"bytes of a run in {name}", 0) for name in _OF_EVALUATION)
    chunks = sum(facts.get(f"bytes of a run in {name}", 0) for name in _OF_RUN)
    laptop, team = A_DAY / 1000, A_DAY / 20
    measured = (
        ("bytes on disk of a prediction and its share of the run", bytes_each, "storage"),
        (
            "bytes of them that are its class and score",
            facts["raw bytes of a prediction"],
            "storage",
        ),
        ("bytes written to the log of the server, logging", log_each, "storage"),
        ("bytes written to it by the evaluation of a run", log_of_run, "storage"),
        ("seconds of processor to evaluate a run, of the worker", evaluation_s, "storage"),
        ("predictions a second into a backup file", saved, "storage"),
        ("predictions a second from the SDK to the commit, one server", per_second, "http_ingest"),
        ("seconds of processor of the server for a million", of_cpu, "http_ingest"),
    )
    extrapolated = (
        ("runs a day", f"{runs:,.0f}", "predictions / predictions of a run"),
        ("predictions a second, average", f"{average:,.0f}", "a day has 86,400 seconds"),
        ("in the busiest hour", f"{busiest:,.0f}", f"taken to be {BUSIEST} times the average"),
        ("servers", f"{servers:.0f}", "busiest / one server; two at least, so that one may stop"),
        (
            "processor seconds of servers a day",
            f"{of_cpu * A_DAY / 1e6:,.0f}",
            "seconds for a million × millions",
        ),
        (
            "workers",
            f"{workers:.0f}",
            "runs × seconds of an evaluation / half a day each; two at least",
        ),
        (
            "connections",
            f"{15 * servers + 3 * workers:.0f}",
            "15 a server at most, about 3 a worker; a pooler from some hundreds on",
        ),
        ("disk a day", _size(disk), "bytes of a prediction × predictions"),
        ("disk a year, nothing removed", _size(disk * 365), "× 365"),
        (
            "log of the server a day",
            _size(wal),
            "logging and evaluating; what archiving has to carry",
        ),
        (
            "one day as a backup file",
            f"{A_DAY / saved / 60:,.0f} minutes",
            "predictions / a second",
        ),
        (
            "a year as a backup file",
            f"{365 * A_DAY / saved / 3600:,.0f} hours",
            "too long: base backups and archived log instead",
        ),
    )
    machine = storage["machine"]
    return ARITHMETIC.format(
        n=n,
        a_day=A_DAY,
        measured="\n".join(f"| {what} | {value:,} | `{name}` |" for what, value, name in measured),
        extrapolated="\n".join(
            f"| {what} | {value} | {how} |" for what, value, how in extrapolated
        ),
        laptop=laptop,
        team=team,
        laptop_disk=_size(laptop * bytes_each * 365),
        team_disk=_size(team * bytes_each * 365),
        year_disk=_size(disk * 365),
        processes=f"{servers:.0f} servers, {workers:.0f} workers",
        values_bytes=values,
        share=chunks / values,
        machine=f"{machine['processor']}, {machine['cores']} cores",
        server=facts["server"],
        date=storage["date"],
        load=machine["load_1_min"],
    )


def _size(n_bytes: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} TB"


def _result(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found
