"""The page of a run that says which three numbers to report, and why."""

from __future__ import annotations

import pytest

from offdiag.store.database import Database
from support.dashboard import LesionRegistry, log_counts
from support.pages import Element, Page, PageClient


def page_of(client: PageClient, run_id: str, **query: str) -> Page:
    response = client.get(f"/runs/{run_id}/advice", query_string=query)
    assert response.status_code == 200
    return Page(response.text)


def cards(page: Page) -> list[Element]:
    return [item for item in page.one("ol", "counsels").children if item.tag == "li"]


def titles(page: Page) -> list[str]:
    return [card.inside("h3")[0].text for card in cards(page)]


def test_three_numbers_are_named_with_their_values_and_reasons_on_the_page_and_its_twin(
    reader: PageClient, registry: LesionRegistry
) -> None:
    page = page_of(reader, registry.plain, goal="misses", about="df")
    link = next(a for a in page.all("a") if a.text == "JSON")
    record = reader.get(link["href"]).get_json()

    assert titles(page) == ["Recall of “df”", "Specificity of “df”", "Informedness of “df”"]
    recall = cards(page)[0]
    assert recall.inside("p")[0].text == "How many of the actual examples of “df” are detected?"
    assert "0.000" in recall.text
    assert "95 % CI 0.000 – 0.184" in recall.text
    assert "It does not depend on the class balance." in recall.text
    assert "It does not depend on false positives or on true negatives." in recall.text
    assert link["href"] == f"/runs/{registry.plain}/advice.json?about=df&goal=misses"
    assert (record["goal"], record["about"], record["balance_known"]) == ("misses", "df", False)
    named = [entry["key"] for entry in record["report"]]
    assert named == ["recall", "specificity", "informedness"]
    assert record["report"][0]["value"]["value"] == 0.0
    assert record["avoid"][0]["value"]["value"] == pytest.approx(0.8643, abs=1e-4)


def test_symmetries_say_what_a_number_would_not_show(
    reader: PageClient, registry: LesionRegistry
) -> None:
    of_two = cards(page_of(reader, registry.binary, goal="misses", about="malignant"))[0]
    of_seven = cards(page_of(reader, registry.plain, goal="misses", about="df"))[0]

    terms, words = of_two.inside("dt"), of_two.inside("dd")
    assert [(dt.text, dd.text) for dt, dd in zip(terms, words, strict=True)] == [
        ("Another class balance", "unchanged"),
        ("A matrix read the wrong way round", "becomes precision"),
        ("The other class called positive", "becomes specificity"),
    ]
    assert len(of_seven.inside("dt")) == 2


def test_the_data_and_what_is_better_left_out_are_told(
    reader: PageClient, registry: LesionRegistry
) -> None:
    page = page_of(reader, registry.plain)

    lines = {row[0]: row[1:] for row in page.table("data")}
    assert lines["Accuracy"][0] == "0.864"
    assert "Always predicting “nv” scores 66.9 %." in lines["Accuracy"][1]
    said = page.one("main").text
    assert "1,503 examples of 7 classes: “nv” has 66.9 %, “df” 1.1 %." in said
    assert "Only 17 of 1,503 examples are “df”" in said


def test_a_known_balance_allows_what_depends_on_it(
    reader: PageClient, registry: LesionRegistry
) -> None:
    unknown = page_of(reader, registry.binary)
    known = page_of(reader, registry.binary, balance="known")

    assert titles(unknown)[0] == "Balanced accuracy"
    assert titles(known)[0] == "Matthews correlation coefficient (MCC)"
    assert "Precision in production follows from" in unknown.one("main").text
    assert "Precision in production follows from" not in known.one("main").text


def test_scores_that_are_missing_are_missed(reader: PageClient, registry: LesionRegistry) -> None:
    page = page_of(reader, registry.plain, goal="ranking")

    assert "There are no scores; log them with y_score=" in page.one("main").text
    assert not [title for title in titles(page) if "ROC" in title]


def test_the_form_leads_to_the_address_that_says_only_what_was_chosen(
    reader: PageClient, registry: LesionRegistry
) -> None:
    path = f"/runs/{registry.plain}/advice"

    sent = reader.get(
        path, query_string={"form": "1", "goal": "misses", "about": "df", "balance": "known"}
    )
    default = reader.get(path, query_string={"form": "1", "goal": "both", "about": ""})

    assert sent.location == f"{path}?about=df&balance=known&goal=misses"
    assert default.location == path
    page = page_of(reader, registry.plain, goal="misses", about="df")
    chosen = [option.text for option in page.all("option") if "selected" in option.attributes]
    assert chosen == ["false negatives: missed examples of a class", "df (17 examples)"]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"goal": "fame"}, "There is no goal “fame”"),
        ({"balance": "perhaps"}, "“perhaps” was ignored"),
        ({"about": "no such class"}, "“no such class”"),
    ],
)
def test_what_cannot_be_meant_is_noticed_and_left_out(
    reader: PageClient, registry: LesionRegistry, query: dict[str, str], says: str
) -> None:
    page = page_of(reader, registry.plain, **query)

    assert says in page.one("main").text
    assert len(titles(page)) == 3


def test_a_twin_without_results_says_why(reader: PageClient) -> None:
    assert reader.get("/runs/{waiting}/advice.json").status_code == 503
    assert reader.get("/runs/{failed}/advice.json").status_code == 409
    assert reader.get("/runs/{plain}/advice.json?about=x").status_code == 400


@pytest.mark.parametrize("which", ["waiting", "failed"])
def test_without_results_the_page_says_where_they_are(
    reader: PageClient, registry: LesionRegistry, which: str
) -> None:
    page = page_of(reader, getattr(registry, which))

    assert page.all("ol", "counsels") == []
    assert page.one("div", "results").text


def test_one_class_alone_is_not_assessable(client: PageClient, database: Database) -> None:
    run_id = log_counts(database, [[5, 1], [0, 0]], ("a", "b"))

    page = page_of(client, run_id)

    assert "Not assessable" in page.one("main").text
    assert "Fewer than two classes have examples." in page.one("main").text


def test_a_class_without_cases_is_no_class_to_ask_about(
    client: PageClient, database: Database
) -> None:
    run_id = log_counts(database, [[5, 1, 0], [1, 5, 0], [0, 0, 0]], ("a", "b", "c"))

    page = page_of(client, run_id, about="c")

    assert "There are no examples of “c”" in page.one("main").text
    assert [o["value"] for o in page.all("option")][-2:] == ["a", "b"]


def test_with_many_classes_the_name_is_typed(client: PageClient, database: Database) -> None:
    size = 101
    band = [[3 if i == j else int(j == (i + 1) % size) for j in range(size)] for i in range(size)]
    run_id = log_counts(database, band, [f"c{i:03d}" for i in range(size)])

    page = page_of(client, run_id, about="c042")

    field = page.one("input", name="about")
    assert field["value"] == "c042"
    assert len(page.elements) < 600


def test_of_equally_frequent_classes_the_first_is_named_as_in_the_head(
    client: PageClient, database: Database
) -> None:
    counts = [[20, 0, 0], [0, 20, 0], [0, 0, 10]]
    run_id = log_counts(database, counts, ("1", "5", "3"), name="tied", dataset="digits")

    page = page_of(client, run_id)

    assert "“1” has 40.0" in page.one("main").text
    head = client.page("/datasets/digits")
    assert "largest “1” 40.0" in head.one("main").text
