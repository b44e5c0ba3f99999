"""Parameters of addresses that pages do not read, which they name."""

from __future__ import annotations

import re

import pytest

from support.pages import PageClient


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("/runs/{plain}/classes", "Known parameters: from, show, slice, sort"),
        ("/runs/{plain}/curves", "Known parameters: curve, from, positive, prevalence, slice"),
        (
            "/whatif?runs={plain}&cost=@0-1",
            "Known parameters: add, cost, merge, positive, runs, set, share, slice, vary",
        ),
        ("/datasets/derm-7", "Known parameters: difference, project"),
        ("/models/effnet-b3", ""),
        ("/problems", "Known parameters: cause, class, "),
        ("/glossary/f1", "Known parameters: dataset, "),
        ("/settings/rules", ""),
    ],
)
def test_a_parameter_that_a_page_does_not_read_is_named_with_those_it_reads(
    reader: PageClient, path: str, known: str
) -> None:
    page = reader.page(f"{path}{'&' if '?' in path else '?'}clas=fraud&utm_source=mail")

    told = page.all("p", "callout")[0].text
    assert told.startswith(f"There is no parameter “clas” here.{known and f' {known}'}")


@pytest.mark.parametrize(
    "path",
    [
        # All boxes and fields of a list are sent whichever button was pressed.
        "/compare?form=1&q=dataset:derm-7&runs={plain}",
        "/whatif?form=1&q=&sel=",
        # What is not there has no parameters.
        "/runs/r_nobody/classes?clas=fraud",
        # Forms and mail programs add what nobody typed to the address of a file, too.
        "/runs/{plain}/classes.json?utm_source=mail",
        "/runs.csv?form=1&q=&sel=",
    ],
)
def test_nobody_is_told_of_what_was_not_typed_or_of_a_page_that_is_not_there(
    reader: PageClient, path: str
) -> None:
    assert "There is no parameter" not in reader.get(path, follow_redirects=True).text


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/runs.csv?q=acc:>much", "“acc:>much”: much is not a number."),
        ("/runs.csv?sort=best-looking", "best-looking"),
        ("/runs.json?sort=best-looking", "best-looking"),
        ("/runs/{plain}/examples.csv?show=wrng", "Examples cannot be “wrng”"),
        ("/runs/{plain}/examples.json?sort=margn", "Examples cannot be sorted by"),
        ("/runs/{plain}/matrix.csv?order=suport", "There is no order of classes “suport”"),
        ("/runs/{plain}/matrix.md?norm=rows", "There is no normalisation “rows”"),
        ("/compare/examples.csv?runs={plain}&which=brok", "brok"),
        (
            "/flags.csv?severity=hgh",
            "There is no severity “hgh”; use info, medium, high, critical.",
        ),
        ("/flags.csv?state=opn", "There is no state “opn”"),
        ("/flags.csv?rule=F99", "There is no rule “F99”"),
        ("/problems.csv?rule=F99", "There is no rule “F99”"),
        ("/problems.csv?severity=hgh", "Problems cannot be filtered by severity"),
        ("/runs.csv?datset=x", "There is no parameter “datset” here. Known parameters: "),
        ("/runs.json?datset=x", "There is no parameter"),
        ("/runs/{plain}.json?slise=a", "There is no parameter"),
        ("/runs/{plain}/classes.json?clas=fraud", "There is no parameter"),
        ("/runs/{plain}/examples.csv?shw=wrong", "There is no parameter “shw” here."),
        ("/runs/{plain}/matrix.md?nrm=actual", "There is no parameter “nrm” here."),
        ("/flags.csv?sevrity=high", "There is no parameter “sevrity” here."),
    ],
)
def test_an_export_refuses_what_a_page_would_tell_in_a_notice(
    reader: PageClient, path: str, told: str
) -> None:
    answer = reader.get(path)

    assert answer.status_code == 400
    assert told in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/runs?sort=-f1&q=dataset:derm-7",
        "/runs/{plain}?norm=actual&order=support",
        "/runs/{plain}/classes?sort=precision&show=rates",
        "/runs/{plain}/examples?show=wrong",
        "/glossary/mcc?share=0.2",
        "/problems?severity=critical",
    ],
)
def test_the_exports_that_a_page_links_have_its_parameters(reader: PageClient, path: str) -> None:
    links = [link.attributes.get("href", "") for link in reader.page(path).all("a")]
    exports = [link for link in links if re.search(r"\.(csv|json|md|tex)\b", link)]

    assert exports
    assert [link for link in exports if reader.get(link).status_code != 200] == []


def test_the_list_in_json_says_itself_which_terms_it_ignores(reader: PageClient) -> None:
    assert reader.json("/runs.json?q=acc:>much")["ignored"] == [
        {"term": "acc:>much", "reason": "much is not a number"}
    ]
