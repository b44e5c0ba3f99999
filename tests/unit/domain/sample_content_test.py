"""Addresses of content name hosts that an administrator listed, and nothing else."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.sample_content import allowed_hosts, filled, is_allowed, require_address
from offdiag.errors import InvalidInput

HOSTS = allowed_hosts(" Images.example.org, cdn.example.org:8443 ,")
TEMPLATE = "https://images.example.org/derm/{sample}.jpg"


def test_a_template_on_an_allowed_host_is_accepted() -> None:
    assert require_address(f" {TEMPLATE} ", HOSTS, field="image_template") == TEMPLATE
    other = "https://cdn.example.org:8443/?id={sample}"
    assert require_address(other, HOSTS, field="image_template") == other


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example.org/{sample}",
        "https://images.example.org.evil.org/{sample}",
        "https://images.example.org@evil.org/{sample}",
        "https://images.example.org:9/{sample}",
        "https://{sample}.example.org/a",
        "http://images.example.org/{sample}",
        "javascript:alert('{sample}')",
        "data:image/svg+xml,{sample}",
        "//images.example.org/{sample}",
        "https://images.example.org/",
        "https://images.example.org/{sample}/{other}",
        "https://images.example.org/{sample}.svg",
        "https://images.example.org/{sample}\n.jpg",
        "https://[broken/{sample}",
        "https://images.example.org/" + "a" * 3_000 + "{sample}",
        "",
    ],
)
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        require_address(address, HOSTS, field="image_template")
    assert (refused.value.field, bool(refused.value.hint)) == ("image_template", True)


@given(st.text(min_size=1, max_size=80))
def test_no_identifier_leaves_its_place(sample: str) -> None:
    try:
        address = filled(TEMPLATE, sample)
    except UnicodeEncodeError:
        assert any("\ud800" <= character <= "\udfff" for character in sample)
        return
    parts = urlsplit(address)
    assert (parts.netloc, parts.query, parts.fragment) == ("images.example.org", "", "")
    assert parts.path.startswith("/derm/")
    assert parts.path.count("/") == 2
    assert is_allowed(address, HOSTS)


def test_a_host_that_was_removed_is_not_shown_any_more() -> None:
    assert not is_allowed(TEMPLATE, allowed_hosts("other.example.org"))
    assert not is_allowed(TEMPLATE, allowed_hosts(""))
    assert not is_allowed("https://[broken", HOSTS)
