"""Log lines of processes that stay: one fact a line, key=value, on stderr."""

from __future__ import annotations

import logging
import sys


def log_to_stderr(level: int = logging.INFO) -> None:
    """Configure the log of this process."""
    import structlog

    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        # Asked for at each line: whoever redirects standard error later is followed.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
