from pathlib import Path

import pytest
from flask import Flask

from offdiag import errors
from offdiag.errors import OffdiagError, StorageFull
from offdiag.services.retention.deletion import delete_run
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from offdiag_web.app.errors import STATUS_OF
from support.dashboard import log_lesions
from support.logging_runs import log
from support.pages import Page, PageClient, client_for
from support.registries import dashboard


def test_every_error_of_the_domain_has_a_status() -> None:
    kinds = {
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, OffdiagError) and kind is not OffdiagError
    }

    assert all(set(kind.mro()) & set(STATUS_OF) for kind in kinds)


def test_an_unknown_page_is_told_in_the_same_shell(client: PageClient) -> None:
    response = client.get("/no-such-page")

    page = Page(response.text)
    assert response.status_code == 404
    assert page.one("h1").text == "Not found"
    assert page.one("nav").text.startswith("Datasets Runs Compare")


def test_an_unknown_address_is_named_and_its_advice_given_once(client: PageClient) -> None:
    text = Page(client.get("/no-such-page").text).one("main").text

    assert "Nothing is at /no-such-page. Check the address, or start from" in text
    assert "check your spelling" not in text


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("/flags/99", "There is no flag 99. The list of problems shows the flags."),
        ("/reports/none", "The list of reports shows the reports there are."),
        ("/costs/none", "The list of costs shows those there are."),
    ],
)
def test_hints_of_pages_name_pages(client: PageClient, path: str, hint: str) -> None:
    assert hint in Page(client.get(path).text).one("main").text


def test_what_was_typed_in_a_refused_form_can_be_copied_and_the_way_back_is_shown(
    client: PageClient,
) -> None:
    sent = {"comment": "Look at the images.", "password": "not to be shown"}
    refused = client.post(
        "/runs/r_nosuchrun/comments",
        data=sent,
        headers={"Referer": "http://localhost/runs?q=x"},
    )

    main = Page(refused.text).one("main")
    assert refused.status_code == 403
    assert "This form has expired" in main.text
    assert "Look at the images." in main.text
    assert "not to be shown" not in main.text
    assert "/runs?q=x" in [link["href"] for link in main.inside("a")]


def test_a_form_that_is_too_large_names_the_limit_and_leads_back(client: PageClient) -> None:
    page = {"Referer": "http://localhost/reports/new"}

    refused = client.post("/reports/new", data={"tags": "x" * 2_000_000}, headers=page)

    main = Page(refused.text).one("main")
    assert refused.status_code == 413
    assert "At most 1,024 KiB can be sent to this page." in main.text
    back = Page(refused.text).one("p", "actions").inside("a")[0]
    assert (back.text, back["href"]) == ("Back", "/reports/new")


def test_an_unknown_run_is_named(client: PageClient) -> None:
    response = client.get("/runs/r_nosuchrun")

    assert response.status_code == 404
    assert "There is no run “r_nosuchrun”." in response.text


def test_a_run_deleted_while_its_page_was_open_is_said_to_be_deleted(
    client: PageClient, database: Database
) -> None:
    run_id, other = log_lesions(database), log_lesions(database, name="other")
    delete_run(database, run_id, by=None)

    for path in (f"/runs/{run_id}", f"/runs/{run_id}/classes", f"/compare?runs={other},{run_id}"):
        said = client.page(path, status=404).one("main").text
        assert f"Run “{run_id}” was deleted." in said
        assert f"offdiag runs restore {run_id}" in said


def test_what_is_not_there_leads_to_the_list_of_its_kind(client: PageClient) -> None:
    lists = {
        "/costs/mised": ("Costs", "/costs"),
        "/datasets/pet?project=p": ("Datasets", "/datasets"),
        "/flags/99": ("Problems", "/problems"),
    }

    for path, (text, goal) in lists.items():
        ways_out = client.page(path, 404).one("p", "actions")
        assert [(each.text, each["href"]) for each in ways_out.inside("a")] == [
            (text, goal),
            ("All runs", "/runs"),
        ]


def test_errors_of_json_twins_have_one_shape(client: PageClient) -> None:
    unknown_run = client.get("/runs/r_nosuchrun.json")
    unknown_page = client.get("/no-such-page.json")

    for response in (unknown_run, unknown_page):
        assert response.status_code == 404
        assert set(response.get_json()["error"]) == {"code", "message", "field", "hint"}
    assert unknown_run.get_json()["error"]["code"] == "not_found"


def test_errors_of_csv_twins_are_plain_text(client: PageClient) -> None:
    response = client.get("/runs/r_nosuchrun.csv")

    assert response.status_code == 404
    assert response.mimetype == "text/plain"


def test_a_wrong_method_says_which_are_allowed(client: PageClient) -> None:
    response = client.post("/runs")

    assert response.status_code == 405
    assert "GET" in response.headers["Allow"]


@pytest.fixture
def app(database: Database) -> Flask:
    """A dashboard of this test alone, as some add addresses to it."""
    return dashboard(database)


def test_a_database_that_is_away_is_a_503_with_a_time_to_retry(tmp_path: Path) -> None:
    for path in ["/", "/runs", "/runs/r_0", "/runs.json", "/runs.csv"]:
        broken = tmp_path / "broken.db"
        broken.write_bytes(b"this is not a database " * 1000)
        client = create_app(Settings(), Database(f"sqlite:///{broken}")).test_client()

        response = client.get(path)

        assert response.status_code == 503, path
        assert response.headers["Retry-After"] == "5", path
        assert b"Traceback" not in response.data, path


def test_the_page_of_a_missing_database_names_file_and_remedy(tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"this is not a database " * 1000)
    client = client_for(create_app(Settings(), Database(f"sqlite:///{broken}")))

    page = client.page("/runs", 503)

    assert page.one("h1").text == "The registry is not available"
    assert "broken.db" in page.one("main").text
    assert any(link.text == "Try again" for link in page.all("a"))


def test_a_picture_of_a_run_that_waits_for_its_evaluation_is_not_a_registry_that_is_away(
    sqlite_database: Database,
) -> None:
    run = log(sqlite_database)

    page = client_for(dashboard(sqlite_database)).page(f"/runs/{run.id}/matrix.svg", 503)

    assert page.one("h1").text == "There are no metrics yet"


@pytest.mark.parametrize("path", ["/full", "/full.json"])
def test_a_full_disk_is_a_507_that_says_what_to_do(app: Flask, path: str) -> None:
    app.add_url_rule(path, view_func=_full_disk)

    response = client_for(app).get(path)

    assert response.status_code == 507
    answer = response.text
    assert "The disk is full." in answer
    assert "Make room" in answer
    assert "Retry-After" not in response.headers


def test_a_defect_is_a_page_without_a_trace(app: Flask, caplog: pytest.LogCaptureFixture) -> None:
    app.config["PROPAGATE_EXCEPTIONS"] = False
    app.add_url_rule("/defect", view_func=_defect)

    response = client_for(app).get("/defect")

    assert response.status_code == 500
    assert b"secret detail" not in response.data
    assert f"as request {response.headers['X-Request-Id']}." in response.text
    assert "secret detail" in caplog.text


@pytest.mark.both_databases
def test_health_needs_no_database(tmp_path: Path) -> None:
    client = create_app(Settings(), Database(f"sqlite:///{tmp_path / 'none.db'}")).test_client()

    response = client.get("/healthz")

    assert (response.status_code, response.get_json()) == (200, {"status": "ok"})


def _full_disk() -> str:
    raise StorageFull("the disk is full.", hint="Make room and try again.")


def _defect() -> str:
    raise RuntimeError("secret detail")
