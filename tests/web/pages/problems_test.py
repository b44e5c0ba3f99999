"""The list of problems, one problem, and decisions about them in the browser."""

from __future__ import annotations

from datetime import timedelta

import pytest

from offdiag.domain.runs import PromotionRole
from offdiag.flags.lifecycle import FlagState
from offdiag.flags.problems import Cause, Problem, ProblemState
from offdiag.store.database import Database
from offdiag.store.problems import find_problems
from offdiag.store.promotions import add_promotion
from support.dashboard import LESION_COUNTS, LESIONS, counted_statements, log_counts
from support.forms import send
from support.pages import Element, Page, PageClient


@pytest.fixture
def database(lesions_database: Database) -> Database:
    """A registry of its own for each test, with one run whose smallest class is never found."""
    return lesions_database


@pytest.fixture
def registry(database: Database) -> Database:
    """The registry that `client` shows."""
    return database


@pytest.fixture
def ana(client: PageClient, registry: Database) -> PageClient:
    """A reader who said who she is."""
    client.post("/preferences", data={"reader": "ana"})
    return client


def problems(database: Database) -> list[Problem]:
    with database.read() as session:
        return list(find_problems(session, now=database.clock()).problems)


def missed(database: Database, label: str = "df") -> Problem:
    (found,) = [
        each
        for each in problems(database)
        if (each.key.cause, each.key.class_label) == (Cause.MISSED, label)
    ]
    return found


def lines(page: Page) -> list[Element]:
    return page.all("tr", "problem-line")


def form_of(client: PageClient, path: str, action: str) -> Element:
    return next(f for f in client.page(path).all("form") if f.attributes.get("action") == action)


def n_new(client: PageClient) -> int:
    """What the navigation counts, which says nothing where that is nothing."""
    shown = client.page("/problems").all("span", "count")
    return int(shown[0].text.split()[0]) if shown else 0


def test_a_line_says_what_is_wrong_where_how_often_and_how_much(
    client: PageClient, registry: Database
) -> None:
    again = log_counts(registry, LESION_COUNTS, LESIONS, name="b", dataset="derm-7",
                       model="effnet-b3")  # fmt: skip
    page = client.page("/problems")

    line = next(each for each in lines(page) if "df missed" in each.text)
    problem = missed(registry)
    assert line.inside("a")[0].attributes["href"] == f"/problems/{problem.number}"
    for said in ("critical", "effnet-b3 · derm-7", "0 found", "2 of 2", "0 of 17"):
        assert said in line.text, said
    assert again == problem.affected[0].id
    assert "<svg" in client.get("/problems").text
    assert "Not enough labels" not in page.one("main").text
    assert "Not enough labels" in client.page("/problems?low=1").one("main").text


def test_old_addresses_of_flags_lead_to_problems(client: PageClient, registry: Database) -> None:
    number = missed(registry).number
    for old, new in (
        ("/flags", "/problems"),
        ("/flags?dataset=derm-7&class=df", "/problems?class=df&dataset=derm-7"),
        ("/flags?state=dismissed", "/problems?show=resolved"),
    ):
        assert client.get(old).headers["Location"] == new
    flag = missed(registry).flags[0].id
    assert f"/problems/{number}" in {
        link.attributes["href"] for link in client.page(f"/flags/{flag}").all("a")
    }


@pytest.mark.parametrize(
    ("query", "n_classes"),
    [("class=df", 1), ("dataset=nope", 0), ("hits=champion", 0), ("show=snoozed", 0),
     ("rule=F3", 1), ("model=effnet-b3&class=df", 1)],
)  # fmt: skip
def test_the_list_is_narrowed_by_its_address(
    client: PageClient, registry: Database, query: str, n_classes: int
) -> None:
    listed = client.json(f"/problems.json?{query}")["problems"]

    assert len({each["class_label"] for each in listed}) == n_classes
    assert len(lines(client.page(f"/problems?{query}"))) == len(listed)
    assert [int(line["id"]) for line in client.records(f"/problems.csv?{query}")] == [
        each["id"] for each in listed
    ]


def test_what_cannot_be_meant_is_said(client: PageClient, registry: Database) -> None:
    page = client.page("/problems?show=lost&cause=x&hits=y")

    assert len(page.all("p", "callout")) == 3
    assert lines(page)


def test_a_problem_says_since_when_where_and_what_to_look_at(
    client: PageClient, registry: Database
) -> None:
    problem = missed(registry)

    page = client.page(f"/problems/{problem.number}")

    assert "0 of 17 in the newest run." in page.one("p", "problem-sentence").text
    targets = {link.attributes["href"] for link in page.one("dl", "facts").inside("a")}
    assert {f"/flags/{flag.id}" for flag in problem.flags} <= targets
    for target in targets:
        assert client.get(target).status_code == 200, target
    assert client.json(f"/problems/{problem.number}.json")["class_label"] == "df"
    assert client.get("/problems/999").status_code == 404


@pytest.mark.parametrize(
    ("action", "typed", "state", "said"),
    [
        ("acknowledge", {}, ProblemState.ACCEPTED, "acknowledged."),
        ("snooze", {"until": "2099-01-31"}, ProblemState.SNOOZED, "put aside until 2099-01-31."),
        ("dismiss", {"reason": "known"}, ProblemState.DISMISSED, "dismissed."),
        ("assign", {"assignee": "lee"}, ProblemState.OPEN, "assigned to lee."),
    ],
)
def test_a_decision_is_carried_out_told_and_can_be_undone(
    ana: PageClient,
    registry: Database,
    action: str,
    typed: dict[str, str],
    state: ProblemState,
    said: str,
) -> None:
    number = missed(registry).number
    path = f"/problems/{number}"

    response = send(ana, form_of(ana, path, f"{path}/{action}"), typed)
    page = ana.page(response.headers["Location"])

    assert response.status_code == 303
    assert f"P-{number} {said}" in page.one("div", "callout").text
    assert missed(registry).state is state
    if state is not ProblemState.OPEN:
        undo = next(f for f in page.all("form") if "Undo" in f.text)
        send(ana, undo, {"action": "reopen"})
        assert missed(registry).state is ProblemState.OPEN


def test_several_problems_are_settled_at_once_and_counted_out(
    ana: PageClient, registry: Database
) -> None:
    before = n_new(ana)
    chosen = [each for each in problems(registry) if each.key.cause is Cause.MISSED][:2]
    form = next(
        f for f in ana.page("/problems").all("form") if f.attributes.get("id") == "flag-list"
    )
    token = next(
        field.attributes["value"]
        for field in form.inside("input")
        if field.attributes.get("name") == "csrf_token"
    )
    data = {"csrf_token": token, "action": "dismiss", "reason": "known",
            "problem": ",".join(str(each.number) for each in chosen)}  # fmt: skip

    assert ana.post("/problems", data={**data, "reason": " "}).status_code == 400
    assert ana.post("/problems", data={**data, "problem": ""}).status_code == 400
    assert ana.post("/problems", data={**data, "action": "explode"}).status_code == 400
    assert ana.post("/problems", data=data).status_code == 303

    numbers = {each.number for each in chosen}
    settled = [each for each in problems(registry) if each.number in numbers]
    assert {f.status.state for each in settled for f in each.flags} == {FlagState.DISMISSED}
    assert before - n_new(ana) == sum(not each.is_low for each in chosen)


def test_what_is_new_is_new_until_it_was_seen(ana: PageClient, registry: Database) -> None:
    page = ana.page("/problems")
    heading = page.all("tr", "problem-group")[0].text
    seen = next(f for f in page.all("form") if "Mark as seen" in f.text)
    assert heading.startswith("New since ")

    now = registry.clock
    registry.clock = lambda: now() + timedelta(seconds=2)
    response = send(ana, seen)

    assert response.headers["Location"] == "/problems"
    page = ana.page("/problems")
    assert [group.text.split()[0] for group in page.all("tr", "problem-group")] == ["Open"]
    assert page.all("span", "count") == []
    assert lines(ana.page("/problems?show=new")) == []


def test_many_classes_share_a_line_but_not_on_the_champion(
    client: PageClient, registry: Database
) -> None:
    labels = [f"class {i:02d}" for i in range(12)]
    counts = [[100 if j == 0 and i else 0 for j in range(12)] for i in range(12)]
    counts[0][0] = 5_000
    run_id = log_counts(registry, counts, labels, name="many", dataset="many", model="vit")

    folded = client.page("/problems?dataset=many")
    (many,) = [line for line in lines(folded) if "more classes" in line.text]
    unfolded = client.page(many.inside("a")[0].attributes["href"])
    with registry.write() as session:
        add_promotion(
            session,
            dataset_id=missed(registry, labels[1]).key.dataset_id,
            role=PromotionRole.CHAMPION,
            run=(run_id, "many"),
            reason="shipped",
            author="ana",
            now=registry.clock(),
        )
    champion = client.page("/problems?dataset=many")

    shown = " ".join(line.text for line in lines(champion))
    assert len(lines(unfolded)) == 11
    assert all(f"{label} missed" in shown for label in labels[1:])
    assert "more classes" not in shown
    assert "champion" in lines(champion)[0].text


def test_the_navigation_counts_new_problems_and_asks_seldom(
    client: PageClient, registry: Database
) -> None:
    n_new = len(client.json("/problems.json?show=new")["problems"])

    with counted_statements(navigation=True) as statements:
        pages = [client.page("/audit") for _ in range(3)]

    assert {page.one("span", "count").text for page in pages} == {f"{n_new} new"}
    assert sum("navigation" in statement for statement in statements) == 3


def test_a_list_without_problems_says_so(client: PageClient, registry: Database) -> None:
    page = client.page("/problems?dataset=nope")

    assert page.one("div", "empty").inside("h2")[0].text == "No open problems."
