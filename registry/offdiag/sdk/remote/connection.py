"""Requests to one server over HTTP, with reused connections, errors for refusals, and retries.

A connection belongs to the process that opened it. A training job may fork, for example to load
data; the child starts without connections and does not use those of its parent.
"""

from __future__ import annotations

import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import ValidationError

from offdiag import errors
from offdiag.errors import (
    EvaluationPending,
    InvalidInput,
    NotSignedIn,
    OffdiagError,
    ServerUnavailable,
    TooLarge,
    TooManyRequests,
)
from offdiag.records.base import Refusal
from offdiag.settings import Settings
from offdiag.settings.tokens import stored_token
from offdiag.version import offdiag_version

PREFIX = "/api/v1"


def server_address(url: str) -> str:
    """The address of a server, without what only belongs to the address of a page or a request."""
    return re.split("[?#]", url, maxsplit=1)[0].rstrip("/").removesuffix(PREFIX).rstrip("/")


def check_address(url: str) -> str:
    """The hint for an address that is not that of a server; a proxy may serve one below a path."""
    found = urlsplit(url)
    if not found.path:
        return "Check the address."
    return f"Leave out the path of a page: the address is like {found.scheme}://{found.netloc}."


class ServerFailed(OffdiagError):
    """The server returned something that is not a valid response."""

    code = "server_failed"


_TOO_LARGE = frozenset({413, 414, 431})


def raise_refusal(status: int, body: bytes, *, url: str) -> NoReturn:
    """Raise the error in the body of a response, or `ServerFailed`."""
    try:
        reason = Refusal.model_validate_json(body).error
    except ValidationError:
        if status in _TOO_LARGE:
            raise TooLarge(
                f"{url}, or its proxy, refuses requests of this size (status {status}).",
                field="url",
                hint="Send less at once: a server takes up to 64 MiB, if its proxy lets them "
                "pass (client_max_body_size of nginx). Shorten a long search.",
            ) from None
        raise ServerFailed(
            f"{url} answered with status {status}, not like offdiag.",
            field="url",
            hint=f"{check_address(url)} The log of the server may say more.",
        ) from None
    # A newer server may know a narrower kind.
    general = _KINDS.get((reason.code, None), ServerFailed)
    kind = _KINDS.get((reason.code, reason.kind), general)
    message = f"{reason.message[:1].lower()}{reason.message[1:]}"
    if kind is NotSignedIn:
        hint = f"Run: offdiag login {url} (or set OFFDIAG_TOKEN)."
        raise NotSignedIn(message, field="token", hint=hint)
    raise kind(message, field=reason.field, hint=reason.hint)


def _kinds(parent: type[OffdiagError]) -> Iterator[type[OffdiagError]]:
    for kind in parent.__subclasses__():
        if kind.__module__ == errors.__name__ and kind is not TooManyRequests:
            yield kind
            yield from _kinds(kind)


_KINDS = {(error.code, error.kind): error for error in _kinds(OffdiagError)}
"""Errors by their code and kind; one that says when to try again is not raised, but waited for."""


JSON = "application/json"
_TIMEOUT = httpx.Timeout(60.0, connect=5.0)
_BUSY = frozenset({429, 502, 503, 504, 507})
"""Statuses that say nothing about the request, only about the moment."""

_clients: dict[tuple[str, str], httpx.Client] = {}
_of_parents: list[dict[tuple[str, str], httpx.Client]] = []
"""Kept, because to let them go would say goodbye on connections that the parent still uses."""
_lock = threading.Lock()


_NOT_THERE = "Check the address and its port, and whether the server runs there."


class Busy(ServerUnavailable):
    """The server says how long to wait, or no server responds at the address."""

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None,
        hint: str = "Wait for it, or look at the log of the server.",
    ) -> None:
        super().__init__(message, field="url", hint=hint)
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class Connection:
    """A server, given by its address such as http://host:8642, and the token for it."""

    url: str
    token: str = ""

    @classmethod
    def of(cls, url: str, settings: Settings) -> Connection:
        """The server at a URL, with the token of the settings, else that of `offdiag login`.

        Raises `InvalidInput` for a token that cannot be sent in a request.
        """
        url = server_address(url)
        # A file that is read into a variable ends with a line break.
        token = (settings.client.token or stored_token(url)).strip()
        if not (token.isascii() and token.isprintable()):
            raise InvalidInput(
                "the token has a line break, a control character or a non-ASCII letter.",
                field="client.token",
                hint="Set OFFDIAG_TOKEN to the token as it was shown, and nothing else.",
            )
        return cls(url, token)

    def ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        content: Any | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """The body of the response, after one attempt.

        Raises `ServerUnavailable` if another attempt may help, and otherwise the error with which
        the server refuses the request.
        """
        client = self._client()
        try:
            answer = client.request(
                method, f"{PREFIX}{path}", params=params, content=content, headers=headers
            )
        except httpx.TransportError as error:
            raise Busy(
                f"{self.url} cannot be reached ({type(error).__name__}: {error}).",
                retry_after_s=None,
                hint=_NOT_THERE,
            ) from error
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"{error.object[:40]!r} holds half of a surrogate pair.",
                hint="Correct it; nothing stored contains such text.",
            ) from error
        except httpx.InvalidURL as error:
            raise Busy(
                f"{self.url} is not an address ({error}).", retry_after_s=None, hint=_NOT_THERE
            ) from error
        if answer.status_code in _BUSY:
            raise Busy(
                f"{self.url} is unavailable (status {answer.status_code}).",
                retry_after_s=_seconds(answer.headers.get("Retry-After")),
            )
        if not answer.is_success:
            raise_refusal(answer.status_code, answer.content, url=self.url)
        return answer.content

    def send(self, method: str, path: str, body: str) -> bytes:
        """The response to a JSON body, after one attempt. Raises as `ask` does."""
        return self.ask(method, path, content=body, headers={"Content-Type": JSON})

    def _client(self) -> httpx.Client:
        key = (self.url, self.token)
        with _lock:
            if key not in _clients:
                _clients[key] = self._opened()
            return _clients[key]

    def _opened(self) -> httpx.Client:
        headers = {"User-Agent": f"offdiag/{offdiag_version()}"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        # Proxies of the environment are honoured by httpx; redirects would lose what is sent.
        return httpx.Client(base_url=self.url.rstrip("/"), headers=headers, timeout=_TIMEOUT)


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError:
        return None


def _after_fork_in_child() -> None:
    global _lock, _clients  # noqa: PLW0603 - the child starts over
    _of_parents.append(_clients)
    _clients = {}
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork_in_child)


Result = TypeVar("Result")

_FIRST_DELAY_S = 0.1
_LONGEST_DELAY_S = 10.0


def delays() -> Iterator[float]:
    """Seconds to wait between attempts: doubled each time, with jitter between clients."""
    delay = _FIRST_DELAY_S
    while True:
        yield delay * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        delay = min(2 * delay, _LONGEST_DELAY_S)


def delay_before_next(error: ServerUnavailable, planned_s: float) -> float:
    """The planned delay, or the longer one that the server requests."""
    asked = error.retry_after_s if isinstance(error, Busy) else None
    return planned_s if asked is None else max(planned_s, asked)


def once_evaluated(ask: Callable[[], Result], run_id: str, *, timeout_s: float) -> Result:
    """The response of the server, requested again until the run is evaluated.

    Raises `EvaluationPending` on timeout, and every other error at once.
    """
    give_up_at = time.monotonic() + timeout_s
    for delay_s in delays():
        try:
            return ask()
        except EvaluationPending:
            left_s = give_up_at - time.monotonic()
            if left_s <= 0:
                raise EvaluationPending(
                    f"run {run_id} was not evaluated within {timeout_s:g} s.",
                    field="timeout",
                    hint="Check that a worker runs, or wait longer; nothing is lost.",
                ) from None
            time.sleep(min(delay_s, left_s))
    raise AssertionError  # The delays never end.


def with_retries(attempt: Callable[[], Result], *, retry_for_s: float) -> Result:
    """The result of an attempt, repeated while the server is not available.

    Raises `ServerUnavailable` when the retry time is used up, and every other error at once.
    """
    give_up_at = time.monotonic() + retry_for_s
    for planned_s in delays():
        try:
            return attempt()
        except ServerUnavailable as error:
            delay = delay_before_next(error, planned_s)
            if time.monotonic() + delay > give_up_at:
                raise
            time.sleep(delay)
    raise AssertionError  # The delays never end.
