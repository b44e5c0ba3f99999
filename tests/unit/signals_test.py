"""Signals are acted on in a thread, so that what the main thread holds does not matter."""

from __future__ import annotations

import signal
import threading

from offdiag.signals import STOPS, acting_on_signals


def test_what_the_main_thread_holds_may_be_taken_by_who_acts() -> None:
    lock, held = threading.Lock(), threading.Event()

    def act(_number: signal.Signals) -> None:
        with lock:
            held.set()

    with acting_on_signals(act):
        with lock:
            signal.raise_signal(signal.SIGTERM)
        assert held.wait(60)


def test_each_stop_is_told_by_its_name_and_other_signals_are_left_to_others() -> None:
    told: list[signal.Signals] = []
    came: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _frame: came.append(number))
    try:
        with acting_on_signals(told.append):
            for number in (signal.SIGINT, signal.SIGUSR1, signal.SIGTERM, signal.SIGHUP):
                signal.raise_signal(number)
    finally:
        signal.signal(signal.SIGUSR1, before)

    assert told == [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    assert came == [signal.SIGUSR1]


def test_the_handlers_of_before_are_in_force_afterwards() -> None:
    before = [signal.getsignal(number) for number in STOPS]

    with acting_on_signals(lambda _number: None):
        inside = [signal.getsignal(number) for number in STOPS]

    assert [signal.getsignal(number) for number in STOPS] == before != inside


def test_a_program_under_nohup_outlives_its_terminal() -> None:
    told: list[signal.Signals] = []
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with acting_on_signals(told.append):
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)

    assert told == []
