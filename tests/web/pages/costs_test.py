"""Cost matrices: their list, their versions, and the forms that make new ones."""

import pytest

from offdiag.domain.texts import CostName
from offdiag.services.cost_matrices import add_costs, set_default_costs
from offdiag.store import cost_matrices
from offdiag.store.cost_matrices import CostMatrixRecord
from offdiag.store.database import Database
from support.dashboard import HOSTILE_NAMES, LESIONS, counted_statements, log_counts, log_lesions
from support.filled_once import filled_once
from support.forms import forms_of, send
from support.logging_runs import work_off
from support.pages import Element, Page, PageClient
from support.set_runs import log_sets
from support.sound import assert_harmless, cells_without_formulas

PLAIN = {
    actual: {predicted: float(actual != predicted) for predicted in LESIONS} for actual in LESIONS
}


def save(database: Database, name: str = "triage", missed: float = 1.0) -> CostMatrixRecord:
    weights = {actual: dict(row) for actual, row in PLAIN.items()}
    weights["mel"]["nv"] = missed
    return add_costs(
        database,
        project="default",
        dataset="derm-7",
        name=name,
        weights=weights,
        currency="EUR",
        note=f"a miss is {missed:g}",
        author="ana",
    )


@pytest.fixture
@filled_once
def costs(database: Database) -> CostMatrixRecord:
    """The second version of a cost matrix, the default of its dataset."""
    log_lesions(database)
    save(database)
    newest = save(database, missed=20.0)
    set_default_costs(database, project="default", dataset="derm-7", wanted=CostName("triage"))
    work_off(database)
    return newest


def stored(database: Database, name: str) -> list[CostMatrixRecord]:
    with database.read() as session:
        newest = cost_matrices.find_costs(session, project="default", name=name)
        assert newest is not None
        return [
            found
            for version in range(1, newest.version + 1)
            if (
                found := cost_matrices.find_costs(
                    session, project="default", name=name, version=version
                )
            )
        ]


def test_without_costs_the_page_says_what_that_means(client: PageClient) -> None:
    page = client.page("/costs")

    assert "every error counts the same" in page.one("div", "empty").text
    assert page.one("a", "button-solid")["href"] == "/costs/new"


def test_a_cost_matrix_shows_who_uses_it_and_what_its_newest_version_changed(
    client: PageClient, costs: CostMatrixRecord
) -> None:
    (line,) = client.page("/costs").table("data")
    assert line[:5] == ["triage", "v2", "7", "EUR", "default of derm-7"]
    assert line[5] == "a miss is 20"

    page = client.page("/costs/triage")
    assert page.one("h1").text == "triage v2"
    assert "1 cost changed." in page.one("main").text
    changed = page.all("table", "data")[0].inside("tbody")[0]
    assert [cell.text for cell in changed.inside("tr")[0].children] == [
        *("mel → nv", "1", "20", "× 20")
    ]
    assert page.link("v1") == "/costs/triage?v=1"

    back = client.page("/costs/triage?v=1&from=2").one("main").text
    assert "What changed from v2 to v1" in back
    assert "There is a newer version" in back

    record = client.json("/costs/triage.json")
    assert record["weights"]["mel"]["nv"] == 20
    assert record["changed_from"]["cells"] == [
        {"actual": "mel", "predicted": "nv", "before": 1.0, "after": 20.0}
    ]
    assert [each["version"] for each in record["versions"]] == [2, 1]


def test_the_csv_of_a_version_can_be_uploaded_again(
    client: PageClient, costs: CostMatrixRecord, database: Database
) -> None:
    text = client.get("/costs/triage.csv").text
    (form,) = forms_of(client, "/costs/new?dataset=derm-7")

    send_table = send(client, form, {"name": "copy", "table": text, "action": "save"})

    assert send_table.status_code == 303
    (copy,) = stored(database, "copy")
    assert copy.costs.weights.tolist() == costs.costs.weights.tolist()


def test_saving_the_form_makes_a_new_version_and_leaves_the_old_one(
    client: PageClient, costs: CostMatrixRecord, database: Database
) -> None:
    (form,) = forms_of(client, "/costs/triage/new")
    typed = _typed(form) | {"w1.0": "40", "note": "doubled", "author": "lee", "action": "save"}

    response = send(client, form, typed)

    assert response.location == "/costs/triage?v=3"
    first, second, third = stored(database, "triage")
    assert (first.costs.weights[1, 0], second.costs.weights[1, 0]) == (1, 20)
    assert (third.costs.weights[1, 0], third.note, third.author) == (40, "doubled", "lee")


def test_a_pasted_table_in_another_order_is_matched_by_name(
    client: PageClient, costs: CostMatrixRecord, database: Database
) -> None:
    names = list(reversed(LESIONS))
    lines = ["\t".join(["", *names])]
    lines += [
        "\t".join([a, *(str(int(a != p) * (7 if (a, p) == ("df", "nv") else 1)) for p in names)])
        for a in names
    ]
    (form,) = forms_of(client, "/costs/triage/new")

    send(client, form, {"table": "\n".join(lines), "action": "save"})

    newest = stored(database, "triage")[-1]
    assert newest.costs.labels.names == LESIONS
    assert newest.costs.weights[LESIONS.index("df"), LESIONS.index("nv")] == 7
    assert newest.costs.weights.sum() == 42 + 6


def test_checking_puts_the_table_into_the_fields_and_says_what_is_odd(
    client: PageClient, costs: CostMatrixRecord, database: Database
) -> None:
    (form,) = forms_of(client, "/costs/triage/new")
    lines = [["0" if i == j else "3" for j in range(7)] for i in range(7)]
    lines[6] = ["2"] * 7

    response = send(client, form, {"table": "\n".join(map(",".join, lines)), "action": "check"})

    page = Page(response.text)
    assert _field(page, "w0.1") == "3"
    assert page.one("textarea").text == ""
    assert "Actual “df”: every prediction costs the same" in page.one("main").text
    assert len(stored(database, "triage")) == 2


def test_the_list_has_a_column_of_currencies_if_any_costs_have_one(
    client: PageClient, costs: CostMatrixRecord
) -> None:
    def heads() -> list[str]:
        return [head.text for head in client.page("/costs").one("thead").inside("th")]

    assert "Currency" in heads()
    (form,) = forms_of(client, "/costs/triage/new")
    send(client, form, _typed(form) | {"currency": "", "action": "save"})
    assert "Currency" not in heads()


def test_what_cannot_be_saved_is_shown_again_with_what_was_typed(
    client: PageClient, costs: CostMatrixRecord, database: Database
) -> None:
    (form,) = forms_of(client, "/costs/triage/new")
    typed = {"note": "kept", "action": "save", "table": "0,1\n1"}

    response = send(client, form, _typed(form) | typed)

    page = Page(response.text)
    assert response.status_code == 422
    assert "line 2 has 1 fields" in page.one("div", "callout-warning").text.lower()
    assert _field(page, "note") == "kept"
    assert len(stored(database, "triage")) == 2


def test_fields_that_are_no_costs_are_marked(client: PageClient, costs: CostMatrixRecord) -> None:
    (form,) = forms_of(client, "/costs/triage/new")
    typed = {"w0.1": "abc", "w1.0": "", "action": "save"}

    page = Page(send(client, form, _typed(form) | typed).text)

    wrong = page.all("input", aria_invalid="true")
    assert [(field["name"], field["value"]) for field in wrong] == [("w0.1", "abc"), ("w1.0", "")]
    assert "is “abc” (1 more is marked). Enter" in page.one("span", id="error-cells").text
    assert not Page(client.get(form["action"]).text).all("input", aria_invalid="true")


def test_new_costs_have_a_usable_name_and_can_become_the_default_at_once(
    client: PageClient, costs: CostMatrixRecord
) -> None:
    (form,) = forms_of(client, "/costs/new?dataset=derm-7")

    refused = send(client, form, _typed(form) | {"name": "a@2", "action": "save"})
    send(client, form, _typed(form) | {"name": "equal", "default": "1", "action": "save"})

    assert refused.status_code == 422
    assert "contains an @" in refused.text
    lines = {line[0]: line[4] for line in client.page("/costs").table("data")}
    assert lines == {"equal": "default of derm-7", "triage": ""}


def test_new_costs_with_a_name_in_use_become_its_next_version_once_that_is_said(
    client: PageClient, costs: CostMatrixRecord, database: Database
) -> None:
    (form,) = forms_of(client, "/costs/new?dataset=derm-7")
    typed = _typed(form) | {"name": "triage", "w1.0": "40", "action": "save"}

    refused = send(client, form, typed)

    page = Page(refused.text)
    assert refused.status_code == 422
    assert "Cost matrix “triage” already exists, in version 2." in page.one("main").text
    assert "Save again to make this its version 3, or change the name." in page.one("main").text
    assert _field(page, "w1.0") == "40"
    assert "/costs/triage" in [link["href"] for link in page.one("main").inside("a")]
    assert len(stored(database, "triage")) == 2
    again = typed | {"seen": _field(page, "seen")}
    assert send(client, form, again | {"name": "other"}).location == "/costs/other?v=1"
    for _ in range(2):
        assert send(client, form, again).location == "/costs/triage?v=3"
    # Sent twice, as by a second click: nothing is asked, and nothing is stored twice.
    assert send(client, form, typed).location == "/costs/triage?v=3"


def test_what_another_tab_changed_is_not_undone_without_a_word(
    client: PageClient, costs: CostMatrixRecord, database: Database
) -> None:
    (form,) = forms_of(client, "/costs/triage/new")
    typed = _typed(form) | {"action": "save"}
    assert send(client, form, typed | {"w1.0": "40"}).location == "/costs/triage?v=3"

    refused = send(client, form, typed | {"w0.1": "7"})

    page = Page(refused.text)
    assert refused.status_code == 422
    assert "“triage” has a version 3 since this form was opened." in page.one("main").text
    assert "without what version 3 changed" in page.one("main").text
    assert _field(page, "w0.1") == "7"
    again = typed | {"w0.1": "7", "seen": _field(page, "seen")}
    assert send(client, form, again).location == "/costs/triage?v=4"


def test_a_dataset_can_be_judged_by_any_version(
    client: PageClient, costs: CostMatrixRecord
) -> None:
    (form,) = forms_of(client, "/costs/triage?v=1")

    response = send(client, form)

    assert response.location == "/costs/triage?v=1"
    assert "v1" in client.page("/costs/triage").all("dl", "facts")[0].text


def test_the_form_asks_for_the_dataset_where_there_are_several(
    client: PageClient, costs: CostMatrixRecord, database: Database
) -> None:
    log_counts(database, [[3, 1], [1, 3]], ("a", "b"), dataset="other", project="clinic")
    log_sets(database, dataset="of sets")

    items = client.page("/costs/new").one("ul", "choices").inside("li")

    assert [item.text for item in items] == ["other clinic", "derm-7"]
    form = client.page(items[0].inside("a")[0]["href"])
    assert "For the 2 classes of other." in form.one("main").text


def test_a_project_without_datasets_has_nothing_to_price(client: PageClient) -> None:
    assert "No datasets yet" in client.page("/costs/new").one("main").text


def test_many_classes_are_priced_by_a_table(client: PageClient, database: Database) -> None:
    labels = [f"c{code}" for code in range(40)]
    log_counts(
        database,
        [[1 if i == j else 0 for j in range(40)] for i in range(40)],
        labels,
        dataset="wide",
    )
    page = client.page("/costs/new")
    assert "w0.0" not in [field.attributes.get("name") for field in page.all("input")]
    (form,) = forms_of(client, "/costs/new")
    lines = [[str(int(i != j) * (i + 1)) for j in range(40)] for i in range(40)]
    table = "\n".join(map("\t".join, lines))

    checked = Page(
        send(client, form, {"name": "wide", "table": table, "action": "check"}).get_data(
            as_text=True
        )
    )
    send(client, form, {"name": "wide", "table": table, "action": "save"})

    assert len(checked.one("textarea").text.split()) == 1_600
    shown = client.page("/costs/wide")
    assert "these are the highest costs" in shown.one("main").text
    assert shown.all("table", "data")[0].inside("tbody")[0].inside("tr")[0].text == "c39 → c040"


def test_what_does_not_exist_is_not_found(client: PageClient, costs: CostMatrixRecord) -> None:
    for path in ["/costs/none", "/costs/triage?v=7", "/costs/none/new"]:
        assert client.get(path).status_code == 404, path
    assert "Did you mean “triage”?" in client.page("/costs/triaeg", 404).one("main").text
    assert "Did you mean" not in client.page("/costs/triage?v=7", 404).one("main").text


@pytest.mark.parametrize(("path", "most"), [("/costs", 4), ("/costs/triage", 6)])
def test_pages_need_few_statements(
    client: PageClient, costs: CostMatrixRecord, database: Database, path: str, most: int
) -> None:
    client.get(path)
    with counted_statements() as before:
        client.get(path)
    for number in range(5):
        save(database, name=f"other {number}")
        save(database, missed=30.0 + number)

    with counted_statements() as after:
        client.get(path)

    assert len(after) == len(before) <= most


def test_hostile_names_are_text(client: PageClient, database: Database) -> None:
    labels = HOSTILE_NAMES[:4]
    log_counts(
        database,
        [[3 if i == j else 1 for j in range(4)] for i in range(4)],
        labels,
        dataset=HOSTILE_NAMES[1],
    )
    add_costs(
        database,
        project="default",
        dataset=HOSTILE_NAMES[1],
        name=HOSTILE_NAMES[0],
        weights={a: {p: float(a != p) for p in labels} for a in labels},
        note=HOSTILE_NAMES[5],
        author=HOSTILE_NAMES[2],
    )
    (line,) = client.json("/costs.json")["cost_matrices"]
    address = line["url"].replace(".json", "")

    for path in ("/costs", address, f"{address}/new", "/costs/new"):
        page = client.page(path)
        assert_harmless(page)
        assert HOSTILE_NAMES[0] in page.one("main").text or path == "/costs/new"
    assert cells_without_formulas(client.get(f"{address}.csv").text)


def _field(page: Page, name: str) -> str:
    return page.value(name)


def _typed(form: Element) -> dict[str, str]:
    """What the cells of a form hold."""
    return {name: value for name, value in form.fields().items() if name.startswith("w")}
