"""Tables of the literature: the page agrees with us.

Right numbers pass, and every misprint of these sources that numbers can show is named. A copy
whose cells ran together is asked about. The texts are in `support.published_texts`; what the audit
makes of the numbers of all these sources, the tests of the audit ask without the page.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from offdiag_web.pages.audit.address import PUBLISHED_TABLES, PublishedTable
from support import published_texts as texts
from support.audits import Verdicts, audited, contested, paste, verdicts_on
from support.pages import Page, PageClient

OTHER, TRANSPOSED, IMPOSSIBLE = "other definition", "transposed reading", "impossible"
CONSISTENT: Verdicts = {}


@dataclass(frozen=True)
class Case:
    """A text with what is said about it, and everything in it that is not consistent."""

    name: str
    text: str
    expected: Verdicts
    classes: str = ""
    positive: str = ""
    heads: dict[str, str] = field(default_factory=dict)
    says: str = ""


def wine_classes(model: str) -> dict[str, str]:
    return {
        f"{model} {metric} of 'Class {number}'": OTHER
        for number in (1, 2, 3)
        for metric in ("Precision", "Recall")
    }


MOVED = {model: wine_classes(model) for model in ("Permuted", "Transposed")}
MOVED_IN_TABLE_9 = {
    model: {
        name.replace(f"'Class {number}'", f"'{number - 1} (Class {number})'"): verdict
        for number in (1, 2, 3)
        for name, verdict in of.items()
        if f"'Class {number}'" in name
    }
    for model, of in MOVED.items()
}

CASES = (
    Case(
        "lecture, example 12.3: a specificity over all cases",
        texts.LECTURE_12_3,
        {"": {"Specificity of 'Yes'": TRANSPOSED}},
        says="Specificity along its columns",
    ),
    Case(
        "lecture, example 12.5: a macro F1 of rounded values",
        texts.LECTURE_12_5,
        {"": {"F_1_macro": OTHER}},
        says="The matrix gives 0.572486772; 0.573188603 is its macro_f1_harmonic",
    ),
    Case("screening", texts.SCREENING, CONSISTENT),
    Case(
        "Wine, table 10: values beside the wrong classes",
        texts.WINE_TABLE_10,
        MOVED,
        classes=texts.WINE_CLASSES,
        says="it is the precision of 'Class 3'",
    ),
    Case(
        "Wine, tables 9, 10 and 11 together",
        f"{texts.WINE_TABLE_9}\n{texts.WINE_TABLE_10}\n{texts.WINE_TABLE_11}",
        MOVED_IN_TABLE_9,
        says="zeros added",
    ),
    Case(
        "Wine, table 11 under another definition",
        texts.WINE_TABLE_11,
        {model: {"Macro F1": OTHER} for model in ("Original", "Permuted", "Transposed")},
        classes=texts.WINE_CLASSES,
        heads={"Macro F1": "macro_f1_harmonic", "Macro F1 (MH)": "-"},
    ),
    Case("CIFAR-10", texts.CIFAR, CONSISTENT, classes=texts.CIFAR_CLASSES),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_text_pasted_into_the_page_gets_the_right_verdicts(
    reader: PageClient, case: Case
) -> None:
    fields = {f"read:{head}": meaning for head, meaning in case.heads.items()}

    page = audited(
        paste(reader, case.text, classes=case.classes, positive=case.positive, **fields)
    )

    assert contested(verdicts_on(page)) == case.expected
    assert case.says in page.one("main").text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (texts.LECTURE_12_5_COPIED, "has more than one row"),
        (texts.SCREENING_COPIED, "Line 3, “True +8020”, has 1 number under no headers that fit"),
        (texts.WINE_TABLE_9_COPIED, "Line 7, “Actual 0 (Class 1)838”, belongs to no matrix"),
    ],
)
def test_a_copy_whose_cells_ran_together_is_asked_about(
    reader: PageClient, text: str, says: str
) -> None:
    response = paste(reader, text)

    page = Page(response.text)
    assert response.status_code == 422
    assert says in page.one("div", "callout-warning").text
    assert "a tab or a bar between its cells" in page.one("div", "callout-warning").text


EXPECTED_OF_EXAMPLES = {
    "constant-answer": {"": {"Specificity of 'Yes'": OTHER}},
    "three-classes": {"": {"Macro F1": OTHER}},
    "wine-classes": MOVED,
    "four-labels": {"": {"Recall of 'λ3'": IMPOSSIBLE}},
}


@pytest.fixture(scope="module")
def links(reader: PageClient) -> dict[str, str]:
    """Where the links of the empty page lead."""
    return {a.text: a["href"] for a in audited(reader.get("/audit")).all("a")}


@pytest.mark.parametrize("example", PUBLISHED_TABLES, ids=lambda example: example.name)
def test_every_example_is_one_click_away_with_the_verdicts_of_the_text_it_is_from(
    reader: PageClient, links: dict[str, str], example: PublishedTable
) -> None:
    page = audited(reader.get(links[example.title]))

    assert page.one("textarea").text.split() == example.table.split()
    verdicts = verdicts_on(page)
    assert verdicts
    assert contested(verdicts) == EXPECTED_OF_EXAMPLES.get(example.name, CONSISTENT)
