from offdiag.store.database import Database
from support.dashboard import log_counts
from support.pages import Page, PageClient
from support.revised import CORRECTED, IDS, TRUTH, log_pets, revise
from support.set_runs import log_sets


def test_the_page_of_a_dataset_tells_versions_and_what_the_newest_changed(
    revised_reader: PageClient,
) -> None:
    page = revised_reader.page("/datasets/pets/data")

    second, first = page.table("data")
    assert page.one("h1").text == "pets"
    assert second[:4] == ["v2 ✓active", "corrects v1", "all 60", "ten dogs in the cats' folder"]
    assert second[4].endswith("· ana")
    assert second[6] == "Changed labels of v2 · Impact of v2"
    assert (first[0], first[1], first[5]) == ("v1", "logged", "3")
    counts = {row[0]: row for row in _tables(page)[1]}
    assert counts["dog"][1:] == ["30", "50.0 %", "", "+10"]
    assert counts["cat"][4] == "−10"
    assert counts["fox"][4] == "0"


def test_missing_and_late_labels_are_told_from_corrected_ones(
    revised_reader: PageClient,
) -> None:
    page = revised_reader.page("/datasets/late/data")
    difference = revised_reader.page("/datasets/late/truth/1..2")

    assert page.table("data")[0][2] == "50 of 60 (83.3 %)"
    assert "10 examples not labelled yet" in page.one("main").text
    assert "45 labels differ: 45 given for the first time." in difference.one("main").text
    assert difference.table("matrix")[-1][0] == "no label"


def test_results_of_an_older_truth_are_announced(revised_reader: PageClient) -> None:
    page = revised_reader.page("/datasets/behind/data")

    assert page.one("div", "callout-warning").text.startswith(
        "▲ 1 run still shows results of an older label version."
    )
    assert not revised_reader.page("/datasets/pets/data").all("div", "callout-warning")


def test_a_dataset_of_one_other_project_is_found_by_its_name(
    revised_reader: PageClient,
) -> None:
    response = revised_reader.get("/datasets/twin?from=2")

    assert response.status_code == 302
    assert response.headers["Location"] == "/datasets/twin?from=2&project=b-side"
    assert revised_reader.page(response.headers["Location"]).one("h1").text == "twin"


def test_a_name_that_several_projects_use_is_asked_back(
    client: PageClient, database: Database
) -> None:
    for project in ("left", "right"):
        log_pets(database, TRUTH, name="run", dataset="twin", project=project)

    response = client.get("/datasets/twin")

    assert response.status_code == 400
    assert "one of left, right" in response.text
    ways = {a.text: a["href"] for a in client.page("/datasets/twin?x=1", 400).all("a")}
    assert ways["“twin” in project “left”"] == "/datasets/twin?project=left&x=1"
    assert client.page(ways["“twin” in project “right”"]).one("h1").text == "twin"


def test_a_dataset_that_is_not_in_this_project_is_linked_where_it_is(
    revised_reader: PageClient,
) -> None:
    page = revised_reader.page("/datasets/twin?project=none", 404)

    link = next(a for a in page.all("a") if a.text == "“twin” in project “b-side”")
    assert link["href"] == "/datasets/twin?project=b-side"
    nothing = revised_reader.page("/datasets/nothing?project=none", 404)
    assert not [a for a in nothing.all("a") if "in project" in a.text]


def test_an_unknown_dataset_or_version_is_not_found_in_any_form(
    revised_reader: PageClient,
) -> None:
    versions = [f"pets/truth/{each}" for each in ("1..9", "9..1", "1..99999999999999999999")]
    for path in ("none", "none.json", "none/truth/1..2", "pets?project=none", *versions):
        assert revised_reader.get(f"/datasets/{path}").status_code == 404
    assert "Did you mean “pets”?" in revised_reader.page("/datasets/pest", 404).one("main").text


def test_every_name_has_an_address_of_its_own(client: PageClient, database: Database) -> None:
    for name in ["other", "a/b", "x.json", "..", "~2F", "c\\d", "ö ü?&=#%41", "a.json/b"]:
        log_counts(database, [[3, 1], [1, 3]], ("no", "yes"), dataset=name, evaluated=False)
        home = client.page("/datasets")
        link = next(link for link in home.all("a") if link.text == name)

        page = client.page(link["href"])

        assert page.one("h1").text == name, name
        twins = [a["href"] for a in page.all("a", "button") if a.text == "JSON"]
        assert client.json(twins[0])["name"] == name, name


def test_the_list_of_datasets_leads_to_pages_and_runs(revised_reader: PageClient) -> None:
    page = revised_reader.page("/datasets")

    row = next(row for row in page.table("data") if row[0] == "pets")
    assert row[5:7] == ["v2", "3 on pets"]
    hrefs = {a["href"] for a in page.one("tbody").inside("a")}
    assert {"/datasets/pets", "/runs?q=dataset:pets"} <= hrefs


def test_without_datasets_the_list_says_how_one_is_made(client: PageClient) -> None:
    page = client.page("/datasets")

    assert "Logging a run creates its dataset." in page.one("div", "empty").text
    assert client.json("/datasets.json") == {"datasets": []}


def test_the_difference_page_counts_from_class_to_class_and_lists_samples(
    revised_reader: PageClient,
) -> None:
    page = revised_reader.page("/datasets/pets/truth/1..2")
    same = revised_reader.page("/datasets/pets/truth/2..2")

    table = page.one("table", "matrix")
    axes = [head.text for head in table.inside("th") if "axis" in head.classes]
    assert axes == ["Label in v2 →", "Label in v1 ↓"]
    assert page.table("matrix") == [
        ["cat", "·same class", "10", "10"],
        ["dog", "0", "·same class", "0"],
    ]
    assert page.one("p", "subtitle").text == (
        "10 labels differ: 10 corrected. Reason: ten dogs in the cats' folder (ana)"
    )
    assert page.table("data") == [["cat", "dog", "10", "100 %", ""]]
    assert _tables(page)[1] == [[name, "cat", "dog"] for name in CORRECTED]
    assert same.one("p", "subtitle").text == "No label differs."
    assert same.one("div", "empty").inside("h2")[0].text == "The versions are identical"


def test_many_changed_samples_are_paged(client: PageClient, database: Database) -> None:
    log_pets(database, TRUTH, name="run")
    following = {"cat": "dog", "dog": "fox", "fox": "cat"}
    revise(database, {i: following[label] for i, label in zip(IDS, TRUTH, strict=True)})

    first = client.page("/datasets/pets/truth/1..2")
    link = first.one("nav", "pager").inside("a")[0]
    second = client.page(link["href"])

    assert first.one("nav", "pager").text.startswith("1–50 of 60 changed examples")
    assert (link.text, link["href"]) == ("Next", "/datasets/pets/truth/1..2?from=51")
    assert [row[0] for row in _tables(second)[1]] == list(IDS[50:])


def test_a_place_that_cannot_be_read_is_a_notice(revised_reader: PageClient) -> None:
    page = revised_reader.page("/datasets/pets/data?from=x")

    assert "position in the list is invalid" in page.one("main").text


def _tables(page: Page) -> list[list[list[str]]]:
    return [
        [
            [cell.text for cell in row.children if cell.tag in {"td", "th"}]
            for row in table.inside("tbody")[0].inside("tr")
        ]
        for table in page.all("table", "data")
    ]


def test_the_most_frequent_label_has_its_share_of_the_examples(
    client: PageClient, database: Database
) -> None:
    log_sets(
        database,
        y_true=[{"sea", "sky"}, {"sea"}, {"sky", "sand"}, {"sea"}],
        y_pred=[{"sea"}] * 4,
        labels=("sea", "sky", "sand"),
        dataset="photos",
    )

    (row,) = client.page("/datasets").table("data")

    assert "75.0 %" in [cell.replace("\u202f", " ") for cell in row]
