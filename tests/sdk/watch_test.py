"""Files of a folder become runs once they are complete, and each content only once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

import offdiag
from offdiag.cli.log.log import _look
from offdiag.inputs.files.tables import read_columns
from offdiag.sdk.watch import QUIET_S, UNENDED_QUIET_S, UPLOAD_S, FolderWatch, Taken
from offdiag.store.database import Database
from support.optional import present
from support.servers import serving

COMPLETE = "id,y_true,y_pred\n1,a,a\n2,b,a\n"


class Watched:
    """A folder, a registry, and a clock that is turned by hand."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        self.now = 0.0
        self.model: str | None = None
        self.predicted = "y_pred"
        self.while_reading: Callable[[], None] = lambda: None
        self.begin_anew()

    def begin_anew(self, scope: str = "holdout") -> None:
        self.watch = FolderWatch(self.folder, self._read, scope=scope, clock=lambda: self.now)

    def write(self, name: str, content: str) -> Path:
        path = self.folder / name
        path.write_text(content)
        return path

    def look(self, after_s: float = 0.0) -> list[Taken]:
        self.now += after_s
        return list(self.watch.look())

    def names(self) -> list[str]:
        found = offdiag.search_runs(order_by=["attributes.created_at"], url=self.url)
        return list(found["name"])

    def _read(self, file: Path) -> Callable[[str], offdiag.Run]:
        found = read_columns(file, ["y_true", self.predicted])
        self.while_reading()
        return lambda key: offdiag.log_run(
            y_true=found["y_true"],
            y_pred=found[self.predicted],
            name=file.stem,
            dataset="holdout",
            model=self.model,
            client_key=key,
            url=self.url,
        )


@pytest.fixture
def watched(tmp_path: Path, migrated_file: Path) -> Watched:
    shutil.copy(migrated_file, tmp_path / "registry.db")
    (tmp_path / "results").mkdir()
    return Watched(tmp_path / "results", f"sqlite:///{tmp_path / 'registry.db'}")


def test_a_file_is_taken_when_it_has_been_quiet(watched: Watched) -> None:
    watched.write("first.csv", COMPLETE)

    assert watched.look() == []
    assert watched.look(QUIET_S / 2) == []
    (taken,) = watched.look(QUIET_S / 2)

    assert taken.file.name == "first.csv"
    assert present(taken.run).evaluation().aggregate["n"].value == 2
    assert watched.look(100) == []


def test_a_file_that_waits_or_is_not_logged_is_not_called_logged(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    watched.url = "http://127.0.0.1:9"
    monkeypatch.setenv("OFFDIAG_SPOOL", str(watched.folder / "spool"))
    for mode, file in (("offline", "first.csv"), ("disabled", "second.csv")):
        monkeypatch.setenv("OFFDIAG_MODE", mode)
        watched.write(file, COMPLETE)
        watched.look()
        watched.now += QUIET_S
        _look(watched.watch)

    assert capsys.readouterr().out.splitlines() == [
        "first.csv: waits in the offline queue; `offdiag sync` sends it.",
        "second.csv: is not logged, since the mode is 'disabled'.",
    ]


def test_what_a_server_refuses_is_said_next_to_the_file(
    watched: Watched, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_SPOOL", str(watched.folder / "spool"))

    def refuse(*_: object, **__: object) -> None:
        raise offdiag.InvalidInput("no such chunk.", field="chunk")

    with serving(sqlite_database) as watched.url:
        monkeypatch.setattr("offdiag_web.api.ingest.put_columns", refuse)
        watched.write("first.csv", COMPLETE)
        watched.look()
        (taken,) = watched.look(QUIET_S)

    said = (watched.folder / "first.csv.error.txt").read_text()
    assert taken.run is None
    assert "no such chunk" in said
    assert "`offdiag sync --discard" in said
    assert "stays open" in said


def test_a_file_that_grows_is_waited_for(watched: Watched) -> None:
    for lines in ("id,y_true,y_pred\n", "id,y_true,y_pred\n1,a,a\n", COMPLETE):
        watched.write("slow.csv", lines)
        assert watched.look(QUIET_S) == []

    assert len(watched.look(QUIET_S)) == 1


def test_a_last_line_without_an_end_is_waited_for_longer(watched: Watched) -> None:
    watched.write("cut.csv", COMPLETE.rstrip("\n"))
    watched.look()

    assert watched.look(QUIET_S) == []
    assert len(watched.look(UNENDED_QUIET_S)) == 1


@pytest.mark.parametrize("is_served", [False, True])
def test_one_content_is_one_run_whatever_it_is_called_and_however_often(
    watched: Watched, sqlite_database: Database, *, is_served: bool
) -> None:
    with serving(sqlite_database) if is_served else nullcontext(watched.url) as watched.url:
        _take_a_copy(watched)


def _take_a_copy(watched: Watched) -> None:
    watched.write("first.csv", COMPLETE)
    watched.look()
    (first,) = watched.look(QUIET_S)

    watched.write("copy.csv", COMPLETE)
    watched.begin_anew()
    watched.look()
    again = watched.look(QUIET_S)

    assert [taken.run.id for taken in again if taken.run] == [present(first.run).id] * 2
    assert watched.names() == ["first"]


def test_a_file_of_another_model_than_before_is_told_and_others_are_taken(
    watched: Watched,
) -> None:
    file = watched.write("first.csv", COMPLETE)
    watched.look()
    (first,) = watched.look(QUIET_S)
    assert first.run is not None

    watched.write("second.csv", COMPLETE + "3,b,b\n")
    watched.model = "resnet"
    watched.begin_anew()
    watched.look()
    told, second = watched.look(QUIET_S)

    assert told.run is None
    assert f"{first.run.id}, which was opened with another model: none, not resnet" in (
        file.with_name("first.csv.error.txt").read_text()
    )
    assert "Watch as before, or make another run of it with `offdiag log`." in str(told.problem)
    assert second.run is not None


@pytest.mark.parametrize("is_served", [False, True])
def test_a_file_read_by_other_columns_than_before_is_told(
    watched: Watched,
    sqlite_database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_served: bool,
) -> None:
    monkeypatch.setenv("OFFDIAG_SPOOL", str(tmp_path / "spool"))
    with serving(sqlite_database) if is_served else nullcontext(watched.url) as watched.url:
        watched.write("first.csv", "y_true,y_pred,again\na,a,b\nb,a,b\n")
        watched.look()
        (first,) = watched.look(QUIET_S)
        assert first.run is not None

        watched.predicted = "again"
        watched.begin_anew()
        watched.look()
        (told,) = watched.look(QUIET_S)

    problem = str(told.problem)
    assert f"run {first.run.id}" in problem
    assert "Watch as before, or make another run of it with `offdiag log`." in problem
    assert "chunk" not in problem


def _killed_in_the_middle(watched: Watched) -> None:
    """Let a watcher open a run on the server, and no more."""

    def read(file: Path) -> Callable[[str], offdiag.Run]:
        def log(key: str) -> offdiag.Run:
            offdiag.start_run(
                name=file.stem,
                dataset="holdout",
                labels=["a", "b"],
                client_key=key,
                url=watched.url,
            )
            raise offdiag.DatabaseUnavailable("the watcher was killed.")

        return log

    watched.watch = FolderWatch(watched.folder, read, scope="holdout", clock=lambda: watched.now)
    watched.look()
    with pytest.raises(offdiag.DatabaseUnavailable):
        watched.look(QUIET_S)
    watched.begin_anew()


def test_a_copy_of_a_file_whose_upload_was_interrupted_waits_for_it(
    watched: Watched, sqlite_database: Database
) -> None:
    with serving(sqlite_database) as watched.url:
        watched.write("first.csv", COMPLETE)
        _killed_in_the_middle(watched)
        watched.write("copy.csv", COMPLETE)
        watched.look()
        first, copy = watched.look(QUIET_S) + watched.look(1)

        assert (first.file.name, copy.file.name) == ("first.csv", "copy.csv")
        assert present(copy.run).id == present(first.run).id
        assert watched.names() == ["first"]
    assert not list(watched.folder.glob("*.error.txt"))


def test_a_copy_whose_original_is_gone_is_told_after_a_while(
    watched: Watched, sqlite_database: Database
) -> None:
    with serving(sqlite_database) as watched.url:
        original = watched.write("first.csv", COMPLETE)
        _killed_in_the_middle(watched)
        original.rename(watched.folder / "copy.csv")
        watched.look()

        assert watched.look(QUIET_S) == []
        (told,) = watched.look(UPLOAD_S)

    assert "opened with another name: first, not copy" in str(told.problem)


def test_a_file_whose_run_was_deleted_is_told_how_to_bring_it_back(watched: Watched) -> None:
    watched.write("first.csv", COMPLETE)
    watched.look()
    (first,) = watched.look(QUIET_S)
    assert first.run is not None
    first.run.delete()

    watched.begin_anew()
    watched.look()
    (told,) = watched.look(QUIET_S)

    assert f"`offdiag runs restore {first.run.id}` brings it back" in str(told.problem)


def test_other_content_under_the_same_name_is_another_run(watched: Watched) -> None:
    watched.write("daily.csv", COMPLETE)
    watched.look()
    watched.look(QUIET_S)

    watched.write("daily.csv", COMPLETE + "3,b,b\n")
    watched.look()
    watched.look(QUIET_S)

    assert watched.names() == ["daily", "daily"]


def test_a_file_that_is_replaced_while_it_is_read_is_taken_later(watched: Watched) -> None:
    watched.write("daily.csv", COMPLETE)
    watched.look()

    def replace() -> None:
        watched.write("daily.csv", COMPLETE + "3,b,b\n")

    watched.while_reading = replace

    assert watched.look(QUIET_S) == []

    watched.while_reading = lambda: None
    watched.look()
    (taken,) = watched.look(QUIET_S)
    assert present(taken.run).evaluation().aggregate["n"].value == 3
    assert watched.names() == ["daily"]


def test_a_problem_is_told_beside_the_file_until_it_is_solved(watched: Watched) -> None:
    file = watched.write("wrong.csv", "id,y_true,guess\n1,a,a\n")
    beside = file.with_name("wrong.csv.error.txt")
    watched.look()

    (taken,) = watched.look(QUIET_S)
    assert taken.run is None
    assert "y_pred" in beside.read_text()
    assert watched.look(100) == []

    watched.write("wrong.csv", COMPLETE)
    watched.look()
    (taken,) = watched.look(QUIET_S)
    assert taken.run is not None
    assert not beside.exists()


def test_other_files_are_left_alone(watched: Watched) -> None:
    for name in (".hidden.csv", "notes.txt", "results.csv.part"):
        watched.write(name, COMPLETE)
    (watched.folder / "folder.csv").mkdir()

    watched.look()

    assert watched.look(1_000) == []


def test_a_file_that_goes_away_is_forgotten(watched: Watched) -> None:
    file = watched.write("brief.csv", COMPLETE)
    watched.look()
    file.unlink()

    assert watched.look(QUIET_S) == []


def test_a_database_that_is_away_is_no_fault_of_the_file(watched: Watched) -> None:
    watched.write("first.csv", COMPLETE)
    watched.look()

    def away() -> None:
        raise offdiag.DatabaseUnavailable("the database is away.")

    watched.while_reading = away
    with pytest.raises(offdiag.DatabaseUnavailable):
        watched.look(QUIET_S)
    watched.while_reading = lambda: None

    assert len(watched.look()) == 1
    assert not list(watched.folder.glob("*.error.txt"))


def test_a_link_is_not_followed(watched: Watched, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.csv"
    elsewhere.write_text(COMPLETE)
    (watched.folder / "run.csv").symlink_to(elsewhere)

    watched.look()
    (taken,) = watched.look(after_s=QUIET_S)

    assert taken.run is None
    assert "is a link" in str(taken.problem)
    assert watched.names() == []


def test_a_reason_overwrites_nothing_that_a_link_leads_to(
    watched: Watched, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    (watched.folder / "run.csv.error.txt").symlink_to(precious)
    watched.write("run.csv", "y_true,y_pred\na\n")

    watched.look()
    (taken,) = watched.look(after_s=QUIET_S)

    assert taken.run is None
    assert precious.read_text() == "kept"
