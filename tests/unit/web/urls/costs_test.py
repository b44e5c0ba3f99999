from urllib.parse import parse_qsl, urlsplit

from offdiag_web.urls.costs import CostsAddress, new_costs_url, read_versions


def test_a_cost_matrix_of_the_default_project_is_named_by_its_name_alone() -> None:
    assert CostsAddress("default", "derm triage").url() == "/costs/derm%20triage"
    assert CostsAddress("team", "visits", 2, 1).url() == "/costs/visits?from=1&project=team&v=2"
    assert CostsAddress("default", "visits", 2).url("json") == "/costs/visits.json?v=2"


def test_a_name_that_an_address_uses_for_something_else_is_written_differently() -> None:
    assert CostsAddress("default", "new").url() == "/costs/~6Eew"
    assert CostsAddress("default", "a/b.csv").url() == "/costs/a~2Fb~2Ecsv"


def test_forms_have_addresses_of_their_own() -> None:
    address = CostsAddress("default", "visits", 3)

    assert address.new_version_url() == "/costs/visits/new?v=3"
    assert address.action_url("default") == "/costs/visits/default"
    assert new_costs_url("team", "hold out") == "/costs/new?dataset=hold%20out&project=team"


def test_versions_survive_being_followed() -> None:
    query = dict(parse_qsl(urlsplit(CostsAddress("default", "v", 12, 3).url()).query))

    assert read_versions(query) == (12, 3, [])


def test_what_is_no_version_is_answered_with_a_notice() -> None:
    assert read_versions({"v": "0", "from": "two"}) == (
        None,
        None,
        ["“0” is not a number of a version.", "“two” is not a number of a version."],
    )
    assert read_versions({"v": "99999999999"})[0] is None
