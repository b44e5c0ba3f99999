"""What a worker logs of each attempt: enough to follow one request to its result."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from offdiag.services.jobs.attempts import Ended, Outcome

log = structlog.get_logger()

_FAILED = frozenset({Outcome.RELEASED, Outcome.FAILED, Outcome.LOST})


def attempt_logger(engine: str) -> Callable[[Ended], None]:
    """Who logs the attempts of a worker of this engine: a line for each.

    Beside what came of it the line names the work and what it is about (`run`, `issue` or
    `delivery`), and as `request_id` the request that asked for it.
    """

    def on_ended(ended: Ended) -> None:
        lease = ended.lease
        facts = {
            "work": lease.work_id,
            "task": lease.task,
            **lease.args,
            "attempt": lease.attempts,
            "engine": engine,
            "duration_s": round(ended.duration_s, 3),
        }
        if lease.request_id is not None:
            facts["request_id"] = lease.request_id
        if ended.outcome in _FAILED:
            log.warning("work_failed", outcome=ended.outcome.value, error=ended.error, **facts)
        elif ended.outcome is Outcome.DONE:
            log.info("work_done", **facts)
        else:
            log.debug("work_deferred", **facts)

    return on_ended
