"""The address of the advice on a run: what it is for, and what is known of its use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from offdiag.advice.situation import Goal
from offdiag_web.urls.query_string import with_query

KNOWN = "known"


@dataclass(frozen=True, slots=True)
class AdviceAddress:
    """`about` is the class whose errors matter, None if those of all classes do."""

    run_id: str
    goal: Goal = Goal.BOTH
    about: str | None = None
    balance_known: bool = False

    def url(self, form: str = "") -> str:
        """Canonical URL of the page, or of its twin where `form` is "json"."""
        return with_query(
            f"/runs/{self.run_id}/advice{f'.{form}' if form else ''}",
            {
                "goal": None if self.goal is Goal.BOTH else self.goal.value,
                "about": self.about,
                "balance": KNOWN if self.balance_known else None,
            },
        )


def read_advice(run_id: str, values: Mapping[str, str]) -> tuple[AdviceAddress, list[str]]:
    """The address in a query string, with a notice for each value that cannot be meant."""
    notices: list[str] = []
    goal, balance = values.get("goal") or Goal.BOTH.value, values.get("balance") or ""
    if goal not in set(Goal):
        known = ", ".join(Goal)
        notices.append(f"There is no goal “{goal}”; known are {known}.")
        goal = Goal.BOTH.value
    if balance not in {"", KNOWN}:
        notices.append(f"The balance is “{KNOWN}” or not mentioned, so “{balance}” was ignored.")
    about = values.get("about") or None
    return AdviceAddress(run_id, Goal(goal), about, balance == KNOWN), notices
