from offdiag_web.charts.matrix_picture import SIDE, matrix_picture
from support.drawings import parsed


def test_cells_of_one_colour_are_one_path() -> None:
    drawing = parsed(
        matrix_picture([["correct-9", "error-1"], ["error-1", "correct-9"]], name="matrix")
    )

    strokes = {part.get("stroke"): part.get("d") for part in drawing.root if part.tag == "path"}
    half, quarter = SIDE // 2, SIDE // 4
    assert strokes == {
        "var(--correct-9)": f"M0 {quarter}H{half}M{half} {3 * quarter}H{SIDE}",
        "var(--error-1)": f"M{half} {quarter}H{SIDE}M0 {3 * quarter}H{half}",
    }


def test_neighbours_that_look_alike_are_one_stroke_and_empty_cells_none() -> None:
    drawing = parsed(
        matrix_picture([["error-2", "error-2", ""], ["", "", ""], ["", "", "x"]], name="m")
    )

    assert drawing.count("path") == 2
    (first, _) = [part.get("d", "") for part in drawing.root if part.tag == "path"]
    assert first.count("M") == 1
