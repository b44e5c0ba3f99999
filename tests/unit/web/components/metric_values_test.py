import pytest

from offdiag.domain.values import Reason
from offdiag_web.components.metric_values import REASON_TEXTS, reason_text


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_told_in_words(reason: Reason) -> None:
    assert reason in REASON_TEXTS
    assert "_" not in reason_text(reason.value)


def test_a_reason_of_a_newer_version_is_shown_by_its_name() -> None:
    assert reason_text("moon_phase_unknown") == "moon phase unknown"
