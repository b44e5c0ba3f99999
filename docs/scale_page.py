"""The page docs/scale.md: arithmetic from what was measured to what is extrapolated, and keys.

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
    *("counted_cases", "counted_slice", "paired_run"),
)
_OF_EVALUATION = ("metric_value", "class_values", "confusion_matrix", "score_curve")
_OF_TRUTH = ("truth_chunk", "truth_slice")
PARTED_BY = {
    **dict.fromkeys(_OF_RUN, "run_id"),
    **dict.fromkeys(_OF_EVALUATION, "evaluation_id"),
    **dict.fromkeys(_OF_TRUTH, "truth_version_id"),
}
"""Tables that can be parted, and by which column; all others are small enough to be everywhere."""

INTRODUCTION = """\
# Scale

How far a registry scales from a file on a laptop, and what to change on the way. Measured and
extrapolated numbers are in separate tables.
"""

KEYS = """\
## Partitioning

The tables that grow with predictions can be partitioned by hash, in PostgreSQL or over several
servers with Citus, without additional keys: each of their unique keys contains the column that the
last column names. The other tables are small; with Citus they are reference tables on every server
(“everywhere”).

Rows and bytes are per run of {n:,} predictions of two classes with one score each, on existing
ground truth, including indexes. A table that grew by less than a page in all of these runs has no
figure.

| table | primary key | rows per run | bytes per run | partitioned by |
| --- | --- | --- | --- | --- |
{tables}

offdiag does not create partitioned tables. To use partitions, create the tables before the first
run is logged, with the statements of `offdiag db upgrade` and an additional `PARTITION BY HASH`.
`flag` and `evaluation` have a global unique number and are therefore reference tables, with a few
hundred bytes per run.

Tests partition a copy of each of these tables on one server, and compare the list with the schema
(`tests/store/partitioning_test.py`). Citus was not run; its rules are checked against the schema.
"""

ARITHMETIC = """\
## From a laptop to a billion predictions a day

Measured with one client and one server on the machine below, by the benchmark in the last column.
`make bench` repeats the measurements, `make docs` the arithmetic.

| | | from |
| --- | --- | --- |
{measured}

Extrapolated to {a_day:,} predictions a day in runs of {n:,}, without reserves except as stated.
**Nothing was run at this size**: use these numbers to see which bottlenecks to expect.

| | extrapolated | how |
| --- | --- | --- |
{extrapolated}

| | laptop | a team | a billion a day |
| --- | --- | --- | --- |
| predictions a day | up to {laptop:,.0f} | up to {team:,.0f} | {a_day:,} |
| database | a SQLite file | one PostgreSQL | PostgreSQL, partitioned or over servers |
| disk per year | {laptop_disk} | {team_disk} | {year_disk} |
| processes | `offdiag serve` | one or two servers, two workers | {processes} |
| bottleneck | one writer at a time | backup and restore as a file | disk; unlimited retention |

At this size you need a retention policy, since `offdiag gc` removes only deleted runs and old
evaluations. The metric values of such a run take {values_bytes:,.0f} bytes, its predictions
{share:.0f} times as much. Use the backups of the server (base backups and archived WAL), not
`offdiag db backup`.

Storage was measured on {machine}, PostgreSQL {server}, {date}, with a load of {load}
from other work, which does not affect sizes, slightly affects CPU time, and slows the backup.
"""


COUNTED = """\
## Scored predictions counted by their engine

With `log_frame(score=…, keep_predictions=False)` the engine counts the rows; what is transferred
and stored does not grow with their number. Measured from the first row to the evaluation on
DuckDB, which also generates the rows, with two classes, one score and a slice column of eight
values (`counted_scores`):

| rows | CPU seconds | peak of the process, MiB | ROC AUC off by at most | average precision |
| --: | --: | --: | --: | --: |
{counted}

Extrapolated, a billion scored predictions a day, counted at night in runs of {largest:,} on one
such machine, would take {cpu_minutes:.0f} minutes of CPU time; this was not run. Scores of three
or more classes take one pass for each class and one more, and what is transferred and stored grows
by a few thousand bins for each class; this was not measured.

Stored scores are counted in the same bins, chunk by chunk, above `evaluation.exact_scores_up_to`
examples. An evaluation then holds the classes and predictions of all examples in memory, but only
one chunk of their scores.

Measured on {machine}, {date}, with a load of {load} from other work.
"""

TOGETHER = """\
## Several runs counted together

`log_frame(predicted={{…}}, keep_predictions=False)` counts runs by all of their predictions
together, so that their comparisons are paired. Measured on DuckDB, with four classes and a slice
column of eight values, from the first row to the evaluations of all runs, and the time to compare
them (`counted_together`):

| rows | runs | seconds | CPU seconds | comparison, seconds | peak of the process, MiB |
| --: | --: | --: | --: | --: | --: |
{together}

Measured on {machine}, {date}, with a load of {load} from other work.
"""


CLUSTERS = """\
## Counted on a cluster

The same {n_rows:,} rows in Parquet files, logged and evaluated on DuckDB, on a Dask cluster of two
processes and on local Spark, with two runs that are counted together and compared (`engines`). All
{n_values} values are the same as on DuckDB.

| engine | seconds to start | seconds to log and evaluate | values that differ |
| --- | --: | --: | --: |
{engines}

This shows that results are the same, not how fast a cluster of several machines is.

Measured on {machine}, {date}, with a load of {load} from other work.
"""


SERVERS = """\
## Two servers

`offdiag serve` is one process; gunicorn has two in the example configuration. Median milliseconds
of a request on PostgreSQL, with one client and with four at a time on the same two cores
(`servers`):

| request | `offdiag serve`, 1 | gunicorn, 1 | `offdiag serve`, 4 | gunicorn, 4 |
| --- | --: | --: | --: | --: |
{servers}

A single client waits about as long with either. Several clients wait less with gunicorn, whose
second process uses the second core.

Measured on {machine}, {date}, with a load of {load} from other work.
"""


PEERS = """\
## Compared with other tools

Each row is one task on the same arrays, in processes that take turns (`make peers`). Values with
the same definition have to be equal. The last column is the time of the other tool divided by that
of offdiag.

| task | offdiag | other tool | ratio |
| --- | --- | --- | --: |
{peers}

The offdiag worker stores predictions, every metric with its interval, curves and flags. MLflow
stores a run with pictures, Evidently returns a report, scikit-learn and torchmetrics return
values. These tools evaluate without intervals, except in the row that says so.

Measured on {machine}, {date}, with a load of {load} from other work.
"""

BESIDE = (
    (
        "metrics of 1,000,000 labels, ten classes, in memory",
        ("1e6", "offdiag: evaluate 1e6"),
        ("scikit-learn: evaluate 1e6", "torchmetrics: evaluate 1e6", "PyCM: evaluate 1e6"),
    ),
    (
        "a stored run of 1,000,000 labels evaluated",
        ("1e6", "offdiag worker: job 1e6"),
        ("MLflow: evaluate 1e6", "Evidently: evaluate 1e6"),
    ),
    (
        "values and curves of 1,000,000 scores, in memory",
        ("scores 1e6", "offdiag: scores 1e6"),
        ("scikit-learn: scores 1e6", "torchmetrics: scores 1e6"),
    ),
    (
        "a stored run of 1,000,000 scores evaluated",
        ("scores 1e6", "offdiag worker: job scores 1e6"),
        ("MLflow: scores 1e6", "Evidently: scores 1e6"),
    ),
    (
        "intervals of 100,000 scores; torchmetrics: two metrics, resampled 10 times",
        ("scores 1e5, intervals", "offdiag worker: job scores 1e5"),
        ("torchmetrics: scores 1e5, intervals",),
    ),
    (
        "a run logged over HTTP; offdiag: 100,000 predictions, MLflow: twelve metrics",
        ("a run", "offdiag server: record 1e5"),
        ("MLflow server: record",),
    ),
)
"""Rows of the table: the work, offdiag's case and variant, and those of other tools."""


def pages() -> dict[PurePosixPath, str]:
    """The page by its path below docs."""
    storage, ingest = _result("storage"), _result("http_ingest")
    parts = (
        INTRODUCTION,
        _arithmetic(storage, ingest),
        _keys(storage),
        _counted(_result("counted_scores")),
        _together(_result("counted_together")),
        _clusters(_result("engines")),
        _servers(_result("servers")),
        _peers(_result("peers")),
    )
    return {PATH: "\n".join([f"{GENERATED}\n", *parts])}


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
        ("bytes on disk per prediction, including its share of the run", bytes_each, "storage"),
        (
            "of these, bytes of class and score",
            facts["raw bytes of a prediction"],
            "storage",
        ),
        ("bytes of WAL per prediction, logging", log_each, "storage"),
        ("bytes of WAL per run, evaluation", log_of_run, "storage"),
        ("CPU seconds per evaluated run, worker", evaluation_s, "storage"),
        ("predictions per second into a backup file", saved, "storage"),
        (
            "predictions per second from the SDK to the commit, one server",
            per_second,
            "http_ingest",
        ),
        ("CPU seconds per million predictions, server", of_cpu, "http_ingest"),
    )
    extrapolated = (
        ("runs per day", f"{runs:,.0f}", "predictions / predictions of a run"),
        ("predictions per second, average", f"{average:,.0f}", "a day has 86,400 seconds"),
        (
            "predictions per second, busiest hour",
            f"{busiest:,.0f}",
            f"assumed {BUSIEST} times the average",
        ),
        ("servers", f"{servers:.0f}", "busiest / one server; at least two, for restarts"),
        (
            "CPU seconds of servers per day",
            f"{of_cpu * A_DAY / 1e6:,.0f}",
            "seconds for a million × millions",
        ),
        (
            "workers",
            f"{workers:.0f}",
            "runs × seconds of an evaluation / half a day each; at least two",
        ),
        (
            "connections",
            f"{15 * servers + 3 * workers:.0f}",
            "at most 15 per server, about 3 per worker; a pooler from a few hundred",
        ),
        ("disk per day", _size(disk), "bytes of a prediction × predictions"),
        ("disk per year, nothing removed", _size(disk * 365), "× 365"),
        (
            "WAL per day",
            _size(wal),
            "logging and evaluation; the volume to archive",
        ),
        (
            "one day as a backup file",
            f"{A_DAY / saved / 60:,.0f} minutes",
            "predictions / predictions per second",
        ),
        (
            "a year as a backup file",
            f"{365 * A_DAY / saved / 3600:,.0f} hours",
            "too long: use base backups and archived WAL",
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


def _counted(result: dict[str, Any]) -> str:
    facts = result["facts"]
    sizes = (10**6, 10**7, 10**8)
    lines = []
    for n_rows in sizes:
        cpu_s, peak, area, precision = (
            facts[f"p, {n_rows:.0e} rows: {name}"]
            for name in (
                *("of the processor, s", "peak, MiB"),
                *("roc_auc, bound", "average_precision, bound"),
            )
        )
        lines.append(f"| {n_rows:,} | {cpu_s} | {peak} | {area:.2g} | {precision:.2g} |")
    largest = facts[f"p, {sizes[-1]:.0e} rows: of the processor, s"]
    return COUNTED.format(
        counted="\n".join(lines),
        largest=sizes[-1],
        cpu_minutes=A_DAY / sizes[-1] * largest / 60,
        **_measured_on(result),
    )


def _together(result: dict[str, Any]) -> str:
    facts = result["facts"]
    names = ("logged and evaluated, s", "of the processor, s", "compared, s", "peak, MiB")
    lines = []
    for n_runs in (2, 5):
        for n_rows in (10**6, 10**7, 10**8):
            found = [str(facts[f"{n_runs} runs, {n_rows:.0e} rows: {name}"]) for name in names]
            lines.append(f"| {n_rows:,} | {n_runs} | {' | '.join(found)} |")
    return TOGETHER.format(
        together="\n".join(lines),
        **_measured_on(result),
    )


def _clusters(result: dict[str, Any]) -> str:
    facts = result["facts"]
    differing = {goal["name"].partition(":")[0]: goal["measured"] for goal in result["goals"]}
    lines = [
        f"| {engine} | {facts[f'{engine}: cluster started, s']} "
        f"| {facts[f'{engine}: logged and evaluated, s']} | {n_differing:.0f} |"
        for engine, n_differing in differing.items()
    ]
    return CLUSTERS.format(
        n_rows=facts["rows"],
        n_values=facts["values compared"],
        engines="\n".join(lines),
        **_measured_on(result),
    )


def _servers(result: dict[str, Any]) -> str:
    facts = result["facts"]
    requests = ("list of runs", "run page", "evaluation as JSON", "log 1,000 predictions")
    lines = []
    for request in requests:
        found = [
            facts[f"postgresql, {request}, {n} at a time: {server}, median, ms"]
            for n in (1, 4)
            for server in ("offdiag serve", "gunicorn")
        ]
        lines.append(f"| {request} | {' | '.join(f'{each:.3g}' for each in found)} |")
    return SERVERS.format(servers="\n".join(lines), **_measured_on(result))


def _peers(result: dict[str, Any]) -> str:
    lines = []
    for work, (case, ours), others in BESIDE:
        medians = {name: found["median_s"] for name, found in result["cases"][case].items()}
        lines += [
            f"| {work} | {_seconds(medians[ours])} "
            f"| {other.partition(':')[0]} {_seconds(medians[other])} "
            f"| {_ratio(medians[other] / medians[ours])} |"
            for other in others
        ]
    return PEERS.format(peers="\n".join(lines), **_measured_on(result))


def _ratio(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def _measured_on(result: dict[str, Any]) -> dict[str, Any]:
    machine = result["machine"]
    return {
        "machine": f"{machine['processor']}, {machine['cores']} cores",
        "date": result["date"],
        "load": machine["load_1_min"],
    }


def _size(n_bytes: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} TB"


def _result(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found
