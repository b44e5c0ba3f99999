"""Where the dashboard listens, and where it refuses to."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from offdiag.cli.serving import require_loopback
from offdiag.errors import InvalidInput

Command = Callable[..., Any]


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_this_machine_alone_may_be_served(host: str) -> None:
    require_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "registry.example.org", ""])
def test_a_network_is_refused_while_there_is_no_sign_in(host: str) -> None:
    with pytest.raises(InvalidInput, match="no sign-in") as caught:
        require_loopback(host)

    assert caught.value.hint


def test_serve_says_which_port_is_taken_and_what_to_do(offdiag: Command, taken_port: int) -> None:
    answer = offdiag("serve", "--port", str(taken_port))

    assert answer.code == 2
    assert f"{taken_port} on 127.0.0.1 is taken" in answer.err
    assert "--port 0" in answer.err


def test_serve_refuses_a_network_address_before_it_touches_the_registry(
    offdiag: Command, folder: Any
) -> None:
    answer = offdiag("serve", "--host", "0.0.0.0")

    assert answer.code == 2
    assert "no sign-in" in answer.err
    assert list(folder.iterdir()) == []
