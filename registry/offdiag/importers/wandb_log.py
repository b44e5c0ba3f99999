"""What a `.wandb` file says of its run: name, project, configuration, tags, last values.

W&B writes records of protocol buffers into a log of LevelDB. Only the few fields that a run is
described by are read; everything else is skipped over. Sources: the descriptions of LevelDB's
log format and of the wire format of protocol buffers, and `wandb_internal.proto` for the numbers
of fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from offdiag.domain.runs import MAX_TEXT_LENGTH, Scalar
from offdiag.errors import InvalidInput
from offdiag.inputs.files.checks import unreadable

_MARK = b":W&B"
_HEADER = 7
_BLOCK = 32_768
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_HISTORY, _CONFIG, _RUN = 2, 5, 17
"""Fields of a record."""
_ID, _PROJECT, _RUN_CONFIG, _NAME, _TAG = 1, 3, 4, 8, 10
"""Fields of what a record says of a run."""
_ITEM, _KEY, _NESTED_KEY, _JSON = 1, 1, 2, 16
"""Items of a configuration or history, and their fields."""


@dataclass
class LoggedRun:
    """What is known of a run. `values` are the last ones that were logged, numbers alone."""

    name: str = ""
    run_id: str = ""
    project: str = ""
    config: dict[str, Scalar] = field(default_factory=dict)
    values: dict[str, Scalar] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)


def read_run_log(path: Path) -> LoggedRun:
    """Read `run-….wandb`; an end that was not written is left out. Raises `InvalidInput`."""
    run = LoggedRun()
    try:
        with path.open("rb") as log:
            if not log.read(_HEADER).startswith(_MARK):
                raise InvalidInput(
                    f"{path.name} is no log of W&B.",
                    field="file",
                    hint="Give the folder of the run.",
                )
            for record in _records(log):
                _note(record, run)
    except OSError as error:
        raise unreadable(path, error) from None
    except (IndexError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path.name} is damaged: {error}.", field="file", hint="Copy it again."
        ) from None
    return run


def _records(log: BinaryIO) -> Iterator[bytes]:
    parts: list[bytes] = []
    place = _HEADER
    while True:
        rest = _BLOCK - place % _BLOCK
        if rest < _HEADER:
            log.read(rest)
            place += rest
        header = log.read(_HEADER)
        size = int.from_bytes(header[4:6], "little")
        data = log.read(size)
        if len(header) < _HEADER or len(data) < size:
            return
        place += _HEADER + size
        kind = header[6]
        parts = [data] if kind in (_FULL, _FIRST) else [*parts, data]
        if kind in (_FULL, _LAST):
            yield b"".join(parts)
            parts = []


def _note(record: bytes, run: LoggedRun) -> None:
    for number, value in _fields(record):
        if number == _RUN:
            _note_run(value, run)
        elif number == _CONFIG:
            run.config.update(_items(value))
        elif number == _HISTORY:
            for key, logged in _items(value).items():
                if isinstance(logged, (int, float)) and not key.startswith("_"):
                    run.values[key] = logged


def _note_run(message: bytes, run: LoggedRun) -> None:
    tags = []
    for number, value in _fields(message):
        if number == _RUN_CONFIG:
            run.config.update(_items(value))
        elif number == _TAG:
            tags.append(value.decode())
        elif number == _ID:
            run.run_id = value.decode()
        elif number == _PROJECT:
            run.project = value.decode()
        elif number == _NAME:
            run.name = value.decode()
    run.tags = tags or run.tags


def _items(message: bytes) -> dict[str, Scalar]:
    """Keys and values of one level; lists and objects stay the JSON that they are."""
    found: dict[str, Scalar] = {}
    for number, item in _fields(message):
        if number != _ITEM:
            continue
        keys = [value.decode() for place, value in _fields(item) if place in (_KEY, _NESTED_KEY)]
        texts = [value.decode() for place, value in _fields(item) if place == _JSON]
        if len(keys) == 1 and keys[0] != "_wandb" and texts:
            found[keys[0]] = _plain(texts[-1])
    return found


def _plain(text: str) -> Scalar:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    is_plain = isinstance(value, (str, bool, int, float)) and value == value  # noqa: PLR0124
    if not is_plain or value in (float("inf"), float("-inf")):
        return text[:MAX_TEXT_LENGTH]
    return value[:MAX_TEXT_LENGTH] if isinstance(value, str) else value


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields that contain bytes, by their numbers; numbers are skipped."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        match tag & 7:
            case 0:
                _, place = _varint(message, place)
            case 1:
                place += 8
            case 2:
                size, place = _varint(message, place)
                yield tag >> 3, message[place : place + size]
                place += size
            case 5:
                place += 4
            case kind:
                raise IndexError(f"a field of kind {kind}")


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = message[place]
        value |= (byte & 127) << shift
        place += 1
        if byte < 128:
            return value, place
    raise IndexError("a number of more than 64 bits")
