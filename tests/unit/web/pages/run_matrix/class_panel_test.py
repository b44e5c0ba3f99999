import numpy as np

from offdiag.domain.values import MetricValue
from offdiag.store.run_page import RunResults
from offdiag_web.components.metric_values import Notes
from offdiag_web.pages.run_matrix.class_panel import LOWEST_SHOWN, class_panel, lies_below
from offdiag_web.urls.run import MatrixAddress
from support.dashboard import LESION_COUNTS, LESIONS
from support.gallery.examples import results_of

ADDRESS = MatrixAddress("r_1")


def test_exactly_the_classes_whose_interval_lies_below_stand_out() -> None:
    results = _lesions()
    accuracy = results.aggregate["overall_accuracy"]

    panel = class_panel(results, ADDRESS, Notes())

    below = [
        name
        for name, recall in zip(LESIONS, results.per_class["recall"], strict=True)
        if (recall.ci_high or 1.0) < (accuracy.ci_low or 0.0)
    ]
    assert [entry.head.name for entry in panel.classes if "mark-out" in str(entry.mark)] == below


def test_touching_intervals_are_not_below_each_other() -> None:
    upper = MetricValue(0.8, ci_low=0.7, ci_high=0.9, ci_method="exact")
    lower = MetricValue(0.6, ci_low=0.5, ci_high=0.7, ci_method="exact")

    assert not lies_below(lower, upper)
    assert not lies_below(MetricValue(0.1), upper)


def test_of_many_classes_the_lowest_recalls_are_listed() -> None:
    counts = np.diag(np.arange(10, 50))
    counts[5, 6] = 50
    results = results_of(counts, tuple(f"class {code}" for code in range(40)))

    panel = class_panel(results, ADDRESS, Notes())

    assert panel.title == "Worst classes"
    assert len(panel.classes) == LOWEST_SHOWN
    assert panel.classes[0].head.name == "class 5"


def _lesions() -> RunResults:
    return results_of(np.array(LESION_COUNTS), LESIONS)
