"""With `slices.suppress_below` no page, file, answer, command or frame shows a small group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest

import offdiag
from offdiag.cli.commands import run
from offdiag.errors import Conflict, Forbidden
from offdiag.flags.problems import Cause
from offdiag.reports.scope import ReportScope
from offdiag.services.champions.promotions import approve
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.reports.alerts import alert_condition
from offdiag.services.reports.edition import report_now
from offdiag.store.database import Database
from offdiag.store.flags import events_of, flags_of_run
from offdiag.store.problems import find_problems
from offdiag_web.app.dispatch import PREFIX
from support.api import get, refusal
from support.filled_once import filled_once
from support.logging_runs import work_off
from support.pages import PageClient, client_for
from support.registries import dashboard
from support.reporting import editions, files
from support.routes import path_of, routes_of, spelled
from support.sites import FOUND, log_sites

K = "10"
SMALL, ALONG, SHOWN = "site=tiny", "site=y", "site=z"
"""Too small, hidden since the small one would follow from it, and large enough."""


@dataclass(frozen=True)
class Sites:
    """Two runs whose small slices were evaluated before somebody set a limit."""

    database: Database
    client: PageClient
    first: str
    second: str


@filled_once
def log_evaluated_slices(database: Database) -> tuple[str, str]:
    first, second = (log_sites(database, name=name).id for name in ("before", "after"))
    work_off(database)
    for part in (SMALL, ALONG, SHOWN, "device=a & site=tiny"):
        evaluation_of_slice(database, first, part)
    return first, second


@pytest.fixture
def sites(database: Database, client: PageClient, monkeypatch: pytest.MonkeyPatch) -> Sites:
    runs = log_evaluated_slices(database)
    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", K)
    return Sites(database, client, *runs)


@pytest.mark.both_databases
def test_a_hidden_slice_is_refused_with_the_reason_and_a_large_one_is_shown(sites: Sites) -> None:
    known = offdiag.get_run(sites.first, url=sites.database.url)
    for part in (SMALL, ALONG, "device=a & site=tiny", "device=b & site=x"):
        status, error = refusal(sites.client, f"/runs/{sites.first}/evaluation", slice=part)

        assert status == 403, part
        assert "suppressed: groups of fewer than 10 labelled examples" in error["message"]
        assert error["field"] == "slice"
        with pytest.raises(Forbidden, match="is suppressed"):
            known.evaluation(slice=part)
    assert get(sites.client, f"/runs/{sites.first}/evaluation", slice=SHOWN)["n_cases"] == 40
    _, error = refusal(sites.client, f"/runs/{sites.first}/evaluation", slice="site=tyni")
    assert "sample has site 'tyni'" in error["message"]
    assert "tiny" not in str(error)


def test_comparisons_costs_and_searches_do_not_tell_of_small_groups(sites: Sites) -> None:
    runs = f"{sites.first},{sites.second}"
    for path in ("/compare", "/compare.json", "/compare/examples"):
        text = sites.client.get(f"{path}?{urlencode({'runs': runs, 'slice': SMALL})}").text
        assert "is suppressed" in text, path
        assert "5 examples" not in text, path
    for path in (
        f"/whatif?cost=@0-1&runs={runs}&slice=site%3Dtiny",
        f"/whatif.json?cost=@0-1&runs={runs}&slice=site%3Dtiny",
        f"/api/v1/costs?runs={runs}&slice=site%3Dtiny",
        "/runs?q=recall[ill]@site%3Dtiny<0.9",
        "/runs.json?q=slice:site%3Dtiny%20recall(ill)<0.9",
        "/api/v1/runs?filter=worst(recall[ill],by%3Dsite)<0.9",
    ):
        assert sites.client.get(path).status_code == 403, path
    page = sites.client.page(f"/whatif?cost=@0-1&runs={runs}")
    offered = {each.text for each in page.all("option")}
    assert SHOWN in offered
    assert not {SMALL, ALONG} & offered
    for path in ("/slices.json?across=a&across=b&across=c", "/slices?across=a&across=b&across=c"):
        assert SHOWN not in sites.client.get(f"/runs/{sites.first}{path}").text


@pytest.mark.both_databases
def test_runs_are_offered_for_comparison_on_shown_slices_only(sites: Sites) -> None:
    for part in ("", SMALL, SHOWN):
        query = {"runs": f"{sites.first},{sites.second}", "slice": part}

        page = sites.client.page(f"/compare?{urlencode(query)}")

        select = page.one("select", id="slice")
        offered = {each.text for each in select.inside("option")}
        assert offered - {part} == {"all examples", "device=a", "device=b", "site=x", SHOWN} - {
            part
        }


@pytest.mark.both_databases
def test_flags_that_slices_had_before_are_read_by_nobody(
    database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = log_sites(database, {**FOUND, "z": (8, 32, 1, 39)}, name="failing").id
    work_off(database)
    monkeypatch.setenv("OFFDIAG_URL", database.url)
    with database.read() as session:
        (flag,) = (each for each in flags_of_run(session, run_id) if each.content.rule == "F16")
    said = "on site=z"

    def told() -> dict[str, bool]:
        """Where the slice of the flag is told of, by a server that was started now."""
        client = client_for(dashboard(database))
        pages = ["/flags", "/flags?show=all", f"/runs/{run_id}", f"/flags/{flag.id}", "/"]
        found = {path: said in client.get(path).text for path in pages}
        for path in ("/flags", "/problems", f"/runs/{run_id}/evaluation"):
            found[f"api {path}"] = said in client.get(f"{PREFIX}{path}").text
        for command in (["flags", "list"], ["problems"], ["runs", "show", run_id, "--json"]):
            capsys.readouterr()
            run(command)
            found[" ".join(command)] = said in capsys.readouterr().out
        frame = offdiag.get_run(run_id, url=database.url).evaluation().flags
        return {**found, "sdk": said in str(frame)}

    before = told()
    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", K)

    assert sum(before.values()) >= 8, before
    assert not any(told().values()), told()


@pytest.mark.both_databases
def test_nothing_is_stored_about_a_flag_that_is_hidden(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = log_sites(database, {**FOUND, "z": (8, 32, 1, 39)}, name="failing").id
    work_off(database)
    with database.read() as session:
        flags = {each.content.rule: each.id for each in flags_of_run(session, run_id)}
        numbers = {
            each.key.cause: each.number
            for each in find_problems(session, now=database.clock()).problems
        }
    hidden, problem = flags["F16"], numbers[Cause.SLICE]
    shown = next(number for rule, number in flags.items() if rule != "F16")

    def stored() -> list[object]:
        with database.write() as session:
            of_flags = [events_of(session, each) for each in (hidden, shown)]
            return [*of_flags, flags_of_run(session, run_id)]

    before = stored()
    monkeypatch.setenv("OFFDIAG_URL", database.url)
    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", K)
    app = dashboard(database)
    app.config["WTF_CSRF_ENABLED"] = False
    client = client_for(app)
    client.post("/preferences", data={"reader": "ana"})

    for action, values, names in (
        ("acknowledge", {}, {}),
        ("dismiss", {"reason": "known"}, {}),
        ("assign", {"assignee": "bo"}, {}),
        ("comment", {"comment": "rare"}, {"comment": "text"}),
    ):
        for path, form in (
            (f"/flags/{hidden}/{action}", {"seen": "0", **values}),
            (f"/problems/{problem}/{action}", values),
        ):
            assert client.post(path, data=form).status_code == 404, path
        told = {"action": action} | {names.get(name, name): values[name] for name in values}
        for path, body in (
            (f"/flags/{hidden}/decisions", told),
            (f"/problems/{problem}/decisions", told),
            ("/flags/decisions", {"flags": [{"id": shown}, {"id": hidden}], **told}),
        ):
            assert client.post(f"{PREFIX}{path}", json=body).status_code == 404, path
    assert run(["flags", "acknowledge", f"F-{shown}", f"F-{hidden}"]) == 2
    assert stored() == before


def test_history_and_single_examples_do_not_tell_of_hidden_slices(sites: Sites) -> None:
    found = get(sites.client, f"/runs/{sites.first}/history")

    assert {each["slice"] for each in found["evaluations"]} == {None, SHOWN}
    assert SMALL not in sites.client.get(f"/runs/{sites.first}/history").text
    found = get(sites.client, f"/runs/{sites.first}/examples", kind="all")

    assert {value for each in found["examples"] for value in each["slices"].values()} == {
        "suppressed"
    }
    for form in ("", ".csv", ".json"):
        text = sites.client.get(f"/runs/{sites.first}/examples{form}?show=all").text
        assert "tiny" not in text
        assert "suppressed" in text


def test_single_examples_are_not_listed_by_slice(sites: Sites) -> None:
    """The examples of two slices together would be those of their cross."""
    runs = f"{sites.first},{sites.second}"
    for part in (SHOWN, "device=a"):
        for path in (
            f"/runs/{sites.first}/examples",
            f"/runs/{sites.first}/examples.csv",
            f"/runs/{sites.first}/examples.json",
            f"{PREFIX}/runs/{sites.first}/examples",
        ):
            which = "kind" if path.startswith(PREFIX) else "show"
            answer = sites.client.get(f"{path}?{urlencode({which: 'all', 'slice': part})}")
            assert answer.status_code == 403, path
            assert "not listed by slice" in answer.text
        with pytest.raises(Forbidden, match="not listed by slice"):
            offdiag.get_run(sites.first, url=sites.database.url).examples(slice=part)
        query = urlencode({"runs": runs, "slice": part, "outcome": "both-right"})
        assert "not listed by slice" in sites.client.get(f"/compare/examples?{query}").text


def test_no_value_of_a_sample_is_told_to_who_contradicts_it(sites: Sites) -> None:
    for sample in (0, 144):
        with pytest.raises(Conflict) as refused:
            offdiag.add_slices(
                dataset="holdout", ids=[sample], columns={"site": ["q"]}, url=sites.database.url
            )

        assert f"sample {sample} has another site than 'q'" in str(refused.value)
        assert "tiny" not in str(refused.value)


@pytest.mark.both_databases
def test_groups_are_compared_without_the_hidden_ones(sites: Sites) -> None:
    found = get(sites.client, f"/runs/{sites.first}/fairness", by="site")

    assert found["groups"] == {"x": 60, "z": 40}
    assert (found["n_suppressed"], found["too_small"]) == (2, {})
    body = {"conditions": ["recall@site=tiny>=0", "worst(recall, by=site)>=0.5", "no-flag F16"]}
    gate = sites.client.post(f"{PREFIX}/runs/{sites.first}/gate", json=body).get_json()
    hidden, worst, flagged = gate["conditions"]
    assert (hidden["passed"], hidden["measured"], hidden["reason"]) == (False, None, "suppressed")
    assert worst["note"] == "site=z; left out: suppressed below 10: 2 groups"
    assert (flagged["passed"], flagged["reason"]) == (False, "suppressed")
    assert "no slice is flagged while small groups are hidden" in flagged["note"]


def test_the_worst_slices_are_not_listed(
    sites: Sites, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    approve(sites.database, sites.first, reason="the first one", author="ana")
    url = sites.database.url
    monkeypatch.setenv("OFFDIAG_URL", url)

    def listed() -> dict[str, bool]:
        """Where the slice of which most are missed is listed."""
        answers = {
            "api": get(sites.client, f"/runs/{sites.first}/slices")["gaps"],
            "json": sites.client.json(f"/runs/{sites.first}/slices.json")["gaps"],
            "csv": sites.client.records(f"/runs/{sites.first}/slices.csv"),
            "sdk": list(offdiag.get_run(sites.first, url=url).slices()["slice"]),
        }
        assert run(["runs", "slices", sites.first]) == 0
        pages = {
            "run": f"/runs/{sites.first}",
            "slices": f"/runs/{sites.first}/slices",
            "dataset": "/datasets/holdout",
        }
        return (
            {where: SHOWN in str(found) for where, found in answers.items()}
            | {"cli": SHOWN in capsys.readouterr().out}
            | {
                where: bool(sites.client.page(path).all("table", "slice-table"))
                for where, path in pages.items()
            }
        )

    assert not any(listed().values())
    page = sites.client.page(f"/runs/{sites.first}/slices").one("main").text
    assert "worst slices are not listed" in page
    assert "offdiag.add_slices(" not in page
    monkeypatch.delenv("OFFDIAG_SLICES__SUPPRESS_BELOW")
    assert all(listed().values())


def test_commands_refuse_it_too(
    sites: Sites, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OFFDIAG_URL", sites.database.url)

    assert run(["runs", "show", sites.first, "--slice", SMALL]) == 2
    assert "is suppressed" in capsys.readouterr().err
    assert run(["compare", sites.first, sites.second, "--slice", SMALL]) != 0
    assert "is suppressed" in "".join(capsys.readouterr())
    assert run(["runs", "fairness", sites.first, "--by", "site", "--json"]) == 0
    told = capsys.readouterr().out
    assert "tiny" not in told
    assert '"n_suppressed": 2' in told


def test_reports_leave_it_out_and_say_so(sites: Sites) -> None:
    scope = ReportScope(
        project="default",
        dataset="holdout",
        slices=(SMALL, SHOWN),
        alerts=(alert_condition("recall[ill]@site=tiny<0.99"),),
    )

    report_now(sites.database, name="weekly", scope=scope)
    work_off(sites.database)

    last = editions(sites.database)[-1]
    text = files(sites.database, last.id)["markdown"].content.decode()
    assert last.summary is not None
    assert last.summary["n_alerts"] == 0
    assert "Too small to be shown: 1 slice." in text
    assert "| site=z |" in text
    assert "| site=tiny |" not in text


def test_a_report_does_not_tell_what_the_edition_before_it_showed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not as closed flags either: that of site z is closed since no slice is flagged any more."""
    log_sites(database, {**FOUND, "z": (8, 32, 1, 39)}, name="failing")
    work_off(database)
    scope = ReportScope(
        project="default",
        dataset="holdout",
        slices=(SMALL, SHOWN),
        alerts=(alert_condition("recall[ill]@site=tiny<0.99"),),
    )

    def told() -> tuple[str, str]:
        report_now(database, name="weekly", scope=scope)
        work_off(database)
        last = editions(database)[-1]
        kinds = files(database, last.id).items()
        found = {kind: file.content.decode(errors="replace") for kind, file in kinds}
        return found["markdown"], "".join([*found.values(), str(last.summary)])

    before, _ = told()
    for words in ("ill, site=z", "| site=tiny |"):
        assert words in before
    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", K)
    for _ in range(2):
        text, everything = told()
        assert "| site=z |" in text
        for words in ("ill, site=z", "on site=z", "8 of 40", "| site=tiny |"):
            assert words not in everything, words


RARE, ALONG_WITH_IT = "qzrare", "qzalong"
"""Names of hidden groups that nothing else on a page can be."""
TELL_OF_GROUPS = (
    *("/datasets/<name:name>/data", "/api/v1/datasets/<name:name>"),
    *("/compare", "/api/v1/compare", "/whatif", "/runs/<run:run_id>"),
    *("/api/v1/runs/<run:run_id>/fairness", "/runs/<run:run_id>/slices"),
    "/runs/<run:run_id>/slices.csv",
)
"""Where groups are named that are not hidden."""


@filled_once
def log_named_groups(database: Database) -> tuple[str, str]:
    found = {"x": FOUND["x"], "z": FOUND["z"], ALONG_WITH_IT: FOUND["y"], RARE: FOUND["tiny"]}
    first, second = (log_sites(database, found, name=name).id for name in ("before", "after"))
    work_off(database)
    return first, second


@pytest.fixture
def named_groups(database: Database, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Two runs at sites with telling names."""
    monkeypatch.setenv("OFFDIAG_URL", database.url)
    return log_named_groups(database)


def _naming(told: dict[str, str]) -> set[str]:
    return {where for where, text in told.items() if RARE in text or ALONG_WITH_IT in text}


def test_no_address_names_a_hidden_group(
    database: Database, named_groups: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(rules: Sequence[str]) -> dict[str, str]:
        """What is read there, by a server that was started now."""
        client = client_for(dashboard(database))
        found = _addresses(client, *named_groups)
        return {
            rule: client.get(found[rule]).get_data().decode(errors="replace")
            for rule in rules or found
        }

    before = _naming(told(TELL_OF_GROUPS))
    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", K)

    assert before == {*TELL_OF_GROUPS}
    assert not _naming(told(()))
    client = client_for(dashboard(database))
    page = client.page("/datasets/holdout/data").one("main").text
    assert "x, z; 2 groups too small to be shown" in page
    columns = get(client, "/datasets/holdout")["slices"]
    assert {each["name"]: (each["levels"], each["n_suppressed"]) for each in columns} == {
        "device": (["a", "b"], 0),
        "site": (["x", "z"], 2),
    }


def test_no_gate_command_or_frame_names_a_hidden_group(
    database: Database,
    named_groups: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second = named_groups
    condition = "gap(recall[ill], by=site)<=1"

    def told() -> dict[str, str]:
        client = client_for(dashboard(database))
        body = {"conditions": [condition, "worst(recall[ill], by=site)>=0.5"]}
        found = {"gate": client.post(f"{PREFIX}/runs/{first}/gate", json=body).text}
        for command in (
            ["runs", "fairness", first, "--by", "site", "--json"],
            ["runs", "fairness", first, "--by", "site"],
            ["runs", "slices", first],
            ["compare", first, second],
            ["compare", first, second, "--json"],
            ["gate", first, "--require", condition],
        ):
            capsys.readouterr()
            run(command)
            found[" ".join([*command[:2], command[-1]])] = "".join(capsys.readouterr())
        fairness = offdiag.get_run(first, url=database.url).fairness("site")
        compared = offdiag.compare(first, second, url=database.url).slices()
        return found | {
            "fairness": f"{fairness.to_csv()} {fairness.attrs}",
            "compared": f"{compared.to_csv()} {compared.attrs}",
        }

    before = _naming(told())
    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", K)

    assert len(before) >= 6, before
    assert not _naming(told())


def _addresses(client: PageClient, first: str, second: str) -> dict[str, str]:
    """Every address that says something of a run or a dataset, by its rule."""
    things = {"run_id": first, "datasets/name": "holdout", "form": "json"}
    runs = {"runs": f"{first},{second}"}
    queries = {
        "compare": runs,
        "whatif": {**runs, "cost": "@0-1"},
        "fairness": {"by": "site"},
        "slices": {"by": "site"},
        "examples": {"show": "all"},
    }
    of_api, of_exports = {"examples": {"kind": "all"}}, {"slices": dict[str, str]()}
    found = {}
    for method, rule in routes_of(client.application):
        words = rule.rule.removeprefix(PREFIX).replace(".", "/").split("/")
        if rule.rule.startswith(PREFIX):
            asked = queries | of_api
        else:
            asked = queries | (of_exports if {"csv", "json"} & {*words} else {})
        query = next((asked[word] for word in words if word in asked), {})
        if method == "GET" and {"runs", "datasets", "compare", "whatif", "projects"} & {*words}:
            found[spelled(rule)] = f"{path_of(spelled(rule), things)}?{urlencode(query)}"
    return found
