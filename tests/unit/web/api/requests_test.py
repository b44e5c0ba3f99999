"""JSON that means one thing only."""

from __future__ import annotations

import json

import pytest

from offdiag.errors import Malformed
from offdiag_web.api.requests import read_json

DOCUMENT = {"name": "plain é", "scores": [0.1, 1e-300, -3], "flags": {"on": True, "off": None}}


def test_reads_what_json_can_say() -> None:
    assert read_json(json.dumps(DOCUMENT).encode()) == DOCUMENT


def test_refuses_every_truncation() -> None:
    body = json.dumps(DOCUMENT, ensure_ascii=False).encode()
    for end in range(len(body)):
        with pytest.raises(Malformed):
            read_json(body[:end])


def test_refuses_deeply_nested_brackets_long_before_the_stack_is_full() -> None:
    for depth in (101, 200_000):
        with pytest.raises(Malformed, match="nested too deeply"):
            read_json(b"[" * depth + b"]" * depth)
        with pytest.raises(Malformed, match="nested too deeply"):
            read_json(b'{"a\\"]":' * depth)


def test_counts_only_brackets_that_are_open_at_once() -> None:
    deepest = b"[" * 100 + b"]" * 100
    body = b'["\\\\", "\\"[[[", %s, %s]' % (b'"' + b"[{" * 200 + b'"', deepest[1:-1])

    assert read_json(body)[3] == json.loads(deepest)[0]
    assert read_json(b"[%s]" % b",".join([b"[0]"] * 300)) == [[0]] * 300


def test_names_the_key_that_occurs_twice() -> None:
    with pytest.raises(Malformed, match="'lr' occurs twice") as refused:
        read_json(b'{"params": {"lr": 1, "seed": 2, "lr": 1}}')
    assert refused.value.field == "lr"


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
def test_names_the_place_of_a_number_that_is_not_finite(written: str) -> None:
    with pytest.raises(Malformed) as refused:
        read_json(f'{{"a": [1], "scores": [[0.5], [0.5, {written}]]}}'.encode())
    assert refused.value.field == "scores[1][1]"
    assert written in refused.value.message


@pytest.mark.parametrize("text", ["a\\u0000b", "\\ud800", "x\\udfff"])
def test_refuses_text_that_databases_cannot_store(text: str) -> None:
    with pytest.raises(Malformed) as refused:
        read_json(f'{{"labels": ["a", "{text}"]}}'.encode())
    assert refused.value.field == "labels[1]"
    with pytest.raises(Malformed):
        read_json(f'{{"{text}": 1}}'.encode())


def test_lets_pairs_of_surrogates_and_their_look_alikes_pass() -> None:
    assert read_json(b'["\\ud83d\\ude00", "\\\\u0000"]') == ["😀", "\\u0000"]


def test_says_which_byte_is_not_utf_8() -> None:
    with pytest.raises(Malformed, match="byte 2 cannot"):
        read_json(b'["\xff"]')


def test_refuses_a_number_of_thousands_of_digits() -> None:
    with pytest.raises(Malformed, match="thousands of digits"):
        read_json(b"1" * 5_000)
