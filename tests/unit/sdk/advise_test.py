"""`offdiag.advise`: from what a user has in hand."""

from __future__ import annotations

import pytest

import offdiag
from offdiag.errors import InvalidInput

SCREENING = [[970, 20], [2, 8]]


def evaluation() -> offdiag.Evaluation:
    return offdiag.evaluate_matrix(SCREENING, labels=["well", "ill"], orientation="actual_rows")


def test_an_evaluation_and_its_matrix_get_the_same_advice() -> None:
    advice = offdiag.advise(evaluation(), goal="misses", about="ill")

    assert [counsel.name for counsel in advice.report] == [
        "recall[ill]",
        "specificity[ill]",
        "informedness[ill]",
    ]
    assert offdiag.advise(evaluation().matrix, goal="misses", about="ill") == advice


def test_advice_prints_a_page() -> None:
    advice = offdiag.advise(evaluation(), goal="misses", about="ill")

    text = str(advice)
    assert text == repr(advice)
    assert text.startswith("Report\n  recall[ill]\n    ")
    assert "Do not report" in text
    assert max(map(len, text.splitlines())) <= 79
    assert len(text) < 8_000


def test_a_logged_run_with_scores_is_asked_for_its_ranking(registry_url: str) -> None:
    run = offdiag.log_run(
        y_true=[0, 0, 1, 1],
        y_pred=[0, 0, 0, 1],
        y_score=[0.1, 0.2, 0.4, 0.9],
        positive_label=1,
        name="n",
        dataset="d",
        url=registry_url,
    )

    advice = offdiag.advise(run, goal="ranking", about=1)

    assert advice.report[0].name == "roc_auc[1]"


def test_scores_that_exist_elsewhere_can_be_mentioned() -> None:
    advice = offdiag.advise(evaluation(), goal="ranking", has_scores=True, balance_known=True)

    assert advice.report[0].name == "roc_auc_ovr_macro"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"goal": "accuracy"}, "'accuracy' is not known"),
        ({"about": "dead"}, "'dead' is not one of"),
        ({"about": "gone"}, "there are no examples of 'gone'"),
    ],
)
def test_what_cannot_be_advised_on_is_refused(arguments: dict[str, str], says: str) -> None:
    matrix = [[9, 1, 0], [1, 9, 0], [0, 0, 0]]
    subject = offdiag.evaluate_matrix(
        matrix, labels=["well", "ill", "gone"], orientation="actual_rows"
    )

    with pytest.raises(InvalidInput) as refused:
        offdiag.advise(subject, goal=arguments.get("goal", "both"), about=arguments.get("about"))

    assert says in str(refused.value)


def test_one_class_alone_tells_nothing() -> None:
    subject = offdiag.evaluate_matrix([[9, 1], [0, 0]], orientation="actual_rows")

    with pytest.raises(InvalidInput, match="fewer than two classes"):
        offdiag.advise(subject)


def test_what_is_no_evaluation_is_refused() -> None:
    with pytest.raises(InvalidInput, match="list is not an evaluation"):
        offdiag.advise(SCREENING)
