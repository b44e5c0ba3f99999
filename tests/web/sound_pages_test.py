"""Pages over large and over hostile data are small, ask little, and show names as text.

What is not here, `every_route_test.py` asks of each page once; what pages say, their own tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

import pytest

from offdiag.domain.texts import name_segment
from offdiag.store.database import Database
from offdiag.store.run_list import RUNS_PER_PAGE
from offdiag_web.urls.datasets import DatasetAddress
from support.compared import ComparedRegistry
from support.dashboard import (
    HOSTILE_MARKUP,
    HOSTILE_NAMES,
    LesionRegistry,
    counted_statements,
    log_counts,
)
from support.logging_runs import work_off
from support.pages import Page, PageClient
from support.registries import reader_of
from support.reported import ReportedRegistry
from support.revised import HOSTILE_DATASET, RevisedRegistry
from support.scored_runs import ScoredRegistry
from support.sound import assert_harmless, cells_without_formulas, small_page

MOST_STATEMENTS = 8
COMPARES_RUNS = 15
"""The decision of a dataset and its suspect labels read predictions the first time."""
LOOKS_FOR_SLICES = 10
"""A run without slices says so after it has looked for them; an edition has examples."""

PLACES = {
    "lesions": (
        *("/runs?q=alert", "/runs/{hostile}?norm=all&order=label&t=1", "/runs/{hostile}/classes"),
        *("/runs/{hostile}/meta", "/runs/{hostile}/advice?about={{7*7}}"),
        *("/runs/{thirty_classes}", "/runs/{thirty_classes}/classes", "/runs/{many_classes}"),
        *("/runs/{many_classes}/classes", "/runs/{many_classes}/advice", "/runs/{failed}"),
        *("/runs/{still_open}", "/problems?show=all&run={hostile}"),
        "/problems?show=all&run={many_classes}",
        '/problems?show=all&class=<script>&dataset=">&model=javascript:',
        *("/whatif?runs={hostile}&cost=@0-1", "/whatif?runs={thirty_classes}&cost=@0-1"),
        "/whatif?runs={many_classes}&cost=@0-1",
    ),
    "scored": (
        *("/runs/{many}/examples?show=all", "/runs/{many}/curves", "/runs/{hostile}"),
        *("/runs/{hostile}/slices", "/runs/{hostile}/examples?show=all", "/runs/{hostile}/curves"),
        *("/datasets/{dataset}", "/datasets/{dataset}/suspects", "/datasets/{dataset}/content"),
        *("/datasets/{dataset}/data", "/whatif/decisions?run={many}&cost=@0-1"),
        "/whatif/decisions?run={hostile}&cost=@0-1",
    ),
    "compared": (
        *("/compare?runs={large},{larger}", "/compare?runs={eight}", "/compare?runs={nine}"),
        *("/whatif?runs={eight}&cost=@0-1", "/compare?runs={hostile},{more_hostile}&matrix=a"),
        "/compare?runs={hostile},{more_hostile}&value=f1&slice=planet%3D<b>",
        "/compare?runs={hostile},{more_hostile},{most_hostile}",
        "/compare/examples?runs={hostile},{more_hostile}&which=both_right",
    ),
    "reported": ("{report}", "{edition}", "{edit}", "{copy}"),
    "revised": ("{dataset}", "{data}", "{difference}"),
}

"""Paths by the registry they are asked of, with names of its runs."""

STATEMENTS_OF = {
    **dict.fromkeys(("{dataset}", "/datasets/{dataset}"), COMPARES_RUNS),
    **dict.fromkeys(("/datasets/{dataset}/suspects",), COMPARES_RUNS),
    **dict.fromkeys(("/runs/{hostile}/slices", "{edition}"), LOOKS_FOR_SLICES),
}


@pytest.fixture(scope="session")
def shared(
    registry: LesionRegistry,
    scored: ScoredRegistry,
    compared: ComparedRegistry,
    reported: ReportedRegistry,
    revised: RevisedRegistry,
) -> dict[str, PageClient]:
    """Clients of the registries that tests read, which know addresses of hostile things."""
    report, dataset = reported.hostile, DatasetAddress("default", HOSTILE_DATASET)
    return {
        "lesions": reader_of(registry),
        "scored": reader_of(scored, dataset=name_segment(HOSTILE_NAMES[0])),
        "compared": reader_of(
            compared, eight=",".join(compared.alike[:8]), nine=",".join(compared.alike)
        ),
        "reported": reader_of(
            reported,
            report=report.url(),
            edition=report.edition_url(1),
            edit=report.action_url("edit"),
            copy=report.copy_url(),
        ),
        "revised": reader_of(
            revised,
            dataset=dataset.url(),
            data=dataset.data_url(),
            difference=dataset.difference_url(1, 2),
        ),
    }


def places(table: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Every path with the registry it is asked of."""
    return [(which, path) for which, paths in table.items() for path in paths]


@pytest.mark.parametrize(("which", "path"), places(PLACES))
def test_a_page_is_small_harmless_and_asks_little(
    shared: dict[str, PageClient], which: str, path: str
) -> None:
    with counted_statements() as statements:
        answer = shared[which].get(path)

    most = STATEMENTS_OF.get(path, MOST_STATEMENTS)
    assert answer.status_code == 200
    assert_harmless(small_page(answer.data))
    assert 0 < len(statements) <= most, statements


def test_hostile_names_are_text_on_the_page_of_a_flag(reader: PageClient) -> None:
    found = reader.json("/flags.json?run={hostile}&state=all")["flags"]
    numbers = {flag["class_label"]: flag["id"] for flag in found if flag["class_label"]}

    assert numbers.keys() == set(HOSTILE_NAMES)
    for number in numbers.values():
        assert_harmless(small_page(reader.get(f"/flags/{number}").data))


ASKED = {
    "lesions": {
        "/runs": "q sort scale after cols group view diff base",
        "/runs/{plain}/classes": "sort show from",
        "/runs/{many_classes}": "norm order focus as min t",
        "/runs/{plain}/advice": "goal about balance",
        "/whatif?runs={plain}&cost=@0-1": "set vary share merge positive",
        "/audit?table=Accuracy 0.9": "table classes positive names unit read:x example",
        "/problems": "show cause hits class dataset model rule low",
    },
    "scored": {
        "/runs/{several}/examples": "true pred id show sort after before view",
        "/runs/{event}/curves": "positive prevalence curve from",
        "/whatif/decisions?run={event}&cost=@0-1": "set share merge positive",
    },
    "compared": {
        "/compare?runs={plain},{focal}": "value matrix shared slice curves",
        "/compare/examples?runs={plain},{focal}": "which class from",
    },
}
"""Parts of the addresses of pages, each of which anybody may make up."""


@pytest.mark.parametrize(
    ("which", "path", "keys"),
    [(which, path, keys) for which, of in ASKED.items() for path, keys in of.items()],
)
def test_hostile_text_in_an_address_is_text_on_the_page(
    shared: dict[str, PageClient], which: str, path: str, keys: str
) -> None:
    for key in keys.split():
        more = f"{'&' if '?' in path else '?'}{key}={quote(''.join(HOSTILE_MARKUP))}"
        answer = shared[which].get(path + more)

        assert answer.status_code == 200, key
        assert_harmless(Page(answer.text))
        assert "There is no parameter" not in answer.text, key


FILES = {
    "lesions": (
        *("/runs.csv", "/runs/{hostile}.csv", "/runs/{hostile}/classes.csv"),
        *("/runs/{hostile}/matrix.csv", "/runs/{hostile}/matrix.csv?layout=grid&t=1"),
        "/whatif.csv?runs={hostile}&cost=@0-1",
    ),
    "scored": (
        *("/runs/{hostile}/examples.csv?show=all", "/runs/{hostile}/curves.csv"),
        "/runs/{hostile}/curves.csv?part=reliability",
        "/runs/{hostile}/curves.csv?part=histogram",
        "/whatif/decisions.csv?run={hostile}&cost=@prevalence",
    ),
    "compared": (
        "/compare.csv?runs={hostile},{more_hostile}",
        "/compare/examples.csv?runs={hostile},{more_hostile}&which=both_right",
    ),
    "reported": ("/reports.csv",),
}


@pytest.mark.parametrize(("which", "path"), places(FILES))
def test_no_cell_of_a_csv_begins_like_a_formula(
    shared: dict[str, PageClient], which: str, path: str
) -> None:
    assert len(cells_without_formulas(shared[which].get(path).text)) > 12


def test_a_name_is_told_in_full_and_evaluated_nowhere(reader: PageClient) -> None:
    matrix = reader.page("/runs/{hostile}").one("table", "matrix")
    classes = reader.page("/runs/{hostile}/classes").one("tbody").inside("th")
    record = reader.json("/runs/{hostile}.json")

    heads = [head.text for head in matrix.inside("th")]
    assert "{{7*7}}" in heads
    assert "49" not in heads
    full = {cell.inside("span")[0].attributes.get("title", cell.text) for cell in classes}
    assert full == set(HOSTILE_NAMES)
    assert sorted(record["confusion_matrix"]["labels"]) == sorted(HOSTILE_NAMES)
    assert (record["name"], record["dataset"]) == HOSTILE_NAMES[:2]


def test_names_of_downloads_are_made_by_us(reader: PageClient, registry: LesionRegistry) -> None:
    for path, name in (
        (".csv", f"{registry.hostile}.csv"),
        ("/matrix.csv?t=1", f"{registry.hostile}-matrix-transposed.csv"),
        ("/classes.csv", f"{registry.hostile}-classes.csv"),
    ):
        response = reader.get(f"/runs/{{hostile}}{path}")

        assert response.headers["Content-Disposition"] == f'attachment; filename="{name}"'


def test_a_full_table_of_a_matrix_stays_small(client: PageClient, database: Database) -> None:
    names = [f"class with a name {code:02d}" for code in range(30)]
    counts = [[120 if i == j else 1 + (7 * i + 3 * j) % 40 for j in range(30)] for i in range(30)]

    small_page(client.get(f"/runs/{log_counts(database, counts, names)}").data)


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

    small_page(client.get("/runs").data)
