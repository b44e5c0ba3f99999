import pytest

from support.pages import Page, PageClient


def test_without_a_choice_the_theme_follows_the_system(client: PageClient) -> None:
    page = _page(client)

    assert "data-theme" not in page.one("html").attributes
    assert any(button.text == "Theme: auto" for button in page.all("button"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_chosen_theme_is_in_the_page_from_the_first_byte(client: PageClient, theme: str) -> None:
    client.post("/preferences", data={"theme": theme})

    assert _page(client).one("html")["data-theme"] == theme


def test_the_button_leads_through_all_themes_and_back(client: PageClient) -> None:
    seen = []
    for _ in range(4):
        button = next(b for b in _page(client).all("button") if b.text.startswith("Theme"))
        seen.append(button.text)
        client.post("/preferences", data={"theme": button["value"]})

    assert seen == ["Theme: auto", "Theme: light", "Theme: dark", "Theme: auto"]


def test_saving_leads_back_to_where_it_was_chosen(client: PageClient) -> None:
    response = client.post("/preferences", data={"theme": "dark", "back": "/runs?q=a%20b"})

    assert response.status_code == 303
    assert response.headers["Location"] == "/runs?q=a%20b"


def test_saving_never_leads_to_another_site(client: PageClient) -> None:
    for target in [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "evil",
        "/\t/evil.example",
        "",
    ]:
        response = client.post("/preferences", data={"theme": "dark", "back": target})

        assert response.headers["Location"] == "/", target


def test_single_keys_can_be_turned_off(client: PageClient) -> None:
    client.post("/preferences", data={"shortcuts": "off"})

    assert _page(client).one("html")["data-shortcuts"] == "off"


def test_an_unknown_choice_is_not_kept(client: PageClient) -> None:
    response = client.post("/preferences", data={"theme": "neon", "shortcuts": "maybe"})

    assert "Set-Cookie" not in response.headers


def test_cookies_are_for_this_site_and_not_for_scripts(client: PageClient) -> None:
    cookie = client.post("/preferences", data={"theme": "dark"}).headers["Set-Cookie"]

    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


def _page(client: PageClient) -> Page:
    return client.page("/runs")
