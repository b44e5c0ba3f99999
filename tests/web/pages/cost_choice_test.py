"""What chance alone made of the highest run, and what would decide, is the same everywhere."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

import offdiag
from offdiag.cli.commands import offdiag as command
from offdiag.services.comparisons.compare import compare_runs
from support.compared import ComparedRegistry
from support.pages import PageClient


def terminal(compared: ComparedRegistry, ids: tuple[str, ...], *options: str) -> str:
    arguments = ["compare", *ids, "--url", compared.database.url, *options]
    done = CliRunner().invoke(command, arguments, catch_exceptions=False, env={"COLUMNS": "400"})
    assert done.exit_code == 0, done.output
    return done.output


def asked(client: PageClient, path: str, ids: tuple[str, ...], **query: object) -> Any:
    return client.get(path, query_string={"runs": ",".join(ids), **query}).get_json()


def test_page_terminal_api_and_sdk_agree(comparer: PageClient, compared: ComparedRegistry) -> None:
    ids = compared.alike[:4]
    verdict = compare_runs(compared.database, ids).verdict
    assert verdict is not None
    (more,) = [each for each in verdict.details if "labelled examples" in each]
    chosen = [each for each in verdict.details if "chosen for being highest" in each]
    assert len(chosen) == 1

    page = comparer.page(f"/compare?runs={','.join(ids)}")
    markdown = comparer.get(f"/compare.md?runs={','.join(ids)}").text
    printed = " ".join(terminal(compared, ids).split())
    found = offdiag.compare(ids, url=compared.database.url)
    for said in (more, *chosen):
        assert said in page.one("div", "verdict").text
        assert said in markdown
        assert said in printed
        assert said in found.verdict
        assert said in found._repr_html_()

    record = asked(comparer, "/api/v1/compare", ids)["result"]
    assert record["samples_needed"] == found.samples_needed
    assert found.samples_needed is not None
    assert record == asked(comparer, "/compare.json", ids)["result"]
    assert record == found.to_dict()["result"]
    (row,) = [row for row in page.all("tr") if row.text.startswith("Best, expected on new")]
    for key, best in record["best_of_many"].items():
        assert best["value"] == max(place["value"] for place in record["metrics"][key].values())
        corrected = best["corrected"]["value"]
        assert found.best_of_many.loc[key, "corrected"] == corrected
        for text in (row.text, markdown, printed):
            assert f"{corrected:.3f}" in text


def test_the_difference_that_matters_is_asked_for(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    ids = compared.alike[:2]
    found = offdiag.compare(ids, difference=0.2, url=compared.database.url)

    assert found.samples_needed is not None
    assert found.samples_needed["difference"] == 0.2
    assert "chosen for being highest" not in found.verdict
    assert "a difference of 20 points in accuracy between A and B" in found.verdict
    api = asked(comparer, "/api/v1/compare", ids, difference=0.2)
    assert api["result"]["samples_needed"] == found.samples_needed
    assert api["verdict"] == found.to_dict()["verdict"]
    assert found.verdict.split(". ")[2] in " ".join(
        terminal(compared, ids, "--difference", "0.2").split()
    )
    with pytest.raises(offdiag.InvalidInput, match="not a difference that could matter"):
        offdiag.compare(ids, difference=0, url=compared.database.url)
