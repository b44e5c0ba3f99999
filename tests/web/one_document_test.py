"""A noun is described by the same keys wherever it is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest

from offdiag import compare, evaluate_matrix
from offdiag.cli.commands import run as command_line
from offdiag.records.runs.run import Run, RunBasics
from offdiag.store.database import Database
from support.api import get, send
from support.dashboard import LESION_COUNTS, LESIONS, LesionRegistry
from support.kinds import Kind
from support.logging_runs import log
from support.pages import PageClient
from support.registries import reader_of
from support.reported import ReportedRegistry
from support.revised import RevisedRegistry

ONLY_IN_THE_API = {"evaluation.n_cases"}
"""Old names, which the API keeps for one release beside the new ones."""


@pytest.fixture(scope="module")
def registry(
    registry: LesionRegistry, databases: Kind, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LesionRegistry]:
    """A copy of the shared registry, as commands that list runs evaluate what is pending."""
    with databases.copy(registry.database, tmp_path_factory.mktemp("documents")) as database:
        yield replace(registry, database=database)


@pytest.fixture(scope="module")
def reader(registry: LesionRegistry) -> PageClient:
    """A client of the dashboard over that copy."""
    return reader_of(registry)


def test_a_run_has_the_same_keys_everywhere(
    reader: PageClient, registry: LesionRegistry, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = get(reader, "/runs/{plain}")
    page = reader.json("/runs/{plain}/meta.json")
    with_matrix = reader.json("/runs/{plain}.json")
    shown = printed(capfd, registry.database, "runs", "show", registry.plain)

    assert keys(answer) - keys(page) == ONLY_IN_THE_API
    assert keys(page) <= keys(answer)
    assert with_matrix | page == with_matrix
    assert shown | page == shown
    results = {"metrics", "costs", "confusion_matrix", "weighted"}
    assert with_matrix.keys() - page.keys() == results
    assert shown.keys() - page.keys() == results | {"per_class"}
    assert all(with_matrix[key] == shown[key] for key in ("metrics", "costs"))


def test_a_run_of_a_list_has_the_same_keys_everywhere(
    reader: PageClient, registry: LesionRegistry, capfd: pytest.CaptureFixture[str]
) -> None:
    document = get(reader, "/runs/{plain}")
    answer = one_of(get(reader, "/runs", limit=1000), registry)
    page = one_of(reader.json("/runs.json"), registry)
    printed_list = one_of(printed(capfd, registry.database, "runs", "list"), registry)

    assert without(page, "metrics") == without(printed_list, "metrics")
    assert printed_list["metrics"] == answer["metrics"]
    assert page["metrics"].items() <= answer["metrics"].items()
    assert answer.keys() - page.keys() == {"truth_version"}
    assert page.keys() <= answer.keys()
    only_in_lists = {"metrics", "worst_class", "may_hide_minority"}
    assert page.keys() - document.keys() == only_in_lists
    for key in page.keys() - only_in_lists:
        whole, listed = document[key], page[key]
        if isinstance(listed, dict):
            assert whole | listed == whole, key
        else:
            assert whole == listed == answer[key], key


def test_a_list_says_alike_how_many_runs_have_no_metrics_of_slices(
    reader: PageClient, registry: LesionRegistry, capfd: pytest.CaptureFixture[str]
) -> None:
    weighted = log(
        registry.database,
        dataset="weighed",
        sample_ids=[1, 2],
        y_true=["a", "b"],
        y_pred=["a", "a"],
        sample_weight=[1, 2],
    )
    asked = "overall_accuracy@site=x>=0"

    for narrowed, page_filter, n_runs in (
        (f"attributes.id = '{weighted.id}' and {asked}", f"dataset:weighed {asked}", 1),
        (f"attributes.id = '{weighted.id}'", "dataset:weighed", 0),
    ):
        answer = get(reader, "/runs", filter=narrowed)
        page = reader.json(f"/runs.json?{urlencode({'q': page_filter})}")
        shown = printed(capfd, registry.database, "runs", "list", "--filter", narrowed)

        assert page["n_without_slices"] == n_runs
        assert answer["n_without_slices"] == shown["n_without_slices"] == n_runs
        # The page and the command say notices beside the list.
        only_of_api = {"next_page_token", "notices"}
        assert shown.keys() == answer.keys() - only_of_api <= page.keys()


def test_the_remote_sdk_reads_every_key_of_a_run(reader: PageClient) -> None:
    answer = get(reader, "/runs/{plain}")

    read = Run.model_validate(answer, extra="forbid")

    assert read.model_dump(mode="json") == answer


def test_the_history_of_a_run_has_the_same_keys_everywhere(
    reader: PageClient, registry: LesionRegistry, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = get(reader, "/runs/{plain}/history")
    page = reader.json("/runs/{plain}/history.json")

    assert printed(capfd, registry.database, "runs", "history", registry.plain) == answer
    assert page.keys() == answer.keys()
    assert page["evaluations"][0].keys() == answer["evaluations"][-1].keys()


def test_a_dataset_has_the_same_keys_everywhere(revised_reader: PageClient) -> None:
    listed = get(revised_reader, "/datasets")
    answer = get(revised_reader, "/datasets/pets")
    page = revised_reader.json("/datasets/pets.json")

    assert revised_reader.json("/datasets.json") == listed
    decision = ("verdict", "primary_metric", "best_set", "champion", "candidate")
    assert without(answer, "groups") == without(page, *decision)
    lines = revised_reader.get("/datasets.csv").text.splitlines()
    head = set(lines[0].split(","))
    assert head <= keys(listed["datasets"][0]) | set(page["runs_by_state"])


def test_label_versions_have_the_same_keys_everywhere(
    revised_reader: PageClient, revised: RevisedRegistry, capfd: pytest.CaptureFixture[str]
) -> None:
    versions = get(revised_reader, "/datasets/pets/truth")
    difference = get(revised_reader, "/datasets/pets/truth/difference", before=1, after=2)
    impact = get(revised_reader, "/datasets/pets/truth/2/impact")
    page = revised_reader.json("/datasets/pets/truth/2/impact.json")

    assert versions["versions"] == get(revised_reader, "/datasets/pets")["truth_versions"]
    for command, answer in (
        (("show", "pets"), versions),
        (("diff", "pets", "1", "2"), difference),
        (("impact", "pets", "1..2"), impact),
    ):
        assert printed(capfd, revised.database, "truth", *command) == answer
    assert revised_reader.json("/datasets/pets/truth/1..2.json") == difference
    assert without(page, "metric", "sentence") == impact


def test_a_flag_has_the_same_keys_everywhere(
    reader: PageClient, registry: LesionRegistry, capfd: pytest.CaptureFixture[str]
) -> None:
    # This command evaluates what is pending, so that runs have other ranks after it.
    printed_list = printed(capfd, registry.database, "flags", "list", "--state", "all")["flags"]
    listed = get(reader, "/flags", limit=1, run=registry.plain)["flags"][0]
    number = listed["id"]
    answer = get(reader, f"/flags/{number}")
    page = reader.json(f"/flags/{number}.json")
    page_of_list = reader.json("/flags.json?state=all")["flags"]

    assert listed in page_of_list
    assert listed in printed_list
    assert without(answer, "history") == listed
    assert page | answer == page
    assert printed(capfd, registry.database, "flags", "show", str(number)) == page
    head = reader.get("/flags.csv").text.splitlines()[0]
    assert set(head.split(",")) <= listed.keys()
    flag, *_ = evaluate_matrix(LESION_COUNTS, labels=LESIONS, orientation="actual_rows").flags
    assert flag.to_dict().keys() <= listed.keys()


def test_a_report_has_the_same_keys_everywhere(
    report_reader: PageClient, reported: ReportedRegistry, capfd: pytest.CaptureFixture[str]
) -> None:
    listed = get(report_reader, "/reports")
    report = get(report_reader, "/reports/weekly")
    edition = get(report_reader, "/reports/weekly/editions/2")
    shown = printed(capfd, reported.database, "report", "show", "weekly", "2")
    planned = get(report_reader, "/schedules")

    assert report["editions"] == report.pop("issues")
    for one in (report, *listed["reports"]):
        assert one["n_editions"] == one.pop("n_issues")
    assert report_reader.json("/reports.json") == listed
    assert printed(capfd, reported.database, "report", "list") == listed
    assert report_reader.json("/reports/weekly.json") == report
    basics = without(listed["reports"][0], "summary").keys()
    assert report.keys() - basics == {"next_times", "start", "editions", "has_scheduler"}
    assert report_reader.json("/reports/weekly/2.json") == edition
    assert shown == edition
    assert edition.keys() - report["last"].keys() == {"project", "name", "files", "report"}
    assert printed(capfd, reported.database, "schedule", "list") == planned
    for one in planned["schedules"]:
        command = ("schedule", "show", one["name"], "--project", one["project"])
        assert printed(capfd, reported.database, *command) == one
        answer = get(report_reader, f"/schedules/{one['name']}", project=one["project"])
        assert without(one, "next_times", "last_fire", "last") == answer


def test_a_job_has_the_same_keys_everywhere(
    reader: PageClient, registry: LesionRegistry, capfd: pytest.CaptureFixture[str]
) -> None:
    queue = get(reader, "/jobs")
    (first, *_) = queue["jobs"]
    for other in (
        reader.json("/jobs.json"),
        printed(capfd, registry.database, "jobs", "list"),
    ):
        assert keys(other) == keys(queue)
        assert [job["id"] for job in other["jobs"]] == [job["id"] for job in queue["jobs"]]
        assert other["jobs"][0].keys() == first.keys()
    assert reader.json(f"/jobs/{first['id']}.json").keys() == first.keys()


def test_a_comparison_is_the_same_document_everywhere(
    reader: PageClient, registry: LesionRegistry, capfd: pytest.CaptureFixture[str]
) -> None:
    runs = (registry.plain, registry.majority)
    answer = get(reader, "/compare", runs=",".join(runs))

    assert reader.json(f"/compare.json?runs={','.join(runs)}") == answer
    assert printed(capfd, registry.database, "compare", *runs) == answer
    assert compare(runs, url=registry.database.url).to_dict() == answer
    assert answer["runs"][0].keys() >= RunBasics.model_fields.keys()


def test_what_runs_cost_is_the_same_document_everywhere(
    reader: PageClient, registry: LesionRegistry, capfd: pytest.CaptureFixture[str]
) -> None:
    runs = [registry.plain, registry.majority]
    status, answer = send(reader, "/whatif", {"runs": runs, "costs": {"base": "@0-1"}})
    page = reader.json(f"/whatif.json?runs={','.join(runs)}&cost=@0-1")
    command = ("cost", "apply", *runs, "--matrix", "@0-1")

    assert status == 200
    assert without(page, "url") == answer["costs"]
    assert printed(capfd, registry.database, *command) == answer["costs"]


LISTS = (
    *(
        ("lesions", "/runs.json?q=dataset:derm-7", "runs"),
        ("lesions", "/flags.json?rule=F4", "flags"),
    ),
    *(("lesions", "/problems.json?show=all", "problems"), ("lesions", "/jobs.json", "jobs")),
    *(("lesions", "/costs.json", "cost_matrices"), ("lesions", "/datasets.json", "datasets")),
    *(("lesions", "/models/effnet-b3.json", "runs"), ("reported", "/reports.json", "reports")),
    ("lesions", "/whatif.json?runs={plain},{majority}&cost=@0-1", "runs"),
    ("reported", "/reports/weekly.json", "editions"),
    ("revised", "/datasets/pets/truth/1..2.json", "samples"),
    ("scored", "/datasets/scored/suspects.json", "suspects"),
    ("scored", "/runs/{several}/examples.json?show=all", "examples"),
    ("scored", "/runs/{several}/slices.json", "gaps"),
    ("compared", "/compare/examples.json?runs={plain},{focal}&which=both_right", "examples"),
)
COUNTED_DOWN = frozenset({"due_at"})
"""Times that are told from now on."""


@pytest.fixture(scope="module")
def readers(
    reader: PageClient,
    scored_reader: PageClient,
    comparer: PageClient,
    report_reader: PageClient,
    revised_reader: PageClient,
) -> dict[str, PageClient]:
    """Clients of the dashboard by the registries they are over."""
    return {
        "lesions": reader,
        "scored": scored_reader,
        "compared": comparer,
        "reported": report_reader,
        "revised": revised_reader,
    }


@pytest.mark.parametrize(("which", "path", "key"), LISTS)
def test_a_line_of_a_csv_file_says_what_the_json_says(
    readers: dict[str, PageClient], which: str, path: str, key: str
) -> None:
    entries = readers[which].json(path)[key]
    lines = readers[which].records(path.replace(".json", ".csv", 1))

    assert len(lines) == len(entries) > 0
    for line, entry in zip(lines, entries, strict=True):
        told = {**metrics_of(entry), **entry}
        known = {name: cell for name in told if (cell := cell_of(told[name])) is not None}
        shared = known.keys() & line.keys() - COUNTED_DOWN
        assert len(shared) > 2
        for name in shared:
            # What a spreadsheet would compute has an apostrophe before it.
            assert line[name] in (known[name], f"'{known[name]}"), name


def metrics_of(entry: dict[str, Any]) -> dict[str, Any]:
    """Values of metrics by key, where an entry has any."""
    found = entry.get("metrics")
    return found if isinstance(found, dict) else {}


def cell_of(value: Any) -> str | None:
    """A value of a document as a CSV file writes it; None for parts, which have other columns."""
    if isinstance(value, dict):
        return cell_of(value["value"]) if "value" in value else None
    if isinstance(value, list):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return ""
    text = str(value)
    is_time = re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", text)
    return f"{text[:-1]}+00:00" if is_time else text


def without(document: dict[str, Any], *names: str) -> dict[str, Any]:
    """A document that has these keys, without them."""
    assert document.keys() >= set(names)
    return {key: value for key, value in document.items() if key not in names}


def one_of(listed: dict[str, Any], registry: LesionRegistry) -> dict[str, Any]:
    """The plain run of a list."""
    (found,) = [run for run in listed["runs"] if run["id"] == registry.plain]
    return dict(found)


def printed(
    capfd: pytest.CaptureFixture[str], database: Database, *arguments: str
) -> dict[str, Any]:
    """What a command prints as JSON about this registry."""
    capfd.readouterr()
    assert command_line((*arguments, "--json", "--url", database.url)) == 0
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    return found


def keys(document: dict[str, Any]) -> set[str]:
    """Keys of a document, and those of its parts after a point."""
    return {*document, *_keys_of_parts(document)}


def _keys_of_parts(document: dict[str, Any]) -> set[str]:
    return {
        f"{key}.{part}"
        for key, value in document.items()
        if isinstance(value, dict)
        for part in value
    }
