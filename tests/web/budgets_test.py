"""Sizes that are counts, where a page is larger than the one that `every_route_test.py` asks."""

import gzip

import pytest

from offdiag.store.database import Database
from offdiag.store.run_list import RUNS_PER_PAGE
from support.compared import ComparedRegistry
from support.dashboard import LesionRegistry, log_counts
from support.logging_runs import work_off
from support.pages import Page, PageClient
from support.scored_runs import ScoredRegistry

KIB = 1024
MOST_NODES = 3_000


@pytest.mark.parametrize(
    "which", ["thirty_classes", "many_classes", "hostile", "binary", "waiting"]
)
@pytest.mark.parametrize("tab", ["", "/classes", "/meta"])
def test_pages_of_a_run_stay_small(
    reader: PageClient, registry: LesionRegistry, which: str, tab: str
) -> None:
    _assert_small(reader, f"/runs/{getattr(registry, which)}{tab}")


def test_a_full_page_of_runs_stays_small(client: PageClient, database: Database) -> None:
    for number in range(RUNS_PER_PAGE):
        log_counts(
            database,
            [[40 + number % 7, 3], [2, 30]],
            ("present", "absent"),
            name=f"a run with a name of ordinary length {number}",
            model="gradient boosting",
            tags={"team": "one", "stage": "candidate"},
            evaluated=False,
        )
    work_off(database)

    _assert_small(client, "/runs")


def test_a_full_table_of_a_matrix_stays_small(client: PageClient, database: Database) -> None:
    names = [f"class with a name {code:02d}" for code in range(30)]
    counts = [[120 if i == j else 1 + (7 * i + 3 * j) % 40 for j in range(30)] for i in range(30)]

    _assert_small(client, f"/runs/{log_counts(database, counts, names)}")


@pytest.mark.parametrize("which", ["event", "margins", "many", "hostile"])
@pytest.mark.parametrize("tab", ["examples?show=all", "curves"])
def test_examples_and_curves_stay_small(
    scored_reader: PageClient, scored: ScoredRegistry, which: str, tab: str
) -> None:
    _assert_small(scored_reader, f"/runs/{getattr(scored, which)}/{tab}")


@pytest.mark.parametrize("which", ["several", "margins", "many", "hostile"])
def test_decisions_stay_small(
    scored_reader: PageClient, scored: ScoredRegistry, which: str
) -> None:
    _assert_small(scored_reader, f"/whatif/decisions?run={getattr(scored, which)}&cost=@0-1")


@pytest.mark.parametrize(
    "names",
    [
        ("plain", "focal", "almost"),
        ("large", "larger"),
        ("hostile", "more_hostile"),
    ],
)
def test_comparisons_stay_small(
    comparer: PageClient, compared: ComparedRegistry, names: tuple[str, ...]
) -> None:
    _assert_small(comparer, f"/compare?{compared.runs(*names)}")


def test_comparisons_of_many_runs_stay_small(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    for n_runs in (8, 9):
        _assert_small(comparer, f"/compare?runs={','.join(compared.alike[:n_runs])}")


def _assert_small(client: PageClient, path: str) -> None:
    body = client.get(path).data
    nodes = len(Page(body.decode()).elements)

    assert len(body) <= 150 * KIB, f"{len(body)} bytes"
    assert len(gzip.compress(body)) <= 20 * KIB
    assert nodes <= MOST_NODES, f"{nodes} nodes"
