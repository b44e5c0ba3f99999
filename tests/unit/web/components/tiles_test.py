from collections.abc import Mapping

import numpy as np
import pytest

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import confusion_matrix
from offdiag.services.evaluation.compute import of_matrix
from offdiag.store.run_page import RunResults
from offdiag_web.components.metric_values import Notes
from offdiag_web.components.tiles import Headline, Tile, headline, majority_scores
from support.dashboard import LESION_COUNTS, LESIONS
from support.gallery.examples import results_of


def test_every_number_has_an_interval_a_baseline_and_n() -> None:
    shown = _headline(_lesions())

    assert shown.n_cases == "1,503"
    accuracy = _tile(shown, "Accuracy")
    assert accuracy.value.text == "0.864"
    assert accuracy.interval == "0.846 – 0.881"
    assert accuracy.baseline == "0.669"


def test_accuracy_never_stands_without_numbers_averaged_over_classes() -> None:
    titles = [tile.title for tile in _headline(_lesions()).tiles]

    assert titles[:2] == ["Accuracy", "Balanced accuracy"]


def test_mcc_of_the_majority_answer_is_undefined_and_said_so() -> None:
    assert _tile(_headline(_lesions()), "MCC").baseline == "undefined"


def test_an_undefined_number_is_the_word_with_a_note() -> None:
    notes = Notes()

    mcc = _tile(headline(results_of(np.array([[9, 0], [1, 0]]), ("a", "b")), notes), "MCC")

    assert (mcc.value.text, mcc.value.note, mcc.mark) == ("undefined", 1, None)
    assert notes.texts == ["one class was predicted for all examples"]


def test_intervals_are_called_unreliable_where_a_class_is_small() -> None:
    small = _headline(_lesions()).caution
    large = _headline(results_of(np.array([[30, 5], [4, 20]]), ("a", "b"))).caution

    assert small is not None
    assert small.endswith(": “df” has 17 examples.")
    assert large is None


@pytest.mark.parametrize(
    ("counts", "said", "instead"),
    [
        (
            [[30, 5, 0], [4, 20, 0], [1, 0, 3]],
            "“c” has 4 examples.",
            "unreliable, smallest class has n = 4",
        ),
        (
            [[30, 5, 0], [4, 20, 0], [0, 0, 0]],
            "there is no example of “c”.",
            "unreliable, no example of “c”",
        ),
    ],
)
def test_averages_without_an_interval_say_why(
    counts: list[list[int]], said: str, instead: str
) -> None:
    shown = _headline(results_of(np.array(counts), ("a", "b", "c")))

    assert shown.caution == f"Averages over classes are unreliable and have no interval: {said}"
    assert (_tile(shown, "Macro F1").interval, _tile(shown, "Macro F1").instead) == (None, instead)


def test_without_any_example_every_number_is_undefined() -> None:
    shown = _headline(results_of(np.zeros((2, 2), dtype=np.int64), ("a", "b")))

    assert [tile.value.text for tile in shown.tiles] == ["undefined"] * 4


def _lesions() -> RunResults:
    return results_of(np.array(LESION_COUNTS), LESIONS)


def _headline(results: RunResults) -> Headline:
    return headline(results, Notes())


def _tile(shown: Headline, title: str) -> Tile:
    return next(tile for tile in shown.tiles if tile.title == title)


def test_the_baselines_are_what_the_constant_answer_really_scores() -> None:
    real = _evaluated([[60, 6, 0], [20, 4, 0], [5, 0, 5]])
    constant = _evaluated([[66, 0, 0], [24, 0, 0], [10, 0, 0]])

    baselines = majority_scores(real)

    assert set(baselines) == {"overall_accuracy", "balanced_accuracy", "macro_f1"}
    assert baselines == pytest.approx({key: constant[key].value for key in baselines})


def test_without_cases_there_is_no_baseline() -> None:
    assert majority_scores({}) == {}


def _evaluated(counts: list[list[int]]) -> Mapping[str, MetricValue]:
    matrix = confusion_matrix(counts, orientation=SourceOrientation.ACTUAL_ROWS)
    return of_matrix(matrix).aggregate
