"""The documents that commands print, read from the store or requested from a server, and names in
them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import click
from pydantic import ValidationError

from offdiag.cli.call import Call, evaluate_waiting, is_server, opened, settings_for
from offdiag.cli.output import note
from offdiag.domain.suggestions import unknown_name
from offdiag.errors import InvalidInput, NotFound, OffdiagError
from offdiag.records.access import Me
from offdiag.records.base import MOST_ON_A_PAGE, Answer, Page, Paged, Request, RequestBody
from offdiag.records.runs.run_list import RunList, RunsQuery, RunSummary, asked_runs
from offdiag.sdk.registry import MOST_NAMED, RUN_ID, only_id, quoted
from offdiag.sdk.remote.connection import (
    JSON,
    Connection,
    ServerFailed,
    check_address,
    with_retries,
)
from offdiag.version import offdiag_version

if TYPE_CHECKING:
    from offdiag.records.datasets.dataset import DatasetSummary
    from offdiag.store.database import Database

Listed = TypeVar("Listed", bound=Page)

_RETRY_FOR_S = 3.0
"""At a terminal, errors are reported sooner than in a training job."""


@dataclass(frozen=True, slots=True)
class Server:
    """A registry behind its HTTP API, for commands."""

    connection: Connection

    def ask(
        self,
        path: str,
        answer: type[Answer],
        asked: RequestBody | None = None,
        *,
        method: str = "GET",
    ) -> Answer:
        """The document at a path. Raises the error of the server, or `ServerFailed`."""
        content = self.content(path, asked, method=method)
        try:
            return answer.model_validate_json(content)
        except ValidationError as error:
            raise self._of_another_version() or self._no_registry() from error

    def content(
        self, path: str, asked: RequestBody | None = None, *, method: str = "GET"
    ) -> bytes:
        """The bytes at a path. Raises as `ask` does."""
        _refuse_misspelt(path)
        headers = {"Idempotency-Key": str(uuid.uuid4())} if method == "POST" else {}
        params, sent = None, None
        if asked is not None and method == "GET":
            params = asked.model_dump(mode="json", exclude_defaults=True)
        elif asked is not None:
            headers["Content-Type"] = JSON
            sent = asked.model_dump_json(exclude_unset=True)
        try:
            return with_retries(
                lambda: self.connection.ask(
                    method, path, params=params, content=sent, headers=headers
                ),
                retry_for_s=_RETRY_FOR_S,
            )
        except (NotFound, InvalidInput, ServerFailed) as error:
            raise self._of_another_version() or error from error

    def pages(
        self, path: str, answer: type[Listed], *, query: Paged, limit: int
    ) -> Iterator[Listed]:
        """The pages of a list, up to `limit` entries in total."""
        token = None
        while limit > 0:
            size = min(limit, MOST_ON_A_PAGE)
            asked = query.model_copy(update={"limit": size, "page_token": token})
            page = self.ask(path, answer, asked)
            yield page
            limit, token = limit - size, page.next_page_token
            if token is None:
                return

    def _of_another_version(self) -> OffdiagError | None:
        """An error that says that the server is older than this command; None if that is not the
        reason."""
        try:
            found = Me.model_validate_json(self.connection.ask("GET", "/me")).version
        except NotFound as error:
            if error.field is not None:
                return None
            found = "an older version"
        except (OffdiagError, ValidationError):
            return None
        if found == offdiag_version():
            return None
        return ServerFailed(
            f"{self.connection.url} runs offdiag {found}, this is {offdiag_version()}: it does "
            "not know this request.",
            field="url",
            hint="Install the same version on both.",
        )

    def _no_registry(self) -> ServerFailed:
        return ServerFailed(
            f"{self.connection.url} did not answer like offdiag.",
            field="url",
            hint=f"{check_address(self.connection.url)} --url or OFFDIAG_URL names it.",
        )


def _refuse_misspelt(path: str) -> None:
    """Raise `NotFound` for the path of a run that is neither an id nor the name of a run.

    A server knows no such address, and would answer that, or that the role is missing.
    """
    _, is_of_run, rest = path.partition("/runs/")
    if is_of_run and not rest.startswith("r_"):
        raise NotFound(
            f"there is no run {rest.rpartition('/')[0] or rest!r}.",
            field="run",
            hint="`offdiag runs list` shows the runs of this registry.",
        )


@contextmanager
def connected(url: str | None) -> Iterator[Database | Server]:
    """The registry at a URL, or the configured one: a server, or an open database."""
    settings = settings_for(url)
    if is_server(settings.database.url):
        yield Server(Connection.of(settings.database.url, settings))
        return
    with opened(settings) as database:
        yield database


def answered(registry: Database | Server, request: Request[Answer]) -> Answer:
    """What a server returns, or what is stored in a database."""
    if isinstance(registry, Server):
        return registry.ask(request.path, request.answer, request.asked, method=request.method)
    return request.stored(registry)


def ask(call: Call, request: Request[Answer], *, of_results: bool = False) -> Answer:
    """What the registry of a call answers. With `of_results`, queued runs of an embedded registry
    are evaluated first, because a document of results would not include them.
    """
    with connected(call.url) as registry:
        if of_results and not isinstance(registry, Server):
            evaluate_waiting(registry)
        return answered(registry, request)


def known_datasets(registry: Database | Server) -> list[DatasetSummary]:
    """All datasets; on a server, those that the caller may view."""
    from offdiag.records.datasets.dataset import EVERY_DATASET

    return answered(registry, EVERY_DATASET).datasets


def note_unknown_name(url: str | None, *, project: str | None, dataset: str | None) -> None:
    """Tell the user if an empty list was requested for a project or dataset that does not
    exist."""
    if project is None and dataset is None:
        return
    with connected(url) as registry:
        known = [(each.project, each.name) for each in known_datasets(registry)]
    sentence = unknown_name(known, project=project, dataset=dataset)
    if sentence is not None:
        note(sentence)


def ids_of_runs(
    context: click.Context, _parameter: click.Parameter, named: str | tuple[str, ...] | None
) -> str | tuple[str, ...] | None:
    """Callback of arguments and options that name runs: returns their ids.

    A text that is neither an id nor a name stays as it is, and the command reports that there is
    no such run. Raises `Conflict` for a name of several runs.
    """
    if named is None or context.resilient_parsing:
        return named
    url = context.params.get("url")
    at = url if isinstance(url, str) else None  # Not yet a text if it was not given.
    if isinstance(named, str):
        return _run_id(at, named)
    return tuple(_run_id(at, each) for each in named)


def _run_id(url: str | None, named: str) -> str:
    if RUN_ID.fullmatch(named):
        return named
    return only_id(named, _runs_named(url, named), hint="Give one of the ids.") or named


def _runs_named(url: str | None, name: str) -> Sequence[RunSummary]:
    """The newest runs with a name, at most one more than is shown."""
    query = RunsQuery(filter=f"attributes.name = {quoted(name)}", limit=MOST_NAMED + 1)
    request = Request(
        "/runs", RunList, lambda at: asked_runs(at, query, limit=query.limit)[0], query
    )
    with connected(url) as registry:
        return answered(registry, request).runs
