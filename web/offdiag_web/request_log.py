"""Every request has an id: in its answer, in both logs, and on the work it asks for.

What changes something or fails is logged, with the rule that was matched and its address; what
only reads is logged at the level debug, because the proxy tells that as well.
"""

from __future__ import annotations

import secrets
import time

import structlog
from flask import Flask, Response, g, request

log = structlog.get_logger()

REQUEST_ID_HEADER = "X-Request-Id"
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOKS = frozenset({"/healthz", "/readyz"})
_LONGEST_PATH = 300


def log_requests(app: Flask) -> None:
    """Name and log the requests of `app`; to be installed before anything that may refuse one."""

    @app.before_request
    def name() -> None:
        g.request_id = secrets.token_hex(8)
        g.asked_at = time.perf_counter()
        # Threads go from request to request and keep what was bound.
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=g.request_id)

    @app.after_request
    def tell(response: Response) -> Response:
        response.headers[REQUEST_ID_HEADER] = g.get("request_id", "")
        facts = {
            "method": request.method,
            "path": request.path[:_LONGEST_PATH],
            "rule": "none" if request.url_rule is None else request.url_rule.rule,
            "status": response.status_code,
            "duration_s": round(time.perf_counter() - g.asked_at, 4) if "asked_at" in g else 0.0,
        }
        if response.status_code == 500:
            log.error("request", **facts)
        elif response.status_code > 500 and request.path not in _LOOKS:
            log.warning("request", **facts)
        elif response.status_code in {401, 403, 429} or request.method not in _READING:
            log.info("request", **facts)
        else:
            log.debug("request", **facts)
        return response

    @app.teardown_request
    def forget(_error: BaseException | None) -> None:
        structlog.contextvars.clear_contextvars()
