"""What `pip install offdiag` brings, in an environment of its own that nothing else is in.

The wheel is unpacked. The libraries it requires, and theirs, are linked from the environment of
the tests, in a version that is allowed, so that this needs neither a network nor minutes.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support.kinds import Files
from support.once_for_all import made_once
from support.servers import serving

ROOT = Path(__file__).parents[2]
BUDGET_BYTES = 260_000_000
"""Of all files but compiled ones, which pip makes and many images leave out."""
ALLOWED = {"click", "httpx", "narwhals", "numpy", "pyarrow", "pydantic", "rich"}


Words = tuple[str, ...]

COMMANDS = """
import contextlib, io, json, sys
from offdiag.cli.commands import run
told = []
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    told.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(told))
"""
"""Many commands in one process: what is not installed cannot be left behind by an earlier one."""


def required_by(metadata: Distribution) -> Iterator[Requirement]:
    """What a distribution needs here without any extra."""
    for text in metadata.requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement


def with_what_they_need(requirements: Iterable[Requirement]) -> set[str]:
    found: set[str] = set()
    left = list(requirements)
    while left:
        requirement = left.pop()
        installed = distribution(requirement.name)
        assert requirement.specifier.contains(installed.version, prereleases=True), requirement
        name = canonicalize_name(requirement.name)
        if name not in found:
            found.add(name)
            left += required_by(installed)
    return found


def link_files(name: str, target: Path) -> None:
    """Put the files of an installed distribution into another folder.

    Compiled ones come along where there are any, as compiling NumPy anew takes seconds.
    """
    installed = distribution(name)
    root = Path(str(installed.locate_file("")))
    for file in installed.files or ():
        source = root / file
        if ".." in file.parts or "__pycache__" in file.parts or not source.is_file():
            continue
        link(source, target / file)
        if source.suffix == ".py":
            compiled = Path(importlib.util.cache_from_source(str(source)))
            if compiled.is_file():
                link(compiled, target / compiled.relative_to(root))


def link(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, place)
    except OSError:
        shutil.copy2(source, place)


class Client:
    """A Python that has the base installation of offdiag and nothing more."""

    def __init__(self, folder: Path) -> None:
        self.python = folder / "bin" / "python"
        self.site_packages = next(folder.glob("lib/python3*/site-packages"))

    def run(self, *words: str, url: str | None = None) -> subprocess.CompletedProcess[str]:
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("OFFDIAG_", "PYTHON"))
        }
        if url is not None:
            environment["OFFDIAG_URL"] = url
        return subprocess.run(
            [self.python, "-I", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
            env=environment,
            cwd=self.site_packages.parents[2],
        )

    def output_of(self, program: str, *, url: str | None = None) -> str:
        done = self.run("-c", program, url=url)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def commands(self, *all_words: Words, url: str) -> dict[Words, tuple[int, str, str]]:
        """The code, the output and the messages of each command, one after the other."""
        told = json.loads(self.run("-c", COMMANDS, json.dumps(all_words), url=url).stdout)
        return {words: tuple(each) for words, each in zip(all_words, told, strict=True)}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return Client(made_once(tmp_path_factory, "client", install) / "venv")


def install(folder: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run(
        [*build, "--directory", folder / "wheel"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )
    (wheel,) = (folder / "wheel").glob("*.whl")
    venv.create(folder / "venv", symlinks=True)
    made = Client(folder / "venv")
    with ZipFile(wheel) as archive:
        archive.extractall(made.site_packages)
    (info,) = made.site_packages.glob("offdiag-*.dist-info")
    for name in with_what_they_need(required_by(PathDistribution(info))):
        link_files(name, made.site_packages)


@pytest.fixture(scope="module")
def server(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with (
        files.new(tmp_path_factory.mktemp("served")) as served,
        serving(served) as url,
    ):
        yield url


def test_little_is_required_and_fits_the_budget(client: Client) -> None:
    (info,) = client.site_packages.glob("offdiag-*.dist-info")
    files = [
        path
        for path in client.site_packages.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    ]

    assert {each.name for each in required_by(PathDistribution(info))} == ALLOWED
    assert sum(path.stat().st_size for path in files) < BUDGET_BYTES


LOGGING = """
import json
import numpy as np
import pyarrow as pa
import offdiag
import offdiag.errors

rng = np.random.default_rng(5)
truth = rng.choice(["cat", "dog"], 300)
guess = np.where(rng.random(300) < 0.8, truth, "cat")
ids = np.arange(300)
scores = rng.random(300)

whole = offdiag.log_run(
    y_true=truth, y_pred=guess, y_score=scores, sample_ids=ids, name="arrays", dataset="pets",
    positive_label="dog", slices={"half": ["first"] * 150 + ["second"] * 150},
)
with offdiag.start_run(name="batches", dataset="pets") as batches:
    batches.log(y_true=truth[:200], y_pred=guess[:200], sample_ids=ids[:200])
    batches.log(y_true=truth[200:], y_pred=guess[200:], sample_ids=ids[200:])
table = pa.table({"y": truth, "yhat": guess, "id": ids})
frame = offdiag.log_frame(table, name="frame", dataset="pets", sample_id="id")
counted = offdiag.log_frame(table, name="counts", dataset="more", keep_predictions=False)
matrix = offdiag.log_matrix(
    [[5, 1], [2, 7]], orientation="actual_rows", labels=["a", "b"], name="m", dataset="matrices"
)
found = whole.evaluation()
try:
    offdiag.search_runs()
except offdiag.errors.MissingExtra as error:
    frames = str(error)
print(json.dumps({
    "accuracies": [
        run.evaluation().aggregate["overall_accuracy"].value
        for run in (whole, batches, frame, counted, matrix)
    ],
    "expected": float((truth == guess).mean()),
    "interval": found.aggregate["overall_accuracy"].ci_low,
    "recall": found.per_class["recall"]["cat"].value,
    "slice": whole.evaluation(slice="half=first").matrix.total,
    "html": found._repr_html_()[:4],
    "compared": offdiag.compare([whole, frame])._repr_html_()[:4],
    "frames": frames,
}))
"""


def test_arrays_batches_frames_and_matrices_are_logged_and_results_are_read(
    client: Client, server: str
) -> None:
    told = json.loads(client.output_of(LOGGING, url=server))

    assert told["accuracies"] == [pytest.approx(told["expected"])] * 4 + [pytest.approx(0.8)]
    assert 0 < told["interval"] < told["expected"]
    assert told["recall"] == 1.0
    assert told["slice"] == 150
    assert told["html"] == "<div"
    assert told["compared"] == "<div"
    assert told["frames"] == "pandas is not installed. Run: pip install 'offdiag[local]'"


MISSING = """
import offdiag
from offdiag.errors import MissingExtra
for call in {calls}:
    try:
        eval(call)
    except MissingExtra as error:
        print(error)
"""
LIBRARY_OF = {
    "offdiag.log_run(y_true=['a'], y_pred=['a'], name='a', dataset='d')": "sqlalchemy",
    "offdiag.evaluate_labels(y_true=['a', 'b'], y_pred=['a', 'a'])": "scipy",
    "offdiag.evaluate_matrix([[1, 0], [0, 1]], orientation='actual_rows')": "scipy",
}
"""What each call needs."""
NO_DATABASE = (
    "sqlalchemy is not installed. Run: pip install 'offdiag[local]'; to log and read runs, the "
    "address of a server in OFFDIAG_URL is enough"
)


def test_calls_and_commands_that_need_more_name_the_extra(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "predictions.csv"
    file.write_text("y_true,y_pred\na,a\nb,a\n", encoding="utf-8")
    server = "flask is not installed. Run: pip install 'offdiag[server]'"
    messages: dict[Words, str] = {
        ("runs", "list"): NO_DATABASE,
        ("sync",): NO_DATABASE,
        ("serve",): server,
        ("worker",): server,
        ("evaluate", str(file)): "scipy is not installed. Run: pip install 'offdiag[local]'",
        ("demo",): "sklearn is not installed. Run: pip install 'offdiag[demo]'",
    }

    program = MISSING.format(calls=list(LIBRARY_OF)) + COMMANDS
    done = client.run("-c", program, json.dumps([*messages, ("doctor",)]))

    *of_calls, of_commands = done.stdout.splitlines()
    for library, said in zip(LIBRARY_OF.values(), of_calls, strict=True):
        assert said.startswith(f"{library} is not installed. Run: pip install 'offdiag[local]'")
        assert ("OFFDIAG_URL" in said) is (library == "sqlalchemy")
    *told, doctor = json.loads(of_commands)
    assert doctor[0] == 1
    assert told == [[2, "", f"offdiag: {text}\n"] for text in messages.values()]


TWO_RUNS = """
import offdiag
for name, guess in (("first", "aabb"), ("second", "abbb")):
    run = offdiag.log_run(
        y_true=list("aabb") * 9, y_pred=list(guess) * 9, sample_ids=list(range(36)),
        name=name, dataset="commands",
    )
    run.evaluation()
    print(run.id)
"""
OFFLINE = """
import os
os.environ |= {"OFFDIAG_MODE": "offline", "OFFDIAG_SPOOL": %r}
offdiag.log_run(y_true=["a", "b"], y_pred=["a", "a"], name="late", dataset="queue")
"""
ABOUT_THE_DATABASE: tuple[Words, ...] = (
    ("schedule", "list"),
    ("hierarchy", "show", "pets"),
    ("sql", "SELECT 1"),
    ("recompute", "--outdated"),
    ("verify",),
    ("gc",),
    ("user", "list"),
    ("token", "list"),
    ("db", "check"),
    ("export", "default", "--to", "x.zip"),
    ("import", "archive", "x.zip"),
    ("samples", "remove", "pets"),
    ("worker",),
)


def test_commands_ask_a_server_without_a_database_library(
    client: Client, server: str, tmp_path: Path
) -> None:
    logged = client.output_of(TWO_RUNS + OFFLINE % str(tmp_path), url=server)
    first, second = logged.split()
    costs = "[weights.a]\na = 0\nb = 4\n[weights.b]\na = 1\nb = 0\n"
    folder = client.site_packages.parents[2]
    (folder / "costs.toml").write_text(costs, encoding="utf-8")
    (folder / "predictions.csv").write_text("y_true,y_pred\na,a\nb,a\n", encoding="utf-8")
    (folder / "matrix.csv").write_text("actual,a,b\na,3,1\nb,0,4\n", encoding="utf-8")
    (folder / "labels.csv").write_text("id,label\n0,b\n", encoding="utf-8")
    looks, sends = ("doctor", "--json"), ("sync", "--spool", str(tmp_path))

    told = client.commands(
        looks,
        sends,
        ("log", "predictions.csv", "--name", "third", "--dataset", "files"),
        ("import", "csv", "matrix.csv", "--name", "fourth", "--dataset", "files"),
        ("truth", "revise", "commands", "labels.csv", "--reason", "seen again"),
        ("cost", "add", "price", "costs.toml", "--dataset", "commands"),
        ("cost", "show", "price@1"),
        ("cost", "apply", first, second, "--matrix", "price"),
        ("cost", "list"),
        ("runs", "list", "--dataset", "comm*"),
        ("runs", "show", first),
        ("runs", "history", first),
        ("runs", "baseline", first),
        ("compare", first, second),
        ("gate", second, "--min", "mcc>=0", "--min", "diff(recall[a])>=-0.9"),
        ("flags", "list", "--state", "all"),
        ("problems",),
        ("leaders", "commands"),
        ("propose", second),
        ("approve", first, "--reason", "best"),
        ("truth", "show", "commands"),
        ("report", "list"),
        ("jobs", "list"),
        ("whoami",),
        *ABOUT_THE_DATABASE,
        url=server,
    )

    about_the_database = {words: told.pop(words) for words in ABOUT_THE_DATABASE}
    failed = {words: err for words, (code, out, err) in told.items() if code or not out}
    assert not failed
    found = json.loads(told[looks][1])
    assert found["healthy"]
    assert found["findings"][-1]["text"].startswith(f"{server} runs offdiag")
    assert "1 sent, 0 left" in told[sends][1]
    # An extra would not help them.
    wrong = {
        words: (code, err)
        for words, (code, _, err) in about_the_database.items()
        if code != 2
        or f"works on the database itself, and {server} is a server" not in err
        or err.count("\n") != 1
    }
    assert not wrong
