"""How the programs of offdiag are started: commands, settings, and when they answer."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "config" / "gunicorn.conf.py.example"
KEY = "0123456789abcdef" * 4
"""Signs forms, the same in all processes."""
_START_WITHIN_S = 60.0


def offdiag_command(*arguments: str) -> list[str]:
    """`offdiag` as it is installed beside this Python."""
    return [str(Path(sys.executable).with_name("offdiag")), *arguments]


def gunicorn_command(settings: Path, port: int) -> list[str]:
    """gunicorn as the example of its configuration has it; a copy of that is made."""
    settings.write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    gunicorn = str(Path(sys.executable).with_name("gunicorn"))
    return [gunicorn, "--config", str(settings), "--bind", f"127.0.0.1:{port}"]


def environment_of(database_url: str, **settings: str) -> dict[str, str]:
    """Variables of a program over a registry to which everybody has to show a token."""
    ours = {name: text for name, text in os.environ.items() if not name.startswith("OFFDIAG_")}
    return ours | {
        "OFFDIAG_URL": database_url,
        "OFFDIAG_ACCESS__AUTH": "required",
        "OFFDIAG_SERVER__SECRET_KEY": KEY,
        **settings,
    }


def free_port() -> int:
    """A port that nobody listens on at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def wait_until_it_answers(url: str, log: Path) -> None:
    """Wait for a server that was started; fails with its log where it does not come."""
    give_up_at = time.monotonic() + _START_WITHIN_S
    while time.monotonic() < give_up_at:
        try:
            if httpx.get(f"{url}/healthz", timeout=5).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"the server did not start:\n{log.read_text()}")
