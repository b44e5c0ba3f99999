"""Commands that read print one JSON object, the same over a server; others write alike there.

And errors over HTTP say the way out.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, NoReturn

import click
import pytest
import structlog

import offdiag as sdk
from offdiag.cli.commands import offdiag as root
from offdiag.cli.commands import run
from offdiag.domain.access import Grant, Role
from offdiag.sdk.remote.connection import Connection
from offdiag.services.access.sessions import create_token
from offdiag.services.access.users import add_user
from offdiag.settings.tokens import tokens_file
from offdiag.store.schema import open_database
from support.listeners import running
from support.servers import serving

COSTS = "[weights.well]\nwell = 0\nill = 1\n\n[weights.ill]\nwell = %d\nill = 0\n"
P_ILL = [0.9, 0.3, 0.2, 0.05, 0.6, 0.1, 0.35, 0.15] * 10
ACTUAL = ["ill", "ill", "well", "well", "well", "well", "ill", "well"] * 10


@dataclass(frozen=True)
class Scene:
    """A registry with something of everything, and the server over it, by role of a token."""

    database: str
    server: str
    tokens: dict[str, str]
    ids: dict[str, str]
    folder: Path


@pytest.fixture(scope="module")
def scene(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("scene")
    for version, miss in ((1, 2), (2, 10)):
        (folder / f"c{version}.toml").write_text(COSTS % miss, encoding="utf-8")
    (folder / "p.csv").write_text("y_true,y_pred\nill,ill\nwell,ill\n", encoding="utf-8")
    (folder / "more.csv").write_text("id,label\n5,ill\n", encoding="utf-8")
    (folder / "matrix.json").write_text("[[3, 1], [0, 4]]", encoding="utf-8")
    (folder / "groups.json").write_text('{"all": ["well", "ill"]}', encoding="utf-8")
    url = f"sqlite:///{shutil.copy(migrated_file, folder / 'registry.db')}"
    with pytest.MonkeyPatch.context() as patch, closing(open_database(url)) as database:
        for name in [name for name in os.environ if name.startswith("OFFDIAG_")]:
            patch.delenv(name)
        patch.setenv("OFFDIAG_URL", url)
        patch.chdir(folder)
        ids = _filled()
        add_user(database, name="ada", password=None, grants=[Grant(Role.ADMIN)])
        tokens = {
            role.value: create_token(
                database, owner="ada", name=role.value, scope=Grant(role), lifetime=None
            ).secret
            for role in Role
        }
        with serving(database, is_guarded=True) as server:
            # What it logs is not what a command says.
            structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
            yield Scene(url, server, tokens, ids, folder)


def _filled() -> dict[str, str]:
    ids = {}
    for name, limit in (("RUN", 0.5), ("OTHER", 0.05), ("GONE", 0.2)):
        logged = sdk.log_run(
            y_true=ACTUAL,
            y_pred=["ill" if p >= limit else "well" for p in P_ILL],
            y_score=P_ILL,
            labels=["well", "ill"],
            positive_label="ill",
            sample_ids=list(range(len(ACTUAL))),
            slices={"ward": ["A", "B"] * (len(ACTUAL) // 2)},
            dataset="clinic's 1",
            name=f"model {name}",
            model="net",
            tags={"group": "net", "seed": name},
        )
        logged.evaluation()
        ids[name] = logged.id
    sets = sdk.log_run(
        y_true=[["sea"], ["sky", "sea"], []],
        y_pred=[["sea"], ["sky"], ["sky"]],
        dataset="scenes",
        name="sets",
    )
    sets.evaluation()
    for name in ("FIRST", "SECOND"):
        twin = sdk.log_run(y_true=["a"], y_pred=["a"], dataset=f"of {name}", name="twin")
        ids[name] = twin.id
    sdk.revise_truth(dataset="clinic's 1", labels={3: "ill"}, reason="Read again.")
    for run_id in ids.values():
        assert run(["runs", "show", run_id, "--json"]) == 0
    for version in (1, 2):
        assert run(["cost", "add", "price", f"c{version}.toml", "--dataset", "clinic's 1"]) == 0
    assert run(["report", "create", "friday", "--dataset", "clinic's 1"]) == 0
    weekly = ["schedule", "add", "weekly", "--cron", "0 7 * * 1", "--dataset", "clinic's 1"]
    assert run(weekly) == 0
    assert run(["hierarchy", "set", "clinic's 1", "groups.json"]) == 0
    assert run(["recompute", "--outdated"]) == 0
    return {**ids, "SETS": sets.id}


READ: dict[str, tuple[str, ...]] = {
    "runs list": ("--project", "def*", "--dataset", "CLIN*", "--sort", "worst"),
    "runs list --filter": ("metrics.mcc > -1 and attributes.name like 'model%'",),
    "runs list --limit": ("2", "--sort", "-mcc"),
    "runs show": ("RUN",),
    "runs show --slice": ("ward=A", "RUN"),
    "runs show --json": ("SETS",),
    "runs history": ("RUN",),
    "runs baseline": ("--dataset", "clinic's 1"),
    "runs deleted": ("--project", "default"),
    "compare": ("RUN", "OTHER"),
    "compare --slice": ("ward=A", "RUN", "OTHER", "GONE"),
    "gate": ("RUN", "--min", "low(mcc)>=0.1", "--require", "no-warning", "--baseline", "OTHER"),
    "gate --weights": ("c1.toml", "RUN", "--min", "mean_cost<=9"),
    "flags list": ("--state", "all"),
    "flags list --at-least": ("high", "--dataset", "clinic's 1", "--limit", "1"),
    "flags show": ("1",),
    "problems": (),
    "problems --low": ("--dataset", "clinic's 1"),
    "leaders": ("clinic's 1", "--metric", "mcc"),
    "methods": ("clinic's 1", "--metric", "mcc"),
    "cost list": (),
    "cost show": ("price@1",),
    "cost diff": ("price@1", "price"),
    "cost apply": ("RUN", "OTHER", "r_gone", "--matrix", "price", "--share", "ill:0.1"),
    "cost rank": ("--dataset", "clinic's 1", "--set", "ill>well:50"),
    "cost decide": ("RUN", "--matrix", "price", "--threshold", "cheapest"),
    "truth show": ("clinic's 1",),
    "truth diff": ("clinic's 1", "1", "2"),
    "truth impact": ("clinic's 1", "1..2"),
    "report list": (),
    "report show": ("friday",),
    "audit": ("--reported", "accuracy=0.5", "--class-counts", "a=1,b=1"),
    "jobs list": (),
}
"""Arguments of commands that read; RUN, OTHER and SETS stand for ids."""

READ_HERE: dict[str, tuple[str, ...]] = {
    "db check": (),
    "sql": ("SELECT * FROM metrics ORDER BY ALL",),
    "evaluate": ("p.csv",),
    "cost labels": ("SETS", "--cost", "sea=5:1"),
    "runs slices": ("RUN",),
    "runs fairness": ("RUN", "--by", "ward"),
    "runs confused": ("SETS",),
    "samples show": ("clinic's 1",),
    "samples suspects": ("clinic's 1",),
    "samples noise": ("clinic's 1",),
    "draft show": ("clinic's 1",),
    "hierarchy show": ("clinic's 1",),
    "verify": (),
    "schedule list": (),
    "schedule show": ("weekly",),
    "user list": (),
    "user audit": (),
    "token list": (),
    "doctor": (),
}
"""Arguments of commands that read, but not over a server."""

WRITTEN: dict[str, tuple[str, ...]] = {
    "flags acknowledge": ("1",),
    "flags snooze": ("1", "--until", "2099-01-01"),
    "flags reopen": ("1",),
    "flags dismiss": ("1", "--reason", "retired"),
    "flags assign": ("F-1", "--to", "ada"),
    "flags comment": ("1", "--text", "seen"),
    "propose": ("RUN", "--require", "mcc>=-1"),
    "approve": ("RUN", "--reason", "best", "--require", "mcc>=-1"),
    "cost add": ("price", "c2.toml", "--dataset", "clinic's 1"),
    "cost default": ("clinic's 1", "price@1"),
    "cost decide": ("RUN", "--matrix", "price", "--save-as", "by cost"),
    "runs baseline": ("RUN",),
    "runs delete": ("GONE",),
    "runs restore": ("GONE",),
    "truth revise": ("clinic's 1", "more.csv", "--reason", "again"),
    "report create": ("monday", "--dataset", "clinic's 1", "--tag", "a=b", "--alert", "mcc<0.1"),
    "jobs retry": ("--all",),
    "log": ("p.csv", "--name", "logged", "--dataset", "clinic's 1"),
    "import sklearn": (
        *("matrix.json", "--labels", "a,b", "--name", "imported", "--dataset", "matrices"),
    ),
}
"""Arguments of commands that write; each is run over the server first, then on the database."""

OTHERS = {
    *("db backup", "db copy", "db restore", "db upgrade", "db views", "export", "sync", "gc"),
    *("recompute", "recount", "hierarchy clear", "hierarchy set", "server init"),
    *("samples log", "samples remove", "samples set"),
    *("draft answer", "draft import", "draft publish", "draft undo"),
    *("schedule add", "schedule pause", "schedule remove", "schedule resume", "schedule run"),
    *("user add", "user disable", "user role", "token create", "token revoke"),
    "whoami",
}
"""Other commands with JSON, whose tests are those of what they change or need."""

_PASSING = {"age_s", "seen_at", "due_at", "duration_s", "free"}
_OF_ONE_CALL = {
    *("at", "last_seen", "created_at", "computed_at", "author", "revision", "history"),
    *("id", "url", "number", "n_runs", "runs_asked", "was_there", "fire_time", "data_digest"),
    *("files", "report", "headline", "token", "source", "champion"),
}
"""What a second call of a command says otherwise."""


@pytest.fixture
def asked(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run a command in the folder of the scene, at a URL and with a token."""
    for name in [name for name in os.environ if name.startswith("OFFDIAG_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(scene.folder)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(scene.folder / "config"))

    def ask(words: list[str], *, url: str, token: str = "") -> tuple[int, str, str]:
        monkeypatch.setenv("OFFDIAG_URL", url)
        monkeypatch.setenv("OFFDIAG_TOKEN", token)
        capfd.readouterr()
        code = run([scene.ids.get(word, word) for word in words])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return ask


Ask = Callable[..., tuple[int, str, str]]


def _with_json(
    group: click.Group = root, parent: click.Context | None = None, path: str = ""
) -> Iterator[str]:
    context = click.Context(group, parent=parent)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _with_json(command, context, f"{path}{name} ")
        elif command is not None and any("--json" in each.opts for each in command.params):
            yield f"{path}{name}"


def test_every_command_with_json_is_known_to_read_or_to_write() -> None:
    found = {path for path in _with_json() if not path.startswith("import ")}

    named = {*READ, *READ_HERE, *WRITTEN, *OTHERS}
    assert found == {path for path in named if " --" not in path} - {"import sklearn"}


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _object_of(out: str) -> dict[str, Any]:
    """One JSON object with something in it, and without NaN."""
    found = json.loads(out, parse_constant=_refuse)
    assert isinstance(found, dict)
    assert found
    return found


def _without(value: Any, keys: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(each, keys) for key, each in value.items() if key not in keys}
    return [_without(each, keys) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("path", READ)
def test_a_server_answers_a_command_as_the_database_does(
    path: str, scene: Scene, asked: Ask
) -> None:
    """And the name of a run means what its id does, in both places."""
    words = [word for word in (*path.split(), *READ[path]) if word != "--json"]
    by_name = [f"model {word}" if word in ("RUN", "OTHER", "GONE") else word for word in words]

    here = asked([*words, "--json"], url=scene.database)
    there = asked([*by_name, "--json"], url=scene.server, token=scene.tokens["logger"])
    for_people = asked(by_name, url=scene.database)

    assert here[0] in {0, 1}, here[2]
    assert (there[0], there[2]) == (here[0], here[2])
    assert _without(_object_of(there[1]), _PASSING) == _without(_object_of(here[1]), _PASSING)
    # What people see is made of the document, wherever it comes from.
    assert (for_people[0], for_people[2]) == (here[0], here[2])
    assert for_people[1]


@pytest.mark.parametrize(
    "words",
    [
        ("runs", "show", "modle"),
        ("runs", "delete", "modle"),
        ("gate", "modle", "--min", "mcc>0"),
        ("cost", "decide", "modle", "--matrix", "price"),
        ("propose", "modle"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_server_knows_no_run_of_a_misspelt_name_either(
    words: tuple[str, ...], scene: Scene, asked: Ask
) -> None:
    """It is neither an unknown address nor a lack of permission."""
    code, out, err = asked([*words], url=scene.server, token=scene.tokens["viewer"])

    told = "there is no run 'modle'. `offdiag runs list` shows the runs of this registry."
    assert (code, out, err) == (2, "", f"offdiag: run: {told}\n")


_OLD_NAMES = {
    "n_issues": "n_editions",
    "issues": "editions",
    "groups": "hierarchy",
    "n_cases": "n_samples",
    "truth_version": "metrics",
}
"""Names that the next release drops, next to the name that shows that the old one is meant."""


def _of_the_next_release(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _of_the_next_release(each)
            for key, each in value.items()
            if _OLD_NAMES.get(key) not in value
        }
    return [_of_the_next_release(each) for each in value] if isinstance(value, list) else value


def _drop_old_names(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Answer as the next release; the list says of each answer whether it had an old name."""
    ask = Connection.ask
    dropped: list[bool] = []

    def from_the_next_release(self: Connection, *given: Any, **options: Any) -> bytes:
        body = json.loads(ask(self, *given, **options))
        found = _of_the_next_release(body)
        dropped.append(found != body)
        return json.dumps(found).encode()

    monkeypatch.setattr(Connection, "ask", from_the_next_release)
    return dropped


@pytest.mark.parametrize("path", ["runs list", "runs show", "report list", "report show"])
def test_a_server_without_old_names_is_understood(
    path: str, scene: Scene, asked: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*path.split(), *READ[path], "--json"]
    token = scene.tokens["logger"]
    before = asked(words, url=scene.server, token=token)
    dropped = _drop_old_names(monkeypatch)
    after = asked(words, url=scene.server, token=token)

    assert any(dropped)
    assert (after[0], after[2]) == (before[0], before[2])
    assert _without(_object_of(after[1]), _PASSING) == _without(_object_of(before[1]), _PASSING)


def test_a_dataset_without_old_names_is_understood(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_TOKEN", scene.tokens["admin"])
    groups = json.loads((scene.folder / "groups.json").read_text(encoding="utf-8"))
    dropped = _drop_old_names(monkeypatch)

    sdk.set_hierarchy(dataset="clinic's 1", hierarchy=groups, url=scene.server)

    assert any(dropped)


@pytest.mark.parametrize("path", READ_HERE)
def test_what_a_command_reads_is_one_object(path: str, scene: Scene, asked: Ask) -> None:
    code, out, err = asked([*path.split(), *READ_HERE[path], "--json"], url=scene.database)

    assert code in {0, 1}, err
    assert _object_of(out)


@pytest.mark.parametrize("path", WRITTEN)
def test_a_server_writes_what_a_command_writes(path: str, scene: Scene, asked: Ask) -> None:
    words = [*path.split(), *WRITTEN[path], "--json"]

    there = asked(words, url=scene.server, token=scene.tokens["admin"])
    here = asked(words, url=scene.database)

    assert (there[0], here[0]) == (0, 0), f"{there[2]} {here[2]}"
    shown = [_without(json.loads(out), _OF_ONE_CALL) for out in (there[1], here[1])]
    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    "words", [["sql", "SELECT name FROM runs", "--run", "model RUN"], ["recompute", "model RUN"]]
)
def test_a_command_about_the_database_takes_names_too(
    words: list[str], scene: Scene, asked: Ask
) -> None:
    code, out, err = asked([*words, "--json"], url=scene.database)

    assert (code, err) == (0, "")
    assert ("model RUN" if words[0] == "sql" else scene.ids["RUN"]) in out


def test_a_name_of_several_runs_is_refused_with_their_ids(scene: Scene, asked: Ask) -> None:
    for url, token in ((scene.database, ""), (scene.server, scene.tokens["viewer"])):
        code, out, err = asked(["compare", "RUN", "twin"], url=url, token=token)

        assert (code, out) == (2, "")
        assert err == (
            f"offdiag: run: several runs are named 'twin': {scene.ids['SECOND']} (of SECOND), "
            f"{scene.ids['FIRST']} (of FIRST), newest first. Give one of the ids.\n"
        )


def test_a_report_that_a_server_creates_is_sent_to_all_places(scene: Scene, asked: Ask) -> None:
    words = ["report", "create", "tuesday", "--dataset", "clinic's 1", "--notify", "team"]

    _, made, _ = asked([*words, "--json"], url=scene.server, token=scene.tokens["admin"])

    assert [each["target"] for each in json.loads(made)["deliveries"]] == ["notification team"]


def test_a_report_is_exported_byte_for_byte(scene: Scene, asked: Ask) -> None:
    words = ["report", "export", "friday", "--format", "markdown"]

    here = asked(words, url=scene.database)
    there = asked(words, url=scene.server, token=scene.tokens["viewer"])

    assert there == here
    assert here[1].startswith("#")


@pytest.mark.parametrize(
    "words",
    [
        ["db", "backup", "x.zip"],
        ["serve"],
        ["worker"],
        ["verify"],
        ["sql", "SELECT 1"],
        ["user", "list"],
        ["schedule", "list"],
        ["export", "default", "--to", "x.zip"],
    ],
)
def test_a_command_about_the_database_says_so_for_a_server(
    words: list[str], scene: Scene, asked: Ask
) -> None:
    code, out, err = asked(words, url=scene.server, token=scene.tokens["admin"])

    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "works on the database itself" in err
    assert scene.server in err


def test_errors_say_what_is_wrong_with_url_token_and_rights(scene: Scene, asked: Ask) -> None:
    wrong_port = asked(["runs", "list"], url="http://127.0.0.1:9")
    none = asked(["runs", "list"], url=scene.server)
    wrong = asked(["runs", "list"], url=scene.server, token="offdiag_wrong")
    right = asked(["flags", "acknowledge", "1"], url=scene.server, token=scene.tokens["viewer"])
    gone = asked(["runs", "show", "r_gone"], url=scene.server, token=scene.tokens["viewer"])
    no_id = asked(["runs", "show", "x"], url=scene.server, token=scene.tokens["viewer"])

    assert {each[0] for each in (wrong_port, none, wrong, right, gone, no_id)} == {2}
    assert "http://127.0.0.1:9 cannot be reached" in wrong_port[2]
    for refused in (none, wrong):
        assert f"offdiag login {scene.server}" in refused[2]
    assert "login" not in right[2]
    assert "editor" in right[2]
    assert "no run" in gone[2]
    assert "older" not in no_id[2] + gone[2]


@pytest.fixture
def other_server() -> Iterator[tuple[str, dict[str, tuple[int, str]]]]:
    """A web server that answers as it is told, by path, with 404 elsewhere."""
    answers: dict[str, tuple[int, str]] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answers.get(self.path.partition("?")[0], answers["*"])
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.encode())

        do_POST = do_GET  # noqa: N815 - the name is that of the library

        def log_message(self, *_: object) -> None:
            """It says nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    with running(server) as url:
        yield url, answers


def test_an_older_server_and_another_program_are_told_apart(
    other_server: tuple[str, dict[str, tuple[int, str]]], asked: Ask
) -> None:
    url, answers = other_server
    words = ["gate", "r_4bcd6fgh8jkm", "--min", "mcc>=0"]
    error = {"code": "not_found", "message": "Not there.", "field": None, "hint": None}
    answers["*"] = (404, json.dumps({"error": error}))
    old = asked(words, url=url)
    answers["*"] = (404, "<html>")
    other = asked(words, url=url)
    answers["*"] = (200, "<html>")
    page = asked(words, url=url)

    assert {each[0] for each in (old, other, page)} == {2}
    assert "older version" in old[2]
    assert "Install the same version" in old[2]
    for found in (other, page):
        assert "like offdiag" in found[2]
        assert "older" not in found[2]


def test_a_token_is_stored_by_login_and_used(
    scene: Scene, asked: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stdin(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))

    stdin("offdiag_wrong\n")
    wrong = asked(["login", scene.server, "--token-stdin"], url=scene.database)
    stdin(f"{scene.tokens['viewer']}\n")
    done = asked(["login", scene.server, "--token-stdin"], url=scene.database)
    who = asked(["whoami", "--json"], url=scene.server)
    listed = asked(["runs", "list"], url=scene.server)
    mode = tokens_file().stat().st_mode & 0o777
    out = asked(["logout", scene.server], url=scene.database)
    after = asked(["runs", "list"], url=scene.server)

    assert wrong[0] == 2
    assert done[0] == 0, done[2]
    assert scene.tokens["viewer"] not in done[1] + done[2]
    assert json.loads(who[1])["roles"] == [{"role": "viewer", "project": None}]
    assert listed[0] == 0
    assert mode == 0o600
    assert out[0] == 0
    assert after[0] == 2


@pytest.mark.parametrize(
    ("mode", "says"),
    [("online", "'n' waits in the offline queue"), ("disabled", "'n' is not logged")],
)
def test_a_run_that_is_not_stored_is_not_called_logged(
    offdiag: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, mode: str, says: str
) -> None:
    (folder / "x.csv").write_text("y_true,y_pred\na,a\nb,b\n")
    monkeypatch.setenv("OFFDIAG_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("OFFDIAG_MODE", mode)
    monkeypatch.setenv("OFFDIAG_CLIENT__RETRY_FOR_S", "0")

    answer = offdiag("log", "x.csv", "--dataset", "d", "--name", "n")
    unnamed = offdiag("log", "x.csv", "--dataset", "d")

    assert (answer.code, unnamed.code) == (0, 0)
    assert answer.out.startswith(says)
    assert unnamed.out.startswith(says.replace("'n'", "'x.csv'"))
    assert "is logged" not in answer.out
    if mode == "online":
        (line,) = answer.err.splitlines()
        assert line.startswith("Note: url: http://127.0.0.1:1 cannot be reached")
        assert "Check the address" in line
