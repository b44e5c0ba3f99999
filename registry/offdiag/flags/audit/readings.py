"""What a plain "precision" can mean: of which class, or under which average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from offdiag.errors import InvalidInput
from offdiag.flags.audit.claims import AVERAGED, AVERAGES, Claim
from offdiag.flags.audit.facts import Facts


@dataclass(frozen=True, slots=True)
class Reading:
    """The claims with every name understood in one particular way, which `words` describe."""

    words: str
    claims: tuple[Claim, ...]


def readings(claims: Sequence[Claim], facts: Facts) -> tuple[Reading, ...]:
    """All ways to understand class metrics that name no class, the most usual first.

    With two classes they belong to the positive class, and if nobody said which one that is,
    to either. With more, they are averages. Raises `InvalidInput` for a metric that neither
    names a class nor is ever averaged.
    """
    if not any(claim.is_unqualified for claim in claims):
        return (Reading("as published", tuple(claims)),)
    if facts.labels is None:
        of_one_class = Reading("class metrics belong to one class", _of_class(claims, 0))
        is_averaged = all(claim.key in AVERAGED for claim in claims if claim.is_unqualified)
        return (of_one_class, *(_averages(claims) if is_averaged else ()))
    if facts.positive is not None:
        return (_with_positive(claims, facts, facts.positive),)
    if facts.n_classes == 2:
        return tuple(_with_positive(claims, facts, code) for code in _rarer_first(facts))
    _require_averaged(claims)
    return _averages(claims)


def _with_positive(claims: Sequence[Claim], facts: Facts, code: int) -> Reading:
    name = facts.labels.names[code] if facts.labels is not None else str(code)
    return Reading(f"'{name}' is the positive class", _of_class(claims, code))


def _of_class(claims: Sequence[Claim], code: int) -> tuple[Claim, ...]:
    return tuple(replace(c, code=code) if c.is_unqualified else c for c in claims)


def _rarer_first(facts: Facts) -> tuple[int, int]:
    """The rarer of two classes is usually the positive one, otherwise the second."""
    counts = facts.class_counts
    return (0, 1) if counts is not None and counts[0] < counts[1] else (1, 0)


def _averages(claims: Sequence[Claim]) -> tuple[Reading, ...]:
    return tuple(
        Reading(
            f"{average} averages",
            tuple(
                claim.redefined(f"{average}_{claim.key}") if claim.is_unqualified else claim
                for claim in claims
            ),
        )
        for average in AVERAGES
    )


def _require_averaged(claims: Sequence[Claim]) -> None:
    for claim in claims:
        if claim.is_unqualified and claim.key not in AVERAGED:
            raise InvalidInput(
                f"{claim.key} belongs to one class, and there are more than two.",
                field=f"reported[{claim.name!r}]",
                hint="Give a mapping from labels to values.",
            )
