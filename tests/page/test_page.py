"""What people do on the page."""

import json
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from browser import Browser
from cloud import eventually
from world import EVIL, World

SIZES = ((320, 900), (390, 844), (768, 1024), (1280, 900), (1920, 1080), (2560, 1440))
SCHEMES = ("light", "dark")
# What is invisible in a name is shown by its number.
EVIL_SHOWN = EVIL.replace("\u202e", "\\u{202e}")

pytestmark = pytest.mark.xdist_group("page")


def opened(
    browser: Browser, world: World, width: int = 1280, height: int = 900, scheme: str = "light"
) -> None:
    browser.look(width, height, scheme)
    browser.open(world.acting)
    browser.wait_text("#cloud-sum", f"{world.hosts:,} hosts")
    browser.wait_text("#live", "live")


def rows(browser: Browser) -> list[str]:
    script = "return [...document.querySelectorAll('#requests-table tbody tr')].map((row) => row.textContent)"
    found: list[str] = browser.run(script)
    return found


def test_the_page_is_served_with_a_strict_policy(world: World) -> None:
    from box import DIRECT

    with DIRECT.open(world.with_token + "/") as page:  # without a token
        policy = page.headers["Content-Security-Policy"]
        assert page.headers["Referrer-Policy"] == "no-referrer"
        assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy


def test_the_policy_holds_and_would_be_noticed_if_not(browser: Browser, world: World) -> None:
    """A script that an attacker gets into the page does not run, and these tests see the attempt."""
    opened(browser, world)
    browser.run(
        "const made = document.createElement('img');"
        "made.setAttribute('src', 'http://127.0.0.1:1/x.png'); document.body.append(made)"
    )
    browser.wait("the attempt is blocked", lambda: browser.run("return window.wrong.length > 0"))
    browser.expected = ("img-src", "Content Security Policy", "TrustedHTML", "TrustedScript", "trusted-types")
    for attempt, kind in (
        ("document.body.innerHTML = '<b>x</b>'", "TrustedHTML"),
        ("document.body.setAttribute('onclick', 'alert(3)')", "TrustedScript"),
    ):
        with pytest.raises(Exception, match=kind):
            browser.run(attempt)
    assert not [one for one in browser.run("return window.wrong") if one.startswith("alert")]


def test_requests_appear_as_they_happen_with_their_whole_record(browser: Browser, world: World) -> None:
    opened(browser, world)
    request = world.ask_nova("web", 2)
    browser.wait("the request is there, and freed", lambda: any("freed" in row for row in rows(browser)[:1]))
    assert world.reaper.wait_outcome(request)["kind"] == "freed"
    browser.find("#requests-table tbody button").click()
    browser.wait_text("#record .body", "What happened")
    text = browser.text("#record .body")
    for words in ("freed", "Plan", "Why this one", "delete sent", "gone", "What else was considered"):
        assert words in text, words
    assert request in browser.text("#record-title")
    plans = world.get(f"/v1/requests/{request}")["plans"]
    victims = [v for plan in plans for host in plan["decision"]["hosts"] for v in host["victims"]]
    assert victims
    for victim in victims:
        assert victim["server"] in text and victim["reason"][:40] in text


def test_a_killed_server_is_explained(browser: Browser, world: World) -> None:
    opened(browser, world)
    # Room that is freed stays: other tests count on a full cloud.
    known = [each["request"]["id"] for each in world.get("/v1/requests")["requests"] if each["victims"]]
    request = known[0] if known else world.ask_nova("web", 2)
    assert world.reaper.wait_outcome(request)["kind"] == "freed"
    told = world.get(f"/v1/explain/{request}")
    victim = told["servers"][0]
    field = browser.find("#explain-form input")
    field.send_keys(victim["server"])
    field.send_keys(Keys.ENTER)
    text = browser.wait_text("#record .body", "What the journal does not know")
    for words in ("was deleted", victim["reason"][:40], "What else was considered", request, *told["unknown"]):
        assert words in text, words
    assert victim["server"] in browser.text("#record-title")
    browser.find("#record .body dd button").click()
    browser.wait_text("#record-title", request)
    browser.wait_text("#record .body", "What happened")
    browser.find("#record .block td button").click()
    browser.wait_text("#record .body", "What the journal does not know")
    browser.keys(Keys.ESCAPE)
    opened(browser, world)
    browser.expected = ("404 (Not Found)",)
    field = browser.find("#explain-form input")
    field.send_keys("no-such")
    field.send_keys(Keys.ENTER)
    browser.wait_text("#record .body", "the journal knows no request")
    browser.keys(Keys.ESCAPE)


def test_what_is_open_has_an_address_of_its_own(browser: Browser, world: World) -> None:
    """Given to somebody else, it opens the same; back and Escape leave it."""
    opened(browser, world)
    known = [each["request"]["id"] for each in world.get("/v1/requests")["requests"] if each["victims"]]
    request = known[0] if known else world.ask_nova("web", 2)
    assert world.reaper.wait_outcome(request)["kind"] == "freed"
    victim = world.get(f"/v1/explain/{request}")["servers"][0]
    record = world.get(f"/v1/requests/{request}")
    host = record["plans"][0]["decision"]["hosts"][0]
    project = record["request"]["project"]
    for kind, ident, words in (
        ("request", request, "What happened"),
        ("server", victim["server"], "What the journal does not know"),
        ("host", host["host"], host["host_name"]),
        ("project", project, "Its newest requests"),
    ):
        browser.open("about:blank")
        browser.open(f"{world.acting}#{kind}/{ident}")
        browser.wait_text("#record .body", words)
    browser.find("#record .body a").click()
    browser.wait_text("#record .body", "What happened")
    browser.driver.back()
    browser.wait_text("#record .body", "Its newest requests")
    browser.keys(Keys.ESCAPE)
    browser.wait("the address is the page's", lambda: "#" not in browser.run("return location.href"))
    for strange in ("#request/%", "#host/../%2e%2e", "#constructor/x", "#server/<svg>"):
        browser.expected = ("404 (Not Found)",)
        browser.open("about:blank")
        browser.open(world.acting + strange)
        browser.wait_text("#cloud-sum", f"{world.hosts:,} hosts")


def test_time_runs_on_the_page(browser: Browser, world: World) -> None:
    opened(browser, world)
    if not world.get("/v1/totals")["totals"]["victims"]:
        assert world.reaper.wait_outcome(world.ask_nova("web", 2))["kind"] == "freed"
    for span, hours, slots in (("hour", 1, 60), ("day", 24, 48), ("week", 168, 84)):
        browser.find(f"#timeline-span option:nth-child({('hour', 'day', 'week').index(span) + 1})").click()
        counted = "return [...document.querySelectorAll('.plot')].map((plot) => plot.children.length)"
        browser.wait(f"the plots of the {span}", lambda: browser.run(counted) == [slots] * 4)
        told = world.get(f"/v1/timeline?since={hours}h&limit={slots}")["slots"]
        victims = sum(slot["victims"] for slot in told)
        assert victims > 0 and f"{victims:,} deleted" in browser.text("#timeline-list")
    high = "return [...document.querySelectorAll('.plot i')].map((i) => i.getBoundingClientRect().height)"
    assert max(browser.run(high)) > 50, "the highest column fills its plot"
    browser.find("#risk summary").click()
    browser.wait_text("#risk-list", "By the hour of the week")
    browser.wait("a column for each hour", lambda: browser.run(counted) == [84] * 4 + [168])
    assert "all" in browser.text("#risk-list tbody")


def test_hostile_names_are_text(browser: Browser, world: World) -> None:
    opened(browser, world)
    evil_id = '"><svg onload=alert(4)>/../%2e'
    done = world.post("/v1/requests", {"id": evil_id, "project": "regular", "resources": "VCPU=999"})
    assert done[-1]["event"] == "outcome", done
    browser.wait("it is listed", lambda: any("not-enough" in row for row in rows(browser)))
    buttons = browser.driver.find_elements("css selector", "#requests-table tbody button")
    next(each for each in buttons if "svg" in each.get_attribute("aria-label")).click()
    browser.wait_text("#record .body", "What happened")
    assert evil_id in browser.text("#record-title")
    browser.keys(Keys.ESCAPE)
    hosts = world.get("/v1/hosts?limit=1000")["hosts"]
    named = lambda h: any(
        s["name"] == EVIL for s in world.get("/v1/hosts/" + h["id"])["servers"]
    )  # noqa: E731
    host = next(h for h in hosts if named(h))
    browser.find("#heat-find").send_keys(host["name"])
    browser.wait_text("#heat-now", host["name"])
    browser.find("#heat").send_keys(Keys.ENTER)
    assert EVIL_SHOWN in browser.wait_text("#record .body", "onerror")
    strange = "return document.querySelectorAll('img, svg, script:not(body > script)').length"
    assert browser.run(strange) == 0


def test_all_of_it_works_by_the_keyboard(browser: Browser, world: World) -> None:
    opened(browser, world)
    browser.run("document.body.focus()")
    browser.tab_to("heat")
    browser.keys(Keys.HOME)
    first = browser.wait_text("#heat-now", "up")
    browser.keys(Keys.ARROW_RIGHT)
    browser.wait("another host is shown", lambda: browser.text("#heat-now") != first)
    browser.keys(Keys.END)
    browser.keys(Keys.ENTER)
    browser.wait_text("#record .body", "servers")
    assert browser.focused() == "record-title"
    browser.keys(Keys.ESCAPE)
    browser.wait(
        "the record closes", lambda: not browser.run("return document.getElementById('record').open")
    )
    assert browser.focused() == "heat"
    # Whatever can be reached has a name for those who don't see it.
    nameless = browser.run(
        "return [...document.querySelectorAll('button, input, select, canvas, [tabindex=\"0\"]')].filter((e) =>"
        " !e.closest('[hidden], dialog') && !(e.getAttribute('aria-label') || e.textContent.trim() ||"
        " e.labels?.length)).map((e) => e.outerHTML)"
    )
    assert nameless == []


def test_a_plan_is_shown_and_nothing_is_done(browser: Browser, world: World) -> None:
    opened(browser, world)
    before = world.get("/v1/requests?limit=1")["requests"][:1]
    mark = world.cloudsim.admin("state")["last"]
    form = browser.find("#plan-form")
    for name, value in (("VCPU", "12"), ("MEMORY_MB", "24576"), ("DISK_GB", "120"), ("project", "regular")):
        field = form.find_element("name", name)
        field.clear()
        field.send_keys(value)
    browser.keys(Keys.ENTER)
    text = browser.wait_text("#plan-answer", "Why this one")
    assert "victim" in text and "passed over" in text
    form.find_element("name", "project").clear()
    form.find_element("name", "project").send_keys("no-such-project", Keys.ENTER)
    browser.wait_text("#plan-answer", "no-such-project")
    browser.expected = ("404 (Not Found)",)
    assert world.get("/v1/requests?limit=1")["requests"][:1] == before
    log = world.cloudsim.admin(f"log?since={mark}&kind=effect&limit=1000")["entries"]
    assert not [entry for entry in log if entry.get("what") == "deleted"]


def test_pause_and_resume(browser: Browser, world: World) -> None:
    opened(browser, world)
    browser.find("#pause").click()
    browser.find("#ask-input").send_keys("upgrade of rack 3", Keys.ENTER)
    browser.wait_text("#stopped", "upgrade of rack 3")
    assert world.reaper.pause_file.exists()
    assert "paused" in browser.text("#chips")
    browser.wait("it can be resumed", lambda: browser.find("#resume").is_displayed())
    assert not browser.find("#pause").is_displayed()
    browser.find("#resume").click()
    browser.wait_text("#ask-text", "upgrade of rack 3")
    browser.find("#ask-go").click()
    browser.wait("it goes on", lambda: not browser.find("#stopped").is_displayed())
    assert not world.reaper.pause_file.exists()


def test_the_breaker_and_an_outage_of_the_cloud_fill_the_head(browser: Browser, world: World) -> None:
    opened(browser, world)
    why = "4 slots in a row went unused"
    by_breaker = world.reaper.pause_file.with_name(world.reaper.pause_file.name + "-by-breaker")
    by_breaker.write_text(json.dumps({"by": "its circuit breaker", "reason": why}))
    browser.wait_text("#stopped", why)
    assert "circuit breaker open" in browser.text("#chips")
    browser.find("#resume").click()
    browser.wait_text("#ask-text", why)
    browser.find("#ask-go").click()
    browser.wait("it goes on", lambda: not browser.find("#stopped").is_displayed())
    assert not by_breaker.exists()
    with world.nova_is_down():
        browser.wait_text("#stopped", "nova has not answered since")
        assert browser.find("#stopped").is_displayed()
    browser.wait("all is well again", lambda: not browser.find("#stopped").is_displayed())


def test_a_token_is_asked_for_and_kept_in_memory_only(browser: Browser, world: World) -> None:
    browser.look(1280, 900, "light")
    browser.expected = ("401 (Unauthorized)", "403 (Forbidden)")
    browser.open(world.with_token)
    browser.wait_text("#ask-title", "Token")
    browser.find("#ask-input").send_keys("nonsense", Keys.ENTER)
    browser.wait_text("#ask-wrong", "Keystone does not take it")
    browser.find("#ask-input").clear()
    browser.find("#ask-input").send_keys(world.token_of("alice"), Keys.ENTER)
    browser.wait_text("#ask-wrong", "none of the roles")
    token = world.token_of("admin")
    browser.find("#ask-input").clear()
    browser.find("#ask-input").send_keys(token, Keys.ENTER)
    browser.wait_text("#cloud-sum", f"{world.hosts:,} hosts")
    assert "admin@Default" in browser.text("#chips")
    assert browser.find("#pause").is_displayed()
    kept = "return JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])"
    assert token not in browser.run(kept) and token not in browser.run(
        "return document.documentElement.outerHTML"
    )
    browser.open(world.with_token)
    browser.wait_text("#ask-title", "Token")


def test_it_comes_back_when_the_reaper_does(browser: Browser, world: World) -> None:
    opened(browser, world)
    browser.expected = ("ERR_", "Failed to load resource")
    world.reaper.stop()
    browser.wait_text("#trouble", "can't be reached")
    world.reaper.start()
    browser.wait("all is well again", lambda: not browser.find("#trouble").is_displayed())
    browser.wait_text("#live", "live")
    eventually("the cloud is read", lambda: world.get("/v1/status")["cache"])


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size[0]))
def test_it_fits_every_screen(
    browser: Browser, world: World, shots: Path, size: tuple[int, int], scheme: str
) -> None:
    opened(browser, world, *size, scheme)
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.run(wide) == 0, "the page is wider than the screen"
    browser.shoot(shots / f"page-{size[0]}-{scheme}.png", whole=size[0] < 2000)
    browser.find("#requests-table tbody button").click()
    browser.wait_text("#record .body", "What happened")
    over = "const d = document.querySelector('#record'); return d.scrollWidth - d.clientWidth"
    assert browser.run(over) == 0, "the record is wider than its place"
    browser.shoot(shots / f"record-{size[0]}-{scheme}.png")


def test_reservations_sold_room_and_notices_are_shown(browser: Browser, world: World) -> None:
    """They are off in the tests before, and stay on from here."""
    for feature in ("reservations", "oversubscription"):
        made = world.reaper.command("setup", feature, "--apply")
        assert made.returncode == 0, made.stderr
    world.reaper.stop()
    world.reaper.config |= {
        "taggers": [{"name": "project"}, {"name": "resource", "class": "CUSTOM_REVOCABLE_VCPU"}],
        "reservations": {"enabled": True},
        "oversubscription": {"enabled": True, "estimator": {"name": "fixed", "vcpus": 1}},
        "notice": {"period": "10min"},
    }
    world.reaper.start()
    eventually("the cloud is read", lambda: world.get("/v1/status")["cache"])
    host = world.get("/v1/hosts?limit=1")["hosts"][0]["name"]
    order = ("--host", host, "--role", "web", "--resources", "DISK_GB=10", "--principal", "ops")
    reserved = world.reaper.command("reserve", *order)
    assert reserved.returncode == 0, reserved.stderr
    # More than is free since other tests.
    request = world.ask_nova("noticed", 8)
    opened(browser, world)
    assert host in browser.wait_text("#reservations-list", "web")
    assert "1 reservation" in browser.text("#reservations-sum")
    browser.wait_text("#sold-list", "1 vCPU by the configuration")
    assert f"{world.hosts:,} hosts" in browser.text("#sold-sum")
    assert EVIL_SHOWN in browser.wait_text("#notices-list", request[:8])
    ends = world.get("/v1/status")["notices"][0]["until"]
    assert browser.driver.find_elements("css selector", f'#notices-list time[datetime="{ends}"]')
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    browser.look(320, 900, "light")
    assert browser.run(wide) == 0, "the page is wider than the screen"
