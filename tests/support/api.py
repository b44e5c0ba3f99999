"""Asking the interface for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from offdiag.records.base import Refusal
from offdiag_web.app.dispatch import PREFIX
from support.pages import PageClient


def get(client: PageClient, path: str, **query: object) -> Any:
    """The JSON of an answer that must be a good one."""
    answer = client.get(f"{PREFIX}{path}?{urlencode(query, doseq=True)}")
    assert answer.status_code == 200, answer.get_json()
    return answer.get_json()


def refusal(client: PageClient, path: str, **query: object) -> tuple[int, dict[str, Any]]:
    """Status and error of an answer that must be in the one shape."""
    answer = client.get(f"{PREFIX}{path}?{urlencode(query, doseq=True)}")
    return answer.status_code, _error(answer.get_json())


def send(
    client: PageClient,
    path: str,
    body: object = None,
    *,
    method: str = "POST",
    headers: dict[str, str] | None = None,
) -> tuple[int, Any]:
    """Status and JSON of the answer to a write; an error must be in the one shape."""
    answer = client.open(f"{PREFIX}{path}", method=method, json=body, headers=headers)
    told = answer.get_json()
    return answer.status_code, told if answer.status_code < 400 else _error(told)


def pages(client: PageClient, path: str, key: str, **query: object) -> Iterator[list[Any]]:
    """All pages of a list."""
    token: str | None = None
    while True:
        more = {} if token is None else {"page_token": token}
        page = get(client, path, **query, **more)
        yield page[key]
        token = page["next_page_token"]
        if token is None:
            return


def _error(told: Any) -> dict[str, Any]:
    assert told.keys() == {"error"}
    return Refusal.model_validate(told, extra="forbid").error.model_dump()
