"""A job hands chunks over and goes on; how long it may wait, and what is tried again."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest

import offdiag
from offdiag.domain.labels import LabelSet
from offdiag.domain.texts import name_segment
from offdiag.domain.texts import name_segment as segment_of_pages
from offdiag.errors import Conflict, ServerUnavailable, SpoolFull, TooLarge
from offdiag.inputs.bodies.columns import MOST_BYTES_SENT, MOST_CELLS
from offdiag.inputs.ids import SampleIds
from offdiag.inputs.slice_columns import SliceColumn
from offdiag.metrics.multilabel.sets import pack_sets
from offdiag.sdk.remote import connection
from offdiag.sdk.remote.connection import Busy, Connection, delay_before_next, delays, with_retries
from offdiag.sdk.remote.send import Sender, rows_in_request
from offdiag.sdk.remote.spool import SpooledRequest, SpooledRun
from offdiag.services.ingest.batch import Batch, chunked
from offdiag.services.ingest.chunk_stream import write_chunk
from offdiag.settings import Settings

ASKED = SpooledRequest("run", '{"project": "p", "client_key": "k", "name": "n"}')
AWAY = Busy("away", retry_after_s=None)


class Server:
    """Takes chunks while its door is open; refuses those it is told to."""

    def __init__(self) -> None:
        self.door = threading.Event()
        self.door.set()
        self.stored: dict[int, bytes] = {}
        self.refused: set[int] = set()
        self.attempts = 0
        self.arrived = threading.Event()

    def take(self, seq: int, content: Any) -> None:
        self.attempts += 1
        if not self.door.is_set():
            raise AWAY
        if seq in self.refused:
            raise Conflict("other content.", field="seq")
        self.stored[seq] = bytes(content)
        self.arrived.set()


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def spooled(tmp_path: Path) -> SpooledRun:
    return SpooledRun.of(tmp_path, ASKED)


def sender_to(server: Server, spooled: SpooledRun, **limits: Any) -> Sender:
    return Sender(server.take, spooled, ASKED, **limits)


def test_chunks_arrive_in_order_and_nothing_touches_the_disk(
    server: Server, spooled: SpooledRun
) -> None:
    sender = sender_to(server, spooled)

    for seq in range(20):
        sender.put(seq, b"%d" % seq)

    assert sender.close(retry_for_s=10) is None
    assert server.stored == {seq: b"%d" % seq for seq in range(20)}
    assert not spooled.folder.exists()


def test_a_job_waits_once_and_then_writes_to_the_disk(server: Server, spooled: SpooledRun) -> None:
    server.door.clear()
    sender = sender_to(server, spooled, longest_wait_s=0.2, most_waiting=100)
    sender.put(0, b"a" * 80)

    started = time.monotonic()
    for seq in range(1, 50):
        sender.put(seq, b"b" * 80)
    waited = time.monotonic() - started

    assert 0.2 <= waited < 5
    assert len(spooled.chunks()) == 49
    server.door.set()
    assert sender.close(retry_for_s=30) is None
    assert sorted(server.stored) == list(range(50))
    assert spooled.chunks() == []


def test_what_a_server_that_stays_away_did_not_take_is_in_the_spool(
    server: Server, spooled: SpooledRun
) -> None:
    sender = sender_to(server, spooled)
    sender.put(0, b"first")
    assert server.arrived.wait(10)
    server.door.clear()
    sender.put(1, b"second")

    failure = sender.close(retry_for_s=0.1)

    assert isinstance(failure, ServerUnavailable)
    assert [(seq, path.read_bytes()) for seq, path in spooled.chunks()] == [(1, b"second")]


def test_what_comes_after_the_end_is_sent_all_the_same(
    server: Server, spooled: SpooledRun
) -> None:
    sender = sender_to(server, spooled)
    sender.put(0, b"first")
    assert sender.close(retry_for_s=10) is None

    sender.put(1, b"second")

    assert sender.close(retry_for_s=10) is None
    assert server.stored == {0: b"first", 1: b"second"}


def test_a_refusal_is_not_tried_again_and_what_follows_is_kept(
    server: Server, spooled: SpooledRun
) -> None:
    server.refused.add(1)
    sender = sender_to(server, spooled)

    for seq in range(4):
        sender.put(seq, b"x")
    failure = sender.close(retry_for_s=10)

    assert isinstance(failure, Conflict)
    assert server.attempts == 2
    assert [seq for seq, _ in spooled.chunks()] == [1, 2, 3]


def test_without_room_anywhere_closing_says_so_and_can_be_repeated(
    server: Server, spooled: SpooledRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.door.clear()
    sender = sender_to(server, spooled)
    sender.put(0, b"only")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as small:
        small.setattr("offdiag.sdk.remote.spool.os.fsync", full)
        with pytest.raises(SpoolFull, match="no room"):
            sender.close(retry_for_s=0.0)
        assert spooled.chunks() == []
    sender.close(retry_for_s=0.0)

    assert [path.read_bytes() for _, path in spooled.chunks()] == [b"only"]


def test_a_forked_child_is_told_that_the_run_is_not_its_own(
    server: Server, spooled: SpooledRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    sender = sender_to(server, spooled)
    own = os.getpid()

    with monkeypatch.context() as child:
        child.setattr("offdiag.sdk.remote.send.os.getpid", lambda: own + 1)
        with pytest.raises(Conflict, match="forked"):
            sender.put(0, b"x")
        assert not sender.is_of_this_process()

    assert sender.close(retry_for_s=1) is None


def test_a_forked_child_begins_with_connections_of_its_own() -> None:
    client = Connection("http://127.0.0.1:9")._client()
    reading, writing = os.pipe()

    child = os.fork()
    if child == 0:
        is_fresh = not connection._clients and client in connection._of_parents[-1].values()
        os.write(writing, b"fresh" if is_fresh else b"stale")
        os._exit(0)
    os.waitpid(child, 0)

    assert os.read(reading, 5) == b"fresh"
    assert Connection("http://127.0.0.1:9")._client() is client
    os.close(reading)
    os.close(writing)


def test_attempts_wait_longer_each_time_and_as_long_as_the_server_asks() -> None:
    found = [delay for delay, _ in zip(delays(), range(12), strict=False)]

    assert all(0.05 * 2**turn <= delay <= 0.1 * 2**turn for turn, delay in enumerate(found[:6]))
    assert max(found) <= 10
    assert delay_before_next(Busy("busy", retry_after_s=7), 0.1) == 7
    assert delay_before_next(AWAY, 0.1) == 0.1


def test_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    clock = iter(range(1_000))
    monkeypatch.setattr("offdiag.sdk.remote.connection.time.sleep", slept.append)
    monkeypatch.setattr("offdiag.sdk.remote.connection.time.monotonic", lambda: next(clock))

    def attempt() -> None:
        raise AWAY

    with pytest.raises(ServerUnavailable):
        with_retries(attempt, retry_for_s=5)

    assert 3 <= len(slept) <= 5


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [(429, {"Retry-After": "3"}, 3.0), (503, {}, None), (507, {"Retry-After": "soon"}, None)],
)
def test_busy_answers_say_how_long(
    monkeypatch: pytest.MonkeyPatch, status: int, headers: dict[str, str], expected: float | None
) -> None:
    answers = httpx.MockTransport(lambda _: httpx.Response(status, headers=headers))
    client = httpx.Client(transport=answers, base_url="http://server")
    monkeypatch.setattr(Connection, "_client", lambda _: client)

    with pytest.raises(Busy) as caught:
        Connection("http://server").ask("GET", "/runs")

    assert caught.value.retry_after_s == expected


@pytest.mark.parametrize("name", ["a b", "a/b", "..", "x.json", "~7E", "ä?&#%2F", "\\..\\"])
def test_names_stand_in_paths_as_the_pages_write_them(name: str) -> None:
    assert name_segment(name).replace("~", "%7E") == segment_of_pages(name).replace(
        "~", "%7E"
    ).replace(":", "%3A").replace("@", "%40").replace(",", "%2C")


def test_samples_with_long_identifiers_are_sent_in_chunks_that_a_server_takes() -> None:
    n, labels = 300_000, LabelSet(("a", "b"))
    codes = np.zeros(n, dtype=np.uint8)
    # The long ones together, as where one source follows another.
    halves = [pa.repeat(pa.scalar(text, pa.large_string()), n // 2) for text in ("a", "d" * 490)]
    batch = Batch(codes, codes, ids=SampleIds("text", pa.concat_arrays(halves)))

    parts = list(chunked(batch, rows_in_request(batch)))

    assert sum(map(len, parts)) == n
    assert max(len(write_chunk(part, labels)) for part in parts) <= MOST_BYTES_SENT


def test_samples_with_many_slices_are_sent_in_chunks_that_a_server_takes() -> None:
    n, labels = 200_000, LabelSet(("a", "b"))
    codes = np.zeros(n, dtype=np.uint8)
    levels = tuple(f"{i:05d}" for i in range(300))
    column = SliceColumn(levels, (np.arange(n) % 300).astype(np.uint16))
    batch = Batch(codes, codes, slices={f"s{i}": column for i in range(180)})

    parts = list(chunked(batch, rows_in_request(batch)))

    assert max(len(write_chunk(part, labels)) for part in parts) <= MOST_BYTES_SENT


def test_samples_with_short_identifiers_are_sent_as_before() -> None:
    n = 600_000
    codes = np.zeros(n, dtype=np.uint8)
    paths = pa.repeat(pa.scalar("d" * 80, pa.large_string()), n)
    batch = Batch(codes, codes, ids=SampleIds("text", paths))

    assert rows_in_request(batch) == 1 << 19


def test_sets_of_many_labels_are_sent_in_chunks_that_a_server_takes() -> None:
    packed = pack_sets(np.zeros((1, 10_000), dtype=np.bool_))
    batch = Batch(packed, packed)

    assert 10_000 * rows_in_request(batch) <= MOST_CELLS


@pytest.mark.parametrize("status", [413, 414, 431])
def test_a_proxy_that_takes_no_large_requests_is_named(status: int) -> None:
    with pytest.raises(TooLarge, match="client_max_body_size") as caught:
        connection.raise_refusal(status, b"<html>nginx</html>", url="http://here")

    assert str(status) in str(caught.value)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("http://here:8642", "http://here:8642"),
        ("http://here:8642/", "http://here:8642"),
        ("https://here/offdiag/api/v1/", "https://here/offdiag"),
        ("http://here:8642/?q=tags.a%3D1#top", "http://here:8642"),
    ],
)
def test_what_belongs_to_a_request_is_left_out_of_an_address(given: str, address: str) -> None:
    assert Connection.of(given, Settings()).url == address


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("http://here:8642/runs/12", "is like http://here:8642."),
        ("http://here:8642", "Check the address."),
    ],
)
def test_the_address_of_a_page_is_explained(url: str, hint: str) -> None:
    with pytest.raises(offdiag.OffdiagError) as caught:
        connection.raise_refusal(404, b"<html>There is no such page.</html>", url=url)

    assert hint in str(caught.value)
