"""Bytes of strangers are read, or refused in words: kept seeds, and what becomes of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fuzz.targets import TARGETS

SEEDS = Path(__file__).parent / "seeds"
KEPT = [path for name in TARGETS for path in sorted((SEEDS / name).iterdir())]
EXAMPLES = 15


@pytest.mark.parametrize("seed", KEPT, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_kept_seed_is_read_or_refused_in_words(seed: Path) -> None:
    refused = TARGETS[seed.parent.name](seed.read_bytes())

    assert not (seed.name.startswith("whole") and refused), refused


def test_every_target_has_a_seed_that_is_read() -> None:
    without = [name for name in TARGETS if not list((SEEDS / name).glob("whole*"))]

    assert without == []
    assert {path.name for path in SEEDS.iterdir()} == set(TARGETS)


@st.composite
def spoilt(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """A seed that was cut, changed, lengthened, or joined with another."""
    data = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 4))):
        at, to = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
        match draw(st.sampled_from(("cut", "change", "insert", "repeat", "join"))):
            case "cut":
                del data[at:to]
            case "change":
                data[at : at + 1] = draw(st.binary(min_size=1, max_size=8))
            case "insert":
                data[at:at] = draw(st.sampled_from(seeds + AWKWARD))
            case "repeat":
                data[at:at] = data[at:to] * draw(st.integers(1, 3))
            case "join":
                data[at:] = draw(st.sampled_from(seeds))[at:]
    return bytes(data)


AWKWARD = [
    *(b"\0", b"\xff\xff\xff\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\x1e", b'"', b"'"),
    *(b"1e400", b"NaN", b"-0", b"9" * 5_000, b"[" * 3_000, b"=1+1", "٣".encode(), b"\\ud800"),
]


@pytest.mark.parametrize("name", TARGETS)
def test_spoilt_seeds_are_read_or_refused_in_words(name: str) -> None:
    target = TARGETS[name]

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(spoilt([path.read_bytes() for path in sorted((SEEDS / name).iterdir())]))
    def try_it(data: bytes) -> None:
        target(data)

    try_it()
