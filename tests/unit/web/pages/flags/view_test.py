from datetime import UTC, datetime, timedelta

import pytest

from offdiag.domain.values import MetricValue
from offdiag.flags.lifecycle import FlagEventKind
from offdiag.store.flags import FlagEvent
from offdiag.store.run_neighbours import RankedValue
from offdiag_web.pages.flags.flag_page import history_lines, rank_sentence

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
KIND = FlagEventKind


@pytest.mark.parametrize(
    ("kind", "author", "text", "who", "what", "quote"),
    [
        (KIND.OPENED, None, None, None, "opened by an evaluation", None),
        (KIND.ACKNOWLEDGED, "lee", None, "lee", "acknowledged it", None),
        (
            *(KIND.SNOOZED, "lee", "until 2026-12-01T00:00:00+00:00"),
            *("lee", "snoozed it until 2026-12-01", None),
        ),
        (
            *(KIND.SNOOZED, "lee", "until 2026-12-01T09:30:00+00:00"),
            *("lee", "snoozed it until 2026-12-01 09:30 UTC", None),
        ),
        (KIND.SNOOZED, "lee", "for ever", "lee", "snoozed it for ever", None),
        (KIND.DISMISSED, "lee", "by\ndesign", "lee", "dismissed it", "by\ndesign"),
        (KIND.REOPENED, "kim", None, "kim", "reopened it", None),
        (
            *(KIND.REOPENED, None, "the snooze has ended"),
            *(None, "reopened: the snooze has ended", None),
        ),
        (KIND.CLOSED, None, None, None, "closed: the rule no longer raises it", None),
        (KIND.ASSIGNED, "sam", "lee", "sam", "assigned it to lee", None),
        (KIND.COMMENTED, "lee", "why?", "lee", "wrote", "why?"),
        (KIND.COMMENTED, None, "why?", "somebody", "wrote", "why?"),
        (
            *(KIND.UPDATED, None, "high before, critical now"),
            *(None, "another evaluation: high before, critical now", None),
        ),
    ],
)
def test_an_entry_reads_as_a_sentence(
    kind: FlagEventKind,
    author: str | None,
    text: str | None,
    who: str | None,
    what: str,
    quote: str | None,
) -> None:
    (line,) = history_lines([FlagEvent(1, NOW, author, kind, text)])

    assert (line.who, line.what, line.quote) == (who, what, quote)


def test_every_kind_of_entry_has_words() -> None:
    events = [FlagEvent(1, NOW - timedelta(days=1), "lee", kind, None) for kind in KIND]

    lines = history_lines(events)

    assert len(lines) == len(KIND)
    assert {line.at for line in lines} == {NOW - timedelta(days=1)}


def test_a_rank_that_does_not_exist_has_a_reason() -> None:
    ranks = {"overall_accuracy": RankedValue(MetricValue(None, "no_cases"), None, 1)}

    assert rank_sentence(ranks) == "Accuracy is undefined (there are no examples)."
