from collections.abc import Callable

from offdiag.services.what_if.costs import WhatIf
from offdiag_web.components.costs.form import MOST_CLASSES, cost_grid, warning_texts
from offdiag_web.pages.what_if.heat import binary_sides
from offdiag_web.urls.costs import WhatIfAddress

Ask = Callable[..., WhatIf]

COUNTS = [[8, 12], [5, 975]]


def test_a_field_knows_what_it_was_and_what_it_is_without_being_set(ask: Ask) -> None:
    found = ask(COUNTS, edits="ill>*:x3,well>ill:0.5")

    grid = cost_grid(found.scenario, [1, 0])

    assert grid is not None
    cells = {cell.name: cell for _, _, cells in grid.lines for cell in cells}
    assert list(cells) == ["w1.1", "w1.0", "w0.1", "w0.0"]
    dear, cheap, right = cells["w0.1"], cells["w1.0"], cells["w0.0"]
    assert (dear.value, dear.initial, dear.before, dear.is_edited) == ("3", "3", "1", True)
    assert (cheap.value, cheap.initial, cheap.before, cheap.is_edited) == ("0.5", "1", "1", True)
    assert (right.value, right.is_edited, right.is_correct) == ("0", False, True)


def test_too_many_classes_have_no_fields(ask: Ask) -> None:
    size = MOST_CLASSES + 1
    counts = [[int(i == j) for j in range(size)] for i in range(size)]
    found = ask(counts, labels=[f"c{code}" for code in range(size)])

    assert cost_grid(found.scenario, list(range(size))) is None


def test_without_a_word_about_it_the_rarer_class_is_the_one_looked_for(ask: Ask) -> None:
    sides = binary_sides(ask(COUNTS), WhatIfAddress(("r_0",)))

    assert sides is not None
    assert (sides.positive, sides.negative) == ("ill", "well")
    (line,) = sides.lines
    assert (line.missed, line.raised, line.recall.text) == ("12/20", "5/980", "0.400")


def test_more_classes_have_no_sides(ask: Ask) -> None:
    three = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]

    assert binary_sides(ask(three, labels="abc"), WhatIfAddress()) is None


def test_oddities_are_said_with_their_classes(ask: Ask) -> None:
    found = ask(COUNTS, edits="ill>ill:1")

    matters, priced = warning_texts(found.warnings, found.scenario.costs.labels)
    assert matters.startswith("Actual “ill”: every prediction costs the same, correct or wrong")
    assert priced.startswith("Actual “ill”: a correct prediction has a cost")
