"""What failed is tried again from the page of its edition, also where its work was lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, update

from offdiag.domain.runs import RunFacts
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.reports.scope import Condition, RunTerm, Side, TermField
from offdiag.services.delivery.message import EmailTarget, FolderTarget
from offdiag.services.ingest.batch import GivenCounts
from offdiag.services.ingest.dataset import declare_dataset
from offdiag.services.ingest.log_counts import log_counts
from offdiag.services.reports.alerts import alert_condition, alert_text
from offdiag.services.reports.edition import report_now, retry_delivery, retry_edition
from offdiag.services.schedules.edit import add_schedule
from offdiag.store.database import Database
from offdiag.store.models import ReportEditionRow, WorkRow
from support.logging_runs import log, work_off
from support.reporting import SCOPE, deliveries, editions, log_plain_run


@pytest.fixture(autouse=True)
def _folder(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log_plain_run(database)


def fail_issue(database: Database) -> None:
    """An edition whose worker gave up."""
    report_now(database, name="weekly", scope=SCOPE)
    with database.write() as session:
        session.execute(update(WorkRow).values(state="dead", attempts=5, error="boom"))
        session.execute(update(ReportEditionRow).values(state="failed", error="boom"))


def lose_work(database: Database) -> None:
    with database.write() as session:
        session.execute(delete(WorkRow))


def test_a_failed_edition_whose_work_is_lost_is_computed_again(database: Database) -> None:
    fail_issue(database)
    lose_work(database)

    retry_edition(database, project="skin", name="weekly", number=1)
    work_off(database)

    (edition,) = editions(database)
    assert (edition.state.value, edition.error) == ("computed", None)


def test_an_edition_that_did_not_fail_is_left_alone(database: Database) -> None:
    report_now(database, name="weekly", scope=SCOPE)

    with pytest.raises(Conflict, match="is pending"):
        retry_edition(database, project="skin", name="weekly", number=1)
    with pytest.raises(NotFound):
        retry_edition(database, project="skin", name="weekly", number=2)


def test_a_delivery_that_was_refused_and_whose_work_is_lost_is_tried_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = EmailTarget("ana@example.org")
    report_now(database, name="weekly", scope=SCOPE, delivery=[target, FolderTarget("f")])
    work_off(database)
    refused, sent = deliveries(database, editions(database)[0].id)
    lose_work(database)

    retry_delivery(database, project="skin", name="weekly", number=1, delivery_id=refused.id)
    before = deliveries(database, editions(database)[0].id)[0]
    work_off(database)
    after = deliveries(database, editions(database)[0].id)[0]

    assert (refused.state.value, sent.state.value) == ("refused", "sent")
    assert before.state.value == "pending"
    assert (after.state.value, after.attempts) == ("refused", refused.attempts + 1)


def test_a_delivery_that_arrived_or_belongs_elsewhere_is_not_sent_again(
    database: Database,
) -> None:
    for name in ("weekly", "other"):
        report_now(database, name=name, scope=SCOPE, delivery=[FolderTarget(name)])
    work_off(database)
    (sent,) = deliveries(database, editions(database)[0].id)
    (foreign,) = deliveries(database, editions(database)[1].id)

    with pytest.raises(Conflict, match="is sent"):
        retry_delivery(database, project="skin", name="weekly", number=1, delivery_id=sent.id)
    with pytest.raises(NotFound, match="has no delivery"):
        retry_delivery(database, project="skin", name="weekly", number=1, delivery_id=foreign.id)


def test_an_alert_is_written_as_it_can_be_read() -> None:
    labels = ("df", "", "a]b", '"quoted"', "two\nlines", "\\", "a b<0.5", "č")
    for side, label in product(Side, labels):
        condition = Condition("recall", side, 0.1 + 0.2, label)

        text = alert_text(condition)

        assert alert_condition(text) == condition
        assert "\n" not in text
    assert alert_text(Condition("mcc", Side.BELOW, 0.5)) == "mcc<0.5"
    assert alert_text(Condition("recall", Side.ABOVE, 1.0, "df")) == "recall[df]>1.0"


@pytest.mark.parametrize(
    ("alert", "said"),
    [
        ("error_rate>5", "'error_rate>5.0' does not depend.*range 0 to 1.*Write 5 % as 0.05"),
        ("recall[df]<80", "range 0 to 1.*Write 80 % as 0.8"),
        ("neg_log_loss<1", "log_loss is in the range 0 to inf"),
        ("gap(mcc, by=site)>3", "a gap of mcc is in the range 0 to 2"),
    ],
)
def test_an_alert_that_no_run_can_change_is_refused(
    database: Database, alert: str, said: str
) -> None:
    scope = replace(SCOPE, alerts=(alert_condition(alert),))

    with pytest.raises(InvalidInput, match=said) as refused:
        report_now(database, name="weekly", scope=scope, delivery=[])

    assert refused.value.field == "alerts"


@pytest.mark.parametrize("written", ["fold>=3", "fold!=3", "fold<=3", "fold==3"])
def test_a_tag_that_is_not_compared_with_one_value_is_refused(
    database: Database, written: str
) -> None:
    tag, _, value = written.partition("=")
    scope = replace(SCOPE, terms=(RunTerm(TermField.TAG, tag, value),))

    with pytest.raises(InvalidInput, match=f"'{written}' is not a tag and its value") as refused:
        report_now(database, name="weekly", scope=scope, delivery=[])

    assert refused.value.field == "tags"


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"slices": ("country=DE", "contry=DE & site=a")}, "slices"),
        ({"alerts": (alert_condition("recall[mel]@contry=DE<0.5"),)}, "alerts"),
        ({"alerts": (alert_condition("gap(mcc, by=contry)>0.1"),)}, "alerts"),
    ],
)
@pytest.mark.parametrize(
    "create", [report_now, partial(add_schedule, cron="0 7 * * *", zone="UTC")]
)
def test_a_slice_of_an_unknown_column_is_refused_when_the_report_is_made(
    database: Database, asked: dict[str, Any], field: str, create: Callable[..., object]
) -> None:
    facts = RunFacts(name="sliced", project="skin")
    labels, columns = ["mel", "nv"], {"country": ["DE", "SI"], "site": ["a", "b"]}
    log(database, dataset="derm", facts=facts, y_true=labels, y_pred=labels, slices=columns)
    scope = replace(SCOPE, **asked)

    with pytest.raises(InvalidInput, match="'derm' has no slice column 'contry'") as refused:
        create(database, name="weekly", scope=scope)

    assert refused.value.field == field
    assert "Known columns: country, site" in str(refused.value)


def test_a_slice_is_asked_for_before_the_samples_and_by_the_columns_of_counts(
    database: Database,
) -> None:
    declare_dataset(database, project="skin", name="new", labels=["mel", "nv"])
    kinds = GivenCounts(
        actual=["mel"],
        predicted=["nv"],
        sizes=[3],
        slices={"country": ["DE"]},
        counted_on="duckdb",
    )
    log_counts(database, facts=RunFacts(name="c", project="skin"), dataset="derm", given=kinds)

    for dataset in ("new", "derm"):
        scope = replace(SCOPE, dataset=dataset, slices=("country=DE",))
        report_now(database, name=dataset, scope=scope)
