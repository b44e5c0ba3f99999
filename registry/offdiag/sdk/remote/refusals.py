"""What a server refuses with, as the errors that the SDK raises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from pydantic import ValidationError

from offdiag import errors
from offdiag.errors import OffdiagError, TooManyRequests
from offdiag.wire.refusals import Refusal


class ServerFailed(OffdiagError):
    """The server answered with something that is no answer."""

    code = "server_failed"


def raise_refusal(status: int, body: bytes, *, url: str) -> NoReturn:
    """Raise the error that the body of an answer describes, or `ServerFailed`."""
    try:
        reason = Refusal.model_validate_json(body).error
    except ValidationError:
        raise ServerFailed(
            f"{url} answered with status {status}, and not as offdiag does.",
            field="url",
            hint="Check the address; the log of the server may say more.",
        ) from None
    kind = _KINDS.get(reason.code, ServerFailed)
    message = f"{reason.message[:1].lower()}{reason.message[1:]}"
    raise kind(message, field=reason.field, hint=reason.hint)


def _kinds(parent: type[OffdiagError]) -> Iterator[type[OffdiagError]]:
    for kind in parent.__subclasses__():
        if kind.__module__ == errors.__name__ and kind is not TooManyRequests:
            yield kind
            yield from _kinds(kind)


_KINDS = {kind.code: kind for kind in _kinds(OffdiagError)}
"""Errors by their code; one that says when to try again is not raised, but waited for."""
