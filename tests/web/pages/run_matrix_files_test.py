"""The matrix of a run as a file: the same numbers and axes in every form."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from offdiag.palette import RAMPS
from offdiag.store.database import Database
from offdiag_web.pages.run_matrix.drawings import map_pixels, map_side
from support.dashboard import (
    HOSTILE_NAMES,
    LESION_COUNTS,
    LESIONS,
    LesionRegistry,
    counted_statements,
    log_counts,
)
from support.pages import PageClient

SVG = "{http://www.w3.org/2000/svg}"


def pixels(client: PageClient, address: str) -> tuple[np.ndarray, bytes]:
    """Codes of a map with one pixel for each cell, and the palette."""
    picture = Image.open(io.BytesIO(client.get(address).data))
    palette = picture.getpalette()
    assert palette is not None
    codes = np.asarray(picture)
    side = map_pixels(len(LESIONS)) if codes.shape[0] > 500 else 1
    return codes[side // 2 :: side, side // 2 :: side], bytes(palette)


def test_markdown_has_every_count_in_its_place(reader: PageClient) -> None:
    lines = reader.get("/runs/{plain}/matrix.md?order=label&norm=none").text.splitlines()

    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:10]]
    assert rows[0] == ["actual ↓ predicted →".title(), *LESIONS, "Actual n"]
    counts = [[int(cell.replace("\u202f", "")) for cell in row[1:8]] for row in rows[2:9]]
    assert counts == [list(line) for line in LESION_COUNTS]
    assert rows[9][0] == "Predicted n"


def test_latex_has_every_count_in_its_place(reader: PageClient) -> None:
    text = reader.get("/runs/{plain}/matrix.tex?order=label&norm=none&t=1").text

    lines = [line for line in text.splitlines() if re.match(r"(nv|mel|df) &", line)]
    assert [int(cell) for cell in lines[2].split("&")[1:8]] == [line[6] for line in LESION_COUNTS]
    assert r"\multicolumn{7}{c}{Actual class}" in text
    assert "Predicted class & nv" in text
    assert r"% needs \usepackage{booktabs}" in text.splitlines()[:2]


def test_the_drawing_names_both_axes_and_holds_every_count(reader: PageClient) -> None:
    answer = reader.get("/runs/{plain}/matrix.svg?order=label&norm=none")

    root = ET.fromstring(answer.data)
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert {"Predicted →", "Actual ↓", "Actual n", "Predicted n"} <= set(texts)
    drawn = [int(text) for text in texts if text and text.isdigit()]
    counts = [count for line in LESION_COUNTS for count in line]
    assert drawn[: len(counts)] == counts
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for field in root.iter(f"{SVG}rect"):
        if "x" in field.attrib:
            assert 0 <= float(field.attrib["x"]) <= width - float(field.attrib["width"])
            assert 0 <= float(field.attrib["y"]) <= height - float(field.attrib["height"])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_pixel_has_the_colour_of_its_cell(
    reader: PageClient, registry: LesionRegistry, theme: str
) -> None:
    page = reader.page("/runs/{plain}?order=label")
    cells = [cell.classes for cell in page.all("td") if "data-cell" in cell.attributes]

    codes, palette = pixels(reader, f"/runs/{registry.plain}/matrix.png?order=label&theme={theme}")

    for place, css in zip(codes.ravel().tolist(), cells, strict=True):
        step = next((name for name in css if name.startswith(("correct-", "error-"))), None)
        if step is None:
            assert place == 0
            continue
        ramp, _, number = step.partition("-")
        colour = RAMPS[theme][ramp][int(number)]  # type: ignore[index]
        assert palette[3 * place : 3 * place + 3].hex() == colour[1:]


def test_a_map_is_transposed_and_leaves_out_rare_cells_on_request(
    reader: PageClient, registry: LesionRegistry
) -> None:
    address = f"/runs/{registry.plain}/matrix.png?order=label"
    straight, _ = pixels(reader, address)
    turned, _ = pixels(reader, f"{address}&t=1")
    common, _ = pixels(reader, f"{address}&min=10")

    assert (turned == straight.swapaxes(0, 1)).all()
    assert ((common > 0) == (np.array(LESION_COUNTS) >= 10)).all()


def test_the_same_map_is_not_sent_twice(reader: PageClient) -> None:
    first = reader.get("/runs/{plain}/matrix.png")
    again = reader.get(
        "/runs/{plain}/matrix.png", headers={"If-None-Match": first.headers["ETag"]}
    )
    other = reader.get(
        "/runs/{plain}/matrix.png?theme=dark",
        headers={"If-None-Match": first.headers["ETag"]},
    )

    assert (first.status_code, again.status_code, other.status_code) == (200, 304, 200)
    assert again.data == b""


def test_a_map_is_read_in_one_statement(reader: PageClient) -> None:
    reader.get("/runs/{many_classes}/matrix.png")

    with counted_statements() as statements:
        reader.get("/runs/{many_classes}/matrix.png")

    # The first finds out whose run it is.
    assert len(statements) <= 2


def test_a_click_on_the_map_shows_the_class_of_its_row(reader: PageClient) -> None:
    page = reader.page("/runs/{many_classes}?order=label")
    names = sorted(choice.text for choice in page.all("option"))
    side = map_pixels(len(names))
    at = {"order": "label", "at.x": str(5 * side), "at.y": str(2 * side + 1)}

    straight = reader.get("/runs/{many_classes}/matrix/at", query_string=at)
    turned = reader.get("/runs/{many_classes}/matrix/at", query_string={**at, "t": "1"})

    record = reader.json("/runs/{many_classes}/matrix.json?order=label")
    assert straight.status_code == turned.status_code == 303
    assert f"focus={record['labels'][2].replace(' ', '%20')}" in straight.headers["Location"]
    assert f"focus={record['labels'][5].replace(' ', '%20')}" in turned.headers["Location"]
    assert f"as={record['labels'][5].replace(' ', '%20')}" in straight.headers["Location"]
    assert reader.get("/runs/{many_classes}/matrix/at").status_code == 400


def test_a_click_on_a_map_that_is_enlarged_shows_the_class_of_its_row(
    client: PageClient, database: Database
) -> None:
    names = [f"c{code:03d}" for code in range(300)]
    run_id = log_counts(database, np.eye(300, dtype=int).tolist(), names)
    side = int(client.page(f"/runs/{run_id}").one("form", "map")["data-side"])
    at = {axis: int((code + 0.5) / 300 * side) for axis, code in (("at.y", 7), ("at.x", 299))}

    answer = client.get(
        f"/runs/{run_id}/matrix/at", query_string={"order": "label", **at}
    ).headers["Location"]

    assert "focus=c007" in answer
    assert "as=c299" in answer


def test_a_map_has_about_the_same_side_with_any_number_of_classes() -> None:
    sides = {n_classes: map_side(n_classes) for n_classes in (31, 40, 100, 200, 300, 519, 1_000)}

    # Whole pixels for each cell where these fill the room.
    assert sides[40] % 40 == sides[100] % 100 == sides[1_000] % 1_000 == 0
    assert all(400 <= side <= 520 for n, side in sides.items() if n < 520)


def test_form_numbers_and_picture_of_a_map_are_in_one_order(reader: PageClient) -> None:
    page = reader.page("/runs/{many_classes}")

    form = page.one("form", "map")
    fields = {each["name"]: each.attributes.get("value") for each in form.inside("input")}
    assert fields["order"] == "cluster"
    assert form["data-map"].endswith("/matrix.json?order=cluster")
    assert form.inside("img")[0]["src"].endswith("/matrix.png?order=cluster")
    shown = [row[0] for row in page.table("matrix")]
    labels = reader.json(form["data-map"])["labels"]
    assert [name for name in labels if name in shown] == shown


def test_names_are_text_in_every_form(client: PageClient, database: Database) -> None:
    size = len(HOSTILE_NAMES)
    counts = [[7 if i == j else 1 for j in range(size)] for i in range(size)]
    run = log_counts(database, counts, (*HOSTILE_NAMES[:-1], "a\\b|c$_^~#&%"), name="hostile")

    drawing = client.get(f"/runs/{run}/matrix.svg").text
    markdown = client.get(f"/runs/{run}/matrix.md").text
    latex = client.get(f"/runs/{run}/matrix.tex").text

    ET.fromstring(drawing)
    assert "<script>" not in drawing
    assert "<script>" not in markdown
    assert r"a\textbackslash{}b|c\$\_\textasciicircum{}\textasciitilde{}\#\&\%" in latex
    head = markdown.splitlines()[0]
    assert len(re.findall(r"(?<!\\)\|", head)) == size + 3


def test_too_many_classes_are_refused_in_words_where_every_cell_is_written(
    client: PageClient, database: Database
) -> None:
    counts = np.eye(201, dtype=int).tolist()
    run = log_counts(database, counts, [f"c{n:03}" for n in range(201)], name="large")

    refused = client.get(f"/runs/{run}/matrix.md")
    drawn = client.get(f"/runs/{run}/matrix.png")

    assert refused.status_code == 400
    assert "201 classes are too many" in refused.text
    assert Image.open(io.BytesIO(drawn.data)).size == (402, 402)


def test_confused_classes_stand_together_on_request(reader: PageClient) -> None:
    record = reader.json("/runs/{plain}/matrix.json?order=cluster")

    assert sorted(record["labels"]) == sorted(LESIONS)
    assert record["labels"] != list(LESIONS)
    assert abs(record["labels"].index("mel") - record["labels"].index("nv")) <= 2
