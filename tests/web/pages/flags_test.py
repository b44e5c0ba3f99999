"""The inbox of flags, one flag, and the rules, as pages and as JSON and CSV."""

from typing import Any

import pytest

from offdiag.flags.catalogue import RULES
from offdiag.flags.lifecycle import Action
from offdiag.flags.rules import THRESHOLDS_OF
from offdiag.services.flags import triage
from offdiag.services.flags.page import browse_flags
from offdiag.store.database import Database
from offdiag.store.flag_conditions import FlagFilter
from offdiag_web.pages.flags import page
from support.dashboard import LESION_COUNTS, LESIONS, counted_statements, log_counts
from support.pages import PageClient


def numbers_of(database: Database, **wanted: Any) -> list[int]:
    return [entry.flag.id for entry in browse_flags(database, FlagFilter(**wanted)).entries]


@pytest.fixture
def database(lesions_database: Database) -> Database:
    """A registry of its own for each test, with one run whose smallest class is never found."""
    return lesions_database


@pytest.fixture
def lesions(database: Database) -> str:
    """The id of that run."""
    (run_id,) = {entry.flag.run_id for entry in browse_flags(database, FlagFilter()).entries}
    return run_id


def test_a_flag_says_what_is_wrong_how_it_is_known_and_what_was_measured(
    client: PageClient, lesions: str
) -> None:
    page = client.page("/flags/1")
    record = client.json("/flags/1.json")
    lines = client.records("/flags/1.csv")
    classes = {line["class"]: line for line in client.records("/flags/1/classes.csv")}

    assert page.one("h1").text == "Zero recall: “df”"
    evidence = page.one("div", "evidence").text
    assert evidence.startswith("Accuracy 0.864, balanced accuracy 0.630.")
    assert "Recall of “df” is 0 of 17" in evidence
    chips = [chip.text for chip in page.all("span", "chip")]
    assert "▲accuracy hides a minority class" in chips
    # Every threshold stands beside what was measured.
    table = next(t for t in page.all("table") if "Threshold" in t.text)
    heads = [body.inside("tr")[0].text for body in table.inside("tbody")]
    assert heads[0] == "F3 Zero recall, “df”: raised"
    assert sum(head.endswith(": raised") for head in heads) == sum(
        check["fires"] for check in record["checks"]
    )
    assert any(head.endswith(": not raised") for head in heads)
    shown = [row for body in table.inside("tbody") for row in body.inside("tr")[1:]]
    assert len(shown) == len(lines) == sum(len(c["conditions"]) for c in record["checks"])
    first = [cell.text for cell in shown[2].children]
    assert first == ["p of zero recall", "7.629e−06", "≤ 0.007143", "✓ yes"]
    assert float(lines[2]["measured"]) == 0.5**17
    # Recall against class size is drawn, told and listed.
    chart = page.one("svg", "chart")
    assert "“df”, “akiec” and “mel” are entirely below the floor." in chart["aria-label"]
    rows = {row[0]: row[1:] for row in page.table("data")}
    assert rows["df"][:3] == ["17", "0/17", "0.000"]
    assert rows["df"][-1] == "below the floor"
    assert (classes["df"]["found"], classes["df"]["interval_is"]) == ("0", "below")
    assert classes.keys() == set(LESIONS)


def test_runs_to_use_instead_are_named_with_their_price(
    client: PageClient, database: Database
) -> None:
    better = [list(line) for line in LESION_COUNTS]
    better[6] = [5, 0, 0, 0, 0, 0, 12]
    better[0] = [950, 22, 10, 5, 4, 0, 15]
    other = log_counts(database, better, LESIONS, name="focal", dataset="derm-7")

    page = client.page("/flags/1")

    (row,) = next(t for t in page.all("table") if "Recall gain" in t.text).inside("tbody")
    cells = [cell.text for cell in row.inside("tr")[0].children]
    assert cells[1:] == [
        "0.706",
        "+70.6 pp+39.1 to +86.7",
        "detects more, p < 0.001",
        "−1.7 pp−2.7 to −0.8costs accuracy",
    ]
    assert row.inside("a")[0]["href"] == f"/runs/{other}"
    assert "is rank 1 of 2" in page.one("div", "evidence").text


def test_a_flag_about_the_run_has_no_runs_that_are_better_on_a_class(
    client: PageClient, database: Database
) -> None:
    (number,) = numbers_of(database, rule="F6")

    page = client.page(f"/flags/{number}")

    assert page.one("h1").text == "Accuracy far above balanced accuracy"
    assert not [h for h in page.all("h2") if h.text.startswith("Better")]
    assert page.all("svg", "chart")


def test_a_settled_flag_tells_by_whom_and_why(client: PageClient, database: Database) -> None:
    triage.decide_flags(
        database, [1], Action.DISMISS, reason="a known gap\nsince May", author="lee"
    )

    page = client.page("/flags/1")

    last = page.one("ol", "history").inside("li")[-1]
    assert last.text.endswith("lee dismissed it: a known gap since May")
    assert "Reason for dismissing: a known gap since May" in page.one("div", "evidence").text


def test_a_flag_that_does_not_exist_is_not_found(client: PageClient) -> None:
    for path in ("/flags/99", "/flags/99.json", "/flags/99/classes.csv", f"/flags/{10**19}"):
        assert client.get(path).status_code == 404


def test_a_page_that_tells_of_a_failure_asks_the_database_for_nothing(
    client: PageClient, lesions: str
) -> None:
    with counted_statements(navigation=True) as statements:
        response = client.get("/no-such-page")

    assert response.status_code == 404
    assert statements == []


def test_the_rules_show_the_thresholds_in_force_and_where_they_come_from(
    client: PageClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_FLAGS__RECALL_GAP", "0.2")

    page = client.page("/settings/rules")
    lines = client.records("/settings/rules.csv")
    record = client.json("/settings/rules.json")

    assert [card["id"] for card in page.all("section", "rule")] == list(RULES)
    f4 = page.all("section", "rule", id="F4")[0]
    rows = [[cell.text for cell in row.children] for row in f4.inside("tbody")[0].inside("tr")]
    assert rows[0] == [
        "accuracy on all other examples minus recall, or gap of a slice to the rest",
        "0.2",
        "OFFDIAG_FLAGS__RECALL_GAP",
        "flags.recall_gap",
    ]
    assert rows[1][2] == "default"
    by_rule = {rule: [line for line in lines if line["rule"] == rule] for rule in RULES}
    assert {rule: len(found) for rule, found in by_rule.items()} == {
        rule: max(len(names), 1) for rule, names in THRESHOLDS_OF.items()
    }
    assert [rule["version"] for rule in record["rules"]] == [r.version for r in RULES.values()]


def test_the_rules_lead_to_the_metrics_they_look_at(client: PageClient) -> None:
    page = client.page("/settings/rules")

    targets = {link["href"] for card in page.all("section", "rule") for link in card.inside("a")}
    for target in targets:
        assert client.get(target, follow_redirects=True).status_code == 200, target


def test_the_csv_has_the_flags_of_all_pages(
    client: PageClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "FLAGS_READ_AT_ONCE", 20, raising=False)
    classes = [f"class {number}" for number in range(60)]
    log_counts(database, [[30, *[0] * 59]] * 60, classes, dataset="many", name="one class only")

    listed = client.json("/flags.json?dataset=many&state=all")
    lines = client.records("/flags.csv?dataset=many&state=all")

    assert sum(listed["counts"].values()) == len(lines) > len(listed["flags"]) == 50
    ids = [str(flag["id"]) for flag in listed["flags"]]
    assert [line["id"] for line in lines[:50]] == ids
    assert len({line["id"] for line in lines}) == len(lines)
