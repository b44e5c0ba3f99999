"""Runs to look at, and the statements a page needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, event, update

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts, RunState
from offdiag.services.cost_matrices import add_costs
from offdiag.services.ingest.chunks import put_chunk
from offdiag.store.database import Database
from offdiag.store.models import RunRow, WorkRow
from support.logging_runs import batch_of, evaluate, log, opened, upload_matrix

LESIONS = ("nv", "mel", "bkl", "bcc", "akiec", "vasc", "df")
LESION_COUNTS = (
    (987, 5, 10, 3, 1, 0, 0),
    (59, 96, 10, 1, 2, 0, 0),
    (28, 13, 119, 2, 2, 0, 1),
    (14, 2, 3, 52, 5, 0, 1),
    (9, 1, 8, 6, 25, 0, 0),
    (1, 0, 0, 0, 0, 20, 0),
    (14, 0, 1, 2, 0, 0, 0),
)
"""Actual classes down, predicted classes across; the smallest class is never found."""

HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}}",
    "=1+1",
    "javascript:alert(1)",
    "</svg><script>alert(2)</script>",
    "+SUM(A1)",
    "@cmd",
    "a class whose name is far too long to be shown in any head of any table on this page",
)

HOSTILE_MARKUP = HOSTILE_NAMES[:3]
"""What would be more than text on a page; the others endanger files, links and layout."""

Counts = Sequence[Sequence[int]]


def log_counts(
    database: Database,
    counts: Counts,
    labels: Sequence[str],
    *,
    name: str = "run",
    dataset: str = "holdout",
    evaluated: bool = True,
    project: str = "default",
    **facts: Any,
) -> str:
    """Log predictions that have this matrix, actual classes down; returns the run's id."""
    cells = [
        (labels[actual], labels[predicted], count)
        for actual, line in enumerate(counts)
        for predicted, count in enumerate(line)
    ]
    run = log(
        database,
        y_true=[actual for actual, _, count in cells for _ in range(count)],
        y_pred=[predicted for _, predicted, count in cells for _ in range(count)],
        labels=list(labels),
        dataset=dataset,
        facts=RunFacts(name=name, project=project, **facts),
    )
    if evaluated:
        evaluate(database, run.id)
    return run.id


def log_lesions(database: Database, *, name: str = "plain", **facts: Any) -> str:
    """The run with `LESION_COUNTS`."""
    return log_counts(database, LESION_COUNTS, LESIONS, name=name, dataset="derm-7", **facts)


def upload_lesions(database: Database, *, orientation: str, counts: Counts) -> str:
    """A matrix of the lesions' classes as somebody uploads it; returns the run's id."""
    where = {"name": "uploaded", "dataset": "derm-7", "orientation": orientation}
    run = upload_matrix(database, [list(line) for line in counts], LESIONS, **where)
    evaluate(database, run.id)
    return run.id


def open_lesions(database: Database) -> str:
    """A run that has taken two predictions and still takes more; returns its id."""
    labels = LabelSet.declared(LESIONS)
    run = opened(database, "derm-7", labels, facts=RunFacts(name="still open")).run
    put_chunk(database, run.id, 0, batch_of(labels, y_pred=["nv", "mel"], y_true=["nv", "nv"]))
    return run.id


def fail_evaluation(database: Database, run_id: str, *, error: str) -> None:
    """Leave a waiting run as a worker leaves it that gave up."""
    with database.write() as session:
        session.execute(
            update(WorkRow)
            .where(WorkRow.key == f"evaluate:{run_id}")
            .values(state="dead", attempts=5, error=error)
        )
        session.execute(update(RunRow).where(RunRow.id == run_id).values(state=RunState.FAILED))


@contextmanager
def counted_statements(*, navigation: bool = False) -> Iterator[list[str]]:
    """All statements that read or write, in the order in which they are sent.

    What is asked for the navigation of all pages, once in several seconds, is not a page's own.
    """
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        is_data = (
            statement.lstrip().upper().startswith(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE"))
        )
        if is_data and (navigation or "/* navigation */" not in statement):
            statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", note)


@dataclass(frozen=True)
class LesionRegistry:
    """A registry with a run in every state, to be read only; ids of runs by what they are."""

    database: Database
    plain: str
    majority: str
    columns: str
    swapped: str
    inconsistent: str
    still_open: str
    waiting: str
    failed: str
    hostile: str
    many_classes: str
    thirty_classes: str
    binary: str

    @property
    def evaluated(self) -> tuple[str, ...]:
        return (
            self.plain,
            self.majority,
            self.columns,
            self.swapped,
            self.inconsistent,
            self.hostile,
            self.many_classes,
            self.thirty_classes,
            self.binary,
        )

    @property
    def everything(self) -> tuple[str, ...]:
        return (*self.evaluated, self.still_open, self.waiting, self.failed)


def price_lesions(database: Database, *, missed_melanoma: float = 20.0) -> None:
    """Save costs of errors on the lesions, by which nobody is judged yet."""
    weights = {a: {p: float(a != p) for p in LESIONS} for a in LESIONS}
    weights["mel"]["nv"] = missed_melanoma
    add_costs(
        database,
        project="default",
        dataset="derm-7",
        name="triage",
        weights=weights,
        currency="EUR",
        author="ana",
    )


def fill(database: Database) -> LesionRegistry:
    """Log runs of all kinds into an empty registry."""
    plain = log_lesions(
        database,
        name="plain CE",
        model="effnet-b3",
        tags={"team": "derm"},
        params={"lr": 0.001, "augment": True},
        author="ana",
        git_sha="0123456789abcdef",
    )
    for price in (10.0, 20.0):
        price_lesions(database, missed_melanoma=price)
    always_nv = [[sum(line), *[0] * 6] for line in LESION_COUNTS]
    majority = log_counts(database, always_nv, LESIONS, name="majority dummy", dataset="derm-7")
    turned = [[line[column] for line in LESION_COUNTS] for column in range(len(LESIONS))]
    halved = [[count // 2 for count in line] for line in LESION_COUNTS]
    size = len(HOSTILE_NAMES)
    mixed = [[5 if i == j else int((i + 1) % size == j) for j in range(size)] for i in range(size)]
    failed = log_lesions(database, name="sad", evaluated=False)
    fail_evaluation(database, failed, error="Traceback\nValueError: wrong shape")
    return LesionRegistry(
        database=database,
        plain=plain,
        majority=majority,
        columns=upload_lesions(database, orientation="actual_columns", counts=turned),
        swapped=upload_lesions(database, orientation="actual_rows", counts=turned),
        inconsistent=upload_lesions(database, orientation="actual_rows", counts=halved),
        hostile=log_counts(
            database,
            mixed,
            HOSTILE_NAMES,
            name=HOSTILE_NAMES[0],
            dataset=HOSTILE_NAMES[1],
            model=HOSTILE_NAMES[2],
            author=HOSTILE_NAMES[3],
            tags=dict.fromkeys(HOSTILE_NAMES, HOSTILE_NAMES[1]),
            params=dict.fromkeys(HOSTILE_NAMES, HOSTILE_NAMES[0]),
        ),
        many_classes=_log_band(database, 60),
        thirty_classes=_log_band(database, 30),
        binary=log_counts(
            database, [[58, 5], [4, 104]], ("malignant", "benign"), name="lr", dataset="cancer"
        ),
        still_open=open_lesions(database),
        waiting=log_lesions(database, name="just logged", evaluated=False),
        failed=failed,
    )


def _log_band(database: Database, n_classes: int) -> str:
    """A run in which every class is taken for its neighbours."""
    band = [[max(0, 12 - 5 * abs(i - j)) for j in range(n_classes)] for i in range(n_classes)]
    return log_counts(
        database,
        band,
        [f"class {code:02d}" for code in range(n_classes)],
        name=f"{n_classes} classes",
        dataset=f"band-{n_classes}",
    )
