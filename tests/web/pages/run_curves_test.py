import pytest
from sqlalchemy import delete

from offdiag.store.database import Database
from offdiag.store.models import ScoreCurveRow
from support.dashboard import LesionRegistry
from support.logging_runs import log_ill, work_off
from support.pages import Page, PageClient
from support.scored_runs import ScoredRegistry, log_scored, scored_cases


def test_a_rare_positive_class_shows_precision_and_recall_first(scored_reader: PageClient) -> None:
    rare = scored_reader.page("/runs/{event}/curves")
    common = scored_reader.page("/runs/{event}/curves?positive=fine")

    assert _headings(rare)[:2] == ["Precision and recall", "ROC curve"]
    assert _headings(common)[:2] == ["ROC curve", "Precision and recall"]


def test_the_numbers_above_the_curves_are_the_stored_ones_with_their_intervals(
    scored_reader: PageClient,
) -> None:
    page = scored_reader.page("/runs/{event}/curves")
    aggregate = scored_reader.json("/runs/{event}.json")["metrics"]

    keys = ("roc_auc", "average_precision", "brier_half", "log_loss", "ece_positive_15")
    values = [tile.text for tile in page.all("p", "tile-value")]
    assert values == [f"{aggregate[key]['value']:.3f}" for key in keys]
    *with_ends, of_error = page.all("p", "tile-facts")
    assert "a calibrated model would show about" in of_error.text
    assert aggregate["ece_positive_15"]["ci_method"].endswith(of_error.text)
    for facts, key in zip(with_ends, keys[:-1], strict=True):
        low, high = aggregate[key]["ci_low"], aggregate[key]["ci_high"]
        assert f"95 % CI {low:.3f} – {high:.3f}" in facts.text
    assert "no skill 0.500" in page.all("p", "tile-facts")[0].text


def test_every_line_of_the_threshold_table_is_exact_and_the_one_in_use_is_marked(
    scored_reader: PageClient,
) -> None:
    page = scored_reader.page("/runs/{event}/curves")
    matrix = scored_reader.json("/runs/{event}/matrix.json?order=label")

    lines = _thresholds(page)
    in_use = next(line for line in lines if "in use" in line[1])
    (_, false_alarms), (missed, hits) = matrix["matrix"]
    assert in_use[0] == "0.3"
    assert int(in_use[2]) == hits + false_alarms
    assert in_use[3] == f"{hits}/{hits + missed}"
    thresholds = [float(line[0]) for line in lines]
    assert thresholds == sorted(thresholds, reverse=True)
    assert {"0.1", "0.5", "0.9"} <= {line[0] for line in lines}
    assert "match predicting “fraud” at scores of at least 0.30" in page.one("main").text
    assert len(page.all("circle", "ring")) == 2


def test_every_picture_has_a_name_a_table_and_a_csv(
    scored_reader: PageClient, scored: ScoredRegistry
) -> None:
    for path in (f"/runs/{scored.event}/curves", f"/runs/{scored.several}/curves"):
        page = scored_reader.page(path)
        for card in page.all("section", "card"):
            pictures = card.inside("svg")
            if not pictures:
                continue
            assert all(svg["aria-label"] for svg in pictures)
            assert {svg["role"] for svg in pictures} == {"img"}
            links = {link.text for link in card.inside("a")}
            assert "CSV" in links
            assert "Table" in links or card.inside("table")


def test_the_other_class_is_seen_from_its_own_side(scored_reader: PageClient) -> None:
    page = scored_reader.page("/runs/{margins}/curves?positive=well")

    text = page.one("main").text
    assert (
        "An example is predicted positive when its score of “sick” is below the threshold." in text
    )
    assert "predicting “well” where the score of “sick” is below 0.60" in text
    assert page.one("title").text.startswith("svm · curves of well")


def test_predictions_of_one_class_match_a_threshold_beyond_all_scores(
    client: PageClient, database: Database
) -> None:
    run = log_ill(database, y_true=["ill", "well", "well"], p=[0.9, 0.8, 0.3], cut=0.1)
    work_off(database)

    text = client.page(f"/runs/{run.id}/curves?positive=well").one("main").text

    assert "The predictions of this run match a threshold below all scores." in text


def test_scores_that_are_no_probabilities_have_no_calibration_and_say_why(
    scored_reader: PageClient,
) -> None:
    page = scored_reader.page("/runs/{margins}/curves")

    assert "Calibration" not in _headings(page)
    assert "the scores are not probabilities" in page.one("main").text
    assert "Score distribution" in _headings(page)


def test_the_worst_classes_come_first_twelve_at_a_time(scored_reader: PageClient) -> None:
    per_class = scored_reader.json("/runs/{many}/classes.json")
    areas = dict(
        zip(
            per_class["labels"],
            (value["value"] for value in per_class["per_class"]["average_precision"]),
            strict=True,
        )
    )
    first = scored_reader.page("/runs/{many}/curves")
    second = scored_reader.page(first.link("Next"))

    names = [
        *(_names_of(first)),
        *(_names_of(second)),
    ]
    assert len(_names_of(first)) == 12
    assert names == sorted(areas, key=lambda name: areas[name])
    assert first.one("nav", "pager").text.startswith("1–12 of 24 classes")


def test_the_other_kind_of_curve_ranks_by_its_own_area(scored_reader: PageClient) -> None:
    page = scored_reader.page("/runs/{many}/curves?curve=roc")

    shown = [each.text for each in page.one("ul", "multiples").inside("p")]
    areas = [float(text.split()[2]) for text in shown]
    assert all(text.startswith("ROC AUC ") for text in shown)
    assert areas == sorted(areas)


def test_of_several_classes_small_curves_lead_to_each_and_the_largest_score_is_drawn(
    scored_reader: PageClient,
) -> None:
    page = scored_reader.page("/runs/{several}/curves")
    link = page.one("ul", "multiples").inside("a")[0]
    one = scored_reader.page(link["href"])

    assert _headings(page)[-2:] == [
        "Reliability diagram (top label)",
        "Distribution of the largest score",
    ]
    text = page.one("main").text
    assert "15 bins of equal width" in text
    assert "Left out, with fewer than 10 examples:" in text
    assert one.one("title").text.startswith(f"streamed · curves of {link.text}")
    assert "Thresholds" in _headings(one)
    assert "All classes" in [a.text for a in one.all("a")]


def test_a_prevalence_works_out_again_what_depends_on_it(scored_reader: PageClient) -> None:
    page = scored_reader.page("/runs/{event}/curves?prevalence=0.2")

    values = {line[0]: line[1:] for line in page.table("data")}
    note = next(each.text for each in page.all("div", "callout") if "What if" in each.text)
    assert "What if 20 % of the examples were “fraud”" in note.replace("\u202f", " ")
    assert "Recall and false positive rate stay" in note
    assert values["Recall"][0] == values["Recall"][1].removesuffix(" unchanged")
    assert float(values["Precision"][1]) > float(values["Precision"][0])
    recall, specificity = float(values["Recall"][0]), float(values["Specificity"][0])
    expected = recall * 0.2 / (recall * 0.2 + (1 - specificity) * 0.8)
    assert float(values["Precision"][1]) == pytest.approx(expected, abs=0.01)
    assert _headings(page)[0].replace("\u202f", " ") == (
        "Precision and recall where 20 % are “fraud”"
    )
    in_use = next(line for line in _thresholds(page) if "in use" in line[1])
    assert in_use[6] == values["Precision"][1]


def test_a_prevalence_without_a_class_and_an_unknown_class_are_notices(
    scored_reader: PageClient,
) -> None:
    alone = scored_reader.page("/runs/{several}/curves?prevalence=0.2")
    unknown = scored_reader.page("/runs/{several}/curves?positive=cow&prevalence=0.2")

    assert "A prevalence belongs to one class" in alone.one("main").text
    assert "There is no class “cow” here." in unknown.one("main").text
    assert unknown.all("ul", "multiples")


def test_the_form_leads_to_the_canonical_address(
    scored_reader: PageClient, scored: ScoredRegistry
) -> None:
    response = scored_reader.get("/runs/{event}/curves?form=1&positive=fraud&prevalence=2+%25")

    assert response.status_code == 302
    assert response.headers["Location"] == (
        f"/runs/{scored.event}/curves?positive=fraud&prevalence=0.02"
    )


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ("plain", "Only predicted classes were logged"),
        ("columns", "This run was logged as a finished matrix"),
    ],
)
def test_without_scores_the_page_says_what_to_log(
    reader: PageClient, registry: LesionRegistry, which: str, words: str
) -> None:
    page = reader.page(f"/runs/{getattr(registry, which)}/curves")

    assert words in page.one("main").text
    assert "y_score=" in page.one("pre", "snippet").text
    assert reader.get(f"/runs/{getattr(registry, which)}/curves.json").status_code == 409


def test_a_run_that_waits_shows_its_state(scored_reader: PageClient) -> None:
    page = scored_reader.page("/runs/{waiting}/curves")

    assert page.one("div", "results").inside("div")[0]["role"] == "status"
    assert scored_reader.get("/runs/{waiting}/curves.csv").status_code == 503


def test_results_from_before_curves_say_so(client: PageClient, database: Database) -> None:
    run_id = log_scored(database, scored_cases(40))
    work_off(database)
    with database.write() as session:
        session.execute(delete(ScoreCurveRow))

    page = client.page(f"/runs/{run_id}/curves")

    assert "Curves have not been drawn yet." in page.one("div", "results").text
    assert "Its curves have not been drawn yet." in page.one("main").text


def test_the_csv_of_the_points_is_the_curve(scored_reader: PageClient) -> None:
    lines = scored_reader.records("/runs/{event}/curves.csv")
    record = scored_reader.json("/runs/{event}/curves.json")

    (curve,) = record["curves"]
    points = curve["points"]
    n_positive, n_negative = points["n_positive"], points["n_negative"]
    assert [float(line["recall"]) for line in lines] == [
        hits / n_positive for hits in points["true_positives"]
    ]
    assert {line["class"] for line in lines} == {"fraud"} == {curve["label"]}
    for line in lines:
        hits, alarms = int(line["true_positives"]), int(line["false_positives"])
        assert hits + int(line["false_negatives"]) == n_positive
        assert alarms + int(line["true_negatives"]) == n_negative
        if hits + alarms:
            assert float(line["precision"]) == hits / (hits + alarms)
        else:
            assert line["precision"] == ""
    assert points["n_thresholds"] > len(lines)


def test_the_json_of_the_curves_is_that_of_the_api(
    scored_reader: PageClient, scored: ScoredRegistry
) -> None:
    for run in (scored.event, scored.several):
        document = scored_reader.json(f"/runs/{run}/curves.json")

        assert document == scored_reader.json(f"/api/v1/runs/{run}/curves")


def test_the_csv_of_the_bins_and_of_the_histogram_count_every_case(
    scored_reader: PageClient, scored: ScoredRegistry
) -> None:
    bins = scored_reader.records("/runs/{several}/curves.csv?part=reliability")
    histogram = scored_reader.records("/runs/{several}/curves.csv?part=histogram")

    for name in (*scored.cases.labels, ""):
        assert sum(int(line["cases"]) for line in bins if line["class"] == name) == 360
        counted = [line for line in histogram if line["class"] == name]
        assert sum(int(line["positive"]) + int(line["negative"]) for line in counted) == 360


def test_exports_of_one_class_hold_that_class_at_its_prevalence(scored_reader: PageClient) -> None:
    lines = scored_reader.records("/runs/{several}/curves.csv?positive=cat&prevalence=0.5")

    assert {line["class"] for line in lines} == {"cat"}
    for line in lines[1:]:
        recall, alarms = float(line["recall"]), float(line["false_positive_rate"])
        assert float(line["precision_at_prevalence"]) == pytest.approx(recall / (recall + alarms))


def _headings(page: Page) -> list[str]:
    return [heading.text for card in page.all("section", "card") for heading in card.inside("h2")]


def _thresholds(page: Page) -> list[list[str]]:
    card = page.one("section", id="thresholds")
    body = card.inside("tbody")[0]
    return [[cell.text for cell in row.children] for row in body.inside("tr")]


def _names_of(page: Page) -> list[str]:
    return [link.text for link in page.one("ul", "multiples").inside("a")]
