"""Flags where their runs are shown: at the top of a run and in the list of runs."""

import pytest
from sqlalchemy import update

from offdiag.services.flags import triage
from offdiag.services.flags.page import raised_flags
from offdiag.store.database import Database
from offdiag.store.models import FlagRow
from support.dashboard import (
    LESION_COUNTS,
    LESIONS,
    LesionRegistry,
    counted_statements,
    log_counts,
)
from support.flagged import IN_SIGHT
from support.pages import Element, PageClient


@pytest.fixture
def database(lesions_database: Database) -> Database:
    """A registry of its own for each test, with one run whose smallest class is never found."""
    return lesions_database


@pytest.fixture
def lesions(client: PageClient) -> str:
    """The id of that run."""
    run_id: str = client.get("/runs.json").get_json()["runs"][0]["id"]
    return run_id


def warning_of(client: PageClient, run_id: str, tab: str = "") -> str:
    page = client.page(f"/runs/{run_id}{tab}")
    return page.one("div", "callout-hides").text


def badge_flags(database: Database, run_id: str) -> list[int]:
    return [flag.id for flag in raised_flags(database, run_id) if flag.content.in_badge]


@pytest.mark.parametrize("tab", ["", "/classes", "/history", "/meta"])
def test_a_run_says_what_its_accuracy_hides_on_every_page(
    client: PageClient, lesions: str, tab: str
) -> None:
    assert warning_of(client, lesions, tab) == (
        "▲Accuracy hides a minority class. 0.864, but “df” has recall 0 of 17 (95 % CI "
        "0.000 – 0.184); “mel” has recall 96 of 168 (95 % CI 0.496 – 0.644). Flags F-1, F-2."
    )


def test_the_rank_stands_beside_the_accuracy_where_there_are_others(
    client: PageClient, database: Database, lesions: str
) -> None:
    always_nv = [[sum(line), *[0] * 6] for line in LESION_COUNTS]
    dummy = log_counts(database, always_nv, LESIONS, name="dummy", dataset="derm-7")

    assert "class. 0.864, rank 1 of 2, but" in warning_of(client, lesions)
    assert warning_of(client, dummy).startswith(
        "▲Accuracy hides a minority class. 0.669, rank 2 of 2, but every answer is “nv”. Flag F-"
    )


def test_very_many_failing_classes_are_counted(client: PageClient, database: Database) -> None:
    labels = [f"class {code}" for code in range(8)]
    counts = [[0] * 8 for _ in labels]
    counts[0][0] = 900
    for code in range(1, 8):
        counts[code][0], counts[code][code] = 20, 1
    run_id = log_counts(database, counts, labels, dataset="eight")

    assert "; 4 more classes fail." in warning_of(client, run_id)


def test_what_was_dismissed_takes_no_part_but_is_still_named(
    client: PageClient, database: Database, lesions: str
) -> None:
    triage.dismiss_flags(database, badge_flags(database, lesions), reason="known", author="lee")

    page = client.page(f"/runs/{lesions}")

    assert page.all("div", "callout-hides") == []
    named = page.all("ul", "chips")[0].text
    assert "Zero recall: “df” (dismissed)" in named


def test_the_gravest_flags_are_named_and_lead_to_their_pages(
    client: PageClient, lesions: str
) -> None:
    page = client.page(f"/runs/{lesions}")

    links = page.all("ul", "chips")[0].inside("a")
    for link in links:
        assert client.get(link.attributes["href"]).status_code == 200
    assert links[0].text.startswith("▲critical: ")
    assert links[-1].text.startswith("all ")
    assert links[-1].attributes["href"] == f"/flags?run={lesions}&state=all"


def test_a_good_run_has_nothing_to_say(client: PageClient, database: Database) -> None:
    good = log_counts(database, [[500, 3], [2, 495]], ("yes", "no"), name="good", dataset="easy")

    page = client.page(f"/runs/{good}")

    assert page.all("div", "callout-hides") == []
    assert page.all("ul", "chips") == []


def badge_of(client: PageClient, run_id: str) -> list[str]:
    """What stands beside the name of a run in the list."""
    page = client.page("/runs")
    (row,) = [r for r in page.one("table", "data").inside("tr") if _leads_to(r, run_id)]
    return [a.text for a in row.inside("a") if a.attributes["href"].startswith("/flags?")]


def _leads_to(row: Element, run_id: str) -> bool:
    return any(a.attributes["href"] == f"/runs/{run_id}" for a in row.inside("a"))


def test_the_list_of_runs_names_the_classes_that_accuracy_hides(
    client: PageClient, database: Database, lesions: str
) -> None:
    always_nv = [[sum(line), *[0] * 6] for line in LESION_COUNTS]
    dummy = log_counts(database, always_nv, LESIONS, name="dummy", dataset="derm-7")
    good = log_counts(database, [[500, 3], [2, 495]], ("yes", "no"), name="good", dataset="easy")

    assert badge_of(client, lesions) == ["hides df, mel"]
    assert badge_of(client, dummy) == ["hides all but one class"]
    assert badge_of(client, good) == []


def test_many_hidden_classes_are_counted_in_the_list(
    client: PageClient, database: Database
) -> None:
    labels = [f"class {code}" for code in range(8)]
    counts = [[0] * 8 for _ in labels]
    counts[0][0] = 900
    for code in range(1, 8):
        counts[code][0], counts[code][code] = 20, 1
    run_id = log_counts(database, counts, labels, dataset="eight")

    assert badge_of(client, run_id) == ["hides class 1, class 2 +5"]


def test_a_badge_goes_with_the_flags_that_are_dismissed(
    client: PageClient, database: Database, lesions: str
) -> None:
    first, *others = badge_flags(database, lesions)
    triage.acknowledge_flags(database, [first, *others], author="lee")
    assert badge_of(client, lesions) == ["hides df, mel"]

    triage.dismiss_flags(database, [first, *others], reason="known", author="lee")

    assert badge_of(client, lesions) == []


@pytest.mark.parametrize(("sort", "first"), [("-flags", "plain"), ("flags", "other")])
def test_runs_are_sorted_by_the_number_of_classes_they_hide(
    client: PageClient, database: Database, sort: str, first: str
) -> None:
    one_fails = [
        [sum(line) if row == column else 0 for column in range(7)]
        for row, line in enumerate(LESION_COUNTS[:6])
    ]
    one_fails.append(list(LESION_COUNTS[6]))
    log_counts(database, one_fails, LESIONS, name="other", dataset="derm-7")
    log_counts(database, [[50, 0], [0, 50]], ("a", "b"), name="good", dataset="easy")

    runs = client.get(f"/runs.json?sort={sort}").get_json()["runs"]

    assert (runs[0]["name"], runs[-1]["name"]) == (first, "good")
    page = client.page(f"/runs?sort={sort}")
    (head,) = [th for th in page.all("th") if th.text == "Flags"]
    assert head.attributes["aria-sort"] == ("descending" if sort[0] == "-" else "ascending")


@pytest.mark.parametrize("tab", ["", "/classes", "/history", "/meta"])
def test_a_run_with_flags_needs_at_most_six_statements(
    reader: PageClient, registry: LesionRegistry, tab: str
) -> None:
    for run_id in registry.evaluated:
        with counted_statements() as statements:
            reader.get(f"/runs/{run_id}{tab}")

        assert 0 < len(statements) <= 6, statements


@pytest.fixture
def in_sight(client: PageClient, database: Database) -> str:
    """The id of a run with a gap that may or may not be 20 points."""
    return log_counts(database, IN_SIGHT, ("nv", "mel"), name="in sight", dataset="few")


def test_what_accuracy_may_hide_is_said_in_amber_with_the_way_out(
    client: PageClient, in_sight: str
) -> None:
    page = client.page(f"/runs/{in_sight}")

    assert page.all("div", "callout-hides") == []
    assert page.one("div", "callout-may-hide").text.startswith(
        "◇Accuracy may hide a minority class. 0.883, but “mel” has recall 18 of 30 (95 % CI "
        "0.423 – 0.754). A gap of 20 points to the other classes is neither confirmed nor ruled "
        "out; about 150 more of “mel” would decide it. Flag F-"
    )


def test_the_list_of_runs_names_the_classes_that_accuracy_may_hide(
    client: PageClient, lesions: str, in_sight: str
) -> None:
    assert badge_of(client, in_sight) == ["may hide mel"]
    assert badge_of(client, lesions) == ["hides df, mel"]


def test_runs_that_hide_more_classes_come_first_and_then_those_that_may(
    client: PageClient, database: Database, lesions: str, in_sight: str
) -> None:
    good = log_counts(database, [[500, 3], [2, 495]], ("yes", "no"), name="good", dataset="easy")

    found = client.get("/runs.json?sort=-flags").get_json()["runs"]

    assert [run["id"] for run in found] == [lesions, in_sight, good]


def test_the_page_of_a_flag_in_sight_says_so_in_words(client: PageClient, in_sight: str) -> None:
    numbers = client.get(f"/flags.json?run={in_sight}").get_json()["flags"]
    (flag,) = [each for each in numbers if each["rule"] == "F4"]
    page = client.page(f"/flags/{flag['id']}")

    assert (flag["certainty"], flag["in_badge"], flag["may_hide"]) == ("in_sight", False, True)
    assert page.one("h1").text == "Recall may be far below the other classes: “mel”"
    assert page.one("span", "chip-may-hide").text == "◇accuracy may hide a minority class"
    assert "rule F4 v2" in page.one("main").text


def test_the_page_of_a_flag_names_the_version_that_raised_it(
    client: PageClient, database: Database, lesions: str
) -> None:
    with database.write() as session:
        session.execute(update(FlagRow).where(FlagRow.rule == "F4").values(rule_version=1))
    (first, *_) = client.get("/flags.json?rule=F4").get_json()["flags"]

    page = client.page(f"/flags/{first['id']}")

    assert first["rule_version"] == 1
    assert "Version 1 of F4 raised this flag; version 2 is in force." in page.one("main").text
