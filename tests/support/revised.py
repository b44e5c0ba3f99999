"""A registry whose ground truth was corrected: runs moved, changed places, or still wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import update

from offdiag.domain.runs import RunFacts
from offdiag.store import job_lease
from offdiag.store.database import Database
from offdiag.store.models import HeartbeatRow
from support.dashboard import HOSTILE_NAMES, fail_evaluation
from support.logging_runs import correct_labels, log, work_off

CLASSES = ("cat", "dog", "fox")
N_EACH = 20
IDS = tuple(f"img-{number:03d}" for number in range(len(CLASSES) * N_EACH))
TRUTH = tuple(name for name in CLASSES for _ in range(N_EACH))
CORRECTED = {IDS[number]: "dog" for number in range(10)}
"""Ten samples that were labelled cat and are dogs."""

HOSTILE_DATASET = 'a/b "><script>alert(1)</script> ~2F.json'


@dataclass(frozen=True)
class RevisedRegistry:
    """A registry to be read only; ids of runs by what they are."""

    database: Database
    seer: str
    """Took the ten for dogs all along, so it rises from last to first."""
    believer: str
    """Knew the old labels by heart, so it falls."""
    steady: str
    waiting: str
    """On another dataset, not yet scored with its corrected truth."""
    partly: str
    """Scored on the part of its samples that has labels."""


def fill_revised(database: Database) -> RevisedRegistry:
    """Log runs, correct labels, and leave one correction without its scores."""
    partly = log_pets(
        database, [*TRUTH[:50], *["cat"] * 10], name="partly", dataset="late", late=True
    )
    revise(
        database, dict(zip(IDS[:45], TRUTH, strict=False)), dataset="late", reason="first batch"
    )
    work_off(database)
    revise(database, dict(zip(IDS[45:50], TRUTH[45:50], strict=True)), dataset="late")
    log_hostile(database)
    log_pets(database, TRUTH, name="elsewhere", dataset="twin", project="b-side")
    seer = [CORRECTED.get(name, label) for name, label in zip(IDS, TRUTH, strict=True)]
    runs = {
        "seer": log_pets(database, _with_errors(seer, 1), name="seer"),
        "believer": log_pets(database, _with_errors(TRUTH, 1), name="believer"),
        "steady": log_pets(database, _with_errors(TRUTH, 12), name="steady"),
    }
    waiting = log_pets(database, TRUTH, name="waiting", dataset="behind")
    work_off(database)
    revise(database, CORRECTED, reason="ten dogs in the cats' folder", author="ana")
    work_off(database)
    revise(database, {IDS[0]: "fox"}, dataset="behind")
    broken = log_pets(database, TRUTH, name="broken", dataset="broken")
    fail_evaluation(database, broken, error=f"Traceback\n  somewhere\nOSError: {HOSTILE_NAMES[0]}")
    live_and_silent_processes(database)
    return RevisedRegistry(database, waiting=waiting, partly=partly, **runs)


def log_pets(
    database: Database,
    predicted: Sequence[str],
    *,
    name: str,
    dataset: str = "pets",
    project: str = "default",
    late: bool = False,
) -> str:
    """Log predictions of all 60 samples; with `late` before anybody knows their labels."""
    run = log(
        database,
        y_true=None if late else TRUTH,
        y_pred=list(predicted),
        sample_ids=list(IDS),
        labels=list(CLASSES),
        dataset=dataset,
        facts=RunFacts(name=name, project=project),
    )
    return run.id


revise = partial(correct_labels, dataset="pets")
"""Correct labels by identifier."""


def live_and_silent_processes(database: Database) -> None:
    """A scheduler that lives, and a worker that has been silent for an hour."""
    with database.write() as session:
        for kind, pid in (("worker", 41), ("scheduler", 42)):
            job_lease.beat(session, job_lease.Heart(kind, "host", pid, database.clock()))
        session.execute(
            update(HeartbeatRow)
            .where(HeartbeatRow.kind == "worker")
            .values(seen_at=HeartbeatRow.seen_at - 3600)
        )


def log_hostile(database: Database) -> None:
    """A dataset in which everything anybody may write is hostile."""
    names = HOSTILE_NAMES[:4]
    log(
        database,
        y_true=list(names),
        y_pred=list(names),
        sample_ids=list(names),
        labels=list(names),
        dataset=HOSTILE_DATASET,
        facts=RunFacts(name=HOSTILE_NAMES[0]),
    )
    revise(
        database,
        {names[0]: names[1]},
        dataset=HOSTILE_DATASET,
        reason=HOSTILE_NAMES[1],
        author=HOSTILE_NAMES[0],
    )


def _with_errors(labels: Sequence[str], n_each: int) -> list[str]:
    """The labels with the last few of each class taken for the next class."""
    following = dict(zip(CLASSES, [*CLASSES[1:], CLASSES[0]], strict=True))
    ends = {code * N_EACH + N_EACH - 1 - back for code in range(3) for back in range(n_each)}
    return [following[label] if at in ends else label for at, label in enumerate(labels)]
