"""The list of problems, one problem, and decisions about them in the browser."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import timedelta

import numpy as np
import pytest

from offdiag.domain.runs import PromotionRole
from offdiag.domain.texts import CostName
from offdiag.flags.lifecycle import Action, FlagEventKind, FlagState
from offdiag.flags.problems import MOST_CLASSES, Cause, Problem, ProblemState
from offdiag.services.cost_matrices import add_costs, set_default_costs
from offdiag.services.datasets import pin_baseline
from offdiag.services.flags.page import browse_flag
from offdiag.services.flags.triage import decide_flags
from offdiag.services.retention.deletion import delete_run
from offdiag.store.database import Database
from offdiag.store.flags import FlagEvent, insert_events
from offdiag.store.problems import find_problems
from offdiag.store.promotions import add_promotion
from support.dashboard import LESION_COUNTS, LESIONS, counted_statements, log_counts
from support.forms import form_to, send
from support.logging_runs import work_off
from support.pages import Element, Page, PageClient


@pytest.fixture
def database(lesions_database: Database) -> Database:
    """A registry of its own for each test, with one run whose smallest class is never found."""
    return lesions_database


def problems(database: Database) -> list[Problem]:
    with database.read() as session:
        return list(find_problems(session, now=database.clock()).problems)


def missed(database: Database, label: str = "df", **key: str) -> Problem:
    wanted = {"cause": Cause.MISSED, "class_label": label, **key}.items()
    (found,) = [each for each in problems(database) if wanted <= asdict(each.key).items()]
    return found


def lines(page: Page) -> list[Element]:
    return page.all("tr", "problem-line")


def chosen(form: Element, *some: Problem) -> str:
    """What a list sends where some of its problems are ticked."""
    numbers = {str(each.number) for each in some}
    ticked = [
        field["value"]
        for field in form.inside("input")
        if field["name"] == "problem"
        and numbers & {part.partition(".")[0] for part in field["value"].split(",")}
    ]
    return ",".join(ticked)


def n_new(client: PageClient) -> int:
    """What the navigation counts, which says nothing where that is nothing."""
    shown = client.page("/problems").all("span", "count")
    return int(shown[0].text.split()[0]) if shown else 0


def test_a_line_says_what_is_wrong_where_how_often_and_how_much(
    client: PageClient, database: Database
) -> None:
    again = log_counts(database, LESION_COUNTS, LESIONS, name="b", dataset="derm-7",
                       model="effnet-b3")  # fmt: skip
    page = client.page("/problems")

    line = next(each for each in lines(page) if "df missed" in each.text)
    problem = missed(database)
    assert line.inside("a")[0]["href"] == f"/problems/{problem.number}"
    assert line.inside("th")[0].text.startswith("df missed")
    for said in ("effnet-b3", "derm-7", "2/2", "0 of 17", "0 found · low recall"):
        assert said in line.text, said
    assert again == problem.affected[0].id
    assert "<svg" in client.get("/problems").text
    assert "Not enough labels" not in page.one("main").text
    assert "Not enough labels" in client.page("/problems?low=1").one("main").text


def test_old_addresses_of_flags_lead_to_problems(client: PageClient, database: Database) -> None:
    number = missed(database).number
    for old, new in (
        ("/flags", "/problems"),
        ("/flags?dataset=derm-7&class=df", "/problems?class=df&dataset=derm-7"),
        ("/flags?state=dismissed", "/problems?show=resolved"),
    ):
        assert client.get(old).headers["Location"] == new
    flag = missed(database).flags[0].id
    assert f"/problems/{number}" in {
        link["href"] for link in client.page(f"/flags/{flag}").all("a")
    }


def test_problems_of_a_run_are_listed_however_old_it_is(
    client: PageClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = missed(database).affected[0]
    good = [[sum(line) if i == j else 0 for j in range(7)] for i, line in enumerate(LESION_COUNTS)]
    log_counts(database, good, LESIONS, name="b", dataset="derm-7", model="effnet-b3")
    monkeypatch.setattr("offdiag.store.problems.MOST_RUNS", 1)

    listed = client.get(f"/flags?run={old.id}&state=all").headers["Location"]
    page = client.page(listed)

    assert listed == f"/problems?run={old.id}&show=all"
    assert any("df missed" in line.text and "0 of 17" in line.text for line in lines(page))
    assert f"run: {old.name}" in page.one("ul", "chips").text
    (link,) = client.page(f"/runs/{old.id}").one("p", "statement").inside("a")
    assert link["href"] == listed
    counted = re.fullmatch(r"(\d+) problems?, (\d+) low", link.text)
    assert counted is not None, link.text
    assert sum(map(int, counted.groups())) == len(lines(page))


def test_the_list_is_narrowed_by_its_address(client: PageClient, database: Database) -> None:
    for query, n_classes in [
        ("class=df", 1),
        ("dataset=nope", 0),
        ("hits=champion", 0),
        ("show=snoozed", 0),
        ("rule=F3", 1),
        ("model=effnet-b3&class=df", 1),
    ]:
        listed = client.json(f"/problems.json?{query}")["problems"]

        assert len({each["class_label"] for each in listed}) == n_classes, (query, n_classes)
        assert len(lines(client.page(f"/problems?{query}"))) == len(listed), (query, n_classes)
        assert [int(line["id"]) for line in client.records(f"/problems.csv?{query}")] == [
            each["id"] for each in listed
        ], (query, n_classes)


def test_what_cannot_be_meant_is_said(client: PageClient, database: Database) -> None:
    page = client.page("/problems?show=lost&cause=x&hits=y")

    assert len(page.all("p", "callout")) == 3
    assert lines(page)


def test_a_problem_says_since_when_where_and_what_to_look_at(
    client: PageClient, database: Database
) -> None:
    problem = missed(database)

    page = client.page(f"/problems/{problem.number}")

    assert "0 of 17" in page.one("p", "problem-sentence").text
    assert "effnet-b3 on derm-7" in page.one("p", "subtitle").text
    targets = [link["href"] for link in page.one("article").inside("a")]
    assert {f"/flags/{flag.id}" for flag in problem.flags} <= set(targets)
    for target in targets:
        assert client.get(target).status_code == 200, target
    (missed_examples,) = page.all("ul", "problem-examples")
    assert len(missed_examples.inside("li")) == 5
    assert "17 missed" in page.one("article").text
    assert page.all("svg", "chart")
    assert client.json(f"/problems/{problem.number}.json")["class_label"] == "df"
    assert client.get("/problems/999").status_code == 404


def test_a_problem_beside_the_list_is_below_its_heading(
    client: PageClient, database: Database
) -> None:
    url = f"/problems/{missed(database).number}"

    beside = Page(client.get(url, headers={"HX-Request": "true"}).text)

    assert beside.one("article").inside("h1") == []
    assert beside.one("article").inside("h2")[0].text == client.page(url).one("h1").text
    assert len(client.page("/problems").all("h1")) == 1


def test_a_problem_names_the_best_run_of_any_model_and_where_else_the_class_is_missed(
    client: PageClient, database: Database
) -> None:
    better = [list(line) for line in LESION_COUNTS]
    better[6][6], better[6][0] = 5, better[6][0] - 5
    best = log_counts(database, better, LESIONS, name="b", dataset="derm-7", model="swin")
    other = missed(database, model="swin")

    facts = client.page(f"/problems/{missed(database, model='effnet-b3').number}").one(
        "dl", "facts"
    )

    links = {link.text: link["href"] for link in facts.inside("a")}
    assert links["b"] == f"/runs/{best}"
    assert links["df missed, swin"] == f"/problems/{other.number}"
    assert "29 % (CI 13 to 53 %)" in facts.text


def test_a_problem_says_of_which_run_its_severity_is(
    client: PageClient, database: Database
) -> None:
    better = [list(line) for line in LESION_COUNTS]
    better[6][6], better[6][0] = 8, better[6][0] - 8
    run_id = log_counts(database, better, LESIONS, name="b", dataset="derm-7", model="effnet-b3")
    (found,) = [each for each in problems(database) if each.number == missed(database).number]
    assert found.affected[0].id == run_id

    page = client.page(f"/problems/{found.number}")

    assert "critical in plain, medium in b; effnet-b3" in page.one("p", "subtitle").text
    assert "8 of 17" in page.one("p", "problem-sentence").text


def test_a_drop_is_ringed_in_the_trend_of_its_metric(
    client: PageClient, database: Database
) -> None:
    good, bad = [[190, 10], [10, 190]], [[190, 10], [120, 80]]
    first = log_counts(database, good, ("a", "b"), name="one", dataset="falls", model="vit")
    pin_baseline(database, first, author=None)
    log_counts(database, bad, ("a", "b"), name="two", dataset="falls", model="vit")
    (drop,) = [each for each in problems(database) if each.key.cause is Cause.DROP]

    text = client.get(f"/problems/{drop.number}").text

    assert "Recall by run, oldest first: 0.950 to 0.400; ringed: the drop" in text
    assert text.count('class="ring"') == 1
    assert "120 missed" in text


def test_a_problem_of_costs_ranks_the_runs_by_cost(client: PageClient, database: Database) -> None:
    counts = {"dear": [[90, 10], [90, 10]], "fair": [[95, 5], [20, 80]]}
    for name, matrix in counts.items():
        log_counts(database, matrix, ("a", "b"), name=name, dataset="costly", model=name)
    add_costs(database, project="default", dataset="costly", name="visits",
              weights=np.array([[0.0, 1.0], [20.0, 0.0]]))  # fmt: skip
    set_default_costs(database, project="default", dataset="costly", wanted=CostName("visits"))
    work_off(database)
    (costly,) = [
        each
        for each in problems(database)
        if (each.key.cause, each.key.model) == (Cause.COST, "dear")
    ]

    table = client.page(f"/problems/{costly.number}").one("table", "problem-costs")

    assert [row.text for row in table.inside("tr")[1:]] == ["fair2,025", "dear9,050"]


def test_a_closed_problem_says_so_and_takes_no_decision(
    ana: PageClient, database: Database
) -> None:
    good = [[sum(line) if i == j else 0 for j in range(7)] for i, line in enumerate(LESION_COUNTS)]
    for n in range(3):
        log_counts(database, good, LESIONS, name=f"good {n}", dataset="derm-7", model="effnet-b3")
    number = missed(database).number

    page = ana.page(f"/problems/{number}")

    assert "The newest runs no longer show it." in page.one("p", "problem-sentence").text
    assert not [form for form in page.all("form") if "Accept" in form.text]
    resolved = lines(ana.page("/problems?show=resolved"))
    assert f"/problems/{number}" in {line.inside("a")[0]["href"] for line in resolved}


def test_a_decision_is_carried_out_told_and_can_be_undone(
    ana: PageClient, database: Database
) -> None:
    number = missed(database).number
    path = f"/problems/{number}"
    for action, typed, state, said in (
        ("acknowledge", {}, ProblemState.ACCEPTED, "accepted."),
        ("snooze", {"until": "2099-01-31"}, ProblemState.SNOOZED, "snoozed until 2099-01-31."),
        ("dismiss", {"reason": "known"}, ProblemState.DISMISSED, "dismissed."),
        ("assign", {"assignee": "lee"}, ProblemState.OPEN, "assigned to lee."),
    ):
        response = send(ana, form_to(ana, path, f"{path}/{action}"), typed)
        page = ana.page(response.headers["Location"])

        assert response.status_code == 303
        assert f"P-{number} {said}" in page.one("div", "callout").text
        assert missed(database).state is state
        if state is not ProblemState.OPEN:
            undo = next(f for f in page.all("form") if "Undo" in f.text)
            send(ana, undo, {"action": "reopen"})
            assert missed(database).state is ProblemState.OPEN


def test_a_decision_in_another_tab_is_told_before_it_is_overruled(
    ana: PageClient, database: Database
) -> None:
    first, second, *_ = (each for each in problems(database) if each.key.cause is Cause.MISSED)
    path = f"/problems/{first.number}"
    accept, dismiss = (form_to(ana, path, end) for end in ("/acknowledge", "/dismiss"))
    listed = form_to(ana, "/problems", "/problems")
    undo_of_other = form_to(ana, send(ana, accept).headers["Location"], "/problems")
    now = f"{database.clock():%Y-%m-%d}"
    several = {"problem": chosen(listed, first, second), "reason": "known"}
    for response in (
        send(ana, dismiss, {"reason": "known"}),
        send(ana, listed, {**several, "action": "dismiss"}),
    ):
        (alert,) = Page(response.text).all("div", "callout-warning")
        assert response.status_code == 409
        assert f"P-{first.number} was accepted by ana at {now}" in alert.text
        assert "known" in {field.text for field in Page(response.text).all("textarea")}
    assert missed(database, first.key.class_label).state is ProblemState.ACCEPTED
    assert missed(database, second.key.class_label).state is ProblemState.OPEN

    # What was seen can be overruled, and is not undone by who has not seen that.
    again = form_to(ana, path, "/dismiss")
    assert send(ana, again, {"reason": "known"}).status_code == 303
    assert send(ana, undo_of_other, {"action": "reopen"}).status_code == 409
    assert send(ana, accept).status_code == 409
    assert missed(database, first.key.class_label).state is ProblemState.DISMISSED


def test_selected_problems_that_have_left_the_list_are_named(
    ana: PageClient, database: Database
) -> None:
    first, second, *_ = (each for each in problems(database) if each.key.cause is Cause.MISSED)
    listed = form_to(ana, "/problems", "/problems")
    both = {"problem": chosen(listed, first, second), "reason": " ", "action": "dismiss"}
    stays = Page(send(ana, listed, both).text)
    path = f"/problems/{first.number}"
    send(ana, form_to(ana, path, "/dismiss"), {"reason": "few images"})

    left = Page(send(ana, listed, both | {"reason": "known"}).text)

    gone = "1 selected problem is listed differently now and no longer selected"
    assert gone not in stays.one("main").text
    assert f"{gone}: P-{first.number}." in left.one("main").text
    assert _ticked(stays) - _ticked(left) == {first.number}
    assert second.number in _ticked(left)


def _ticked(page: Page) -> set[int]:
    fields = [each.attributes for each in page.all("input") if "checked" in each.attributes]
    values = [each["value"] for each in fields if each.get("name") == "problem"]
    return {int(part.partition(".")[0]) for value in values for part in value.split(",")}


def test_a_decision_about_a_problem_that_is_gone_ends_on_the_list_with_what_was_typed(
    ana: PageClient, database: Database
) -> None:
    log_counts(database, LESION_COUNTS, LESIONS, name="b", dataset="d", model="b")
    gone = missed(database, model="effnet-b3")
    path = f"/problems/{gone.number}"
    dismiss, comment = (form_to(ana, path, end) for end in ("/dismiss", "/comment"))
    listed = form_to(ana, "/problems", "/problems")
    several = {"problem": chosen(listed, gone), "action": "dismiss"}
    delete_run(database, gone.flags[0].run_id, by=None)

    for form, typed in (
        (dismiss, {"reason": "too few"}),
        (comment, {"comment": "too few"}),
        (listed, {"reason": "too few", **several}),
    ):
        response = send(ana, form, typed)
        page = Page(response.text)
        assert response.status_code == 404
        assert page.one("h1").text == "Problems"
        assert f"P-{gone.number}" in page.one("div", "callout-warning").text
        assert page.one("p", "quote").text == "too few"
        if form is not comment:
            assert "too few" in {each.text for each in page.all("textarea")}


@pytest.mark.parametrize("end", ["/dismiss", "/comment", "/problems"])
def test_what_was_typed_is_sent_again_with_the_name_that_was_missing(
    ana: PageClient, database: Database, end: str
) -> None:
    problem = missed(database)
    form = form_to(ana, "/problems" if end == "/problems" else f"/problems/{problem.number}", end)
    typed = {"reason": "too few\nto count", "comment": "too few\nto count", "action": "dismiss"}
    if end == "/problems":
        typed["problem"] = chosen(form, problem)
    ana.delete_cookie("reader")

    refused = send(ana, form, typed)
    page = Page(refused.text)
    (again,) = [each for each in page.all("form") if "Enter your name" in each.text]
    asked = again.inside("input")[-1].attributes
    wrong = send(ana, again, {"reader": "two\nlines"})
    done = send(ana, again, {"reader": "lee"})

    assert refused.status_code == wrong.status_code == 400
    assert "No name was entered" in page.one("div", "callout-warning").text
    assert "too few to count" in {each.text for each in page.all("p", "quote")}
    assert (asked["name"], asked["value"]) == ("reader", "")
    assert done.status_code == 303
    last = browse_flag(database, missed(database).flags[0].id).history[-1]
    assert (last.author, last.text) == ("lee", "too few\nto count")
    assert "Enter your name" not in ana.get(f"/problems/{problem.number}").text


@pytest.mark.on_postgresql
def test_a_decision_that_was_being_committed_while_the_page_was_read_is_told(
    ana: PageClient, database: Database
) -> None:
    first, second, *_ = (each for each in problems(database) if each.key.cause is Cause.MISSED)
    path = f"/problems/{first.number}"
    with database.write() as session:
        begun = FlagEvent(first.flags[0].id, database.clock(), "kim", FlagEventKind.SNOOZED, None)
        insert_events(session, [begun])
        decide_flags(
            database, [flag.id for flag in second.flags], Action.ACKNOWLEDGE, author="lee"
        )
        alone, listed = form_to(ana, path, "/acknowledge"), form_to(ana, "/problems", "/problems")

    for response in (
        send(ana, alone),
        send(ana, listed, {"problem": chosen(listed, first), "action": "acknowledge"}),
    ):
        assert response.status_code == 409
        assert f"P-{first.number} was snoozed by kim at" in response.text


def test_what_was_decided_about_an_old_run_does_not_refuse_a_decision_from_its_list(
    ana: PageClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = missed(database)
    decide_flags(database, [flag.id for flag in problem.flags], Action.ACKNOWLEDGE, author="kim")
    log_counts(database, LESION_COUNTS, LESIONS, name="b", dataset="derm-7", model="effnet-b3")
    monkeypatch.setattr("offdiag.store.problems.MOST_RUNS", 1)
    listed = form_to(ana, f"/problems?run={problem.flags[0].run_id}", "/problems")

    response = send(ana, listed, {"problem": chosen(listed, problem), "action": "acknowledge"})

    assert response.status_code == 303
    assert missed(database).state is ProblemState.ACCEPTED


def test_several_problems_are_settled_at_once_and_counted_out(
    ana: PageClient, database: Database
) -> None:
    before = n_new(ana)
    chosen = [each for each in problems(database) if each.key.cause is Cause.MISSED][:2]
    token = ana.page("/problems").one("form", id="flag-list").fields()["csrf_token"]
    data = {"csrf_token": token, "action": "dismiss", "reason": "known",
            "problem": ",".join(str(each.number) for each in chosen)}  # fmt: skip

    assert ana.post("/problems", data={**data, "reason": " "}).status_code == 400
    assert ana.post("/problems", data={**data, "problem": ""}).status_code == 400
    assert ana.post("/problems", data={**data, "action": "explode"}).status_code == 400
    assert ana.post("/problems", data=data).status_code == 303

    numbers = {each.number for each in chosen}
    settled = [each for each in problems(database) if each.number in numbers]
    assert {f.status.state for each in settled for f in each.flags} == {FlagState.DISMISSED}
    assert before - n_new(ana) == sum(not each.is_low for each in chosen)


def test_what_is_new_is_new_until_it_was_seen(ana: PageClient, database: Database) -> None:
    page = ana.page("/problems")
    heading = page.all("tr", "problem-group")[0].text
    seen = next(f for f in page.all("form") if "Mark as seen" in f.text)
    assert heading.startswith("New since ")

    now = database.clock
    database.clock = lambda: now() + timedelta(seconds=2)
    response = send(ana, seen)

    assert response.headers["Location"] == "/problems"
    page = ana.page("/problems")
    assert not page.all("tr", "problem-group")
    assert lines(page)
    assert page.all("span", "count") == []
    assert lines(ana.page("/problems?show=new")) == []


def test_one_class_more_is_no_classes(client: PageClient, database: Database) -> None:
    n = MOST_CLASSES + 3
    counts = [[100 if j == 0 and i else 0 for j in range(n)] for i in range(n)]
    counts[0][0] = 5_000
    log_counts(database, counts, [f"c{i}" for i in range(n)], name="some", dataset="some")

    page = client.page("/problems?dataset=some")

    assert any("missed, and 1 more class" in line.text for line in lines(page))
    assert "1 more classes" not in page.one("main").text


def test_many_classes_share_a_line_but_not_on_the_champion(
    client: PageClient, database: Database
) -> None:
    labels = [f"class {i:02d}" for i in range(12)]
    counts = [[100 if j == 0 and i else 0 for j in range(12)] for i in range(12)]
    counts[0][0] = 5_000
    run_id = log_counts(database, counts, labels, name="many", dataset="many", model="vit")

    folded = client.page("/problems?dataset=many")
    (many,) = [line for line in lines(folded) if "more classes" in line.text]
    unfolded = client.page(many.inside("a")[0]["href"])
    with database.write() as session:
        add_promotion(
            session,
            dataset_id=missed(database, labels[1]).key.dataset_id,
            role=PromotionRole.CHAMPION,
            run=(run_id, "many"),
            reason="shipped",
            author="ana",
            now=database.clock(),
        )
    champion = client.page("/problems?dataset=many")

    shown = " ".join(line.text for line in lines(champion))
    assert len(lines(unfolded)) == 11
    assert all(f"“{label}” missed" in shown for label in labels[1:])
    assert "more classes" not in shown
    assert "champion" in lines(champion)[0].text


def test_the_navigation_counts_new_problems_and_asks_seldom(
    client: PageClient, database: Database
) -> None:
    n_new = len(client.json("/problems.json?show=new")["problems"])

    with counted_statements(navigation=True) as statements:
        pages = [client.page("/audit") for _ in range(3)]

    (run_id, *_) = (run["id"] for run in client.json("/runs.json")["runs"])
    with_a_form = client.page(f"/runs/{run_id}/examples")
    assert {page.one("span", "count").text for page in [*pages, with_a_form]} == {f"{n_new} new"}
    assert sum("navigation" in statement for statement in statements) == 2


def test_problems_of_low_severity_are_counted_below_the_list_and_offered_where_it_is_empty(
    client: PageClient, database: Database
) -> None:
    page = client.page("/problems")

    shown, all_of_them = (
        len(client.json(f"/problems.json{query}")["problems"]) for query in ("", "?low=1")
    )
    n_low = all_of_them - shown
    (link,) = [a for a in page.one("main").inside("a") if a.text == f"{n_low} of low severity"]
    assert n_low > 0
    assert link["href"] == "/problems?low=1"
    assert "of low severity not shown" not in client.page("/problems?low=1").one("main").text

    empty = client.page("/problems?class=vasc").one("div", "empty")
    links = {a.text: a["href"] for a in empty.inside("a")}
    assert links["1 of low severity"] == "/problems?class=vasc&low=1"
    assert len(lines(client.page(links["1 of low severity"]))) == 1

    empty = client.page("/problems?dataset=nope").one("div", "empty")
    assert empty.inside("h2")[0].text == "No open problems."
    assert "All open problems" in empty.text
