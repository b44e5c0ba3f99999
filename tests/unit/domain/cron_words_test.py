"""Schedules in words say exactly what the expression says."""

from __future__ import annotations

import pytest

from offdiag.domain.cron import parse_cron
from offdiag.domain.cron_words import cron_in_words


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 6 * * 1", "Mondays at 06:00"),
        ("0 6 * * 0", "Sundays at 06:00"),
        ("0 6 * * 1-5", "Mondays to Fridays at 06:00"),
        ("0 6 * * fri-sun", "Fridays to Sundays at 06:00"),
        ("0 6 * * 1,4", "Mondays and Thursdays at 06:00"),
        ("0 6 * * 0,1", "Mondays and Sundays at 06:00"),
        ("30 2 * * *", "Every day at 02:30"),
        ("0 6,18 * * *", "Every day at 06:00 and 18:00"),
        ("* * * * *", "Every minute"),
        ("*/15 * * * *", "Every 15 minutes"),
        ("0 * * * *", "Every hour"),
        ("5 * * * *", "Every hour at minute 5"),
        ("5,10,20 * * * *", "Every hour at minutes 5, 10 and 20"),
        ("*/7 * * * *", "Every hour at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56"),
        ("0 */2 * * *", "Every 2 hours"),
        ("20 */2 * * *", "Every 2 hours at minute 20"),
        ("0 */6 * * *", "Every day at 00:00, 06:00, 12:00 and 18:00"),
        ("* 3,5 * * *", "Every minute in the hours 3 and 5"),
        ("*/10 9-17 * * 1-5", "Mondays to Fridays, every 10 minutes from 09:00 to 17:59"),
        ("0 0 1 * *", "On day 1 of every month at 00:00"),
        ("0 0 1,15 * *", "On day 1 and 15 of every month at 00:00"),
        ("0 0 29 2 *", "On day 29 of February at 00:00"),
        ("0 6 * 6-8 mon", "Mondays in June, July and August at 06:00"),
        ("0 6 * 12 *", "Every day in December at 06:00"),
    ],
)
def test_an_expression_in_words(expression: str, words: str) -> None:
    assert (
        cron_in_words(parse_cron(expression), "Europe/Ljubljana") == f"{words}, Europe/Ljubljana"
    )
