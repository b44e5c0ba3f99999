"""What several people or jobs do in the same moment is done as if one came after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest

import offdiag
from offdiag.domain.access import Grant, Role
from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.domain.sample_content import ContentPlaces
from offdiag.domain.texts import CostName
from offdiag.errors import Conflict, NotFound, Stale
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.metrics.costs.decisions import ExpectedCostRule, described
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.reports.scope import ReportScope
from offdiag.services.access.openid import ExternalUser, sign_in_external
from offdiag.services.access.users import add_user, set_disabled, set_role
from offdiag.services.champions.promotions import approve, propose
from offdiag.services.cost_matrices import add_costs, set_default_costs
from offdiag.services.datasets import pin_baseline
from offdiag.services.evaluation.slice_counts import slice_counts_of
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.ingest.batch import GivenCounts, GivenMatrix
from offdiag.services.ingest.dataset import declare_dataset
from offdiag.services.ingest.derive_run import derive_run
from offdiag.services.ingest.log_counts import log_counts, log_matrix
from offdiag.services.reports.edition import report_now
from offdiag.services.run_notes import change_run, tag_runs
from offdiag.services.samples.content import (
    browse_content,
    log_samples,
    remove_samples,
    set_places,
)
from offdiag.services.samples.drafts import answer_labels, label_draft
from offdiag.services.schedules.edit import (
    add_schedule,
    change_schedule,
    remove_schedule,
    run_schedule,
)
from offdiag.store.database import Database
from offdiag.store.runs import get_run
from offdiag.store.users import has_admin
from support.logging_runs import log, work_off
from support.reads import read

AT_ONCE = 8
Returned = TypeVar("Returned")

SCOPE = ReportScope(project="default", dataset="holdout")
THREE = ["a", "b", "c"]
PRICES = [[0.0, 1.0, 1.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]]


def at_once(deed: Callable[[int], Returned]) -> tuple[list[Returned], list[Exception]]:
    """What the deed returns and raises when many do it at the same moment."""
    start = threading.Barrier(AT_ONCE)
    returned: list[Returned] = []
    raised: list[Exception] = []

    def do(number: int) -> None:
        start.wait()
        try:
            returned.append(deed(number))
        except Exception as error:  # noqa: BLE001 - the test says which ones may be
            raised.append(error)

    threads = [threading.Thread(target=do, args=(number,)) for number in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return returned, raised


def upload(database: Database, facts: RunFacts) -> str:
    given = GivenMatrix([[3, 1], [0, 2]], "actual_rows", ["a", "b"])
    return log_matrix(database, facts=facts, dataset="new", given=given).id


def count(database: Database, facts: RunFacts) -> str:
    given = GivenCounts(["a", "b"], ["a", "a"], [3, 1], "a test", labels=["a", "b"])
    return log_counts(database, facts=facts, dataset="new", given=given).id


@pytest.fixture
def database(postgres_database: Database) -> Database:
    """On PostgreSQL, as SQLite lets only one write at a time."""
    return postgres_database


def upload_or_count(database: Database, number: int, facts: RunFacts) -> str:
    return (upload, count)[number % 2](database, facts)


def test_runs_of_a_new_project_are_all_logged(database: Database) -> None:
    ids, raised = at_once(
        lambda number: upload_or_count(database, number, RunFacts(name=f"run {number}"))
    )

    assert raised == []
    assert len(set(ids)) == AT_ONCE


def test_on_a_file_runs_of_a_new_project_wait_for_each_other(sqlite_database: Database) -> None:
    ids, raised = at_once(
        lambda number: upload_or_count(sqlite_database, number, RunFacts(name=f"run {number}"))
    )
    again, also_raised = at_once(
        lambda _: count(sqlite_database, RunFacts(name="run", client_key="key"))
    )

    assert (raised, also_raised) == ([], [])
    assert (len(set(ids)), len(set(again))) == (AT_ONCE, 1)


def test_of_tags_that_are_added_at_once_none_is_lost(database: Database) -> None:
    run_id = upload(database, RunFacts(name="tagged", tags={"team": "a"}))
    ids = [upload(database, RunFacts(name=f"run {number}")) for number in range(3)]

    _, raised = at_once(
        lambda number: change_run(database, run_id, added_tags={f"job {number}": number})
    )
    _, also_raised = at_once(
        lambda number: tag_runs(database, ids[:: (-1) ** number], str(number), 1)
    )

    assert (raised, also_raised) == ([], [])
    with database.read() as session:
        tags = get_run(session, run_id).tags
        assert [len(get_run(session, each).tags) for each in ids] == [AT_ONCE] * 3
    assert tags == {"team": "a"} | {f"job {number}": number for number in range(AT_ONCE)}


def test_the_slices_of_a_run_are_asked_for_by_everybody(database: Database) -> None:
    samples = np.arange(60)
    run = log(
        database,
        y_true=["a", "b", "c"] * 20,
        y_pred=["a", "b", "b"] * 20,
        sample_ids=samples,
        slices={"site": samples % 3},
    )
    work_off(database)
    offdiag.add_slices(
        dataset="holdout", columns={"half": samples % 2}, ids=samples, url=database.url
    )

    evaluated, raised = at_once(lambda _: evaluation_of_slice(database, run.id, "site=1").id)
    counted, also_raised = at_once(lambda _: slice_counts_of(database, run.id))

    assert (raised, also_raised) == ([], [])
    assert len(set(evaluated)) == 1
    assert {None if each is None else len(each) for each in counted} == {5}


def test_a_person_who_answers_twice_at_once_is_heard_once(database: Database) -> None:
    log(database, y_true=["a", "b"] * 5, y_pred=["a", "a"] * 5, sample_ids=np.arange(10))

    def answer(number: int) -> int:
        labels = {3: "ab"[number % 2]}
        return answer_labels(
            database, project="default", dataset="holdout", labels=labels, author="ana"
        )

    _, raised = at_once(answer)

    assert raised == []
    (item,) = label_draft(database, project="default", dataset="holdout").items
    assert item.n_people == 1


def test_of_all_who_change_where_images_are_one_wins(database: Database) -> None:
    log(database)
    where: dict[str, Any] = {"project": "default", "dataset": "holdout"}
    hosts = {"images.example.org"}

    def change(number: int) -> str | None:
        places = ContentPlaces(f"https://images.example.org/{number}/{{sample}}")
        done = set_places(database, **where, places=places, hosts=hosts, seen=ContentPlaces())
        return done.image_template

    (winner,), raised = at_once(change)

    assert [type(error) for error in raised] == [Stale] * (AT_ONCE - 1)
    assert browse_content(database, **where).places.image_template == winner


def test_a_unique_name_goes_to_one_of_all_who_ask_for_it(database: Database) -> None:
    upload(database, RunFacts(name="first"))  # Who makes a dataset lets others wait for it.
    facts = RunFacts(name="nightly", unique_name=True)

    ids, raised = at_once(lambda number: upload_or_count(database, number, facts))

    (winner,) = ids
    assert len(raised) == AT_ONCE - 1
    for error in raised:
        assert isinstance(error, Conflict)
        assert error.field == "name"
        assert f"'nightly' is taken by run {winner}" in str(error)


@pytest.mark.parametrize("deed", [upload, count])
def test_a_run_that_is_sent_several_times_is_logged_once(
    database: Database, deed: Callable[[Database, RunFacts], str]
) -> None:
    ids, raised = at_once(lambda _: deed(database, RunFacts(name="run", client_key="key")))

    assert raised == []
    assert len(set(ids)) == 1


def test_a_dataset_is_declared_once_and_with_the_classes_of_one(database: Database) -> None:
    def declare(name: str, labels: list[str]) -> int:
        return declare_dataset(database, project="p", name=name, labels=labels).dataset.id

    same, raised = at_once(lambda _: declare("same", THREE))
    others, refused = at_once(lambda number: declare("others", [*THREE, f"{number}"]))

    assert raised == []
    assert len(set(same)) == 1
    assert len(others) == 1
    assert {type(error) for error in refused} == {Conflict}


def test_versions_of_costs_are_numbered_and_defaults_are_set_by_everybody(
    database: Database,
) -> None:
    log(database)
    place: dict[str, Any] = {"project": "default", "dataset": "holdout"}

    def add(number: int) -> int:
        weights = (number + 1) * np.array(PRICES)
        return add_costs(database, **place, name="cd"[number % 2], weights=weights).version

    found, raised = at_once(add)
    _, also_raised = at_once(
        lambda number: set_default_costs(database, **place, wanted=CostName("cd"[number % 2]))
    )

    assert (raised, also_raised) == ([], [])
    assert sorted(found) == sorted([*range(1, AT_ONCE // 2 + 1)] * 2)


def test_of_schedules_and_reports_of_one_name_one_is_made_and_one_run_is_the_baseline(
    database: Database,
) -> None:
    ids = [log(database).id for _ in range(3)]

    scheduled, refused = at_once(
        lambda _: add_schedule(database, name="s", cron="0 6 * * *", zone="UTC", scope=SCOPE).id
    )
    numbers, too_soon = at_once(lambda _: report_now(database, name="r", scope=SCOPE).number)
    pinned, raised = at_once(lambda number: pin_baseline(database, ids[number % 3], author=None))

    assert len(scheduled) == 1
    assert {type(error) for error in refused} == {Conflict}
    # In one second one is created.
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    assert {type(error) for error in too_soon} <= {Conflict}
    assert raised == []
    assert len(pinned) == AT_ONCE


def test_of_decisions_that_replace_what_nobody_had_decided_one_is_taken(
    database: Database,
) -> None:
    ids = [log(database).id for _ in range(2)]
    work_off(database)

    approved, unseen = at_once(
        lambda number: (
            approve(database, ids[number % 2], reason="best", author=None, instead_of="").run_id
        )
    )
    proposed, refused = at_once(
        lambda number: propose(database, ids[number % 2], author=None, instead_of="").run_id
    )

    assert (len(approved), len(proposed)) == (1, 1)
    assert {*approved, *proposed} == set(ids)
    assert {type(error) for error in unseen + refused} == {Conflict}


def test_of_costs_and_plans_that_replace_what_was_seen_one_is_saved(database: Database) -> None:
    log(database)
    place: dict[str, Any] = {"project": "default", "dataset": "holdout", "name": "c"}
    add_schedule(database, name="s", cron="0 6 * * *", zone="UTC", scope=SCOPE)
    plan: dict[str, Any] = {"name": "s", "zone": "UTC", "scope": SCOPE, "delivery": ()}

    saved, unseen = at_once(
        lambda number: (
            add_costs(database, **place, weights=(number + 1) * np.array(PRICES), seen=0).version
        )
    )
    changed, stale = at_once(
        lambda number: (
            change_schedule(database, **plan, cron=f"{number} 7 * * *", seen_version=1).cron
        )
    )

    assert saved == [1]
    assert {type(error) for error in unseen} == {Conflict}
    assert len(changed) == 1
    assert {type(error) for error in stale} == {Stale}


def test_content_of_a_sample_is_stored_and_removed_by_everybody(database: Database) -> None:
    log(database)
    place: dict[str, Any] = {"project": "default", "dataset": "holdout"}

    def store_or_remove(number: int) -> None:
        if number % 4 == 0:
            remove_samples(database, **place, names=None)
        else:
            given = [GivenSample(str(sample), text=f"{number}") for sample in range(6)]
            log_samples(database, **place, given=given)

    for _ in range(3):
        _, raised = at_once(store_or_remove)

        assert raised == []


def test_a_schedule_is_run_before_it_is_removed_or_not_at_all(database: Database) -> None:
    log(database)
    where: dict[str, Any] = {"project": "default", "name": "s"}
    for _ in range(5):
        add_schedule(database, name="s", cron="0 6 * * *", zone="UTC", scope=SCOPE)

        def end(number: int) -> None:
            if number % 2:
                run_schedule(database, **where)
            else:
                remove_schedule(database, **where)

        _, raised = at_once(end)

        assert {type(error) for error in raised} <= {NotFound, Conflict}


def test_a_run_is_decided_anew_once(database: Database) -> None:
    labels = LabelSet.declared(THREE)
    rule = ExpectedCostRule(cost_matrix(PRICES, labels=labels))
    run = log(database, labels=THREE, y_score=[[0.2, 0.3, 0.5]] * 6)

    found, raised = at_once(
        lambda _: (
            derive_run(
                database,
                source_id=run.id,
                rule=rule,
                recipe=described(rule, costs="c@1", changes=""),
                name="decided",
            ).id
        )
    )

    assert raised == []
    assert len(set(found)) == 1


def test_of_users_of_one_name_one_is_made_and_gets_a_role_from_everybody(
    database: Database,
) -> None:
    log(database)
    add_user(database, name="root", password=None, grants=[Grant(Role.ADMIN)])

    found, refused = at_once(lambda _: add_user(database, name="ana", password=None).id)
    _, raised = at_once(
        lambda _: set_role(database, name="ana", role=Role.VIEWER, project="default")
    )

    assert len(found) == 1
    assert {type(error) for error in refused} == {Conflict}
    assert raised == []


def test_an_admin_is_left_when_all_take_the_role_from_each_other(database: Database) -> None:
    for number in range(AT_ONCE):
        add_user(database, name=f"admin{number}", password=None, grants=[Grant(Role.ADMIN)])

    found, raised = at_once(
        lambda number: set_role(database, name=f"admin{number}", role=None, project=None)
    )

    assert len(found) == AT_ONCE - 1
    assert {type(error) for error in raised} == {Conflict}
    assert read(database, has_admin)


def test_an_admin_is_left_when_all_lock_each_other_out(database: Database) -> None:
    for number in range(AT_ONCE):
        add_user(database, name=f"admin{number}", password=None, grants=[Grant(Role.ADMIN)])

    at_once(lambda number: set_disabled(database, name=f"admin{number}", disabled=True))

    assert read(database, has_admin)


def test_somebody_who_signs_in_twice_for_the_first_time_is_one_user(database: Database) -> None:
    who = ExternalUser("ana", frozenset({"team"}))

    found, raised = at_once(
        lambda _: sign_in_external(database, who, {"team": [Grant(Role.VIEWER)]}).id
    )

    assert raised == []
    assert len(set(found)) == 1
