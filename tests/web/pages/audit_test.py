"""The page that audits pasted tables: its forms, addresses, corrections and limits."""

from __future__ import annotations

import pytest

from offdiag.audit.table_text.audit import TableTextAudit, audit_table_text
from offdiag.audit.table_text.cells import MOST_CHARACTERS
from offdiag.audit.table_text.interpretation import Corrections
from offdiag.audit.table_text.numbers import MOST_NUMBERS
from offdiag_web.pages.audit.address import LONGEST_LINK
from support.audits import audited, contested, paste, verdicts_on
from support.dashboard import HOSTILE_MARKUP
from support.forms import forms_of, send
from support.pages import Page, PageClient
from support.sound import KIB, assert_harmless, small_page

SVM = "Model\tAccuracy\tError rate\nSVM\t0.93\t0.07\nCNN\t0.95\t0.09\n"
IMPOSSIBLE = {"CNN": {"Accuracy": "impossible", "Error rate": "impossible"}}


class TestAddresses:
    def test_a_short_text_is_answered_at_an_address_that_says_it_all(
        self, reader: PageClient
    ) -> None:
        (form,) = forms_of(reader, "/audit")

        sent = send(reader, form, {"table": SVM, "classes": "a 10, b 20"})

        assert sent.status_code == 303
        assert len(sent.location) <= LONGEST_LINK
        again = audited(reader.get(sent.location))
        assert contested(verdicts_on(again)) == IMPOSSIBLE
        assert again.one("textarea").text.split() == SVM.split()
        canonical = again.one("link", rel="canonical")["href"]
        assert canonical == sent.location

    def test_an_address_keeps_only_what_would_not_be_found_out(self, reader: PageClient) -> None:
        (form,) = forms_of(reader, "/audit")

        sent = send(reader, form, {"table": SVM, "read:Accuracy": "overall_accuracy"})
        changed = send(reader, form, {"table": SVM, "read:Accuracy": " balanced accuracy "})

        assert "read:" not in sent.location
        assert "read:Accuracy=balanced_accuracy" in changed.location

    def test_a_text_of_the_examples_is_called_by_its_name(self, reader: PageClient) -> None:
        page = audited(reader.get("/audit?example=wine-averages"))
        fields = {f["name"]: f["value"] for f in page.all("input")
                  if f.attributes.get("value") and "name" in f.attributes}  # fmt: skip

        sent = paste(reader, "".join(page.one("textarea").parts), **fields)

        assert sent.request.url.endswith("/audit?example=wine-averages")

    def test_a_long_text_is_answered_where_it_was_sent(self, reader: PageClient) -> None:
        text = SVM + "not a table\n" * 400

        response = paste(reader, text)

        page = audited(response)
        assert response.request.path == "/audit"
        assert contested(verdicts_on(page)) == IMPOSSIBLE
        assert "too long for a link" in page.one("main").text
        assert [b.text for b in page.all("button") if "formaction" in b.attributes] == ["JSON"]

    def test_the_json_of_a_long_text_can_be_sent_for(self, reader: PageClient) -> None:
        (form,) = forms_of(reader, "/audit")
        token = form.inside("input")[0]["value"]

        record = reader.post(
            "/audit.json", data={"csrf_token": token, "table": SVM + "x\n" * 3000}
        ).get_json()

        assert record["verdict"] == "impossible"

    def test_the_json_at_the_address_agrees_with_the_page(self, reader: PageClient) -> None:
        page = audited(reader.get("/audit?example=wine-classes"))
        link = next(a for a in page.all("a") if a.text == "JSON")

        record = reader.get(link["href"]).get_json()

        shown = verdicts_on(page)
        assert {m["model"]: len(m["numbers"]) for m in record["models"]} == {
            model: len(numbers) for model, numbers in shown.items()
        }
        assert record["reading"]["classes"]["counts"] == [19, 21, 14]
        for model in record["models"]:
            assert {n["verdict"].replace("_", " ") for n in model["numbers"]} == set(
                shown[model["model"]].values()
            )

    def test_a_twin_of_nothing_is_an_error_of_the_caller(self, reader: PageClient) -> None:
        response = reader.get("/audit.json")

        assert response.status_code == 400
        assert response.get_json()["error"]["field"] == "table"


class TestReading:
    def test_every_head_stands_beside_what_it_was_taken_for(self, reader: PageClient) -> None:
        page = audited(paste(reader, "\tA (80)\tB (15)\nRecall\t0.9\t0.4\nMacro precision\t0.5"))

        lines = page.one("table", "heads").inside("tbody")[0].inside("tr")
        shown = {row.inside("span")[0].text: row.inside("input")[0]["value"] for row in lines}
        assert shown == {
            "A (80)": "[A]",
            "B (15)": "[B]",
            "Recall": "recall",
            "Macro precision": "macro_precision",
        }
        typed = {f.attributes.get("name"): f.attributes.get("value") for f in page.all("input")}
        assert typed["classes"] == "A 80, B 15"
        assert "“A (80)” and “B (15)” next to metrics were read as" in page.one("main").text

    def test_a_corrected_head_changes_the_verdict_and_an_emptied_one_is_found_anew(
        self, reader: PageClient
    ) -> None:
        page = audited(paste(reader, SVM, **{"read:Error rate": "-"}))
        emptied = audited(paste(reader, SVM, **{"read:Error rate": "  "}))

        assert contested(verdicts_on(page)) == {}
        assert [line.text for line in page.one("table", "heads").inside("div")].count("changed")
        assert contested(verdicts_on(emptied)) == IMPOSSIBLE

    def test_names_can_be_said_to_be_classes(self, reader: PageClient) -> None:
        text = "Name\tPrecision\tRecall\nred\t0.9\t0.8\ngreen\t0.7\t0.6"

        models = audited(paste(reader, text))
        classes = audited(paste(reader, text, names="classes"))

        assert list(verdicts_on(models)) == ["red", "green"]
        assert "Precision of 'red'" in verdicts_on(classes)[""]

        assert "“red” and “green” next to metrics were read as models." in models.one("main").text

    def test_a_unit_that_is_not_clear_is_a_question_with_its_answer_in_the_form(
        self, reader: PageClient
    ) -> None:
        asked = paste(reader, "precision 1.2\nrecall 0.9")
        answered = audited(paste(reader, "precision 1.2\nrecall 0.9", unit="percent"))

        page = Page(asked.text)
        assert asked.status_code == 422
        assert "“precision 1.2” in line 1 can be 1.2 %, or a fraction" in page.one("main").text
        assert page.one("a", "plain")["href"] == "#f-unit"
        unit = page.one("select", name="unit")
        assert unit["aria-invalid"] == "true"
        assert answered.table("data")[0][:3] == ["precision", "✓ consistent", "1.2%"]

    def test_a_name_beside_known_classes_can_be_said_to_be_none(self, reader: PageClient) -> None:
        text = "\tRecall\na\t0.9\nb\t0.8\nOverall\t0.85"

        asked = Page(paste(reader, text, classes="a 10, b 20").text)
        answered = paste(reader, text, classes="a 10, b 20", **{"read:Overall": "-"})

        assert "Overall" in [span.text for span in asked.one("table", "heads").inside("span")]
        assert list(verdicts_on(audited(answered))[""]) == ["Recall of 'a'", "Recall of 'b'"]

    def test_the_matrix_is_shown_as_it_was_printed(self, reader: PageClient) -> None:
        text = "Predicted a b\nactual a 8 2\nactual b 1 9\nAccuracy 0.85"

        page = audited(paste(reader, text))

        assert "headers say that rows are actual classes" in page.one("main").text
        assert page.table("data-plain") == [["a", "8", "2"], ["b", "1", "9"]]

    def test_what_was_not_read_is_listed(self, reader: PageClient) -> None:
        page = audited(paste(reader, f"{SVM}\nas discussed above"))

        assert "Line 5: as discussed above" in page.one("form", "form").text


class TestVerdicts:
    def test_each_number_has_its_range_and_what_decides(self, reader: PageClient) -> None:
        page = audited(reader.get("/audit?example=four-labels"))

        (row,) = [row for row in page.table("data") if row[0] == "Recall of 'λ3'"]
        assert row[1].endswith("impossible")
        assert row[2:] == [
            "0.80",
            "0.795 – 0.805",
            "The matrix gives 0.7, in no orientation or definition 0.80.",
        ]

    def test_what_the_other_numbers_leave_is_said(self, reader: PageClient) -> None:
        page = audited(paste(reader, SVM))

        assert "the other numbers allow 0.9050 – 0.9150" in page.one("main").text

    def test_forms_of_one_number_are_one_line(self, reader: PageClient) -> None:
        page = audited(reader.get("/audit?example=antibody-test"))

        lines = {row[0]: row[2:4] for row in page.table("data")}
        assert lines["Recall of 'Yes'"] == [
            "141/208, 0.678, 67.8%",
            "0.6775 – 0.6785; 67.75 – 67.85 %",
        ]

    def test_every_cell_of_the_pasted_table_is_marked(self, reader: PageClient) -> None:
        page = audited(paste(reader, "Model\tAccuracy\tError rate\tMCC\nSVM\t0.93\t0.07\t0.8\n"
                             "CNN\t0.95\t0.09\t0.9\n"))  # fmt: skip

        (table,) = page.all("table", "cells")
        rows = [[cell.text for cell in row.inside("td")] for row in table.inside("tr")[1:]]
        assert rows == [
            ["0.93 ✓ agrees", "0.07 ✓ agrees", "0.8 – not checkable"],
            ["0.95 ✕ contradicts", "0.09 ✕ contradicts", "0.9 – not checkable"],
        ]
        ids = {element.attributes.get("id") for element in page.elements}
        reasons = {link["href"].removeprefix("#") for link in table.inside("a")}
        assert len(reasons) == 2
        assert reasons <= ids

    def test_another_definition_links_to_what_it_is(self, reader: PageClient) -> None:
        page = audited(reader.get("/audit?example=three-classes"))

        (link,) = [a for a in page.all("a") if a.text == "What macro_f1_harmonic is"]
        assert reader.get(link["href"]).status_code == 200

    def test_without_a_matrix_agreement_is_no_proof(self, reader: PageClient) -> None:
        with_matrix = audited(reader.get("/audit?example=screening"))
        without = audited(reader.get("/audit?example=screening-without-matrix"))

        assert "is no proof" in without.one("main").text
        assert "is no proof" not in with_matrix.one("main").text

    def test_all_matrices_that_fit_are_listed(self, reader: PageClient) -> None:
        page = audited(
            paste(reader, "acc 0.5\nsens 0.8", classes="ill 10, well 20", positive="ill")
        )

        assert "3 matrices of 10 and 20 examples give these numbers." in page.one("main").text
        assert page.table("data-plain") == [["8", "2", "12 – 14", "6 – 8"]]

    def test_where_none_fits_that_is_said(self, reader: PageClient) -> None:
        text = "acc 0.9567\nsens 0.8545\nspec 0.9734"

        page = audited(paste(reader, text, classes="ill 100, well 200", positive="ill"))

        assert "No matrix of 100 and 200 examples gives these numbers." in page.one("main").text
        assert page.all("table", "data-plain") == []


class TestRefusals:
    def test_a_text_without_metrics_is_shown_with_the_way_out(self, reader: PageClient) -> None:
        response = paste(reader, "nothing to see")

        page = Page(response.text)
        assert response.status_code == 422
        assert page.one("textarea").text == "nothing to see"
        assert page.one("textarea")["aria-invalid"] == "true"
        assert "Paste the headers, too" in page.one("main").text

    @pytest.mark.parametrize(
        ("fields", "where", "says"),
        [
            ({"read:Accuracy": "acuracy"}, "f-heads", "“acuracy” does not identify"),
            ({"classes": "a 1, a 2"}, "f-table", "“a” occurs more than once"),
            ({"classes": "a 1, b"}, "f-classes", "does not list classes"),
            ({"positive": "c"}, "f-positive", "no class “c”"),
        ],
    )
    def test_a_correction_that_cannot_be_meant_is_shown_at_its_field(
        self, reader: PageClient, fields: dict[str, str], where: str, says: str
    ) -> None:
        response = paste(reader, SVM, **fields)

        page = Page(response.text)
        assert response.status_code == 422
        assert says in page.one("div", "callout-warning").text
        assert page.one("a", "plain")["href"] == f"#{where}"
        typed = [field.attributes.get("value") for field in page.all("input")]
        assert set(fields.values()) <= set(typed)

    def test_a_refused_text_in_an_address_is_a_page_with_a_notice(
        self, reader: PageClient
    ) -> None:
        response = reader.get("/audit", query_string={"table": "x", "classes": "1, b"})

        assert response.status_code == 200
        assert "does not list classes" in response.text

    def test_a_text_that_is_too_long_is_refused_with_the_limit(self, reader: PageClient) -> None:
        response = paste(reader, "x" * (MOST_CHARACTERS + 1))

        assert response.status_code == 422
        assert "at most 20000 characters" in response.text

    def test_a_megabyte_is_refused_before_it_is_read(self, reader: PageClient) -> None:
        (form,) = forms_of(reader, "/audit")

        response = send(reader, form, {"table": "0.5 " * (KIB * KIB // 4)})

        assert response.status_code == 413
        assert "64 KiB" in response.text


class TestHostileTexts:
    def test_names_are_text_wherever_they_stand(self, reader: PageClient) -> None:
        name = "".join(HOSTILE_MARKUP)
        texts = (
            f"Model\tAccuracy\tMCC\n{name}\t0.9\t0.8",
            f"\t{name}\tB\nRecall\t0.9\t0.8\nmacro avg\t0.8\t0.7",
            f"{name}\nAccuracy 0.9",
            f"Predicted\t{name}\tB\n{name}\t8\t2\nB\t1\t9\nAccuracy\t0.85",
        )

        for text in texts:
            response = paste(reader, text, classes="", positive="")
            page = Page(response.text)

            assert response.status_code in {200, 422}
            assert_harmless(page)

    @pytest.mark.parametrize(
        "text",
        [
            "\0\0Accuracy 0.9\0",
            "Accuracy 0.9\x1b[31m\u202e",
            "((((((((((" * 300,
            "{{7*7}} {% raw %} 0.5",
            "=1+1\tAccuracy\n=cmd()\t0.9",
            "[[[[@@@@ 0.5 | 0.6 & 0.7 ; 0.8 , 0.9",
            "Accuracy 1e999999999\nMCC 0.5",
            "Accuracy 0.9\nMCC " + "9" * 5000,
            "\N{RIGHT-TO-LEFT OVERRIDE}" * 50,
        ],
    )
    def test_garbage_is_answered_in_good_order(self, reader: PageClient, text: str) -> None:
        response = paste(reader, text)

        assert response.status_code in {200, 422}
        # Names of scripts and styles may hold any digits; what the page says does not.
        assert "49" not in Page(response.text).one("main").text


class TestBudgets:
    def test_the_largest_table_is_a_page_within_bounds(self, reader: PageClient) -> None:
        models = "Model\tAccuracy\tMacro precision\tMacro recall\tMacro F1\tMCC\n" + "\n".join(
            f"a model of ordinary name {i}\t0.9{i}\t0.7\t0.6\t0.5\t0.4" for i in range(16)
        )
        classes = "\tprecision\trecall\tf1\tspecificity\n" + "\n".join(
            f"class {i}\t0.751\t0.602\t0.668\t0.9" for i in range(MOST_NUMBERS // 4)
        )

        for table in (models, classes):
            assert verdicts_on(small_page(paste(reader, table).data))

    def test_the_page_its_card_and_its_export_take_one_search(
        self, reader: PageClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        audited_texts = []

        def counting(text: str, corrections: Corrections | None = None) -> TableTextAudit:
            audited_texts.append(text)
            return audit_table_text(text, corrections)

        monkeypatch.setattr("offdiag_web.pages.audit.page.audit_table_text", counting)
        own = "table=Accuracy+0.93%0AError+rate+0.08&classes=a+10,b+20"

        for path in ("/audit", "/audit/card.svg", "/audit.json"):
            assert reader.get(f"{path}?{own}").status_code == 200
        assert len(audited_texts) == 1
        reader.get(f"/audit?{own}&read:Accuracy=balanced_accuracy")
        assert len(audited_texts) == 2


def test_the_runs_page_and_every_foot_lead_here(reader: PageClient) -> None:
    page = audited(reader.get("/runs"))

    links = [a["href"] for a in page.all("a")]
    assert "/audit" in links
