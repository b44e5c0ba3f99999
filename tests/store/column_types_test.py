"""Values come back from both databases as they went in."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, text
from sqlalchemy.exc import StatementError

from offdiag.store.database import Database
from offdiag.store.models import LabelSetRow, ProjectRow, RunRow, WorkRow
from support.rows import add_chunk, add_dataset, add_project, add_run, add_work

KATHMANDU = timezone(timedelta(hours=5, minutes=45))

# The database is shared by all examples of a test: each only reads what it wrote itself.
SHARED = settings(
    deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def stored_instant(database: Database, instant: datetime) -> datetime:
    with database.write() as session:
        session.execute(text("DELETE FROM project"))
        add_project(session, created_at=instant)
    with database.read() as session:
        return session.scalars(select(ProjectRow.created_at)).one()


@SHARED
@given(
    instant=st.datetimes(
        min_value=datetime(1, 1, 2),  # noqa: DTZ001 - the strategy attaches the zone
        max_value=datetime(9999, 12, 30),  # noqa: DTZ001
        timezones=st.sampled_from([UTC, KATHMANDU, timezone(timedelta(hours=-12))]),
    )
)
def test_an_instant_comes_back_in_utc(database: Database, instant: datetime) -> None:
    found = stored_instant(database, instant)

    assert found == instant
    assert found.tzinfo is UTC


def test_the_zone_of_the_server_does_not_matter(postgres_database: Database) -> None:
    instant = datetime(2026, 7, 1, 12, tzinfo=KATHMANDU)
    with postgres_database.write() as session:
        add_project(session, created_at=instant)

    with postgres_database.read() as session:
        session.execute(text("SET LOCAL TIME ZONE 'America/St_Johns'"))
        found = session.scalars(select(ProjectRow.created_at)).one()

    assert (found, found.tzinfo) == (instant, UTC)


def test_a_naive_datetime_is_refused(database: Database) -> None:
    naive = datetime(2026, 7, 1, 12)  # noqa: DTZ001 - that is the point

    with pytest.raises(StatementError, match="has no time zone"):
        stored_instant(database, naive)


def test_instants_sort_by_time_whatever_their_zone(database: Database) -> None:
    noon = datetime(2026, 7, 1, 12, tzinfo=UTC)
    instants = {
        "earlier": (noon - timedelta(minutes=1)).astimezone(KATHMANDU),
        "noon": noon,
        "later": (noon + timedelta(microseconds=1)).astimezone(timezone(timedelta(hours=-9))),
    }
    with database.write() as session:
        for name, instant in instants.items():
            add_project(session, name=name, created_at=instant)

    with database.read() as session:
        in_order = session.scalars(select(ProjectRow.name).order_by(ProjectRow.created_at)).all()
        since_noon = session.scalars(
            select(ProjectRow.name).where(ProjectRow.created_at > noon.astimezone(KATHMANDU))
        ).all()

    assert in_order == ["earlier", "noon", "later"]
    assert since_noon == ["later"]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=8,
)


@SHARED
@given(document=st.dictionaries(st.sampled_from(["lr", "seed", "ключ"]), json_values))
def test_a_document_comes_back_equal(database: Database, document: dict[str, Any]) -> None:
    with database.write() as session:
        session.execute(text("DELETE FROM work"))
        add_work(session, args=document)

    with database.read() as session:
        assert session.scalars(select(WorkRow.args)).one() == document


def test_large_floats_stay_floats_and_integers_integers(database: Database) -> None:
    numbers = [1e20, -1.5e16, 2.5e300, 10**20, 10**15, 1e15, 1e-7, 0.1]
    document = {'1e+20 "': numbers, "n": ["1e+20", '\\"1e+20', "1e+20\\"], "x": 1e16}
    with database.write() as session:
        add_work(session, args=document)

    with database.read() as session:
        found = session.scalars(select(WorkRow.args)).one()

    assert found == document
    assert [type(each) for each in found['1e+20 "']] == [type(each) for each in numbers]
    assert type(found["x"]) is float


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_document_without_a_json_form_is_refused(database: Database, number: float) -> None:
    def write() -> None:
        with database.write() as session:
            add_work(session, args={"loss": number})

    with pytest.raises((StatementError, ValueError), match="not JSON compliant"):
        write()


def test_a_missing_document_is_null_in_sql(database: Database) -> None:
    with database.write() as session:
        add_run(session, add_dataset(session), orientation_evidence=None)

    with database.read() as session:
        missing = session.scalars(
            select(RunRow.id).where(RunRow.orientation_evidence.is_(None))
        ).all()

    assert missing == ["r_1"]


def test_the_order_of_names_in_a_list_is_kept(database: Database) -> None:
    names = ["zebra", "ant", "", " ", "Ant", "007", "7", "none"]
    with database.write() as session:
        session.add(LabelSetRow(digest="d", names=names, n_classes=8, ordinal=True))

    with database.read() as session:
        row = session.scalars(select(LabelSetRow)).one()

    assert row.names == names
    assert row.ordinal is True


@pytest.mark.parametrize("size", [0, 1, 65_536, 1_000_000])
def test_a_blob_comes_back_byte_for_byte(database: Database, size: int) -> None:
    blob = bytes(range(256)) * (size // 256) + b"\x00" * (size % 256)
    with database.write() as session:
        add_chunk(session, add_run(session, add_dataset(session)), codes=blob)

    with database.read() as session:
        assert session.execute(text("SELECT codes FROM prediction_chunk")).scalar_one() == blob


@pytest.mark.parametrize(
    "name", ["NA", "", "007", "' OR 1=1 --", "名前", "a\tb\nc", "\u202e", "𝒳"]
)
def test_text_comes_back_as_it_was(database: Database, name: str) -> None:
    with database.write() as session:
        add_project(session, name=name)

    with database.read() as session:
        assert session.scalars(select(ProjectRow.name)).one() == name


def test_text_sorts_and_compares_by_code_point(database: Database) -> None:
    names = ["b", "B", "a", "A", "ä", "10", "9", "_", " ", "a b", "ab", "Ω", "é"]
    with database.write() as session:
        for name in names:
            add_project(session, name=name)

    with database.read() as session:
        in_order = session.scalars(select(ProjectRow.name).order_by(ProjectRow.name)).all()
        after_b = session.scalars(select(ProjectRow.name).where(ProjectRow.name > "b")).all()

    assert in_order == sorted(names)
    assert set(after_b) == {name for name in names if name > "b"}


def test_text_is_compared_with_text_from_a_document(database: Database) -> None:
    with database.write() as session:
        add_run(session, add_dataset(session), name="first", params={"name": "first"})

    with database.read() as session:
        same = select(RunRow.id).where(RunRow.name == RunRow.params["name"].as_string())
        assert session.scalars(same).all() == ["r_1"]
