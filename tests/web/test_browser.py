"""The way through in a real browser: with a mouse, on a phone, in the dark, by keyboard alone."""

from pathlib import Path

import pytest

from tests.web.browsing import (
    CHROMIUM,
    DRIVER,
    dress,
    find,
    find_all,
    press,
    started_browser,
    text_of,
    tiers_shown,
    wait_for,
)
from tests.web.conftest import running, tasks_in_this_process
from tests.workbooks import sheet_of, workbook
from tierwise.web.security import Limits, Settings

pytest.importorskip("selenium", reason="needs selenium")
if not (CHROMIUM and DRIVER):
    pytest.skip("needs chromium and chromedriver", allow_module_level=True)

WIDTHS = {"phone": 390, "desk": 1280}


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    return Settings(folder=tmp_path_factory.mktemp("kept"), limits=Limits(jobs=2))


@pytest.fixture(scope="module")
def here(settings):
    with tasks_in_this_process(settings, "understand", "judge"), running(settings) as address:
        yield address


@pytest.fixture(scope="module")
def session(settings, here, tmp_path_factory):
    with started_browser(tmp_path_factory.mktemp("profile")) as started:
        dress(started, 1280)
        started.get(f"{here}/?token={settings.token}")
        assert "token" not in started.current_url
        yield started


@pytest.fixture
def browser(session, here):
    session.get_log("browser")
    dress(session, 1280)
    session.get(here)
    return session


def give(browser, path):
    find(browser, "#file").send_keys(str(path))
    press(browser, "Look at the file")
    wait_for(browser, "#reading")


@pytest.fixture(scope="module")
def result(session, here):
    """The address of the result of an example, found by going there."""
    session.get(here)
    press(session, "What should a country aim for?")
    wait_for(session, "button.main")
    press(session, "Find the tiers")
    wait_for(session, ".tiers", 280)
    return session.current_url


def test_from_an_example_to_the_report(browser, result):
    browser.get(result)
    assert tiers_shown(browser) == [["order", "prices"], ["say"], ["speech"]]
    frame = find(browser, "iframe.report")
    browser.execute_script("arguments[0].scrollIntoView()", frame)
    browser.switch_to.frame(frame)
    wait_for(browser, "h1")
    assert "2,262 rankings of 4 items" in text_of(browser)
    # The script of the report runs in its sandbox: it makes buttons of the headings of tables.
    wait_for(browser, "#items-table th button")
    browser.switch_to.default_content()
    assert browser.get_log("browser") == []


def test_own_tier_list_by_buttons_and_by_dragging(browser, result):
    from selenium.webdriver.common.action_chains import ActionChains

    browser.get(result)
    find(browser, ".card[data-item='3'] button[data-by='-1']").click()
    assert [field.get_attribute("value") for field in find_all(browser, "#fields input")] == [
        *("1", "2", "1", "2")
    ]
    press(browser, "How good is my list?")
    assert " behind (" in wait_for(browser, "#verdict p").text
    card, first = find(browser, ".card[data-item='3']"), find_all(browser, ".own .tier")[3]
    browser.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", first
    )
    ActionChains(browser).drag_and_drop(card, first).perform()
    values = [field.get_attribute("value") for field in find_all(browser, "#fields input")]
    assert values == ["1", "2", "1", "3"]
    press(browser, "How good is my list?")
    assert "This is the list that tierwise found" in wait_for(browser, "#verdict p").text


def test_semicolons_byte_order_mark_and_blanks(browser, tmp_path):
    table = "\ufeffName;Thé;Café;Lait\nAnn;1;2;3\nBob;2;1;\nEve;1;3;2\nZoë;1;;\n"
    (tmp_path / "sondage.csv").write_text(table, encoding="utf-8")
    give(browser, tmp_path / "sondage.csv")
    assert "line 3 lists 2 of 3 items" in text_of(browser)
    find(browser, "input[value=below]").click()
    press(browser, "Answer")
    wait_for(browser, "button.main")
    assert "4 rankings of 3 items" in text_of(browser)
    assert [item.text for item in find_all(browser, ".names li")] == ["Thé", "Café", "Lait"]
    press(browser, "How the file was read")
    assert "Column 'Name' says whose answer it is: it was set aside." in text_of(browser)
    browser.back()
    wait_for(browser, ".notice.asking")
    browser.forward()
    wait_for(browser, "button.main")


@pytest.mark.slow
def test_excel_with_title_rows(browser, tmp_path):
    answers = [["Ann", "1", "2", "3"], ["Bob", "2", "1", "3"], ["Eve", "1", "3", "2"]]
    rows = [["Survey of drinks, spring"], [], ["Name", "Tea", "Coffee", "شاي"], *answers]
    (tmp_path / "drinks.xlsx").write_bytes(workbook(sheet_of(rows)))
    give(browser, tmp_path / "drinks.xlsx")
    assert "3 rankings of 3 items" in text_of(browser)
    assert [item.text for item in find_all(browser, ".names li")] == ["Tea", "Coffee", "شاي"]


def drop(browser, *paths):
    """Drop files from the disk where the page asks for one, as a mouse does."""
    place = find(browser, "form.drop").rect
    where = {"x": place["x"] + 30, "y": place["y"] + 30}
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        event = {"type": kind, "data": data, **where}
        browser.execute_cdp_cmd("Input.dispatchDragEvent", event)


def test_files_are_dropped(browser, here, tmp_path):
    tabs = tmp_path / "séjour.tsv"
    tabs.write_text("Mer\tMontagne\tחלב\n1\t2\t3\n2\t1\t3\n", encoding="utf-8")
    drop(browser, tabs)
    wait_for(browser, "button.main")
    assert "How séjour.tsv was read" in text_of(browser)
    assert [item.text for item in find_all(browser, ".names li")] == ["Mer", "Montagne", "חלב"]
    browser.get(here)
    drop(browser, tabs, tabs)
    assert wait_for(browser, "#file-problem").text == "Drop one file."


@pytest.mark.slow
def test_a_file_of_preflib(browser, tmp_path):
    lines = ["# DATA TYPE: soc", "# NUMBER ALTERNATIVES: 2", "# ALTERNATIVE NAME 1: tea"]
    lines += ["# ALTERNATIVE NAME 2: milk", "# NUMBER VOTERS: 3", "# NUMBER UNIQUE ORDERS: 2"]
    lines += ["2: 1,2", "1: 2,1"]
    (tmp_path / "drinks.soc").write_text("\n".join(lines), encoding="utf-8")
    give(browser, tmp_path / "drinks.soc")
    assert "3 rankings of 2 items" in text_of(browser)


@pytest.mark.slow
def test_an_item_is_left_out_and_columns_are_assigned_by_hand(browser, tmp_path):
    table = "who,age,tea,coffee,milk\nAnn,3,1,2,3\nBob,2,3,2,1\nEve,1,2,1,3\n"
    (tmp_path / "drinks.csv").write_text(table, encoding="utf-8")
    give(browser, tmp_path / "drinks.csv")
    press(browser, "Is something wrong?")
    for column, role in {0: "assessor", 1: "aside"}.items():
        find(browser, f"select[name=role-{column}] option[value={role}]").click()
    find(browser, "#reading > details button").click()
    wait_for(browser, "button.main")
    assert "3 rankings of 3 items" in text_of(browser)
    press(browser, "Leave items out")
    find(browser, "input[name=without-1]").click()
    find(browser, ".leave-out button").click()
    wait_for(browser, ".names li:nth-child(2):last-child")  # the box is checked on the page before
    assert [item.text for item in find_all(browser, ".names li")] == ["tea", "milk"]
    find(browser, "input[name=without-1]").click()
    find(browser, ".leave-out button").click()
    wait_for(browser, ".names li:nth-child(3)")
    assert "3 rankings of 3 items" in text_of(browser)


@pytest.mark.slow
def test_wrong_file(browser, tmp_path):
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01" * 20)
    give(browser, tmp_path / "photo.jpg")
    assert "This file cannot be read yet" in text_of(browser)
    assert find_all(browser, "button.main") == []
    press(browser, "Use another file")
    wait_for(browser, "#file")


def test_pasted_text_with_markup_in_names(browser):
    press(browser, "Paste answers instead")
    text = "first,second\n<script>document.title='taken'</script>,tea\ntea,<b>bold</b>\n"
    find(browser, "#text").send_keys(text)
    press(browser, "Look at the text")
    wait_for(browser, "#reading")
    assert browser.title != "taken"
    assert "One question first" in text_of(browser)
    assert find_all(browser, "main script") == []


def start_long_job(browser, here):
    """Start a job that takes minutes: races, with draws from the posterior."""
    browser.get(here)
    press(browser, "Formula 1")
    wait_for(browser, "input[value=anywhere]").click()
    press(browser, "Answer")
    wait_for(browser, "button.main")
    press(browser, "Options")
    find(browser, "#uncertainty option[value=posterior]").click()
    press(browser, "Find the tiers")
    wait_for(browser, "#progress")
    return browser.current_url


@pytest.mark.slow
def test_two_jobs_reload_in_the_middle_and_cancel(browser, here):
    jobs = [start_long_job(browser, here) for _ in range(2)]
    browser.get(here)
    assert text_of(browser).count("is being computed") == 2
    for job in jobs:
        browser.get(job)
        browser.refresh()
        wait_for(browser, "progress")
        press(browser, "Cancel")
        wait_for(browser, ".notice")
        assert "This was cancelled" in text_of(browser)
    press(browser, "Back to")
    wait_for(browser, "button.main")
    assert find(browser, "input[value=anywhere]").is_selected()
    assert browser.get_log("browser") == []


def test_keyboard_alone_from_start_to_job(browser):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    def tab_to(selector, most=30):
        for _ in range(most):
            active = browser.switch_to.active_element
            found = find_all(browser, selector)
            if found and active == found[0]:
                return active
            ActionChains(browser).send_keys(Keys.TAB).perform()
        raise AssertionError(f"{selector} is not reached by tabs")

    ActionChains(browser).send_keys(Keys.TAB).perform()
    assert browser.switch_to.active_element.text == "Skip to the content"
    tab_to("button[value=races]").send_keys(Keys.ENTER)
    wait_for(browser, "input[value=below]")
    tab_to("input[type=radio]").send_keys(Keys.SPACE)
    tab_to("#reading > p > button").send_keys(Keys.ENTER)
    wait_for(browser, "button.main")
    tab_to("button.main", 60).send_keys(Keys.ENTER)
    wait_for(browser, "#progress")
    tab_to("form[action$=cancel] button").send_keys(Keys.ENTER)
    wait_for(browser, ".notice")


def test_keyboard_moves_items_between_tiers(browser, result):
    from selenium.webdriver.common.keys import Keys

    browser.get(result)
    button = find(browser, ".card[data-item='0'] button[data-by='-1']")
    browser.execute_script("arguments[0].focus()", button)
    button.send_keys(Keys.ENTER)
    assert browser.switch_to.active_element == button
    assert find(browser, "#moved").get_attribute("textContent") == "order is now in tier 1"
    values = [field.get_attribute("value") for field in find_all(browser, "#fields input")]
    assert values == ["1", "3", "2", "4"]


def check_with_axe(browser):
    """Return what axe finds wrong, by the rules of WCAG A and AA."""
    axe = pytest.importorskip("axe_core_python", reason="needs axe-core-python")
    # Into the page by the debugger, which its policy does not bind.
    script = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    browser.execute_script(script)
    return browser.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(document, {iframes: false, runOnly: {type: 'tag', values:"
        " ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']}})"
        ".then((found) => done(found.violations.map((one) => ["
        " one.id, one.nodes.map((node) => node.html.slice(0, 150))])))"
    )


def table_of(n_items, path):
    names = [f"A rather long name, number {number}" for number in range(n_items - 1)]
    ranks = list(range(1, n_items + 1))
    rows = [[*names, "שם ארוך מאוד"], ranks, ranks[::-1]]
    lines = [",".join(f'"{cell}"' for cell in row) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def fits(browser):
    wide, seen = browser.execute_script(
        "return [document.documentElement.scrollWidth, window.innerWidth]"
    )
    return wide <= seen


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", ["phone", "desk"])
def test_pages_fit_and_axe_finds_nothing(browser, here, result, width, scheme, tmp_path):
    dress(browser, WIDTHS[width], scheme)

    def check(name):
        assert fits(browser), name
        assert check_with_axe(browser) == [], name

    browser.get(here)
    press(browser, "Paste answers instead")
    check("start")
    give(browser, table_of(30, tmp_path / "many.csv"))
    for fold in ("Leave items out", "Is something wrong?", "Options"):
        press(browser, fold)
    check("understood")
    press(browser, "Find the tiers")
    wait_for(browser, "#progress progress")
    check("job")
    press(browser, "Cancel")
    wait_for(browser, ".notice")
    check("cancelled")
    browser.get(f"{here}/data/nothing")
    check("message")
    browser.get(result)
    press(browser, "The same in Python")
    check("result")


@pytest.mark.slow
def test_300_items_fit_a_phone(browser, tmp_path):
    dress(browser, 390)
    give(browser, table_of(300, tmp_path / "many.csv"))
    assert len(find_all(browser, ".names li")) == 300
    assert fits(browser)
    press(browser, "Is something wrong?")
    assert fits(browser)
