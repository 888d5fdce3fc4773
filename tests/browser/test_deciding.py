"""People decide in a browser: from the inbox, by keys, and with scripts forbidden."""

import re

import pytest
from playwright.sync_api import expect

from tocsin_contracts.views import ApprovalState
from tocsin_testing import build

pytestmark = pytest.mark.browser


def state(gateway, run_id="r1"):
    (found,) = [one for one in gateway.approvals.approvals.values() if one.run_id == run_id]
    return found.state


def test_a_plan_is_approved_from_the_inbox_after_its_diff_was_shown(enter, gateway):
    page = enter("/")
    page.get_by_role("link", name="Decide about KubeContainerOOMKilled").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("The exact change")).to_contain_text("+              memory: 256Mi")
    expect(dialog).to_contain_text("2 of 3 checks passed")
    dialog.get_by_label("Reason, if you like").fill("seen in the graphs")
    dialog.get_by_role("button", name=re.compile("Approve")).click()
    expect(page.get_by_text("You approved this plan.")).to_be_visible()
    assert state(gateway) is ApprovalState.GRANTED


def test_a_plan_is_approved_with_scripts_forbidden(enter, gateway):
    page = enter("/", java_script_enabled=False)
    expect(page.get_by_role("button", name="Keyboard shortcuts")).to_be_hidden()
    page.get_by_role("link", name="Decide about KubeContainerOOMKilled").click()
    page.get_by_role("button", name=re.compile("Approve")).click()
    expect(page.get_by_text("You approved this plan.")).to_be_visible()
    assert state(gateway) is ApprovalState.GRANTED


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_another_value_is_asked_for_and_nothing_is_approved(enter, gateway, scripts):
    page = enter("/runs/r1", java_script_enabled=scripts)
    page.get_by_text("Ask for another value").click()
    page.locator("#value-0").fill("384Mi")
    page.get_by_role("button", name="Ask for a new plan").click()
    expect(page.get_by_text("You asked for another value.")).to_be_visible()
    (told,) = gateway.bus.published
    assert (told.by, told.changes[0].new) == ("ana", "384Mi")
    assert state(gateway) is ApprovalState.PENDING


def test_the_answer_to_a_form_can_be_read_again(enter, gateway):
    page = enter("/runs/r1")
    gateway.approvals.approvals.clear()
    page.locator("#no-here").fill("too much")
    page.get_by_role("button", name=re.compile("Reject")).click()
    expect(page.get_by_text("Nothing was done.")).to_be_visible()
    expect(page).to_have_url(re.compile("/runs/r1$"))
    page.reload()
    expect(page.get_by_text("Nothing was done.")).to_be_hidden()


def test_a_no_without_a_reason_is_asked_for_one_by_the_browser(enter, gateway):
    page = enter("/runs/r1")
    page.get_by_role("button", name=re.compile("Reject")).click()
    assert page.locator("#no-here").evaluate("field => field.validity.valueMissing")
    assert state(gateway) is ApprovalState.PENDING


def test_keys_walk_the_rows_and_ask_but_never_answer(enter, gateway):
    page = enter("/")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="KubeContainerOOMKilled", exact=True)).to_be_focused()
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="HighErrorRate", exact=True)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("a")
    expect(page.get_by_role("dialog")).to_contain_text("Raise the memory limit")
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert state(gateway) is ApprovalState.PENDING
    page.get_by_role("link", name="KubeContainerOOMKilled", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/runs/r1"))


def test_keys_lead_to_pages_filters_and_help(enter):
    page = enter("/")
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page).to_have_url(re.compile("/runs$"))
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("gpf?")
    expect(page.get_by_role("searchbox")).to_have_value("gpf?")
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    expect(page.get_by_label(re.compile("awaiting approval"))).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    expect(page).to_have_url(re.compile("state=escalated"))
    expect(page.get_by_role("link", name="NodeDiskPressure")).to_be_visible()


def test_what_happens_shows_up_by_itself_and_the_focus_stays(enter, gateway):
    page = enter("/feed")
    expect(page.get_by_text("● Live")).to_be_visible()
    row = page.get_by_role("link", name="KubeContainerOOMKilled").first
    row.focus()
    gateway.tell(build.run_cancel_requested(by="cy"))
    expect(page.get_by_text("cy asked to stop the run.")).to_be_visible()
    assert page.evaluate("document.activeElement.textContent") == "KubeContainerOOMKilled"


def test_nothing_moves_under_the_pointer_or_while_it_is_paused(enter, gateway):
    page = enter("/feed")
    expect(page.get_by_text("● Live")).to_be_visible()
    page.locator("#lines table").hover()
    gateway.tell(*(build.run_cancel_requested(id=f"c{n}", by=f"cy{n}") for n in range(12)))
    pill = page.get_by_role("button", name="12 new")
    expect(pill).to_be_visible()
    expect(page.get_by_text("cy11 asked")).to_be_hidden()
    page.get_by_role("button", name="Pause").click()
    expect(pill).to_be_visible()
    pill.click()
    expect(page.get_by_text("cy11 asked to stop the run.")).to_be_visible()
    expect(pill).to_be_hidden()


def test_a_plan_that_was_decided_elsewhere_leaves_the_inbox(enter, gateway):
    page = enter("/")
    expect(page.get_by_text("● Live")).to_be_visible()
    gateway.approvals.approvals.clear()
    gateway.tell(build.approval_granted())
    expect(page.get_by_text("No plan waits for your decision.")).to_be_visible()


def test_a_reason_that_is_being_written_is_not_lost_to_news(enter, gateway):
    page = enter("/runs/r1")
    expect(page.get_by_text("● Live")).to_be_visible()
    page.locator("#no-here").fill("too much mem")
    gateway.tell(build.approval_reminded())
    expect(page.get_by_role("button", name="1 new")).to_be_visible()
    expect(page.locator("#no-here")).to_have_value("too much mem")
