import pytest

from offdiag.services.jobs.page import MOST_SHOWN, retry_job
from offdiag.services.retention.deletion import delete_run
from offdiag.store import jobs
from offdiag.store.database import Database
from support.dashboard import HOSTILE_NAMES, fail_evaluation, log_lesions
from support.filled_once import filled_once
from support.forms import form_to, forms_of, send
from support.logging_runs import work_off
from support.pages import Page, PageClient
from support.revised import RevisedRegistry, live_and_silent_processes

GONE = "There is no job 1. Finished jobs leave the queue, and retried ones get a new number."


@pytest.fixture
@filled_once
def dead(database: Database) -> str:
    """The run whose evaluation was given up."""
    run_id = log_lesions(database, evaluated=False)
    fail_evaluation(database, run_id, error="Traceback\nValueError: wrong shape")
    return run_id


def test_what_was_given_up_comes_first_with_its_last_error_and_leads_to_its_run(
    revised_reader: PageClient, revised: RevisedRegistry
) -> None:
    page = revised_reader.page("/jobs")

    first, second = page.table("data")
    assert first[2:5] == ["✕failed", "failed after the last attempt; retry it", "5"]
    assert first[6] == f"OSError: {HOSTILE_NAMES[0]}"
    assert first[7].startswith("Retry")
    assert (second[2], second[7]) == ("queued", "")
    chips = [chip.text for chip in page.one("div", "chips").inside("span")]
    assert "✕1 failed" in chips
    assert f"/runs/{revised.waiting}" in [a["href"] for a in page.all("a")]


def test_silent_workers_and_live_schedulers_are_told_apart(
    revised: RevisedRegistry, revised_reader: PageClient
) -> None:
    live_and_silent_processes(revised.database)  # Again: the registry may be minutes old by now.

    page = revised_reader.page("/jobs")

    body = page.all("table", "data")[1].inside("tbody")[0]
    lines = [row.text for row in body.inside("tr")]
    assert lines[0].startswith("worker host 41")
    assert lines[0].endswith("▲silent")
    assert lines[1].endswith("✓alive")
    assert page.one("div", "callout-warning").text.startswith(
        "▲ No worker sent a heartbeat in the last 30 s: jobs stay queued."
    )


def test_the_csv_of_a_long_queue_has_all_jobs(client: PageClient, database: Database) -> None:
    runs = [str(number) for number in range(MOST_SHOWN + 1)]
    with database.write() as session:
        jobs.insert_many_pending(
            session, "evaluate", [jobs.JobRequest(run, {"run": run}) for run in runs]
        )

    assert len(client.json("/jobs.json")["jobs"]) == MOST_SHOWN
    assert len(client.records("/jobs.csv")) == MOST_SHOWN + 1


def test_an_empty_queue_says_that_nothing_waits(client: PageClient) -> None:
    page = client.page("/jobs")

    assert page.one("div", "empty").inside("h2")[0].text == "The queue is empty"
    assert "No worker and no scheduler sent a heartbeat" in page.one("div", "callout-warning").text


def test_the_page_of_a_job_shows_its_whole_error_and_tries_it_again(
    client: PageClient, dead: str, database: Database
) -> None:
    page = client.page("/jobs/1")
    assert page.one("pre", "snippet").text == "Traceback ValueError: wrong shape"
    assert dead in page.one("p", "subtitle").text
    (form,) = forms_of(client, "/jobs/1")

    response = send(client, form)
    page = client.page(response.headers["Location"])
    work_off(database)

    assert response.status_code == 303
    assert "queued" in page.one("dl", "facts").text
    assert client.json(f"/runs/{dead}.json")["state"] == "evaluated"


def test_all_that_was_given_up_can_be_tried_again_at_once(
    client: PageClient, dead: str, database: Database
) -> None:
    other = log_lesions(database, evaluated=False)
    fail_evaluation(database, other, error="boom")
    form = form_to(client, "/jobs", "/jobs/retry")

    response = send(client, form)

    assert response.status_code == 303
    assert client.json("/jobs.json")["counts"]["dead"] == 0
    assert dead


def test_a_job_that_waits_cannot_be_retried(client: PageClient, database: Database) -> None:
    fail_evaluation(database, log_lesions(database, evaluated=False), error="x")
    log_lesions(database, evaluated=False)
    form = forms_of(client, "/jobs/1")[0]
    form.attributes["action"] = "/jobs/2/retry"

    assert send(client, form).status_code == 409


@pytest.mark.parametrize(
    ("page", "before", "said"),
    [
        ("/jobs/1", "retried", GONE),
        ("/jobs", "queued", "Job 2 is queued. Only failed jobs can be retried."),
        ("/", "deleted", GONE),
    ],
)
def test_a_retry_on_an_outdated_page_leads_back_and_says_what_is_the_case(
    client: PageClient, dead: str, database: Database, page: str, before: str, said: str
) -> None:
    form = form_to(client, page, "/retry")
    if before == "deleted":
        delete_run(database, dead, by=None)
    else:
        waiting = retry_job(database, 1)
        if before == "queued":
            form.attributes["action"] = f"/jobs/{waiting}/retry"
            page = page.replace("1", str(waiting))

    pressed = send(client, form, page=page)
    assert (pressed.status_code, pressed.location) == (303, page)
    told = [
        [each.text for each in shown.all("p", role="alert")]
        for shown in (Page(client.get(page, follow_redirects=True).text) for _ in range(2))
    ]
    assert told[0] == [f"▲{said}"]
    assert (page == "/jobs/1") is bool(told[1])


def test_the_cookie_of_forms_is_for_this_site_only_and_only_where_it_is_needed(
    client: PageClient, dead: str
) -> None:
    cookie = client.get("/jobs").headers["Set-Cookie"]

    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Set-Cookie" not in client.get("/runs").headers


def test_finished_and_unknown_jobs_are_not_found(client: PageClient) -> None:
    for path in ("/jobs/1", "/jobs/1.json", "/jobs/99999999999999999999"):
        assert client.get(path).status_code == 404
    assert "Finished jobs leave the queue" in client.get("/jobs/1").text
