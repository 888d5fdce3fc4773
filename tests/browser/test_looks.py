"""Every page in both themes: nothing that axe calls serious, and dark where dark is asked for."""

import os
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
PAGES = [
    "/",
    "/runs",
    "/runs/r1",
    "/runs/r3",
    "/feed",
    "/dead-letters",
    "/dead-letters/7",
    "/services",
    "/audit",
    "/cost",
    "/runs/nobody",
]
SERIOUS = ("serious", "critical")


COLOURS_ONLY = {"runOnly": ["color-contrast"]}


def findings(page, **options):
    page.evaluate(AXE)
    wanted = {"resultTypes": ["violations"], "preload": False} | options
    found = page.evaluate("wanted => axe.run(wanted)", wanted)["violations"]
    return {
        f"{one['id']}: {node['target']}"
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    }


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_no_page_is_hard_to_use_in_either_theme(enter):
    page, found = enter("/", reduced_motion="reduce"), {}
    for path in PAGES:
        page.goto(path)
        for theme, options in (("light", {}), ("dark", COLOURS_ONLY)):
            page.emulate_media(color_scheme=theme)
            if faults := findings(page, **options):
                found[path, theme] = faults
    assert found == {}


def test_what_nobody_could_read_would_be_found(enter):
    page = enter("/")
    page.evaluate("document.querySelector('h1').style.color = '#e8e8ee'")
    assert findings(page, **COLOURS_ONLY) == {"color-contrast: ['h1']"}


def test_the_door_and_an_open_question_are_easy_to_use(enter):
    page = enter("/")
    page.keyboard.press("a")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert findings(page) == set()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    assert findings(page) == set()


def test_the_theme_follows_the_system_until_somebody_chooses(enter):
    page = enter("/", color_scheme="dark")
    dark = background(page)
    page.get_by_role("button", name="Dark theme").click()
    assert background(page) != dark
    page.goto("/runs")
    assert background(page) != dark
    expect(page.get_by_role("button", name="Dark theme")).to_have_attribute("aria-pressed", "false")


def test_a_narrow_screen_needs_no_sideways_scrolling(enter):
    page = enter("/", viewport={"width": 390, "height": 800})
    for path in ("/", "/runs/r1", "/feed", "/services", "/audit"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_inbox_and_run_can_be_photographed(enter, tmp_path, theme):
    folder = Path(os.environ.get("TOCSIN_PICTURES", tmp_path))
    page = enter("/", color_scheme=theme)
    for name, path, height in (("inbox", "/", 500), ("run", "/runs/r1", 1060)):
        page.set_viewport_size({"width": 1160, "height": height})
        page.goto(path)
        expect(page.get_by_text("● Live")).to_be_visible()
        picture = folder / f"console-{name}-{theme}.png"
        page.screenshot(path=picture)
        assert picture.stat().st_size < 200_000
    channel = int(background(page).removeprefix("rgb(").partition(",")[0])
    assert (channel < 60) is (theme == "dark")
