"""The report as a reader sees it: in a browser, on a phone and on a desk."""

import shutil

import numpy as np
import pytest

import tierwise as tw

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip("needs chromium and chromedriver", allow_module_level=True)

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
WIDTHS = {"phone": 390, "desk": 1280}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in FLAGS:
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield started
    started.quit()


NAMES = [f"A rather long name, number {number:02d}" for number in range(24)]
NAMES.append("<script>document.title = 'taken over'</script>")


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """A report on few items, with groups."""
    page = tmp_path_factory.mktemp("few") / "few.html"
    tw.report(tw.load_political_goals(), page, distance="kendall", rng=1, replicates=30, groups=2)
    return page.as_uri()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A report on 25 items with long names, one of which tries to be a program."""
    page = tmp_path_factory.mktemp("many") / "many.html"
    tiers = tw.Tiers.from_sizes((1, 1, 1, 2, 20), NAMES)
    rankings = tw.ClusteredMallows(tiers, theta=0.2).sample(60, rng=1)
    tw.report(rankings, page, sizes=tiers.sizes, rng=1, replicates=2, title="Many items")
    return page.as_uri()


def report_on_pairs(page, cycles):
    asked = [
        (person, *NAMES[place :: 2 + person % 3][:2]) for person in range(30) for place in range(4)
    ]
    answers = tw.Preferences.from_pairs(asked, cycles=cycles)
    tw.report(answers, page, sizes=(2, len(answers.items) - 2), rng=1, replicates=2)
    return page.as_uri()


@pytest.fixture(scope="module")
def error(tmp_path_factory):
    """A report on pairwise answers without mistakes."""
    return report_on_pairs(tmp_path_factory.mktemp("error") / "error.html", "error")


@pytest.fixture(scope="module")
def keep(tmp_path_factory):
    """A report on pairwise answers that may be mistaken."""
    return report_on_pairs(tmp_path_factory.mktemp("keep") / "keep.html", "keep")


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """The leaderboard of models with long names, one of which tries to be a program."""
    rng = np.random.default_rng(1)
    rows = []
    for _ in range(600):
        one, other = sorted(rng.choice(12, 2, replace=False))
        won, lost = (one, other) if rng.random() < 0.7 else (other, one)
        rows.append((NAMES[won - 6], NAMES[lost - 6], NAMES[won - 6]))
    page = tmp_path_factory.mktemp("board") / "board.html"
    tw.report(tw.Battles.from_rows(rows), page, rng=1)
    return page.as_uri()


@pytest.mark.parametrize("width", [1100, 1280])
def test_all_columns_of_a_leaderboard_fit_a_laptop(browser, board, width):
    look(browser, board, width)
    assert browser.get_log("browser") == []
    spare = browser.execute_script(
        "return Array.from(document.querySelectorAll('.scroll'))"
        ".map((one) => one.clientWidth - one.scrollWidth)"
    )
    assert len(spare) == 2
    assert min(spare) >= 0


def test_rows_of_a_leaderboard_are_named_by_their_items(browser, board):
    look(browser, board, WIDTHS["phone"])
    left = browser.execute_script(
        "document.querySelectorAll('.scroll')[1].scrollLeft = 400;"
        "return Array.from(document.querySelectorAll('tbody th[scope=row]'))"
        ".map((one) => one.getBoundingClientRect().left)"
    )
    assert len(left) == 12
    assert min(left) >= 0


def look(browser, address, width, scheme="light"):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {
            "features": [
                {"name": "prefers-color-scheme", "value": scheme},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ]
        },
    )
    browser.get(address)


def column(browser, table, number):
    return browser.execute_script(
        "return Array.from(document.querySelectorAll(`#${arguments[0]} tbody tr`))"
        ".map((row) => row.cells[arguments[1]].textContent)",
        table,
        number,
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize(
    "name",
    ["few", *(pytest.param(name, marks=pytest.mark.slow) for name in ("many", "error", "keep"))],
)
def test_page_opens_without_complaint_and_fits(browser, request, name, width, scheme):
    look(browser, request.getfixturevalue(name), width, scheme)
    assert browser.get_log("browser") == []
    wide, seen = browser.execute_script(
        "return [document.documentElement.scrollWidth, window.innerWidth]"
    )
    assert wide <= seen
    background, ink = browser.execute_script(
        "const style = getComputedStyle(document.body); return [style.backgroundColor, style.color]"
    )
    light = sum(map(int, background[4:-1].split(",")))
    assert (light > 600) == (scheme == "light")
    assert ink != background


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_tiers_are_there(browser, few, width):
    look(browser, few, width)
    tiers = browser.execute_script(
        "return Array.from(document.querySelectorAll('#tiers .tiers > li'))"
        ".map((tier) => Array.from(tier.querySelectorAll('.name')).map((name) => name.textContent))"
    )
    assert tiers == [["order", "prices"], ["say", "speech"]]
    assert browser.execute_script("return document.querySelector('.tiers').checkVisibility()")


def test_names_that_are_programs_do_not_run(browser, many):
    look(browser, many, 1280)
    assert browser.title == "Many items"
    assert "<script>document.title = 'taken over'</script>" in column(browser, "items-table", 0)


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_tables_are_sorted_by_mouse_and_by_keyboard(browser, few, width):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    look(browser, few, width)
    buttons = browser.find_elements(By.CSS_SELECTOR, "#items-table th button")
    headings = browser.find_elements(By.CSS_SELECTOR, "#items-table th")
    given = column(browser, "items-table", 0)
    rank = [button.text for button in buttons].index("mean rank")
    buttons[rank].send_keys(Keys.ENTER)
    ascending = [float(cell) for cell in column(browser, "items-table", rank)]
    assert ascending == sorted(ascending)
    assert headings[rank].get_attribute("aria-sort") == "ascending"
    buttons[rank].send_keys(Keys.SPACE)
    descending = [float(cell) for cell in column(browser, "items-table", rank)]
    assert descending == sorted(descending, reverse=True)
    assert headings[rank].get_attribute("aria-sort") == "descending"
    buttons[0].click()
    assert column(browser, "items-table", 0) == sorted(given)
    assert headings[rank].get_attribute("aria-sort") is None


def test_numbers_are_sorted_as_numbers_and_the_unknown_last(browser, few):
    from selenium.webdriver.common.by import By

    look(browser, few, 1280)
    buttons = browser.find_elements(By.CSS_SELECTOR, "#sizes-table th button")
    agreement = [button.text for button in buttons].index("agreement")
    for _ in range(2):
        buttons[agreement].click()
        assert column(browser, "sizes-table", agreement)[-1] == "-"
    criterion = [button.text for button in buttons].index("criterion")
    buttons[criterion].click()
    shown = [float(cell.replace(",", "")) for cell in column(browser, "sizes-table", criterion)]
    assert shown == sorted(shown)


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("name", ["many", pytest.param("keep", marks=pytest.mark.slow)])
def test_labels_of_figures_do_not_overlap(browser, request, name, width):
    look(browser, request.getfixturevalue(name), width)
    boxes = browser.execute_script(
        "return Array.from(document.querySelectorAll('figure svg')).map((svg) =>"
        " Array.from(svg.querySelectorAll('text')).map((text) => {"
        " const box = text.getBoundingClientRect();"
        " return [box.left, box.top, box.right, box.bottom]; }))"
    )
    assert len(boxes) >= 6
    for figure in boxes:
        corners = np.array(figure)
        # Boxes hold empty space above and below the letters.
        width, height = (corners[:, 2:] - corners[:, :2]).T
        corners += np.stack([0.1 * width, 0.1 * height, -0.1 * width, -0.1 * height], axis=1)
        left, top, right, bottom = corners.T
        apart = (
            (right[:, None] <= left)
            | (right <= left[:, None])
            | (bottom[:, None] <= top)
            | (bottom <= top[:, None])
        )
        assert apart[~np.eye(len(corners), dtype=bool)].all()


def test_keyboard_reaches_everything(browser, few):
    from selenium.webdriver.common.keys import Keys

    look(browser, few, 1280)
    browser.switch_to.active_element.send_keys(Keys.TAB)
    assert browser.switch_to.active_element.text == "Skip to the tiers"
    order = []
    for _ in range(12):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        order.append(browser.switch_to.active_element.tag_name)
    assert order[:7] == ["a"] * 7
    assert "button" in order
