"""Logging of long-running processes: one event per line on standard error, as logfmt or JSON.

Everything else that logs in the process, including libraries, is written in the same form. Text
from a client cannot start a log line of its own, and secrets are masked wherever they come from.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any, Literal

LogFormat = Literal["logfmt", "json"]

MASK = "***"
_SECRET_KEYS = frozenset({"authorization", "cookie", "password", "secret", "token"})
_IN_TEXTS = (
    (re.compile(r"(://[^:/@\s]*:)[^@/\s]+(?=@)"), rf"\1{MASK}"),
    (re.compile(r"\boffdiag_[A-Za-z0-9_-]{20,}"), f"offdiag_{MASK}"),
    (re.compile(r"(?i)\b(bearer\s+|password\s*=\s*|cookie:\s*)[^\s'\";,]+"), rf"\1{MASK}"),
)
"""Passwords in URLs, tokens of this program, and secrets quoted from headers and drivers."""
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_QUIET = ("alembic", "apscheduler", "httpx", "procrastinate", "werkzeug")
_OWN_HANDLERS = ("gunicorn.error",)

EventDict = MutableMapping[str, Any]


def log_to_stderr(level: int | str = logging.INFO, form: LogFormat = "logfmt") -> None:
    """Configure logging in this process. `level` is a level name or number as in `logging`."""
    import structlog

    number = logging.getLevelNamesMapping()[level.upper()] if isinstance(level, str) else level
    common: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        without_secrets,
    ]
    renderer = _renderer(form)
    structlog.configure(
        processors=[*common, *renderer],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        # Looked up for each line, so that a later redirection of standard error takes effect.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    handler = _ToStandardError()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(allow=()), _named, *common],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [
        *(each for each in root.handlers if not isinstance(each, _ToStandardError)),
        handler,
    ]
    root.setLevel(max(number, logging.INFO))
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    # Waitress reports the length of its queue with each request; refused requests are counted.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    for name in _OWN_HANDLERS:
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True


def without_secrets(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Mask secrets, both fields with secret names and secrets inside texts."""
    for key, value in event.items():
        if key.lower() in _SECRET_KEYS:
            event[key] = MASK
        elif isinstance(value, str):
            event[key] = _masked(value)
    return event


def _masked(text: str) -> str:
    for pattern, mask in _IN_TEXTS:
        text = pattern.sub(mask, text)
    return text


def _on_one_line(_logger: object, _method: str, event: EventDict) -> EventDict:
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = _CONTROLS.sub(lambda found: ascii(found[0])[1:-1], value)
    return event


def _named(_logger: object, _method: str, event: EventDict) -> EventDict:
    record = event.get("_record")
    if record is not None:
        event["logger"] = record.name
    return event


def _renderer(form: LogFormat) -> list[Any]:
    import structlog

    if form == "json":
        return [structlog.processors.JSONRenderer(default=str)]
    order = ["timestamp", "level", "event"]
    return [_on_one_line, structlog.processors.LogfmtRenderer(key_order=order)]


class _ToStandardError(logging.StreamHandler[Any]):
    """A handler for whatever standard error is at the time of each log line."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, _stream: Any) -> None:
        """Ignore it: the stream is always `sys.stderr`."""
