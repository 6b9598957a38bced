"""A headless Chromium, and what went wrong in it."""

import base64
from pathlib import Path
from typing import Any, Callable

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from cloud import PATIENCE, eventually

OPTIONS = (
    *("--headless=new", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update", "--no-proxy-server"),
    *("--lang=en", "--force-color-profile=srgb"),
)
# In each document before anything of it runs.
WATCH = """
window.wrong = [];
document.addEventListener("securitypolicyviolation", (e) =>
  window.wrong.push("policy: " + e.violatedDirective + " " + e.blockedURI + " " + e.sample));
window.addEventListener("error", (e) => window.wrong.push("error: " + e.message));
window.addEventListener("unhandledrejection", (e) => window.wrong.push("rejected: " + e.reason));
window.alert = (text) => window.wrong.push("alert: " + text);
"""


class Browser:
    def __init__(self, profile: Path):
        options = Options()
        for option in (*OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(option)
        # As root, Chromium has no sandbox of its own.
        options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_page_load_timeout(PATIENCE)
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        self._wrong: list[str] = []
        self.expected: tuple[str, ...] = ()

    def close(self) -> None:
        self.driver.quit()

    # What it shows ------------------------------------------------------------

    def look(self, width: int, height: int, scheme: str) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        # Nothing moves: a picture is the same whenever it is taken.
        wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        media = {"features": [{"name": name, "value": value} for name, value in wanted.items()]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)

    def open(self, url: str) -> None:
        self._collect()
        self.driver.get(url)

    def shoot(self, path: Path, whole: bool = False) -> None:
        """The window, or the page from its top to its end."""
        what: dict[str, Any] = {"format": "png"}
        if whole:
            size = self.run("const e = document.documentElement; return [e.clientWidth, e.scrollHeight]")
            what["captureBeyondViewport"] = True
            what["clip"] = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        taken = self.driver.execute_cdp_cmd("Page.captureScreenshot", what)
        path.write_bytes(base64.b64decode(taken["data"]))

    # What is in it --------------------------------------------------------------

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """Also of what is scrolled out of sight."""
        found: str = self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)
        return found

    def wait(self, what: str, ask: Callable[[], Any]) -> Any:
        return eventually(f"the page: {what}", ask)

    def wait_text(self, selector: str, words: str) -> str:
        return str(self.wait(f"{words!r} in {selector}", lambda: words in (t := self.text(selector)) and t))

    def keys(self, *keys: str) -> None:
        """To whatever has the focus."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def focused(self) -> str:
        found: str = self.run("return document.activeElement.id || document.activeElement.tagName")
        return found

    def tab_to(self, ident: str, most: int = 80) -> None:
        """By the keyboard alone."""
        for _ in range(most):
            if self.focused() == ident:
                return
            self.keys(Keys.TAB)
        raise AssertionError(f"#{ident} is not reached by the keyboard")

    # What went wrong --------------------------------------------------------------

    def _collect(self) -> None:
        self._wrong += self.run("return window.wrong ?? []")
        log = self.driver.get_log("browser")
        self._wrong += [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")]

    def forget(self) -> None:
        self.open("about:blank")
        self._wrong, self.expected = [], ()

    def assert_clean(self) -> None:
        self._collect()
        wrong = [one for one in self._wrong if not any(words in one for words in self.expected)]
        assert not wrong, wrong
