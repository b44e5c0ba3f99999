"""What errors cost in the list of runs and at the top of a run, under the costs that count."""

import pytest
from sqlalchemy import update

from offdiag.domain.texts import CostName
from offdiag.services.cost_matrices import set_default_costs
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, MetricValueRow
from offdiag.store.models.evaluations import AGGREGATE
from support.dashboard import (
    LesionRegistry,
    counted_statements,
    log_counts,
    log_lesions,
    price_lesions,
)
from support.filled_once import filled_once
from support.logging_runs import work_off
from support.pages import PageClient


@pytest.fixture
@filled_once
def priced(database: Database) -> str:
    """A run on a dataset whose runs are judged by costs."""
    run = log_lesions(database)
    price_lesions(database)
    judge_by(database, "triage")
    return run


def judge_by(database: Database, name: str | None) -> None:
    wanted = None if name is None else CostName(name)
    set_default_costs(database, project="default", dataset="derm-7", wanted=wanted)
    work_off(database)


def test_list_and_run_say_what_errors_cost_and_by_which_costs(
    client: PageClient, priced: str
) -> None:
    page = client.page("/runs")
    head = next(th for th in page.all("th") if th.text.startswith("Cost / 1,000"))
    assert head["title"] == "Cost EUR / 1,000 (triage v1)"
    assert "sort=mean_cost" in head.inside("a")[0]["href"]
    # 204 errors, one kind of which, made 59 times, costs 20.
    cost = (204 - 59 + 59 * 20) / 1503 * 1000
    assert f"{cost:.0f}" in page.table("data")[0]

    costs = client.json(f"/runs/{priced}.json")["costs"]
    assert (costs["name"], costs["version"], costs["currency"]) == ("triage", 1, "EUR")
    assert costs["values"]["total_cost"]["value"] == 204 - 59 + 59 * 20

    page = client.page(f"/runs/{priced}")
    (row,) = [line for line in page.table("data") if line[0].startswith("Cost")]
    assert row[0] == "Cost / 1,000, EUR triage v1"
    assert row[1] == "882"
    assert "\N{EN DASH}" in row[3]
    assert row[4].startswith("constant ")


def test_without_costs_there_is_no_column_and_no_tile(
    client: PageClient, database: Database
) -> None:
    run = log_lesions(database)

    assert "Cost" not in client.page("/runs").one("thead").text
    rows = client.page(f"/runs/{run}").table("data")
    assert [row[0] for row in rows] == ["Accuracy", "Balanced accuracy", "MCC", "Macro F1"]


def test_runs_of_several_datasets_have_no_common_costs(
    client: PageClient, priced: str, database: Database
) -> None:
    log_counts(database, [[3, 1], [1, 3]], ("a", "b"), dataset="other")

    assert "Cost" not in client.page("/runs").one("thead").text


def test_the_cheapest_run_comes_first(client: PageClient, priced: str, database: Database) -> None:
    counts = [[0] * 7 for _ in range(7)]
    for code, n in enumerate((1006, 168, 165, 77, 49, 21, 17)):
        counts[code][code] = n
    log_counts(
        database,
        counts,
        ("nv", "mel", "bkl", "bcc", "akiec", "vasc", "df"),
        name="perfect",
        dataset="derm-7",
    )
    page = client.page("/runs")
    head = next(th for th in page.all("th") if th.text.startswith("Cost"))

    listed = client.page(head.inside("a")[0]["href"])

    names = [link.text for link in listed.all("a") if "data-row" in link.attributes]
    assert names == ["perfect", "plain"]


def test_a_run_that_waits_for_the_costs_that_count_has_no_number(
    client: PageClient, priced: str, database: Database
) -> None:
    with database.write() as session:
        session.execute(update(EvaluationRow).values(cost_matrix_id=None))

    assert "not yet" in client.page("/runs").table("data")[0]


def test_a_cost_that_is_undefined_says_why(
    client: PageClient, priced: str, database: Database
) -> None:
    is_cost = (MetricValueRow.key == "mean_cost", MetricValueRow.class_index == AGGREGATE)
    undefined = {"value": None, "reason": "class_absent", "ci_low": None, "ci_high": None}
    with database.write() as session:
        session.execute(update(MetricValueRow).where(*is_cost).values(**undefined))

    page = client.page("/runs")

    assert "undefined, note 1" in page.table("data")[0]
    assert "Undefined: 1 the class occurs neither" in page.one("main").text


def test_costs_cost_no_statement(client: PageClient, priced: str, database: Database) -> None:
    counted = []
    for name in ("triage", None):
        judge_by(database, name)
        for path in ("/runs", f"/runs/{priced}"):
            client.get(path)
            with counted_statements() as statements:
                client.get(path)
            counted.append(len(statements))

    assert counted[:2] == counted[2:]
    assert counted[1] <= 7


def test_what_errors_of_single_labels_cost_is_asked_on_the_page_of_costs(
    reader: PageClient, registry: LesionRegistry
) -> None:
    answer = reader.get(f"/runs/{registry.plain}/label-costs")

    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/whatif?runs={registry.plain}"
    assert reader.get(answer.headers["Location"], follow_redirects=True).status_code == 200
