"""A verification finds flags and lists of reports that are not what results and files say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, select, update

from offdiag.errors import InvalidInput
from offdiag.flags.lifecycle import Action
from offdiag.services.datasets import pin_baseline
from offdiag.services.flags.triage import decide_flags
from offdiag.services.verification import derived
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database, Session
from offdiag.store.models import (
    EvaluationRow,
    FlagRow,
    ReportEditionRow,
    SliceCountsRow,
    TruthSliceRow,
)
from support.filled_once import filled_once
from support.flagged import MAJORITY, log_answers, upload_counts
from support.logging_runs import log, work_off
from support.reporting import edition, log_plain_run, log_run


def findings(database: Database) -> list[tuple[str, str, str]]:
    return [(each.kind, each.subject, each.sentence) for each in verify(database).findings]


@filled_once
def log_flagged(database: Database) -> None:
    """A run with flags, and one with a flag against its baseline and another that is closed."""
    upload_counts(database, MAJORITY)
    first = log_answers(database, {"common": (400, 400), "rare": (90, 100)}, name="first")
    work_off(database)
    pin_baseline(database, first.id, author=None)
    log_answers(database, {"common": (400, 400), "rare": (40, 100)}, name="worse")
    work_off(database)
    assert findings(database) == []


def change_a_message(session: Session) -> None:
    session.execute(update(FlagRow).where(FlagRow.rule == "F14").values(message="All is well."))


def change_an_evidence(session: Session) -> None:
    session.execute(update(FlagRow).where(FlagRow.rule == "F14").values(evidence={"drop": 0.0}))


def change_a_severity(session: Session) -> None:
    session.execute(update(FlagRow).where(FlagRow.rule == "F14").values(severity="info"))


def drop_a_flag(session: Session) -> None:
    session.execute(delete(FlagRow).where(FlagRow.rule == "F14"))


def close_a_flag(session: Session) -> None:
    closed = {"state": "closed", "closed_at": FlagRow.last_seen}
    session.execute(update(FlagRow).where(FlagRow.rule == "F14").values(**closed))


@pytest.mark.parametrize(
    "damage",
    [change_a_message, change_an_evidence, change_a_severity, drop_a_flag, close_a_flag],
)
def test_a_flag_that_results_do_not_raise_like_this_is_found(
    database: Database, damage: Callable[[Session], None]
) -> None:
    log_flagged(database)

    with database.write() as session:
        damage(session)

    ((kind, _, sentence),) = findings(database)
    assert kind == "drift"
    assert sentence == "the flag F14 of 'rare' is not what the results give."


@pytest.mark.both_databases
def test_flags_are_as_they_were_raised_on_both_databases(database: Database) -> None:
    log_flagged(database)

    with database.write() as session:
        change_a_message(session)

    assert len(findings(database)) == 1


def test_a_badge_that_flags_do_not_add_up_to_is_found(database: Database) -> None:
    log_flagged(database)
    with database.write() as session:
        session.execute(update(EvaluationRow).values(hides_minority=None))

    assert {sentence for *_, sentence in findings(database)} == {
        "the badge is not what the results give."
    }


def test_what_people_decided_about_flags_is_no_drift(database: Database) -> None:
    log_flagged(database)
    with database.read() as session:
        ids = list(session.scalars(select(FlagRow.id)))
    decide_flags(database, ids, Action.DISMISS, author="ann", reason="known")

    assert findings(database) == []


def test_flags_of_other_rules_baselines_or_versions_are_not_compared(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_flagged(database)
    with database.write() as session:
        change_a_message(session)

    with monkeypatch.context() as patched:
        patched.setenv("OFFDIAG_FLAGS__RECALL_GAP", "0.35")
        assert findings(database) == []
        patched.setenv("OFFDIAG_FLAGS__RECALL_GAP", "0.9")
        with pytest.raises(InvalidInput, match="exceeds recall_gap_critical"):
            verify(database)
    with monkeypatch.context() as patched:
        patched.setattr(derived, "offdiag_version", lambda: "9.9")
        assert findings(database) == []
    assert len(findings(database)) == 1


def test_a_slice_column_that_flags_are_about_is_missed_without_its_counts(
    database: Database,
) -> None:
    sites = np.repeat(["w", "x", "y", "z"], 200)
    actual = np.tile(["ill", "well"], 400)
    predicted = np.where((sites == "z") & (np.arange(800) % 10 < 7), "well", actual)
    log(database, y_true=actual, y_pred=predicted, slices={"site": sites})
    work_off(database)
    assert findings(database) == []

    with database.write() as session:
        session.execute(delete(SliceCountsRow))
        session.execute(delete(TruthSliceRow))

    ((kind, _, sentence),) = findings(database)
    assert kind == "drift"
    assert sentence == (
        "the flag F16 of 'ill' on site=z is about a slice that no slice column gives."
    )


@pytest.mark.parametrize(
    "damage", [{"codes": b"\x00\x01"}, {"levels": ["a"]}], ids=["samples", "values"]
)
def test_a_slice_column_of_other_samples_is_damaged(
    database: Database, damage: dict[str, Any]
) -> None:
    log(database, slices={"site": ["a", "a", "b", "b", "b", "b"]})
    with database.write() as session:
        session.execute(update(TruthSliceRow).values(**damage))

    assert findings(database) == [
        (
            "damaged",
            "label version 1 of holdout",
            "its slice column 'site' is not one of its samples.",
        )
    ]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ({"summary": {"n_runs": 1}}, "its summary is not that of its json file."),
        ({"summary": None}, "its summary is not that of its json file."),
        ({"headline": "All is well."}, "its first sentence is not that of its json file."),
        ({"data_digest": "d"}, "its digest of the figures is not that of its json file."),
    ],
)
def test_what_lists_show_of_an_edition_follows_from_its_file(
    database: Database, damage: dict[str, Any], sentence: str
) -> None:
    log_plain_run(database)
    edition(database)
    log_run(database, name="other", wrong=30)
    edition(database)
    assert findings(database) == []

    with database.write() as session:
        second = ReportEditionRow.number == 2
        session.execute(update(ReportEditionRow).where(second).values(**damage))

    assert findings(database) == [("damaged", "report weekly 2", sentence)]
