"""Labels that several people propose, how far they agree, and what is published and undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from offdiag.domain.access import Actor
from offdiag.errors import Conflict, InvalidInput
from offdiag.services.samples.drafts import (
    DraftStatus,
    LabelDraft,
    answer_labels,
    label_draft,
    publish_draft,
    undo_version,
    withdraw_answers,
)
from offdiag.services.truth.versions import compare_truths
from offdiag.store.audit_log import AuditFilter, audit_page
from offdiag.store.database import Database
from support.filled_once import filled_once
from support.logging_runs import log

WHERE: Any = {"project": "default", "dataset": "d"}
LABELS = ["a", "b", "a", "b", "a", "b"]


@pytest.fixture
@filled_once
def filled(database: Database) -> Database:
    log(
        database,
        dataset="d",
        y_true=LABELS,
        y_pred=LABELS,
        labels=["a", "b", "c"],
        sample_ids=[f"s{n}" for n in range(6)],
    )
    return database


def say(database: Database, author: str, is_final: bool = False, **labels: str | None) -> None:
    answer_labels(database, **WHERE, labels=labels, author=author, is_final=is_final)


def publish(database: Database, opinions: int = 1) -> int:
    made = publish_draft(database, **WHERE, reason="seen", author="eva", opinions=opinions)
    return made.version.number


def draft(database: Database) -> LabelDraft:
    return label_draft(database, **WHERE)


def changed(database: Database, before: int, after: int) -> dict[int | str, str | None]:
    found = compare_truths(database, **WHERE, before=before, after=after)
    return {each.sample: each.after for each in found.difference.samples()}


def test_a_second_opinion_decides_what_is_published(filled: Database) -> None:
    say(filled, "ana", s0="b", s1="c", s2="b", s3="b")
    say(filled, "ben", s0="b", s1="a", s3="b")

    found = draft(filled)

    assert [item.status.value for item in found.items] == [
        *("agreed", "disagree", "one answer", "agreed"),
    ]
    assert (found.people, found.n_changes) == (("ana", "ben"), 2)
    [pair] = found.pairs
    assert (pair.found.n, pair.found.n_same) == (3, 2)

    assert publish(filled, opinions=2) == 2
    assert changed(filled, 1, 2) == {"s0": "b"}
    assert [item.sample for item in draft(filled).items] == ["s1", "s2"]


@pytest.mark.both_databases
def test_a_decision_ends_a_disagreement(filled: Database) -> None:
    say(filled, "ana", s1="c")
    say(filled, "ben", s1="a")
    with pytest.raises(Conflict, match="no label would change"):
        publish(filled)

    say(filled, "eva", is_final=True, s1=None)

    assert draft(filled).items[0].status is DraftStatus.DECIDED
    publish(filled, opinions=2)
    assert changed(filled, 1, 2) == {"s1": None}


@pytest.mark.both_databases
def test_an_answer_can_be_changed_and_withdrawn(filled: Database) -> None:
    say(filled, "ana", s0="b", s1="c")
    say(filled, "ana", s0="c")
    assert withdraw_answers(filled, **WHERE, samples=["s1"], author="ana") == 1

    [item] = draft(filled).items

    assert (item.sample, item.label, item.outcome) == ("s0", "a", "c")


def test_a_version_is_undone_by_another_one(filled: Database) -> None:
    say(filled, "ana", s0="b", s1=None)
    publish(filled)
    say(filled, "ana", s2="b")
    publish(filled)

    made = undo_version(filled, **WHERE, number=2, reason="wrong file", author="eva")

    assert made.version.number == 4
    assert changed(filled, 3, 4) == {"s0": "a", "s1": "b"}
    assert changed(filled, 1, 4) == {"s2": "b"}


def test_what_was_changed_again_is_not_undone(filled: Database) -> None:
    for label in ("b", "c"):
        say(filled, "ana", s0=label)
        publish(filled)

    with pytest.raises(Conflict, match="changed again"):
        undo_version(filled, **WHERE, number=2, reason="wrong", author=None)
    with pytest.raises(Conflict, match="corrects no other"):
        undo_version(filled, **WHERE, number=1, reason="wrong", author=None)


def test_unusable_answers_change_nothing(filled: Database) -> None:
    unusable: list[tuple[str | None, dict[str, str]]] = [
        (None, {"s0": "b"}),
        ("ana", {"s9": "b"}),
        ("ana", {"s0": "z"}),
        ("ana", {}),
    ]
    for author, labels in unusable:
        with pytest.raises(InvalidInput):
            answer_labels(filled, **WHERE, labels=labels, author=author)
        assert draft(filled).items == ()


def test_who_answered_decided_and_published_is_in_the_audit_log(filled: Database) -> None:
    seen = filled.seen_by(None, Actor("user", "eva", "POST"))
    say(seen, "eva", s0="b")
    publish(seen)
    with filled.read() as session:
        events = audit_page(session, AuditFilter()).events

    details = {each.action: each.detail for each in events}
    assert details["propose-labels"]["samples"] == ["s0"]
    assert details["publish-labels"]["reason"] == "seen"


def test_positions_name_samples_without_identifiers(database: Database) -> None:
    log(database, dataset="d", y_true=LABELS, y_pred=LABELS, labels=["a", "b"])

    answer_labels(database, **WHERE, labels={np.int64(0): "b"}, author="ana")

    assert [item.sample for item in draft(database).items] == [0]
    with pytest.raises(InvalidInput, match="whole number"):
        answer_labels(database, **WHERE, labels={"x": "b"}, author="ana")


@pytest.mark.parametrize("ids", [None, [0, 5, 6, 7, 8, 10]], ids=["positions", "numbers"])
@pytest.mark.parametrize("name", ["05", "+5", "5 ", "\u0665", "1_0", "-0"])
def test_a_sample_has_one_name(database: Database, ids: list[int] | None, name: str) -> None:
    log(database, dataset="d", y_true=LABELS, y_pred=LABELS, labels=["a", "b"], sample_ids=ids)

    with pytest.raises(InvalidInput, match="whole number"):
        answer_labels(database, **WHERE, labels={name: "b"}, author="ana")
    with pytest.raises(InvalidInput, match="'5' occurs twice"):
        answer_labels(database, **WHERE, labels={5: "b", "5": "a"}, author="ana")

    assert draft(database).items == ()


def test_two_names_of_a_truth_value_are_one_answer(database: Database) -> None:
    log(database, dataset="d", y_true=[0, 1, 1, 0], y_pred=[0, 1, 1, 0], sample_ids=list("pqrs"))

    say(database, "ana", p="True", q="True", r="False")
    say(database, "ben", p="1", q="1", r="0")

    found = draft(database)
    assert [(item.status.value, item.outcome) for item in found.items] == [
        *(("agreed", "1"), ("agreed", "1"), ("agreed", "0")),
    ]
    assert found.n_changes == 2
    [pair] = found.pairs
    assert (pair.found.n_same, pair.found.kappa.value) == (3, 1.0)


def log_other_samples(database: Database, ids: list[str] | None) -> None:
    log(
        database,
        dataset="d",
        y_true=["b", "b", "b", "a"],
        y_pred=["b", "b", "b", "a"],
        labels=["a", "b", "c"],
        sample_ids=ids,
    )


def test_a_draft_stays_with_its_samples_when_runs_on_other_ones_come(filled: Database) -> None:
    say(filled, "ana", s0="b", s1="c")
    say(filled, "ben", s1="a")
    log_other_samples(filled, ["t0", "t1", "t2", "t3"])
    say(filled, "ana", s2="b")

    assert [item.sample for item in draft(filled).items] == ["s0", "s1", "s2"]
    with pytest.raises(Conflict, match="about the samples of label version 1, and version 2 has"):
        say(filled, "ana", t0="a")
    assert publish(filled) == 3
    assert changed(filled, 1, 3) == {"s0": "b", "s2": "b"}
    assert [item.sample for item in draft(filled).items] == ["s1"]

    withdraw_answers(filled, **WHERE, samples=["s1"], author="ana")
    withdraw_answers(filled, **WHERE, samples=["s1"], author="ben")
    say(filled, "ana", s0="a")  # The correction is the newest version now.
    assert publish(filled) == 4


def test_positions_of_a_draft_are_those_of_the_samples_it_was_begun_with(
    database: Database,
) -> None:
    log(database, dataset="d", y_true=LABELS, y_pred=LABELS, labels=["a", "b", "c"])
    answer_labels(database, **WHERE, labels={0: "c"}, author="ana")
    log_other_samples(database, None)

    assert [(item.sample, item.label) for item in draft(database).items] == [(0, "a")]
    with pytest.raises(Conflict, match="version 2 has other ones"):
        answer_labels(database, **WHERE, labels={1: "c"}, author="ana", version=2)
    assert publish(database) == 3
    assert changed(database, 1, 3) == {0: "c"}


@pytest.fixture
def begun(database: Database) -> Database:
    """A draft on samples by position, to which an answer came after runs on other samples."""
    log(database, dataset="d", y_true=LABELS, y_pred=LABELS, labels=["a", "b", "c"])
    answer_labels(database, **WHERE, labels={0: "c"}, author="ana")
    log_other_samples(database, None)
    answer_labels(database, **WHERE, labels={2: "c"}, author="ben")
    return database


def test_what_a_publication_leaves_in_a_draft_stays_with_its_samples(begun: Database) -> None:
    answer_labels(begun, **WHERE, labels={2: "b"}, author="ana")

    assert publish(begun) == 3
    left = draft(begun)
    withdraw_answers(begun, **WHERE, samples=[2], author="ana")

    assert [(item.sample, item.label) for item in left.items] == [(2, "a")]
    assert publish(begun) == 4
    assert changed(begun, 1, 4) == {0: "c", 2: "c"}


@pytest.mark.parametrize(
    "change",
    [
        lambda d: withdraw_answers(d, **WHERE, samples=[0], author="ana"),
        lambda d: answer_labels(d, **WHERE, labels={0: "b"}, author="ana"),
    ],
    ids=["withdraw", "answer again"],
)
def test_answers_are_not_moved_to_other_samples_by_a_change_of_an_older_one(
    begun: Database, change: Callable[[Database], int]
) -> None:
    before = draft(begun).items

    with pytest.raises(Conflict, match="would be about the samples of label version 2"):
        change(begun)

    assert draft(begun).items == before
    withdraw_answers(begun, **WHERE, samples=[2], author="ben")
    withdraw_answers(begun, **WHERE, samples=[0], author="ana")
    assert draft(begun).items == ()
