"""Views whose modules are loaded when somebody asks for them, and the table that names them."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from flask import Flask

from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from offdiag_web.app.dispatch import LazyViews
from offdiag_web.routes import ROUTES
from offdiag_web.wsgi import warming_up
from support.dashboard import counted_statements
from support.logging_runs import log, work_off
from support.pages import PageClient, client_for
from support.registries import serving
from support.written_routes import routes_of_modules

PAGE = """
from flask import Blueprint, abort

blueprint = Blueprint("late", __name__)


@blueprint.get("/late/<int:number>")
@blueprint.get("/late")
def page(number=0):
    return f"late {number}"


@blueprint.post("/late")
def save():
    abort(409)


@blueprint.errorhandler(409)
def explained(error):
    return "explained", 409
"""
LATE = {
    "late_page": {
        "late.page": ("GET /late/<int:number>", "GET /late"),
        "late.save": ("POST /late",),
    }
}


@pytest.fixture
def late_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module with views that nothing has imported."""
    (tmp_path / "late_page.py").write_text(PAGE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("late_page", None)


@pytest.fixture
def app() -> Flask:
    app = Flask(__name__)
    LazyViews(app, LATE)
    app.add_url_rule("/early", "early", lambda: "early")
    return app


@pytest.fixture
def client(app: Flask) -> PageClient:
    return client_for(app)


def test_the_table_of_routes_names_every_view_of_every_module() -> None:
    assert routes_of_modules() == ROUTES, "run make routes"


@pytest.mark.usefixtures("late_page")
def test_a_module_is_imported_for_the_first_request_to_it(app: Flask, client: PageClient) -> None:
    with app.test_request_context():
        assert app.url_for("late.page", number=7) == "/late/7"
    assert client.get("/early").text == "early"
    assert client.get("/nowhere").status_code == 404
    assert "late_page" not in sys.modules

    assert client.get("/late/7").text == "late 7"
    assert client.get("/late").text == "late 0"
    assert client.post("/late").text == "explained"


@pytest.mark.usefixtures("late_page")
def test_what_is_asked_before_a_view_runs_sees_the_view_itself(app: Flask) -> None:
    seen = []

    @app.before_request
    def look() -> None:
        seen.append(app.view_functions["late.page"].__module__)

    client_for(app).get("/late")

    assert seen == ["late_page"]


def test_a_module_that_is_missing_fails_the_request_and_is_looked_for_again(
    client: PageClient, request: pytest.FixtureRequest
) -> None:
    assert client.get("/late").status_code == 500

    request.getfixturevalue("late_page")

    assert client.get("/late").text == "late 0"


@pytest.mark.usefixtures("late_page")
def test_many_first_requests_at_once_are_all_answered(app: Flask) -> None:
    answers: list[str] = []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait()
        answers.append(client_for(app).get("/late").text)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == ["late 0"] * 8


@pytest.fixture
def unfrozen() -> Iterator[None]:
    yield
    gc.unfreeze()


@pytest.fixture
def without_views(unfrozen: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing to load: tests of what runs beside it need not wait for that."""
    monkeypatch.setattr(LazyViews, "load_each", lambda _views, _package="": iter(()))


@pytest.fixture
def served(sqlite_database: Database) -> Flask:
    return create_app(Settings(server=serving()), sqlite_database)


def settle_after_an_answer(served: Flask) -> None:
    n_frozen = gc.get_freeze_count()
    with warming_up(served, waits_s=60):
        client_for(served).get("/healthz")
        until = time.monotonic() + 60
        while gc.get_freeze_count() <= n_frozen:
            assert time.monotonic() < until
            time.sleep(0.01)


@pytest.mark.usefixtures("unfrozen")
def test_pages_are_loaded_and_runs_compared_after_the_first_answer(
    served: Flask, sqlite_database: Database
) -> None:
    not_loaded = served.view_functions["glossary.page"]
    database = sqlite_database
    truth = ["x", "y"] * 60
    for predicted in (["y", "x", *truth[2:]], ["y"] * 40 + truth[40:]):
        log(database, y_true=truth, y_pred=predicted, sample_ids=range(120))
    work_off(database)

    settle_after_an_answer(served)

    assert served.view_functions["glossary.page"] is not not_loaded
    with counted_statements() as statements:
        client_for(served).get("/")
    assert not any("prediction_chunk" in statement for statement in statements)


@pytest.mark.usefixtures("without_views")
def test_what_runs_beside_begins_after_the_first_answer_but_a_redirect_and_ends_with_the_block(
    served: Flask,
) -> None:
    begun, ended = threading.Event(), threading.Event()

    @contextmanager
    def work() -> Iterator[None]:
        begun.set()
        yield
        ended.set()

    with warming_up(served, beside=work, waits_s=60):
        assert client_for(served).get("/").status_code == 302
        assert not begun.wait(0.1)
        client_for(served).get("/healthz")
        assert begun.wait(60)
        assert not ended.is_set()

    assert ended.is_set()


def test_a_server_that_stops_before_its_first_answer_loads_no_page(served: Flask) -> None:
    not_loaded = served.view_functions["glossary.page"]

    with warming_up(served, waits_s=60):
        pass

    assert served.view_functions["glossary.page"] is not_loaded


@pytest.mark.usefixtures("unfrozen")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_what_runs_beside_outlives_a_view_that_cannot_be_loaded(
    served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried, ended = threading.Event(), threading.Event()

    @contextmanager
    def work() -> Iterator[None]:
        try:
            yield
        finally:
            ended.set()

    def fail(_views: LazyViews, _package: str = "") -> Iterator[str]:
        tried.set()
        raise ImportError("a library is broken")

    monkeypatch.setattr(LazyViews, "load_each", fail)
    with warming_up(served, beside=work, waits_s=60):
        client_for(served).get("/healthz")
        assert tried.wait(60)
        assert not ended.wait(0.1)

    assert ended.is_set()


@pytest.mark.usefixtures("without_views")
def test_what_runs_beside_is_tried_again_where_files_are_scarce(served: Flask) -> None:
    tries, begun = [], threading.Event()

    @contextmanager
    def work() -> Iterator[None]:
        tries.append(1)
        if len(tries) == 1:
            raise OSError(24, "Too many open files")
        begun.set()
        yield

    with warming_up(served, beside=work, waits_s=60):
        client_for(served).get("/healthz")
        assert begun.wait(60)
