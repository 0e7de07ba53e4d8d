"""A browser for tests: Debian's chromium, without a window, as the report's tests use it."""

import shutil
import time
from contextlib import contextmanager

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def started_browser(profile, downloads=None):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in FLAGS:
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(DRIVER))
    browser.set_page_load_timeout(120)
    yield browser
    browser.quit()


def dress(browser, width, scheme="light"):
    """Give the browser the width of a phone or a desk, and light or dark colours."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def find(browser, selector):
    from selenium.webdriver.common.by import By

    return browser.find_element(By.CSS_SELECTOR, selector)


def find_all(browser, selector):
    from selenium.webdriver.common.by import By

    return browser.find_elements(By.CSS_SELECTOR, selector)


def wait_for(browser, selector, seconds=120):
    """Wait until there is something on the page."""
    from selenium.common.exceptions import StaleElementReferenceException, WebDriverException

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            found = find_all(browser, selector)
            if found and found[0].is_displayed():
                return found[0]
        except (StaleElementReferenceException, WebDriverException):
            pass
        time.sleep(0.1)
    raise AssertionError(f"{selector} is not on {browser.current_url}: {text_of(browser)[:500]}")


def text_of(browser):
    return find(browser, "body").text


def press(browser, words):
    """Press the button, or follow the link, with these words."""
    for found in find_all(browser, "button, a, summary"):
        if found.is_displayed() and words in found.text:
            browser.execute_script(
                "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", found
            )
            found.click()
            return
    raise AssertionError(f"there is no {words!r}: {text_of(browser)[:500]}")


def tiers_shown(browser):
    return browser.execute_script(
        "return Array.from(document.querySelectorAll('.tiers > li')).map((tier) =>"
        " Array.from(tier.querySelectorAll('.name')).map((name) => name.textContent))"
    )
