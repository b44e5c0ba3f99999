"""The runs list on both databases: filters, orders, pages, and its number of statements."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from offdiag.domain.runs import RunState
from offdiag.filters.conditions import Condition
from offdiag.filters.parsing import parse_filter
from offdiag.store.database import Database
from offdiag.store.run_count import matches_without_each
from offdiag.store.run_filter import FilterField, FilterTerm
from offdiag.store.run_list import RunListPage, run_list
from offdiag.store.run_order import AGGREGATE_ORDERS, ORDER_NAMES, Cursor, RunOrder
from offdiag.store.run_rows import RunEntry
from offdiag.store.run_search import found_runs
from support.dashboard import counted_statements, fail_evaluation, log_counts
from support.databases import BOTH
from support.logging_runs import work_off

LABELS = ("a", "b", "c")
NEWEST_FIRST = RunOrder()
TERM = FilterTerm


@pytest.fixture(scope="module", params=BOTH)
def runs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """Eight runs of three datasets, only ever read: one has no MCC, two are not evaluated."""
    if request.param == "sqlite":
        path = tmp_path_factory.mktemp("runs") / "registry.db"
        shutil.copy(request.getfixturevalue("migrated_file"), path)
        database = Database(f"sqlite:///{path}", synchronous="normal")
    else:
        server = request.getfixturevalue("postgres_server")
        template = request.getfixturevalue("migrated_template")
        database = Database(server.create("run_list", template=template))
    _log_eight_runs(database)
    yield database
    database.close()
    if request.param != "sqlite":
        # Tests of both databases in between let it be made a second time.
        server.drop("run_list")


def _log_eight_runs(database: Database) -> None:
    _log(
        database,
        [[8, 2, 0], [1, 6, 3], [0, 0, 4]],
        name="forest",
        model="forest v1",
        author="ana",
        params={"lr": 0.1},
    )
    _log(
        database,
        [[9, 1, 0], [2, 8, 0], [0, 1, 3]],
        name="Forest two",
        tags={"team": "x"},
        params={"lr": 2},
    )
    _log(
        database,
        [[10, 0, 0], [10, 0, 0], [4, 0, 0]],
        name="dummy",
        tags={"draft": True},
        params={"lr": "auto"},
    )
    _log(database, [[9, 1, 0], [2, 8, 0], [0, 1, 3]], name="twin", tags={"n": 3, 'a "b" $.c': "1"})
    _log(
        database,
        [[5, 5, 0], [5, 5, 0], [0, 2, 2]],
        name="100 %_off",
        model="net",
        params={"lr": True},
    )
    log_counts(
        database, [[1, 0], [0, 1]], ("y", "n"), name="other", dataset="other set", evaluated=False
    )
    work_off(database)
    _log(database, [[7, 3, 0], [3, 7, 0], [0, 4, 0]], name="waiting", model="net")
    sad = log_counts(
        database, [[1, 1], [0, 1]], ("y", "n"), name="sad", dataset="pets", evaluated=False
    )
    fail_evaluation(database, sad, error="boom")


def test_newest_runs_come_first_with_their_metrics_or_what_is_known_of_their_work(
    runs: Database,
) -> None:
    entries = {entry.name: entry for entry in _page(runs).entries}

    assert list(entries) == [
        *("sad", "waiting", "other", "100 %_off", "twin", "dummy", "Forest two", "forest"),
    ]
    metrics = entries["dummy"].metrics
    assert metrics["overall_accuracy"].value == pytest.approx(10 / 24)
    assert metrics["overall_accuracy"].ci_low is not None
    assert metrics["mcc"].value is None
    assert metrics["mcc"].reason is not None
    worst = entries["forest"].worst_class
    assert worst is not None
    assert (worst.label, worst.hits, worst.support) == ("b", 6, 10)
    assert entries["waiting"].worst_class is None
    waiting, failed = entries["waiting"].work, entries["sad"].work
    assert waiting is not None
    assert waiting.state == "todo"
    assert failed is not None
    assert (failed.state, failed.error) == ("dead", "boom")
    assert entries["forest"].work is None


@pytest.mark.parametrize(
    ("term", "names"),
    [
        (TERM(FilterField.NAME, "forest"), ["Forest two", "forest"]),
        (TERM(FilterField.NAME, "%_"), ["100 %_off"]),
        (TERM(FilterField.NAME, "f*t", is_pattern=True), ["Forest two", "forest"]),
        (TERM(FilterField.DATASET, "other set"), ["other"]),
        (TERM(FilterField.DATASET, "*set*", is_pattern=True), ["other"]),
        (TERM(FilterField.DATASET, "pets", truth_number=1), ["sad"]),
        (TERM(FilterField.DATASET, "pets", truth_number=2), []),
        (TERM(FilterField.MODEL, "net"), ["waiting", "100 %_off"]),
        (TERM(FilterField.MODEL, "forest*", is_pattern=True), ["forest"]),
        (TERM(FilterField.MODEL, "forest*"), []),
        (TERM(FilterField.STATE, RunState.FAILED), ["sad"]),
        (TERM(FilterField.STATE, RunState.FINISHED), ["waiting"]),
        (TERM(FilterField.TAG, "draft"), ["dummy"]),
        (TERM(FilterField.TAG, "draft", value="true"), ["dummy"]),
        (TERM(FilterField.TAG, "draft", value="1"), []),
        (TERM(FilterField.TAG, "team", value="x"), ["Forest two"]),
        (TERM(FilterField.TAG, "team", value="y"), []),
        (TERM(FilterField.TAG, "n", value="3"), ["twin"]),
        (TERM(FilterField.TAG, 'a "b" $.c'), ["twin"]),
        (TERM(FilterField.PROJECT, "default", negated=True), []),
        (TERM(FilterField.AUTHOR, "ana"), ["forest"]),
        (TERM(FilterField.AUTHOR, "a*", is_pattern=True), ["forest"]),
        (TERM(FilterField.RUN, "r_nobody"), []),
        (TERM(FilterField.RUN, "%"), []),
        (TERM(FilterField.TAG, "n", value="3.0"), ["twin"]),
        (TERM(FilterField.CLASS, "y"), ["sad", "other"]),
        (TERM(FilterField.CLASS, "nobody"), []),
        (TERM(FilterField.FLAG, "F1"), ["dummy"]),
        (TERM(FilterField.FLAG, "dismissed"), []),
        (
            parse_filter("metrics.overall_accuracy > 0.7"),
            ["other", "twin", "Forest two", "forest"],
        ),
        (parse_filter("not metrics.recall[a] >= 0"), ["sad", "waiting", "other"]),
    ],
)
def test_a_term_keeps_the_runs_it_holds_for(
    runs: Database, term: FilterTerm | Condition, names: list[str]
) -> None:
    assert _names(_page(runs, term)) == names


@pytest.mark.parametrize(
    "term",
    [
        TERM(FilterField.MODEL, "net"),
        TERM(FilterField.TAG, "draft"),
        TERM(FilterField.NAME, "forest"),
        TERM(FilterField.STATE, RunState.EVALUATED),
        TERM(FilterField.AUTHOR, "ana"),
        TERM(FilterField.CLASS, "y"),
        TERM(FilterField.FLAG, "open"),
    ],
)
def test_a_negated_term_keeps_exactly_the_others(runs: Database, term: FilterTerm) -> None:
    kept = _names(_page(runs, term))
    left = _names(_page(runs, TERM(term.field, term.text, negated=True)))

    assert sorted(kept + left) == sorted(_names(_page(runs)))
    assert kept
    assert left


def test_runs_without_flags_are_all_others_than_those_with_any(runs: Database) -> None:
    flagged = _names(_page(runs, TERM(FilterField.FLAG, "any")))
    plain = _names(_page(runs, TERM(FilterField.FLAG, "none")))

    assert "dummy" in flagged
    assert sorted(flagged + plain) == sorted(_names(_page(runs)))


def test_a_run_is_found_by_its_id(runs: Database) -> None:
    entry = _page(runs).entries[3]
    assert [entry.id for entry in _page(runs, TERM(FilterField.RUN, entry.id[:9])).entries] == [
        entry.id
    ]

    assert _names(_page(runs, TERM(FilterField.NAME, entry.id))) == [entry.name]


def test_all_terms_must_hold(runs: Database) -> None:
    page = _page(runs, TERM(FilterField.MODEL, "net"), TERM(FilterField.NAME, "off"), limit=10)

    assert _names(page) == ["100 %_off"]


def test_what_each_term_hides_is_counted(runs: Database) -> None:
    terms = (TERM(FilterField.MODEL, "net"), TERM(FilterField.STATE, RunState.FAILED))

    with runs.read() as session:
        assert matches_without_each(session, terms=terms) == (1, 2)


@pytest.mark.parametrize("name", ["acc", "bal", "mcc", "worst"])
@pytest.mark.parametrize("descending", [True, False])
def test_undefined_values_stand_last_in_both_directions(
    runs: Database, name: str, descending: bool
) -> None:
    page = _page(runs, order=RunOrder(name, descending))

    defined = [_sort_value(entry, name) for entry in page.entries]
    numbers = [value for value in defined if value is not None]
    assert defined == [*sorted(numbers, reverse=descending), *[None] * (8 - len(numbers))]


def test_names_sort_by_name(runs: Database) -> None:
    names = _names(_page(runs, order=RunOrder("name", descending=False)))

    assert set(names) == set(_names(_page(runs)))
    assert names == _names(_page(runs, order=RunOrder("name", descending=True)))[::-1]


def test_values_of_a_parameter_are_sorted_as_numbers_and_as_texts(runs: Database) -> None:
    up = _names(_page(runs, order=RunOrder("param.lr", descending=False)))
    down = _names(_page(runs, order=RunOrder("param.lr", descending=True)))

    without = ["sad", "waiting", "other", "twin"]
    assert up == ["forest", "Forest two", "dummy", "100 %_off", *without]
    assert down == ["Forest two", "forest", "100 %_off", "dummy", *without]


# On pages of one run every run is once where a page ends; a short last page is the same for all,
# as is every metric.
@pytest.mark.parametrize(
    ("name", "limit"),
    [*((name, 1) for name in ("logged", "name", "mcc", "worst", "flags", "param.lr")), ("acc", 3)],
)
@pytest.mark.parametrize("descending", [True, False])
def test_pages_follow_each_other_without_gap_or_overlap_in_both_directions(
    runs: Database, name: str, limit: int, descending: bool
) -> None:
    order = RunOrder(name, descending)
    whole = [entry.id for entry in _page(runs, order=order).entries]

    forward = list(_walk(runs, order, limit))
    ids = [entry.id for page in forward for entry in page.entries]
    positions = [page.position for page in forward]
    backward = [forward[-1]]
    while backward[-1].previous is not None:
        backward.append(_page(runs, order=order, cursor=backward[-1].previous, limit=limit))

    assert ids == whole
    assert positions == list(range(1, len(whole) + 1, limit))
    first_entries = [page.entries for page in reversed(backward)]
    assert [e.id for page in first_entries for e in page][-len(whole) :] == whole
    assert backward[-1].previous is None
    assert backward[-1].position == 1
    assert all(page.total == len(whole) for page in (*forward, *backward))


def test_an_empty_list_has_no_pages(database: Database) -> None:
    page = _page(database)

    assert (page.entries, page.total, page.position) == ((), 0, 1)
    assert (page.previous, page.following) == (None, None)


@pytest.mark.parametrize("name", ORDER_NAMES)
def test_the_number_of_statements_does_not_grow_with_the_rows(runs: Database, name: str) -> None:
    order = RunOrder(name)
    with counted_statements() as few:
        _page(runs, order=order, limit=2)
    with counted_statements() as many:
        _page(runs, order=order, limit=50)

    # No run has flags here, so that the border to those without lies on the first page.
    assert len(few) <= (5 if name == "flags" else 4)
    assert len(many) <= 5


def _log(database: Database, counts: Sequence[Sequence[int]], **facts: Any) -> None:
    log_counts(database, counts, LABELS, evaluated=False, **facts)


def _page(
    database: Database,
    *terms: FilterTerm | Condition,
    order: RunOrder = NEWEST_FIRST,
    cursor: Cursor | None = None,
    limit: int = 50,
) -> RunListPage:
    with database.read() as session:
        return run_list(
            session, terms=terms, dataset_id=None, order=order, cursor=cursor, limit=limit
        )


def _walk(database: Database, order: RunOrder, limit: int) -> list[RunListPage]:
    pages = [_page(database, order=order, limit=limit)]
    for _ in itertools.repeat(None, 20):
        following = pages[-1].following
        if following is None:
            break
        pages.append(_page(database, order=order, cursor=following, limit=limit))
    return pages


def _names(page: RunListPage) -> list[str]:
    return [entry.name for entry in page.entries]


def _sort_value(entry: RunEntry, name: str) -> float | None:
    if name == "worst":
        return None if entry.worst_class is None else entry.worst_class.recall.value
    value = entry.metrics.get(AGGREGATE_ORDERS[name])
    return None if value is None else value.value


@pytest.mark.both_databases
def test_names_beyond_ascii_are_found_as_written_and_tags_compared_alike(
    database: Database,
) -> None:
    names = ("Σίσυφος", "İstanbul", "ⅧTH", "Ärger", "ärger", "B", "a")
    for name in names:
        _log(database, [[8, 2, 0], [1, 6, 3], [0, 0, 4]], name=name, tags={"t": name})

    for name in names[:5]:
        found = _names(_page(database, TERM(FilterField.NAME, name)))
        assert name in found
        assert {each.casefold() for each in found} == {name.casefold()}
    with database.read() as session:
        found_tags = [
            len(found_runs(session, parse_filter(text), order=(), limit=10))
            for text in ("tags.t LIKE 'Ärger'", "tags.t LIKE 'b'", "tags.t < 'a'")
        ]

    assert found_tags == [1, 1, 1]
