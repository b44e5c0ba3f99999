"""Runs that cannot be stored wait in a spool, and are sent once, whatever happens to either."""

from __future__ import annotations

import errno
import json
import os
import random
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sqlalchemy import select

import offdiag
from offdiag.cli.commands import offdiag as command
from offdiag.errors import DatabaseUnavailable, RunKept
from offdiag.inputs.bodies.columns import MOST_ROWS
from offdiag.sdk.remote import registry
from offdiag.sdk.remote import send as remote_send
from offdiag.sdk.remote.connection import Connection, with_retries
from offdiag.sdk.remote.spool import SpooledRequest, SpooledRun, spooled_runs
from offdiag.services.samples.content import list_content
from offdiag.services.verification.verify import verify
from offdiag.store import predictions
from offdiag.store.database import Database
from offdiag.store.models import RunRow
from support.logging_runs import log
from support.servers import serving

NOWHERE = "http://127.0.0.1:9"
"""The port of a protocol that throws everything away; nobody listens."""
CHUNK = 200
"""Rows of a chunk in these tests; a server takes more."""
N = CHUNK + 50
RNG = np.random.default_rng(5)
TRUTH = RNG.integers(0, 3, N)
PREDICTED = np.where(RNG.random(N) < 0.2, RNG.integers(0, 3, N), TRUTH)


@pytest.fixture(autouse=True)
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OFFDIAG_SPOOL", str(tmp_path / "spool"))
    monkeypatch.setenv("OFFDIAG_CLIENT__RETRY_FOR_S", "0")
    monkeypatch.setattr(remote_send, "MOST_ROWS", CHUNK)
    return tmp_path / "spool"


@pytest.fixture
def server(sqlite_database: Database) -> Iterator[str]:
    with serving(sqlite_database) as url:
        yield url


def logged(url: str, **said: Any) -> offdiag.Run:
    given: dict[str, Any] = {
        "y_true": TRUTH,
        "y_pred": PREDICTED,
        "labels": [0, 1, 2],
        "name": "run",
        "dataset": "d",
        "client_key": "key",
        "url": url,
    }
    return offdiag.log_run(**{**given, **said})


def synced(url: str, *options: str) -> tuple[int, dict[str, Any]]:
    """Exit code and report of `offdiag sync --json`."""
    done = CliRunner().invoke(command, ["sync", "--url", url, "--json", *options])
    return done.exit_code, json.loads(done.stdout)


def the_run(url: str) -> str:
    found = offdiag.search_runs(url=url)
    assert len(found) == 1
    return str(found["run_id"].iloc[0])


def test_a_server_that_is_away_means_a_warning_and_a_run_in_the_spool(
    spool: Path, server: str, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_send, "MOST_ROWS", MOST_ROWS)
    truth = np.resize(TRUTH, MOST_ROWS + 500)  # More than a server takes in one chunk.
    with pytest.warns(RunKept, match="offdiag sync") as warned:
        run = logged(NOWHERE, y_true=truth, y_pred=np.resize(PREDICTED, len(truth)))
    assert warned[0].filename == __file__
    with pytest.raises(offdiag.Conflict, match="not on the server yet"):
        run.evaluation()

    code, report = synced(server)

    assert (code, report["n_sent"], report["n_left"]) == (0, 1, 0)
    assert report["runs"][0]["n_sent"] == 2
    assert list(spool.iterdir()) == []
    assert the_run(server) == report["runs"][0]["run_id"]
    assert verify(sqlite_database).is_clean


def test_offline_and_sync_end_as_online(
    monkeypatch: pytest.MonkeyPatch, server: str, registry_url: str
) -> None:
    expected = logged(registry_url).evaluation().to_dict()
    with monkeypatch.context() as offline:
        offline.setenv("OFFDIAG_MODE", "offline")
        logged(server)

    code, report = synced(server)

    run = offdiag.start_run(  # The key finds the run, which is finished.
        name="run", dataset="d", client_key="key", url=server
    )
    assert (code, report["n_sent"]) == (0, 1)
    assert run.evaluation(timeout=30).to_dict() == expected


def test_a_spool_can_be_sent_to_a_database(
    monkeypatch: pytest.MonkeyPatch, sqlite_database: Database
) -> None:
    monkeypatch.setenv("OFFDIAG_MODE", "offline")
    logged(NOWHERE)
    offdiag.log_matrix(
        [[8, 2], [1, 9]],
        labels=["no", "yes"],
        orientation="actual_columns",
        name="paper",
        dataset="published",
        url=NOWHERE,
    )

    frame = pd.DataFrame(
        {"y": [0, 1, 1, 0], "a": [0, 1, 0, 0], "b": [1, 1, 1, 0], "p": [0.2, 0.9, 0.4, 0.1]}
    )
    counted: dict[str, Any] = {"keep_predictions": False, "url": NOWHERE}
    offdiag.log_frame(frame, predicted={"a": "a", "b": "b"}, dataset="together", **counted)
    offdiag.log_frame(
        frame, name="p", predicted="a", score="p", positive_label=1, dataset="scored", **counted
    )

    code, report = synced(sqlite_database.url)

    assert (code, report["n_sent"], report["n_left"]) == (0, 4, 0)
    assert synced(sqlite_database.url)[1]["runs"] == []
    monkeypatch.setenv("OFFDIAG_MODE", "online")
    assert len(offdiag.search_runs(url=sqlite_database.url)) == 5
    assert offdiag.compare("a", "b", url=sqlite_database.url).is_paired
    scored = offdiag.get_run("p", url=sqlite_database.url).evaluation()
    assert scored.aggregate["roc_auc"].value == 1.0


def test_what_contradicts_the_server_stays_and_is_explained(
    spool: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged(server)
    with monkeypatch.context() as offline:
        offline.setenv("OFFDIAG_MODE", "offline")
        logged(server, y_pred=TRUTH)
        logged(server, client_key="another", y_pred=TRUTH)

    code, report = synced(server)

    assert (code, report["n_sent"], report["n_left"]) == (1, 1, 1)
    refused = next(run for run in report["runs"] if run["outcome"] == "refused")
    assert "was logged before with other content" in refused["why"]
    assert json.loads((spool / refused["folder"] / "refused.json").read_text())["field"] == "seq"
    assert SpooledRun(spool / refused["folder"]).n_chunks() == 2


def test_what_was_refused_is_not_sent_again_unless_asked_and_can_be_discarded(
    spool: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged(server)
    with pytest.raises(offdiag.Conflict) as caught:
        logged(server, y_pred=TRUTH)
    (folder,) = (path.name for path in spool.iterdir())
    hint = str(caught.value.hint)
    assert "Use a new key for a new run" in hint
    assert f"kept in {spool / folder} as refused" in hint
    assert f"offdiag sync --discard {folder}" in hint
    assert "sync` sends it" not in hint
    assert "stays open" not in hint
    asked: list[str] = []
    ask = Connection.ask

    def noting(self: Connection, method: str, path: str, **said: Any) -> bytes:
        asked.append(path)
        return ask(self, method, path, **said)

    monkeypatch.setattr(Connection, "ask", noting)

    for _ in range(2):
        code, report = synced(server)
        assert (code, report["n_sent"], report["n_left"], asked) == (1, 0, 1, [])
        assert report["runs"][0]["outcome"] == "refused"
        assert "was logged before with other content" in report["runs"][0]["why"]

    code, report = synced(server, "--retry")
    assert (code, report["runs"][0]["outcome"], len(asked)) == (1, "refused", 2)
    text = CliRunner().invoke(command, ["sync", "--url", server]).stdout
    assert folder in text
    assert "--discard FOLDER" in text

    code, report = synced(server, "--discard", folder)
    assert (code, report["n_sent"], report["n_left"]) == (0, 0, 0)
    assert report["runs"][0]["outcome"] == "discarded"
    assert list(spool.iterdir()) == []


def test_only_what_was_refused_can_be_discarded(
    spool: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_MODE", "offline")
    logged(server)
    (folder,) = (path.name for path in spool.iterdir())

    for name, said in ((folder, "was not refused"), ("elsewhere", "there is no 'elsewhere' in")):
        with pytest.raises(offdiag.NotFound, match=said):
            CliRunner().invoke(
                command, ["sync", "--url", server, "--discard", name], catch_exceptions=False
            )

    assert synced(server)[1]["n_sent"] == 1


def test_a_run_logged_again_under_its_key_replaces_what_was_refused(
    spool: Path, server: str, monkeypatch: pytest.MonkeyPatch, sqlite_database: Database
) -> None:
    logged(server, client_key="first")
    short = {"y_true": TRUTH[:CHUNK], "y_pred": PREDICTED[:CHUNK]}
    with monkeypatch.context() as offline:
        offline.setenv("OFFDIAG_MODE", "offline")
        logged(server, labels=["x", "y"], y_true=["x"] * N, y_pred=["y"] * N)
    refused = synced(server)[1]["runs"][0]
    assert (refused["outcome"], refused["run_id"]) == ("refused", None)
    with monkeypatch.context() as offline:
        offline.setenv("OFFDIAG_MODE", "offline")
        logged(server, dataset="short", **short)

    code, report = synced(server)

    assert (code, report["runs"][0]["outcome"], report["runs"][0]["n_sent"]) == (0, "sent", 1)
    assert sorted(offdiag.search_runs(url=server)["n_predictions"]) == [CHUNK, N]
    assert verify(sqlite_database).is_clean


def test_a_run_that_is_refused_when_it_is_finished_is_named_where_it_stays_open(
    spool: Path, server: str
) -> None:
    run = offdiag.start_run(name="run", dataset="d", labels=["a", "b"], url=server)
    for _ in range(2):
        run.log(y_true=["a"], y_pred=["b"], sample_ids=["twice"])

    with pytest.raises(offdiag.OffdiagError) as caught:
        run.finish()

    run_id = the_run(server)
    assert f"Run {run_id} stays open; `offdiag runs delete {run_id}` deletes it" in str(
        caught.value.hint
    )
    assert synced(server, "--retry")[1]["runs"][0]["run_id"] == run_id


def test_a_database_that_is_away_refuses_nothing(
    spool: Path, monkeypatch: pytest.MonkeyPatch, sqlite_database: Database
) -> None:
    monkeypatch.setenv("OFFDIAG_MODE", "offline")
    logged(NOWHERE)

    def away(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("the database is locked.")

    with monkeypatch.context() as locked:
        locked.setattr("offdiag.services.ingest.log_predictions.open_run", away)
        code, report = synced(sqlite_database.url)

    assert (code, report["runs"][0]["outcome"]) == (1, "not reached")
    assert synced(sqlite_database.url)[1]["n_sent"] == 1


def test_several_that_send_at_once_send_each_run_once(
    spool: Path, server: str, monkeypatch: pytest.MonkeyPatch, sqlite_database: Database
) -> None:
    with monkeypatch.context() as offline:
        offline.setenv("OFFDIAG_MODE", "offline")
        for number in range(4):
            logged(server, client_key=f"key {number}", name=f"run {number}")
    reports: list[dict[str, Any]] = []
    start = threading.Barrier(3)

    def send() -> None:
        from offdiag.sdk.remote.sync import sync
        from offdiag.sdk.target import destination_at
        from offdiag.settings import load_settings

        start.wait()
        destination = destination_at(server, load_settings())
        reports.extend(run.to_dict() for run in sync(spool, destination))

    threads = [threading.Thread(target=send) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    sent = [report["run_id"] for report in reports if report["outcome"] == "sent"]
    assert len(sent) == len(set(sent)) == 4
    assert len(offdiag.search_runs(url=server)) == 4
    assert list(spooled_runs(spool)) == []
    assert verify(sqlite_database).is_clean


def test_a_run_that_a_job_still_writes_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    monkeypatch.setenv("OFFDIAG_MODE", "offline")
    run = offdiag.start_run(name="run", dataset="d", labels=["a", "b"], url=server)
    run.log(y_true=["a"], y_pred=["b"])

    code, report = synced(server)

    assert code == 1
    assert report["runs"][0]["outcome"] == "in use"
    run.finish()
    assert synced(server)[0] == 0


def test_a_run_that_an_exception_left_open_can_be_sent(
    spool: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as offline:
        offline.setenv("OFFDIAG_MODE", "offline")
        run = offdiag.start_run(name="run", dataset="d", labels=[0, 1, 2], url=server)
        with pytest.raises(ZeroDivisionError):
            _log_and_fail(run)

    code, report = synced(server)

    assert (code, report["runs"][0]["outcome"]) == (0, "left open")
    assert list(spool.iterdir()) == []


def _log_and_fail(run: offdiag.OpenRun) -> None:
    with run:
        run.log(y_true=TRUTH, y_pred=PREDICTED)
        raise ZeroDivisionError


def test_a_job_that_ended_too_early_leaves_an_open_run(
    spool: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as offline:
        offline.setenv("OFFDIAG_MODE", "offline")
        logged(server)
    (folder,) = spool.iterdir()
    (folder / "finished.json").unlink()
    (folder / "000002.arrow.123.part").write_bytes(b"cut")

    code, report = synced(server)

    assert (code, report["runs"][0]["outcome"]) == (0, "left open")
    assert list(spool.iterdir()) == []
    assert logged(server).evaluation(timeout=30).aggregate["n"].value == N


def test_a_damaged_file_keeps_its_run_in_the_spool_and_the_others_are_sent(
    spool: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as offline:
        offline.setenv("OFFDIAG_MODE", "offline")
        counts: dict[str, Any] = {
            "orientation": "actual_rows",
            "labels": ["a", "b"],
            "dataset": "m",
        }
        offdiag.log_matrix([[1, 2], [3, 4]], name="damaged", url=server, **counts)
        (folder,) = spool.iterdir()
        logged(server)

    n_others = 1
    for file, content in (
        ("run.json", b'{"version": 1, "kind": "mat'),
        ("run.json", b"[]"),
        ("run.json", b'{"version": 1, "kind": "matrix", "body": {}}'),
        ("run.json", b'{"version": 2, "kind": "matrix", "body": {"name": "m", "project": "p"}}'),
        ("finished.json", b""),
    ):
        whole = (folder / file).read_bytes()
        (folder / file).write_bytes(content)

        code, report = synced(server)

        assert (code, report["n_sent"], report["n_left"]) == (1, n_others, 1), content
        damaged = next(each for each in report["runs"] if each["folder"] == folder.name)
        assert damaged["outcome"] == ("unreadable" if file == "run.json" else "refused")
        assert f"its {file} is" in damaged["why"]
        assert (folder / file).read_bytes() == content
        assert the_run(server)
        (folder / file).write_bytes(whole)
        n_others = 0


EXPECTED = {"one": PREDICTED, "two": TRUTH}


def damage(spool: Path, draw: random.Random) -> None:
    """Change one file of a queue as a failing disk would, or exchange two."""
    files = sorted(path for path in spool.glob("*/*") if path.name != "lock")
    path, how = draw.choice(files), draw.choice(["flip", "cut", "zero", "append", "exchange"])
    data = bytearray(path.read_bytes())
    place = draw.randrange(len(data))
    if how == "flip":
        data[place] ^= 1 << draw.randrange(8)
    elif how == "cut":
        del data[place:]
    elif how == "zero":
        data[place : place + 512] = bytes(len(data[place : place + 512]))
    elif how == "append":
        data += draw.randbytes(draw.randrange(1, 100))
    else:
        alike = [each for each in files if each.name[:3] == path.name[:3] and each != path]
        other = draw.choice(alike)
        data, theirs = bytearray(other.read_bytes()), bytes(data)
        other.write_bytes(theirs)
    path.write_bytes(data)


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_queue_sends_what_was_logged_or_nothing(
    spool: Path, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    with monkeypatch.context() as offline:
        offline.setenv("OFFDIAG_MODE", "offline")
        for key, predicted in EXPECTED.items():
            logged(NOWHERE, name=key, client_key=key, y_pred=predicted)
    damage(spool, random.Random(seed))

    synced(sqlite_database.url)

    left = list(spooled_runs(spool))
    with sqlite_database.read() as session:
        there = list(session.scalars(select(RunRow)))
        assert len([run for run in there if run.state != "open"]) + len(left) == 2
        for run in there:
            for chunk in predictions.read_chunks(session, run.id, n_classes=3):
                expected = EXPECTED[run.name][chunk.start : chunk.start + CHUNK]
                assert chunk.predicted.tolist() == expected.tolist()


def test_runs_that_the_version_before_left_in_the_queue_are_sent(
    spool: Path, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as offline:
        offline.setenv("OFFDIAG_MODE", "offline")
        logged(NOWHERE)
    (folder,) = spool.iterdir()
    for name in ("run.json", "finished.json"):
        said = json.loads((folder / name).read_bytes())
        del said["sha256"]
        before = said | ({"version": 1} if name == "run.json" else {})
        (folder / name).write_text(json.dumps(before))
    for chunk in folder.glob("*.arrow"):
        chunk.rename(folder / f"{chunk.name[:6]}.arrow")

    code, report = synced(sqlite_database.url)

    assert (code, report["n_sent"], report["n_left"]) == (0, 1, 0)
    with sqlite_database.read() as session:
        run_id = the_run(sqlite_database.url)
        (first, second) = predictions.read_chunks(session, run_id, n_classes=3)
    assert [*first.predicted, *second.predicted] == PREDICTED.tolist()


@pytest.mark.parametrize("kind", ["run", "matrix", "counts", "paired counts", "samples"])
def test_a_request_that_a_database_cannot_read_does_not_hold_up_the_others(
    spool: Path, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    said = {"name": "n", "project": "p", "client_key": "k", "upload": {"odd": 1}, "odd": 1}
    runs = {"runs": [said]} if kind == "paired counts" else {}
    odd = SpooledRequest(kind, json.dumps({**said, **runs}))
    folder = SpooledRun.of(spool, odd)
    folder.begin(odd)
    folder.finish(0)
    folder.release()
    with monkeypatch.context() as offline:
        offline.setenv("OFFDIAG_MODE", "offline")
        logged(NOWHERE)

    code, report = synced(sqlite_database.url)

    assert (code, report["n_sent"], report["n_left"]) == (1, 1, 1)
    refused = next(each for each in report["runs"] if each["outcome"] == "refused")
    assert "field" in refused["why"]


def test_what_others_have_in_a_spool_stays_and_a_folder_that_was_not_filled_is_removed(
    spool: Path, server: str
) -> None:
    folder = spool / "0123456789ab"
    folder.mkdir(parents=True)
    (folder / "lock").touch()
    (folder / "run.json.123.part").write_bytes(b'{"ver')
    unfilled = synced(server)
    assert (unfilled[0], list(spool.iterdir())) == (0, [])

    theirs = spool / "downloads"
    theirs.mkdir()
    (theirs / "run.json").write_text("notes")
    (theirs / "film.part").write_text("half")

    code, report = synced(server)

    assert (code, report["runs"][0]["outcome"]) == (1, "unreadable")
    assert {"run.json", "film.part"} <= {path.name for path in theirs.iterdir()}


def test_a_full_disk_is_an_error_of_its_own_and_nothing_is_half_there(
    spool: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_MODE", "offline")
    run = offdiag.start_run(name="run", dataset="d", labels=[0, 1, 2], url=server)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as small:
        small.setattr("offdiag.sdk.remote.spool.os.fsync", full)
        with pytest.raises(offdiag.SpoolFull, match="no room"):
            run.log(y_true=TRUTH, y_pred=PREDICTED)
    run.finish()  # The batch is still in memory: with room again nothing is lost.

    assert synced(server)[1]["n_sent"] == 1
    assert offdiag.search_runs(url=server)["n_predictions"].tolist() == [N]


def test_refusals_are_raised_when_a_run_is_finished_and_kept(
    spool: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged(server)

    with pytest.raises(offdiag.Conflict, match="is kept in"):
        logged(server, y_pred=TRUTH)
    monkeypatch.setenv("OFFDIAG_ON_ERROR", "warn")
    with pytest.warns(RunKept, match="other content"):
        logged(server, y_pred=TRUTH)

    (folder,) = spool.iterdir()
    assert SpooledRun(folder).n_chunks() == 2
    assert [seq for seq, _ in SpooledRun(folder).chunks()] == [0, 1]


def test_a_refusal_to_open_can_be_a_warning_too(
    spool: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged(server)

    with pytest.raises(offdiag.Conflict, match="opened with another model"):
        logged(server, model="other")
    assert not spool.exists()
    monkeypatch.setenv("OFFDIAG_ON_ERROR", "warn")
    with pytest.warns(RunKept, match="opened with another model"):
        logged(server, model="other")

    code, report = synced(server)
    assert (code, report["runs"][0]["outcome"]) == (1, "refused")


def test_classes_keep_their_names_where_a_dataset_appears_in_between(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    offdiag.log_run(
        y_true=["a", "z"], y_pred=["z", "z"], labels=["z", "a"], name="1", dataset="x", url=server
    )
    monkeypatch.setattr(
        "offdiag.sdk.remote.registry.RemoteRegistry._dataset_if_reached", lambda *_: None
    )

    run = offdiag.log_run(y_true=["a", "a"], y_pred=["z", "a"], name="2", dataset="x", url=server)

    frame = run.evaluation(timeout=30).confusion_matrix
    assert list(frame.index) == ["z", "a"]
    assert (frame.loc["a", "a"], frame.loc["a", "z"]) == (1, 1)


def test_disabled_does_nothing_and_harms_nobody(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_MODE", "disabled")

    run = logged(NOWHERE)
    with offdiag.start_run(name="run", dataset="d", url=NOWHERE) as opened:
        opened.log(y_true=["anything"], y_pred=["else"])

    evaluation = run.evaluation()
    assert evaluation.aggregate["mcc"].value is None
    assert evaluation.aggregate["mcc"].reason
    assert len(offdiag.search_runs()) == 0
    assert len(run.examples()) == 0
    with pytest.raises(offdiag.Conflict, match="nothing is logged in mode 'disabled'"):
        run.operating_points()
    assert not spool.exists()


def test_the_folder_of_a_run_follows_from_its_key(tmp_path: Path) -> None:
    one = SpooledRequest("run", json.dumps({"project": "p", "client_key": "k", "name": "n"}))
    other = SpooledRequest("run", json.dumps({"project": "p", "client_key": "k", "name": "m"}))

    assert SpooledRun.of(tmp_path, one).folder == SpooledRun.of(tmp_path, other).folder


def test_what_waits_can_be_read_by_its_owner_alone(spool: Path) -> None:
    before = os.umask(0)
    try:
        with pytest.warns(RunKept):
            logged(NOWHERE)
    finally:
        os.umask(before)

    modes = {stat.S_IMODE(path.stat().st_mode) for path in spool.rglob("*") if path.is_file()}
    folders = {stat.S_IMODE(path.stat().st_mode) for path in (spool, *spool.iterdir())}
    assert (modes, folders) == ({0o600}, {0o700})


def test_scores_keep_their_classes_where_the_dataset_has_them_in_another_order(
    monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    given: dict[str, Any] = {
        "y_true": ["a", "b", "c", "a"],
        "y_pred": ["a", "b", "c", "b"],
        "y_score": [[0.8, 0.1, 0.1], [0.1, 0.7, 0.2], [0.0, 0.4, 0.6], [0.3, 0.6, 0.1]],
        "sample_ids": [1, 2, 3, 4],
    }
    first = offdiag.log_run(
        y_true=given["y_true"],
        y_pred=given["y_true"],
        sample_ids=given["sample_ids"],
        labels=["c", "a", "b"],
        name="first",
        dataset="d",
        url=server,
    )
    with monkeypatch.context() as offline:
        offline.setenv("OFFDIAG_MODE", "offline")
        offdiag.log_run(**given, name="run", dataset="d", client_key="key", url=server)

    assert synced(server)[0] == 0

    run = offdiag.start_run(name="run", dataset="d", client_key="key", url=server)
    assert first.evaluation(timeout=30).labels == ("c", "a", "b")
    found = run.examples(kind="all").sort_values("sample")
    assert found["confidence"].tolist() == pytest.approx([0.8, 0.7, 0.6, 0.6])


def test_content_waits_for_a_server_and_is_stored_once(
    spool: Path, server: str, sqlite_database: Database
) -> None:
    ids, texts = ["a", "b"], ["one", "two"]
    content: dict[str, Any] = {"dataset": "d", "ids": ids, "text": texts, "images": [[[0.5]]] * 2}
    for _ in range(2):
        with pytest.warns(RunKept, match="The content is kept in .*offdiag sync"):
            kept = offdiag.log_samples(url=NOWHERE, **content)
        assert kept == offdiag.LoggedSamples("d", 0, 0, 0, 0, n_waiting=2)
    assert len(list(spooled_runs(spool))) == 1
    # Content of a dataset that is not there yet stays until it is.
    code, early = synced(server)
    assert (code, early["runs"][0]["outcome"], early["runs"][0]["name"]) == (1, "refused", "d")
    offdiag.log_run(
        y_true=["x", "y"], y_pred=["x", "x"], sample_ids=ids, name="run", dataset="d", url=server
    )

    code, report = synced(server)

    assert (code, report["n_sent"], report["runs"][0]["run_id"]) == (0, 1, None)
    assert synced(server)[1]["runs"] == []
    again = offdiag.log_samples(url=server, **content)
    assert again == offdiag.LoggedSamples("d", 0, 0, 2, 0)
    [first, _] = list_content(sqlite_database, project="default", dataset="d", after="", limit=9)
    assert (first.sample, first.text, first.image_digest is None) == ("a", "one", False)


def test_content_of_an_offline_job_is_sent_to_a_database(
    spool: Path, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(sqlite_database, dataset="d", sample_ids=[1, 2, 3, 4, 5, 6])
    monkeypatch.setenv("OFFDIAG_CLIENT__MODE", "offline")
    done = offdiag.log_samples(dataset="d", ids=range(1, 700), text=["t"] * 699, url=NOWHERE)
    monkeypatch.delenv("OFFDIAG_CLIENT__MODE")

    code, report = synced(sqlite_database.url)

    assert (done.n_waiting, code, report["n_sent"]) == (699, 0, 2)
    found = list_content(sqlite_database, project="default", dataset="d", after="", limit=999)
    assert len(found) == 699


def test_content_that_is_refused_is_an_error_at_once(spool: Path, server: str) -> None:
    with pytest.raises(offdiag.NotFound):
        offdiag.log_samples(dataset="none", ids=["a"], text=["one"], url=server)
    assert list(spooled_runs(spool)) == []


def test_only_the_first_chunk_waits_for_a_server_that_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OFFDIAG_CLIENT__RETRY_FOR_S", "0.5")
    monkeypatch.setattr(registry, "_AWAY", {})
    waited = []

    def noting(attempt: Any, *, retry_for_s: float) -> Any:
        waited.append(retry_for_s)
        return with_retries(attempt, retry_for_s=retry_for_s)

    monkeypatch.setattr(registry, "with_retries", noting)

    with pytest.warns(RunKept):
        done = offdiag.log_samples(dataset="d", ids=range(1_100), text=["t"] * 1_100, url=NOWHERE)

    assert (done.n_waiting, waited) == (1_100, [0.5, 0, 0])
