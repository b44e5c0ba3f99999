"""Searching runs: every kind of field on both databases."""

from __future__ import annotations

from datetime import timedelta

import pytest

from offdiag.domain.runs import RunFacts, Scalar
from offdiag.errors import InvalidInput
from offdiag.services.retention.deletion import delete_run
from offdiag.services.run_search import search_page, search_runs
from offdiag.store.database import Database
from support.dashboard import log_counts
from support.filled_once import filled_once
from support.logging_runs import log, work_off

GOOD = ((90, 10), (2, 8))
MAJORITY = ((100, 0), (10, 0))


@pytest.fixture
@filled_once
def registry(database: Database) -> Database:
    """Four runs, of which one waits for its evaluation."""
    log_counts(
        *(database, GOOD, ("healthy", "ill")),
        name="forest",
        model="rf",
        params={"lr": 0.1, "depth": 3, "loss": "log"},
        tags={"team": "x", "draft": False, "100%": "a_b"},
        evaluated=False,
    )
    log_counts(
        *(database, MAJORITY, ("healthy", "ill")),
        name="Majority",
        project="demo",
        params={"lr": "0.1", "depth": 12},
        tags={"team": "y", "draft": True},
        evaluated=False,
    )
    log_counts(
        *(database, ((8, 1), (1, 8)), ("3", "8")), name="digits", dataset="d", evaluated=False
    )
    work_off(database)
    log(database, dataset="late", facts=RunFacts(name="waiting", tags={"team": 7}))
    return database


FOUND: dict[str, set[str]] = {
    "": {"forest", "Majority", "digits", "waiting"},
    "metrics.overall_accuracy > 0.9": {"Majority"},
    "metrics.recall[ill] >= 0.8": {"forest"},
    "metrics.recall['8'] > 0.5": {"digits"},
    "metrics.support[ill] = 10": {"forest", "Majority"},
    "metrics.recall[nobody] >= 0": set(),
    "metrics.mcc < 2": {"forest", "digits"},
    "not metrics.mcc < 2": {"Majority", "waiting"},
    "metrics.overall_accuracy in (0.5, 0.9090909090909091)": {"Majority"},
    "params.lr = 0.1": {"forest"},
    "params.lr = '0.1'": {"forest", "Majority"},
    "params.depth > 3": {"Majority"},
    "params.depth >= 3 and params.depth < 12": {"forest"},
    "params.loss like 'L%'": {"forest"},
    "params.depth != 3": {"Majority"},
    "tags.team = 'x' or tags.team = 7": {"forest", "waiting"},
    "tags.team in ('y', 7)": {"Majority", "waiting"},
    "tags.team not in ('x', 'y')": {"digits", "waiting"},
    "tags.draft = false": {"forest"},
    "tags.draft != 'false'": {"Majority"},
    "tags.'100%' like 'a_b'": {"forest"},
    "tags.'100%' like 'a\\_b'": set(),
    "attributes.name like 'maj%'": {"Majority"},
    "attributes.name = 'majority'": set(),
    "attributes.model = 'rf'": {"forest"},
    "not attributes.model = 'rf'": {"Majority", "digits", "waiting"},
    "attributes.model != 'rf'": set(),
    "attributes.project = 'demo'": {"Majority"},
    "attributes.dataset in ('d', 'late')": {"digits", "waiting"},
    "attributes.state = 'finished'": {"waiting"},
    "attributes.n_predictions > 100.5": {"forest", "Majority"},
    "attributes.truth_version < 9223372036854775807 and params.depth = 3": {"forest"},
    "attributes.open_flags < 9223372036854775807 and params.depth = 3": {"forest"},
    "attributes.truth_version = 1": {"forest", "Majority", "digits", "waiting"},
    "attributes.badge = true": {"Majority"},
    "attributes.badge = false": {"forest", "digits"},
    "attributes.open_flags > 0 and attributes.project = 'demo'": {"Majority"},
    "attributes.created_at > '2020-01-01'": {"forest", "Majority", "digits", "waiting"},
    "attributes.created_at > '2999-01-01'": set(),
    "(tags.team = 'x' or tags.team = 'y') and not params.depth = 3": {"Majority"},
}
"""Names of the runs that each filter finds."""


@pytest.mark.both_databases
def test_a_filter_finds_exactly_the_runs_that_fulfil_it(registry: Database) -> None:
    found = {
        text: {run.name for run in search_runs(registry, filter_text=text).runs} for text in FOUND
    }

    assert found == FOUND


SORTED: dict[tuple[str, ...], list[str]] = {
    ("metrics.overall_accuracy desc",): ["Majority", "forest", "digits", "waiting"],
    ("metrics.mcc",): ["forest", "digits", "waiting", "Majority"],
    ("metrics.mcc desc",): ["digits", "forest", "waiting", "Majority"],
    ("params.depth desc",): ["Majority", "forest", "waiting", "digits"],
    ("tags.team",): ["waiting", "forest", "Majority", "digits"],
    (
        "attributes.state",
        "attributes.name desc",
    ): ["forest", "digits", "Majority", "waiting"],
    (): ["waiting", "digits", "Majority", "forest"],
}
"""Names in the order that each list of fields asks for."""


@pytest.mark.both_databases
def test_runs_without_the_value_come_last_in_both_directions(registry: Database) -> None:
    found = {
        order: [run.name for run in search_runs(registry, order_by=order).runs] for order in SORTED
    }

    assert found == SORTED


def test_a_run_comes_with_everything_known_of_it(registry: Database) -> None:
    (run,) = search_runs(registry, filter_text="attributes.name = 'Majority'", project="demo").runs

    assert (run.project, run.dataset, run.truth_version) == ("demo", "holdout", 1)
    assert run.hides_minority is True
    assert run.params == {"lr": "0.1", "depth": 12}
    assert run.metrics["overall_accuracy"].value == 100 / 110
    assert run.metrics["mcc"].reason is not None
    assert run.created_at.utcoffset() == timedelta(0)


def test_a_search_is_cut_at_its_limit_and_finds_no_deleted_runs(registry: Database) -> None:
    assert [run.name for run in search_runs(registry, limit=2).runs] == ["waiting", "digits"]
    for limit in (0, -1, 100_001):
        with pytest.raises(InvalidInput, match=f"{limit} is not a number of runs") as refusal:
            search_runs(registry, limit=limit)
        assert refusal.value.field == "max_results"
    (run,) = search_runs(registry, filter_text="attributes.name = 'digits'").runs
    delete_run(registry, run.id, by=None)

    assert search_runs(registry, filter_text="attributes.name = 'digits'").runs == []


@pytest.mark.both_databases
def test_pages_follow_one_another_without_gaps(registry: Database) -> None:
    for order_by in (
        [],
        ["metrics.mcc desc"],
        ["params.lr", "attributes.name desc"],
        ["tags.team desc"],
        ["attributes.finished_at", "attributes.badge"],
        ["attributes.open_flags desc"],
    ):
        whole = [run.id for run in search_runs(registry, order_by=order_by).runs]
        read, after = [], None
        while True:
            page = search_page(
                registry, filter_text="", order_by=order_by, project=None, after=after, limit=1
            )
            read += [run.id for run in page.runs]
            if page.following is None:
                break
            after = page.following
        assert read == whole, order_by
        assert len(whole) == 4


NUMBERS: tuple[Scalar, ...] = (
    9,
    10,
    5e-05,
    0.00038729833462074167,
    1e20,
    2**53,
    2**53 + 1,
    2**63 - 1,
    -1e300,
)
FOUND_OF_NUMBERS: dict[str, list[Scalar]] = {
    "params.x = 9007199254740993": [2**53 + 1],
    "params.x >= 9007199254740993": [1e20, 2**53 + 1, 2**63 - 1],
    "params.x in (9007199254740993, 9)": [9, 2**53 + 1],
    "params.x != '5e-05'": [
        *(each for each in NUMBERS if each != 5e-05),
        *("10", "b", True),
    ],
    "params.x in ('5e-05', '0.00038729833462074167', '1e+20')": [5e-05, NUMBERS[3], 1e20],
    "params.x = '10'": [10, "10"],
    "params.x < '10'": [9, 5e-05, NUMBERS[3], -1e300],
    "params.x > 'a'": ["b", True],
    "params.x < 'a'": [*NUMBERS, "10"],
    "params.x > 9223372036854775807": [1e20],
    "params.x >= '9223372036854775807'": [1e20, 2**63 - 1, "b", True],
    "params.x like '5e-05'": [5e-05],
    "params.x like '0.0%'": [NUMBERS[3]],
    "params.x like '%00000'": [1e20, -1e300],
    "params.x like '1_'": [10, "10"],
    "params.x like '%4166'": [NUMBERS[3]],
    "params.x like '900719925474099%'": [2**53, 2**53 + 1],
}


@pytest.mark.both_databases
def test_numbers_are_found_alike_on_both_databases(database: Database) -> None:
    values: dict[str, Scalar] = {
        str(at): each for at, each in enumerate((*NUMBERS, "10", "b", True))
    }
    for name, value in values.items():
        log(database, facts=RunFacts(name=name, params={"x": value}, tags={"x": value}))

    found = {
        text: [
            values[run.name]
            for run in search_runs(
                database, filter_text=text, order_by=["attributes.created_at"]
            ).runs
        ]
        for text in FOUND_OF_NUMBERS
    }
    names = [
        run.name for run in search_runs(database, order_by=["params.x", "attributes.name"]).runs
    ]

    assert found == FOUND_OF_NUMBERS
    # As floats two of them are equal.
    assert [values[name] for name in names] == [
        *(-1e300, 5e-05, NUMBERS[3], 9, 10, 2**53, 2**53 + 1, 2**63 - 1, 1e20, "10", "b", True)
    ]


@pytest.mark.both_databases
def test_metrics_within_rounding_of_a_number_are_equal_to_it(database: Database) -> None:
    """The mean of the recalls 0.8 and 0.14 is 0.47, and a little more in floats."""
    log_counts(database, ((8, 2), (43, 7)), ("ill", "well"), name="run", evaluated=False)
    work_off(database)
    (run,) = search_runs(database).runs
    assert run.metrics["balanced_accuracy"].value == 0.47000000000000003

    holds = {
        operator: bool(
            search_runs(database, filter_text=f"metrics.balanced_accuracy {operator}").runs
        )
        for operator in (
            *("= 0.47", "in (0.2, 0.47)", ">= 0.47", "<= 0.47", "> 0.469", "< 0.471"),
            *("!= 0.47", "> 0.47", "< 0.47", "in (0.2, 0.4700001)"),
        )
    }

    assert list(holds.values()) == [True] * 6 + [False] * 4, holds


@pytest.mark.both_databases
def test_true_and_false_are_found_however_they_are_written(database: Database) -> None:
    values: dict[str, Scalar] = {"bool": True, "python": "True", "json": "true", "off": False}
    for name, value in values.items():
        log(database, facts=RunFacts(name=name, params={"x": value}, tags={"x": value}))
    on = {"bool", "python", "json"}
    expected = {
        "params.x = true": on,
        "params.x = 'True'": on,
        "tags.x in ('TRUE', 'no')": on,
        "params.x != 'True'": {"off"},
        "tags.x != false": on,
        "params.x not in ('False')": on,
    }

    assert {
        text: {run.name for run in search_runs(database, filter_text=text).runs}
        for text in expected
    } == expected
