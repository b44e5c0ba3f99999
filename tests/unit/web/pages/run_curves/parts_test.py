import numpy as np

from offdiag.metrics.scores.calibration import CalibrationBins, equal_width_bins
from offdiag.metrics.scores.ranking import rank_scores
from offdiag_web.components.curves import calibration_view, drawn_bins
from support.drawings import parsed
from support.optional import present


def test_bins_with_few_cases_are_left_out_of_the_line_and_listed() -> None:
    view = calibration_view(_bins(30, 9, 1, 0), score_name="p", share_name="s", name="reliability")

    assert view is not None
    assert view.left_out == (
        "Left out, with fewer than 10 examples: 0.250–0.500 (9 examples) and 0.500–0.750 "
        "(1 example)."
    )
    assert [line.is_left_out for line in view.lines] == [False, True, True, True]
    dots = [part for part in parsed(view.drawing).root if part.get("class") == "dot"]
    assert len(dots) == 1


def test_many_bins_that_are_left_out_are_counted() -> None:
    bins = _bins(30, 9, 1, 2, 3)
    view = present(calibration_view(bins, score_name="p", share_name="s", name="reliability"))

    assert view.left_out == "Left out: 4 bins with fewer than 10 examples, 15 examples in all."


def test_without_cases_there_is_no_diagram() -> None:
    assert calibration_view(_bins(0, 0), score_name="p", share_name="s", name="r") is None


def test_a_bin_holds_its_share_between_the_ends_of_its_interval() -> None:
    scores = np.linspace(0, 1, 200, dtype=np.float32)

    for each in drawn_bins(equal_width_bins(rank_scores(scores > 0.4, scores))):
        assert present(each.share_low) <= present(each.share) <= present(each.share_high)
        assert each.low <= (each.score or 0) <= each.high


def _bins(*counts: int) -> CalibrationBins:
    n = len(counts)
    count = np.array(counts, dtype=np.int64)
    middle = (np.arange(n) + 0.5) / n
    return CalibrationBins(np.arange(n + 1) / n, count, count // 2, count * middle)
