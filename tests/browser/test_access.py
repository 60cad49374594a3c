"""The access page by hand: without scripts, and with a token that is seen once."""

from playwright.sync_api import expect

from tests.browser.conftest import Opener


def test_a_token_is_made_and_revoked_without_javascript(show: Opener) -> None:
    """Catches a form that needs a script, and a token that a look back or a reload still shows."""
    page = show("/access", width=400, java_script_enabled=False).page
    page.locator("summary").filter(has_text="Make a token").click()
    form = page.locator("form[action='/access/tokens']")
    form.get_by_label("Name").fill("by-hand")
    form.get_by_role("button", name="Make the token").click()
    token = page.locator(".made code").inner_text()
    assert token.startswith("bzt_")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.get_by_role("link", name="Access").click()
    assert token not in page.content()
    page.get_by_role("button", name="Revoke by-hand").click()
    expect(page.get_by_role("button", name="Revoke by-hand")).to_have_count(0)
    expect(page.locator("table").last).to_contain_text("revoked the token by-hand")


def test_a_form_with_an_error_keeps_its_place(show: Opener) -> None:
    """Catches an error that nobody sees because its form is folded again."""
    page = show("/access", java_script_enabled=False).page
    page.locator("summary").filter(has_text="Make a token").click()
    form = page.locator("form[action='/access/tokens']")
    form.get_by_label("Name").fill("no spaces please")
    form.get_by_role("button", name="Make the token").click()
    expect(page.get_by_role("alert")).to_contain_text("/name")
    expect(page.get_by_role("button", name="Make the token")).to_be_visible()
