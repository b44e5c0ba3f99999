"""Evaluations as one line, as a page of text and as a card of a notebook."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from offdiag import stats
from offdiag.advice.recommendation import Advice
from offdiag.audit.findings import AuditReport
from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.sdk.advise import advise
from offdiag.sdk.cost import cost
from offdiag.sdk.display.displayed import Origin
from offdiag.sdk.evaluations.audit import audit_reported
from offdiag.sdk.evaluations.evaluate import evaluate_labels, evaluate_matrix
from offdiag.sdk.evaluations.evaluation import Evaluation
from offdiag.sdk.evaluations.multilabel import evaluate_multilabel
from offdiag.sdk.evaluations.scores import evaluate_scores

LESIONS = ["nv", "mel", "bkl", "df"]
MATRIX = [[1000, 3, 2, 1], [99, 63, 4, 2], [77, 10, 76, 2], [15, 1, 0, 1]]


@pytest.fixture(scope="module")
def lesions() -> Evaluation:
    return evaluate_matrix(MATRIX, labels=LESIONS, orientation="actual_rows")


def of_classes(n_classes: int) -> Evaluation:
    """A model that is better on each class than on the one before it."""
    counts = np.full((n_classes, n_classes), 1, dtype=np.int64)
    np.fill_diagonal(counts, np.arange(n_classes) * 3 + 1)
    names = [f"class number {code}" for code in range(n_classes)]
    return Evaluation.of_matrix(ConfusionMatrix(counts, LabelSet.declared(names)))


def test_one_line_has_accuracy_and_the_hidden_class(lesions: Evaluation) -> None:
    assert repr(lesions) == (
        "Evaluation of 1,356 examples, 4 classes, accuracy 0.841, df missed (1 of 17)"
    )


def test_one_line_names_the_run_and_its_label_version(lesions: Evaluation) -> None:
    stored = replace(lesions, origin=Origin("r_1", "effnet-b3", "derm-7", 3))

    assert repr(stored).startswith("Evaluation of effnet-b3, derm-7 v3, accuracy 0.841")


def test_the_page_begins_with_the_warning_and_has_intervals_of_each_class(
    lesions: Evaluation,
) -> None:
    page = str(lesions).replace("\u202f", " ")

    assert page == lesions.summary().replace("\u202f", " ")
    assert "! df is missed: 1 of 17 found (95 % CI 0.01 – 0.27)." in page.splitlines()[1]
    assert re.search(r"^df +17  0\.059 \(0\.01–0\.27\)", page, re.MULTILINE)
    severities = re.findall(r"^(critical|high|medium|info) ", page, re.MULTILINE)
    assert severities == sorted(severities, key=["critical", "high", "medium", "info"].index)


@pytest.mark.parametrize("n_classes", [2, 20, 21, 300])
def test_the_page_fits_a_terminal_however_many_classes_there_are(n_classes: int) -> None:
    lines = str(of_classes(n_classes)).splitlines()

    assert max(map(len, lines)) < 80
    assert len(lines) < 50


def test_of_many_classes_the_worst_are_shown() -> None:
    page = str(of_classes(21))

    assert re.findall(r"^class number (\d+) ", page, re.MULTILINE) == [str(n) for n in range(12)]
    assert "12 of 21 classes, lowest recall first" in page


def test_tables_are_one_line_each_and_readable_in_full(lesions: Evaluation) -> None:
    assert len(repr(lesions.aggregate)) < 150
    assert len(repr(lesions.per_class)) < 150
    assert repr(lesions.per_class["recall"]) == (
        "ClassValues(nv 0.994, mel 0.375, bkl 0.461, df 0.059)"
    )
    assert re.search(r"^macro_f1 +0\.5", str(lesions.aggregate), re.MULTILINE)


def test_values_by_class_on_one_line_give_each_reason_once() -> None:
    found = evaluate_labels(y_true=["a", "b", "c"], y_pred=["a"] * 3, labels=["a", "b", "c"])

    assert repr(found.per_class["precision"]) == (
        "ClassValues(a 0.333, b undefined (this class was never predicted), c undefined)"
    )


def test_flags_are_one_line_each_and_a_list(lesions: Evaluation) -> None:
    first = lesions.flags[0]

    assert repr(first).startswith(f"Flag {first.rule}, critical: Recall of ")
    assert "evidence" not in repr(lesions.flags)
    assert isinstance(lesions.flags, list)
    assert list(lesions.flags.to_frame()["rule"]) == [flag.rule for flag in lesions.flags]


def test_the_frame_has_a_row_for_each_class_and_three_columns_for_each_metric(
    lesions: Evaluation,
) -> None:
    frame = lesions.to_frame()

    assert list(frame.index) == LESIONS
    assert list(frame["recall"].columns) == ["value", "ci_low", "ci_high"]
    assert frame.loc["df", ("recall", "value")] == 1 / 17
    assert set(frame.columns.get_level_values(0)) == set(lesions.per_class)


def test_undefined_values_are_nan_in_frames_with_the_reason_beside_them() -> None:
    found = evaluate_labels(y_true=["a", "a"], y_pred=["a", "a"], labels=["a", "b"])

    recall = found.per_class["recall"].to_frame()

    assert recall["value"].isna().to_list() == [False, True]
    assert recall.loc["b", "reason"] == "no_actual_positives"
    assert np.isnan(np.asarray(found.per_class["recall"])[1])
    assert found.aggregate.to_frame().loc["overall_accuracy", "value"] == 1.0


def test_why_values_of_classes_are_undefined_is_below_them() -> None:
    found = evaluate_labels(y_true=["a", "a", "b"], y_pred=["a", "a", "a"], labels=["a", "b", "c"])
    reasons = (
        "undefined: this class was never predicted; there is no example of this class; the class "
        "occurs neither in the ground truth nor in the predictions"
    )

    assert reasons in " ".join(found.summary().split())
    assert max(map(len, found.summary().splitlines())) < 80
    assert "undefined: this class was never predicted; the class occurs" in found._repr_html_()
    assert "undefined:" not in evaluate_labels(y_true=["a", "b"], y_pred=["a", "b"]).summary()
    weighted = evaluate_labels(
        y_true=["a", "a", "b"], y_pred=["a", "a", "a"], sample_weight=[1.0, 2.0, 1.0]
    )
    assert "undefined: this class was never predicted" in str(weighted)


def test_other_results_are_readable_too() -> None:
    for found in (
        evaluate_labels(y_true=["a", "b"], y_pred=["a", "a"], sample_weight=[1.0, 2.0]),
        evaluate_scores(y_true=[0, 0, 1, 1], y_score=[0.1, 0.4, 0.35, 0.8]),
        evaluate_multilabel(y_true=[{"sea"}, {"sky"}], y_pred=[{"sea"}, {"sea"}]),
        cost(MATRIX, weights=1 - np.eye(4)),
    ):
        assert "\n" not in repr(found)
        assert len(repr(found)) < 120
        assert max(map(len, str(found).splitlines())) < 120
        assert len(found.to_frame()) > 0


@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_texts_and_cards_say_the_level_of_their_intervals(confidence: float) -> None:
    name = f"{confidence:.0%} CI".replace("%", " %")
    scores = evaluate_scores(y_true=[0, 0, 1, 1], y_score=[0.1, 0.4, 0.35, 0.8])
    sets = evaluate_multilabel(y_true=[{"sea"}, {"sky"}], y_pred=[{"sea"}, {"sea"}])
    weighted = evaluate_labels(
        y_true=["a", "b", "a"], y_pred=["a", "a", "a"], sample_weight=[1.0, 2.0, 1.5]
    )
    for found in (
        stats.suite_intervals(of_classes(4), confidence=confidence),
        stats.suite_intervals(weighted, confidence=confidence),
        stats.score_intervals(scores, confidence=confidence),
        stats.multilabel_intervals(sets, confidence=confidence),
    ):
        assert f"Brackets: {name}." in str(found)
        assert re.findall(r"\d+ % CI", found._repr_html_())[0] == name
    assert "Brackets" not in str(scores)


def test_the_two_brier_scores_have_two_names() -> None:
    found = evaluate_scores(y_true=[0, 0, 1, 1], y_score=[0.1, 0.4, 0.35, 0.8])

    lines = [line.split("  ")[0] for line in str(found).splitlines()]
    assert [line for line in lines if line.startswith("Brier")] == [
        "Brier score (half)",
        "Brier score (sum)",
    ]


HOSTILE = "<script>alert('x')</script>"


def audit() -> AuditReport:
    return audit_reported(
        reported={"accuracy": "0.9567", "sensitivity": "0.8545", "specificity": "0.9734"},
        class_counts={HOSTILE: 100, "well": 200},
        positive_label=HOSTILE,
    )


CARDS: dict[str, Callable[[], Evaluation | AuditReport | Advice]] = {
    "of two classes": lambda: of_classes(2),
    "of 20 classes": lambda: of_classes(20),
    "of 500 classes": lambda: of_classes(500),
    "of an audit": audit,
    "of advice": lambda: advise(of_classes(20)),
}


@pytest.mark.parametrize("card", CARDS)
def test_a_card_is_small_static_and_loads_nothing(card: str) -> None:
    html = CARDS[card]()._repr_html_()

    assert len(html.encode()) < 30_000
    assert not re.search(r"<script|<link|<img|@import|url\(|https?:|\son\w+=", html)


def test_a_card_of_an_audit_has_its_outcome_and_a_verdict_for_each_number() -> None:
    html = audit()._repr_html_()

    assert "<b>At least one of sensitivity of " in html
    assert [html.count(f">{verdict}<") for verdict in ("consistent", "impossible")] == [1, 2]
    assert "&lt;script&gt;" in html


def test_a_card_of_advice_names_what_to_report_and_what_to_leave_out() -> None:
    advice = advise(of_classes(20))

    html = advice._repr_html_()

    assert f"<b>{', '.join(counsel.name for counsel in advice.report)}</b>" in html
    assert html.count(">leave out<") == len(advice.avoid) > 0


def test_a_card_has_colours_for_light_and_dark_notebooks(lesions: Evaluation) -> None:
    html = lesions._repr_html_()

    assert "color-scheme:light dark" in html
    assert '[data-jp-theme-light="false"]' in html
    assert re.search(r"td\.od-c\d+\{background:light-dark\(#\w{6},#\w{6}\)", html)


def test_a_card_names_both_axes_and_has_the_recall_of_each_class(lesions: Evaluation) -> None:
    html = lesions._repr_html_().replace("\u202f", " ")

    assert html.index("Predicted →") < html.index("Actual ↓") < html.index(">1,000<")
    assert "<b>df is missed: 1 of 17 found</b> (95 % CI 0.01 – 0.27)." in html
    assert html.count("<svg") == len(LESIONS)
    assert "0.01 – 0.27</td>" in html


def test_a_card_of_many_classes_has_the_worst_and_the_most_frequent_errors() -> None:
    html = of_classes(100)._repr_html_()

    assert "12 of 100 classes, lowest recall first" in html
    assert html.count("<svg") == 12
    assert "Most frequent errors" in html


@pytest.mark.parametrize("n_classes", [3, 25])
def test_text_and_card_of_weighted_examples_show_sums_of_weights(n_classes: int) -> None:
    labels = LabelSet.declared([f"c{code}" for code in range(n_classes)])
    actual = np.array([0, 0, 1, 1, 2], np.uint8)
    predicted = np.array([0, 1, 1, 0, 2], np.uint8)
    weight = np.array([1.5, 0.25, 2.0, 0.001, 3.0])
    found = Evaluation.of_values(
        WeightedCounts.of_samples(actual, predicted, weight, labels), aggregate={}, per_class={}
    )

    page, html = str(found), found._repr_html_()

    assert "5 examples, weighted, effective sample size 3" in page.splitlines()[0]
    assert "5 examples, weighted, effective sample size 3" in html
    if n_classes > 20:
        assert re.findall(r"<td>([^<]* of [^<]*)</td>", html) == [
            "0.25 of 1.75",
            "&lt;0.01 of 2.00",
        ]
        return
    assert "sums of weights" in html
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    numbers = [re.findall(r"<td[^>]*>([^<]+)", row) for row in rows if "od-z" in row]
    assert numbers == [
        ["1.50", "0.25", "0", "1.75"],
        ["&lt;0.01", "2.00", "0", "2.00"],
        ["0", "0", "3.00", "3.00"],
    ]
    assert "<td>1.50</td><td>2.25</td><td>3.00</td><td>6.75</td>" in html


def test_a_card_shows_class_names_as_text() -> None:
    labels = LabelSet.declared([HOSTILE, "b&b"])
    found = Evaluation.of_matrix(ConfusionMatrix(np.array([[4, 1], [0, 0]]), labels))

    html = found._repr_html_()

    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "b&amp;b" in html


def test_one_wrong_example_of_many_is_not_shown_as_none() -> None:
    one_wrong = evaluate_matrix(
        [[1250, 0], [1, 1249]], labels=["a", "b"], orientation="actual_rows"
    )

    assert repr(one_wrong) == "Evaluation of 2,500 examples, 2 classes, accuracy >0.999"
    row = next(line for line in str(one_wrong).splitlines() if line.startswith("b "))
    assert row.split()[2:4] == ["0.999", "(>0.99–>0.99)"]
    assert "0.997 – 1.000" not in one_wrong._repr_html_()
    assert "&gt;0.99 – &gt;0.99" in one_wrong._repr_html_()


def test_a_card_leads_to_the_run_where_a_server_is_known(lesions: Evaluation) -> None:
    origin = Origin("r_1", "effnet-b3", "derm-7", 3, "https://offdiag.example")

    assert "<a " not in replace(lesions, origin=replace(origin, server_url=None))._repr_html_()
    html = replace(lesions, origin=origin)._repr_html_()
    assert '<a href="https://offdiag.example/runs/r_1">Open run ↗</a>' in html
