"""How the costs of decisions are written: per 1,000 cases, with what is known about them."""

from __future__ import annotations

from offdiag.domain.values import MetricValue
from offdiag_web.presenters.amounts import Amounts
from offdiag_web.presenters.numbers import MINUS
from offdiag_web.presenters.what_if.ranking import PER


def cost_text(cost: float, amounts: Amounts) -> str:
    """A cost per case, written per 1,000 cases."""
    return amounts.text(cost * PER)


def interval_text(value: MetricValue, amounts: Amounts) -> str | None:
    """ "1,103 – 1,149" per 1,000 cases, None where there is no interval."""
    if value.ci_low is None or value.ci_high is None:
        return None
    return amounts.interval(value.ci_low * PER, value.ci_high * PER)


def difference_text(value: MetricValue, amounts: Amounts) -> str:
    """ "−80 per 1,000 (95 % CI −120 to −41)"."""
    if value.value is None:
        return "undefined"
    text = f"{amounts.signed(value.value * PER)} per 1,000"
    if value.ci_low is None or value.ci_high is None:
        return text
    low, high = (amounts.signed(end * PER) for end in (value.ci_low, value.ci_high))
    return f"{text} (95 % CI {low} to {high})"


def outcome_text(value: MetricValue) -> str:
    """What the paired interval of a difference of costs supports."""
    if value.value is None or value.ci_low is None or value.ci_high is None:
        return "Whether that is more than chance is not known."
    if value.ci_high < 0:
        return "That is cheaper, beyond chance."
    if value.ci_low > 0:
        return "That is dearer, beyond chance."
    return "That cannot be told from no difference."


def threshold_text(threshold: float) -> str:
    """A threshold with four digits that count."""
    return f"{threshold + 0.0:.4g}".replace("-", MINUS)
