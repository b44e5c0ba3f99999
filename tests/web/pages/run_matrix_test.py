from datetime import UTC, datetime
from itertools import pairwise

import pytest
from sqlalchemy import update

from offdiag.services.health import beat, heart_of_this_process
from offdiag.services.retention.deletion import delete_run
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, RunRow
from support.dashboard import LESION_COUNTS, LESIONS, LesionRegistry, log_counts, log_lesions
from support.pages import Page, PageClient


@pytest.fixture(scope="module")
def plain(reader: PageClient) -> Page:
    """The page of a run."""
    return reader.page("/runs/{plain}")


def test_the_page_names_run_size_axes_and_errors_and_does_not_poll(
    plain: Page, registry: LesionRegistry
) -> None:
    assert plain.one("title").text == "plain CE · matrix · derm-7 v1 · offdiag"
    assert plain.one("h1").text == f"plain CE {registry.plain}"
    assert plain.one("p", "run-facts").text.startswith("1,503 examples, 7 classes · ")
    assert "Model effnet-b3" in [link.text for link in plain.all("a")]
    table = plain.one("table", "matrix")
    axes = [head.text for head in table.inside("th") if "axis" in head.classes]
    assert axes == ["Predicted →", "Actual ↓"]
    assert table.inside("caption")[0].text.startswith("Rows: actual class. Columns: predicted")
    errors = plain.all("table", "data")[2]
    first = [cell.text for cell in errors.inside("tbody")[0].children[0].children]
    assert (first[0], first[1], first[4]) == ("mel → nv", "59", "5")
    assert first[3].replace("\u202f", " ") == "35 %"
    assert "hx-get" not in plain.one("div", "results").attributes
    assert not [s for s in plain.all("script") if "htmx" in s["src"]]


def test_the_matrix_on_the_page_is_the_one_that_was_logged(reader: PageClient) -> None:
    page = reader.page("/runs/{plain}?norm=none&order=label")

    rows = page.table("matrix")
    assert [row[0] for row in rows] == list(LESIONS)
    shown = [[int(cell.replace(",", "")) for cell in row[1:-1]] for row in rows]
    assert shown == [list(line) for line in LESION_COUNTS]


def test_the_transposed_view_is_the_transposed_csv(reader: PageClient) -> None:
    page = reader.page("/runs/{plain}?norm=none&t=1")
    link = next(a for a in page.all("a") if a.text == "CSV as a grid")

    grid = reader.rows(link["href"])

    axes = [h.text for h in page.one("table", "matrix").inside("th") if "axis" in h.classes]
    assert axes == ["Actual →", "Predicted ↓"]
    assert grid[0] == ["predicted (rows) / actual (columns)", *LESIONS]
    shown = [[cell.replace(",", "") for cell in row[:-1]] for row in page.table("matrix")]
    assert shown == grid[1:]
    assert int(grid[1][2]) == LESION_COUNTS[1][0]


def test_the_csv_of_the_plain_view_says_its_orientation_too(reader: PageClient) -> None:
    grid = reader.rows("/runs/{plain}/matrix.csv?layout=grid")
    cells = reader.rows("/runs/{plain}/matrix.csv")
    turned = reader.rows("/runs/{plain}/matrix.csv?t=1")

    assert grid[0][0] == "actual (rows) / predicted (columns)"
    assert cells[0][:3] == ["actual", "predicted", "count"]
    assert turned[0][:3] == ["predicted", "actual", "count"]
    counted = {(actual, predicted): int(n) for actual, predicted, n, *_ in cells[1:]}
    assert counted == {(actual, predicted): int(n) for predicted, actual, n, *_ in turned[1:]}
    assert counted["mel", "nv"] == 59


def test_the_json_of_both_views_names_its_orientation(reader: PageClient) -> None:
    plain = reader.json("/runs/{plain}/matrix.json?order=label")
    turned = reader.json("/runs/{plain}/matrix.json?order=label&t=1")

    assert (plain["orientation"], plain["axes"]) == ("actual_rows", ["actual", "predicted"])
    assert (turned["orientation"], turned["axes"]) == ("actual_columns", ["predicted", "actual"])
    assert plain["matrix"] == [list(line) for line in LESION_COUNTS]
    assert [list(column) for column in zip(*plain["matrix"], strict=True)] == turned["matrix"]


def test_the_headline_agrees_with_the_json_to_its_last_digit(
    reader: PageClient, plain: Page
) -> None:
    aggregate = reader.json("/runs/{plain}.json")["metrics"]

    rows = plain.table("data")
    values = [row[1] for row in rows]
    keys = ("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1")
    assert values[:4] == [f"{aggregate[key]['value']:.3f}" for key in keys]
    accuracy = aggregate["overall_accuracy"]
    assert rows[0][3] == f"{accuracy['ci_low']:.3f} – {accuracy['ci_high']:.3f}"


def test_the_csv_of_a_run_holds_all_its_aggregates(reader: PageClient) -> None:
    lines = reader.rows("/runs/{plain}.csv")
    aggregate = reader.json("/runs/{plain}.json")["metrics"]

    assert lines[0] == ["key", "value", "reason", "limit", "ci_low", "ci_high", "ci_method"]
    assert {line[0]: float(line[1]) for line in lines[1:] if line[1]} == {
        key: value["value"] for key, value in aggregate.items() if value["value"] is not None
    }


def test_recalls_stand_beside_the_matrix_and_of_two_classes_specificities(
    reader: PageClient,
) -> None:
    rows = _recalls(reader, "/runs/{plain}")

    assert rows[0][:4] == ["nv", "1,006", "987", "0.981"]
    assert rows[-1][:4] == ["df", "17", "0", "0.000"]
    assert rows[0][6:] == [f"{987 / sum(line[0] for line in LESION_COUNTS):.3f}"]
    worst_first = _recalls(reader, "/runs/{plain}?classes=recall")
    assert [row[0] for row in worst_first] == ["df", "akiec", "mel", "bcc", "bkl", "vasc", "nv"]
    of_two = _recalls(reader, "/runs/{binary}")
    assert {row[0]: row[7] for row in of_two} == {"benign": "0.921", "malignant": "0.963"}


@pytest.mark.parametrize(("norm", "order"), [("col", "label"), ("none", "support")])
def test_every_view_has_one_address_and_marks_what_is_chosen(
    reader: PageClient, norm: str, order: str
) -> None:
    page = reader.page(f"/runs/{{plain}}?norm={norm}&order={order}&unknown=1")

    canonical = next(link["href"] for link in page.all("link") if link["rel"] == "canonical")
    again = reader.page(canonical)
    assert "unknown" not in canonical
    assert again.table("matrix") == page.table("matrix")
    current = [a.text for a in page.all("a") if a.attributes.get("aria-current") == "true"]
    assert len(current) == 3


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/runs/{plain}?norm=both", "no normalisation “both”"),
        (
            "/runs/{plain}?slize=site%3Dz",
            "There is no parameter “slize” here. Known parameters: as, ",
        ),
        ("/runs/{many_classes}?focus=nothing", "There is no class “nothing”"),
    ],
)
def test_what_cannot_be_meant_is_a_notice_and_not_an_error(
    reader: PageClient, address: str, said: str
) -> None:
    assert said in reader.page(address).one("main").text


def test_above_thirty_classes_a_window_says_so_and_can_be_moved(reader: PageClient) -> None:
    page = reader.page("/runs/{many_classes}?order=label&focus=class 40")
    # Pictures of a cell that somebody looks at have their place under the table.
    assert len(page.all("div", "cell-examples")) == 1

    names = [row[0] for row in page.table("matrix")]
    assert "class 40" in names
    assert len(names) == 12
    codes = [int(name.removeprefix("class ")) for name in names]
    assert all(later - code in {1, codes[6] - codes[5]} for code, later in pairwise(codes))
    assert "All 60 classes" in [head.text for head in page.all("h2")]
    assert len(page.one("select").inside("option")) == 60
    onwards = page.all("a", aria_label="Next classes")[0]
    assert "class 52" in [row[0] for row in reader.page(onwards["href"]).table("matrix")]


def test_of_many_classes_the_cell_in_the_address_is_told_and_marked(
    reader: PageClient, registry: LesionRegistry
) -> None:
    address = f"/runs/{registry.many_classes}"
    record = reader.json(f"{address}/matrix.json?order=label")
    page = reader.page(f"{address}?focus=class 40&as=class 02")

    count, support = record["matrix"][40][2], sum(record["matrix"][40])
    said = f"actual class 40, predicted class 02: {count} of {support}."
    assert said in [each.text for each in page.all("strong")]
    (cell,) = page.all("td", "is-looked-at")
    assert cell.text.startswith(str(count))
    assert {row[0] for row in page.table("matrix")} >= {"class 40", "class 02"}
    assert len(page.all("rect", "frame")) == 4
    pictures = [each.attributes for each in page.all("source") + page.all("img")]
    # Light, dark, and on paper.
    assert len([each for each in pictures if "matrix.png" in str(each)]) == 3


@pytest.mark.parametrize(
    ("which", "words", "is_warned"),
    [
        ("plain", "rows = actual; counted from predictions", False),
        ("columns", "uploaded as columns = actual, turned when stored, verified", False),
        ("swapped", "looks transposed", True),
        ("inconsistent", "does not fit the dataset", True),
    ],
)
def test_the_orientation_is_told_for_every_verdict(
    reader: PageClient, registry: LesionRegistry, which: str, words: str, is_warned: bool
) -> None:
    run = f"/runs/{getattr(registry, which)}"

    assert any(words in chip.text for chip in reader.page(f"{run}/meta").all("span", "chip"))
    assert ("This matrix" in reader.page(run).one("p", "statement").text) == is_warned


def test_runs_of_a_dataset_lead_on_to_each_other_as_the_list_has_them(
    client: PageClient, database: Database
) -> None:
    oldest = log_lesions(database)
    alone = log_counts(database, LESION_COUNTS, LESIONS, name="elsewhere", dataset="another")
    middle = log_lesions(database, evaluated=False)
    removed, newest = log_lesions(database), log_lesions(database)
    delete_run(database, removed, by=None)

    assert _neighbours(client, f"/runs/{newest}") == {"]": f"/runs/{middle}"}
    assert _neighbours(client, f"/runs/{middle}/meta") == {
        "[": f"/runs/{newest}/meta",
        "]": f"/runs/{oldest}/meta",
    }
    assert _neighbours(client, f"/runs/{oldest}") == {"[": f"/runs/{middle}"}
    assert _neighbours(client, f"/runs/{alone}") == {}


def test_runs_logged_at_the_same_moment_lead_on_by_their_ids(
    client: PageClient, database: Database
) -> None:
    made = {log_lesions(database) for _ in range(3)}
    with database.write() as session:
        session.execute(update(RunRow).values(created_at=datetime(2026, 11, 1, tzinfo=UTC)))
    listed = [run["id"] for run in client.json("/runs.json")["runs"]]
    assert set(listed) == made

    for newer, older in pairwise(listed):
        assert _neighbours(client, f"/runs/{newer}")["]"] == f"/runs/{older}"
        assert _neighbours(client, f"/runs/{older}")["["] == f"/runs/{newer}"


def test_the_metadata_show_the_totals_that_were_compared(reader: PageClient) -> None:
    page = reader.page("/runs/{swapped}/meta")

    first = page.table("data")[0]
    assert first == ["nv", "1,006", "1,112", "no", "1,006", "yes"]


def test_the_metadata_hold_provenance_parameters_and_digests(reader: PageClient) -> None:
    text = reader.page("/runs/{plain}/meta").one("main").text
    record = reader.json("/runs/{plain}/meta.json")

    for fact in ("effnet-b3", "ana", "0123456789abcdef", "lr", "0.001", "labels v1"):
        assert fact in text
    for digest in (
        record["content_digest"],
        record["truth"]["digest"],
        record["labels"]["digest"],
        record["evaluation"]["matrix_digest"],
    ):
        assert digest in text
    assert record["params"] == {"lr": 0.001, "augment": True}


def test_every_value_of_every_class_is_in_the_class_table(reader: PageClient) -> None:
    page = reader.page("/runs/{plain}/classes")
    per_class = reader.json("/runs/{plain}/classes.json")

    row = next(row for row in page.table("data") if row[0] == "mel")
    code = per_class["labels"].index("mel")
    assert row[1] == "168"
    assert row[3].startswith(f"{per_class['per_class']['recall'][code]['value']:.3f}")
    shown = set()
    for link in page.one("ul", "seg").inside("a"):
        heads = reader.page(link["href"]).one("thead").inside("a")
        shown |= {head.text for head in heads}
    assert len(shown) - 1 == len(per_class["per_class"])


def test_undefined_class_values_are_words_with_reasons(reader: PageClient) -> None:
    page = reader.page("/runs/{majority}/classes?show=rates")

    assert "undefined" in page.one("tbody").text
    assert "this class was never predicted" in page.one("main").text
    assert "nan" not in page.one("main").text.lower().split()


@pytest.mark.parametrize(
    ("which", "tab"),
    [
        *(("still_open", ""), ("waiting", ""), ("failed", "")),
        *(("waiting", "/classes"), ("waiting", "/meta"), ("waiting", "/history")),
    ],
)
def test_pages_of_runs_without_metrics_show_what_is_known(
    reader: PageClient, registry: LesionRegistry, which: str, tab: str
) -> None:
    page = reader.page(f"/runs/{getattr(registry, which)}{tab}")

    assert page.one("h1").text
    assert page.one("div", "results").inside("div")[0]["role"] == "status"
    assert not page.all("table", "matrix")
    assert not page.all("table", "data") or tab != "/history"


def test_a_waiting_page_looks_again_by_itself_and_has_a_link_to_do_so(
    reader: PageClient, registry: LesionRegistry
) -> None:
    page = reader.page("/runs/{waiting}")

    results = page.one("div", "results").attributes
    assert (results["hx-get"], results["hx-trigger"]) == (f"/runs/{registry.waiting}", "every 5s")
    config = page.all("meta", name="htmx-config")[0]
    assert '"allowEval": false' in config["content"]
    assert any(link.text == "refresh" for link in page.all("a"))


def test_a_run_that_waits_says_that_no_worker_is_running(
    database: Database, client: PageClient
) -> None:
    run_id = log_lesions(database, name="waiting", evaluated=False)

    def sayings() -> set[bool]:
        paths = (f"/runs/{run_id}", f"/runs/{run_id}/meta", "/runs", "/runs?q=dataset:derm-7")
        texts = [client.page(path).one("main").text for path in paths]
        return {"Start one with offdiag worker." in text for text in texts}

    assert sayings() == {True}
    beat(database, heart_of_this_process("worker", database))
    assert sayings() == {False}


def test_a_failed_run_shows_its_last_error_and_leads_to_the_job_to_try_again(
    reader: PageClient,
) -> None:
    page = reader.page("/runs/{failed}")
    link = next(a for a in page.all("a") if a.text == "See the error and retry")
    job = reader.page(link["href"])

    said = page.one("div", "results").text
    assert "ValueError: wrong shape" in said
    # Damaged predictions make an evaluation fail, too.
    assert "changes no logged data" in said
    assert "unharmed" not in said
    assert "Traceback" not in page.one("main").text
    assert "hx-get" not in page.one("div", "results").attributes
    assert "ValueError: wrong shape" in job.one("main").text


@pytest.mark.parametrize(
    ("which", "status"), [("still_open", 503), ("waiting", 503), ("failed", 409)]
)
def test_exports_of_runs_without_metrics_say_why_there_are_none(
    reader: PageClient, registry: LesionRegistry, which: str, status: int
) -> None:
    run_id = getattr(registry, which)

    for path in ("matrix.json", "classes.json", "matrix.csv", "classes.csv"):
        assert reader.get(f"/runs/{run_id}/{path}").status_code == status
    assert reader.json(f"/runs/{run_id}.json")["metrics"] is None


def test_a_run_whose_truth_has_no_version_yet_is_still_shown(
    client: PageClient, database: Database
) -> None:
    run_id = log_lesions(database)
    with database.write() as session:
        session.query(EvaluationRow).delete()

    page = client.page(f"/runs/{run_id}")

    assert "metrics not computed" in page.one("main").text


def _recalls(client: PageClient, path: str) -> list[list[str]]:
    """The rows of the table of classes."""
    table = client.page(path).all("table", "data")[1]
    rows = table.inside("tbody")[0].inside("tr")
    return [[cell.text for cell in row.children] for row in rows]


def _neighbours(client: PageClient, path: str) -> dict[str, str]:
    """Where the keys [ and ] lead."""
    links = client.page(path).all("a")
    keys = {link.attributes.get("aria-keyshortcuts"): link["href"] for link in links}
    return {key: keys[key] for key in ("[", "]") if key in keys}
