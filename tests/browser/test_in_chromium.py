"""The pages as a person meets them, in a browser, from the disk."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from urllib.parse import quote

import pytest
from hostile import HOSTILE
from PIL import Image
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

pytestmark = pytest.mark.heavy
N_ALL = 22 + len(HOSTILE)
PAGES = ["index.html", "questions/multiply.html", "team-00/report.html", "team-00/student.html"]


def open_page(page: Chrome, folder: Path, name: str = "index.html") -> None:
    page.get(folder.as_uri() + "/" + quote(name))


def shown(page: Chrome) -> list[str]:
    return page.execute_script(
        "return [...document.querySelectorAll('#class tbody tr:not([hidden]) th a')]"
        ".map(a => a.textContent)"
    )


def emulate(page: Chrome, scheme: str = "light", width: int = 1280) -> None:
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600},
    )


def luminance(colour: str) -> float:
    parts = [float(part) / 255 for part in colour[4:-1].split(",")]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_search_finds_names_and_people(page: Chrome, class_folder: Path) -> None:
    open_page(page, class_folder)
    field = page.find_element(By.ID, "search")
    assert len(shown(page)) == N_ALL
    field.send_keys("team-07")
    assert shown(page) == ["team-07"]
    assert page.find_element(By.ID, "found").text == f"Shown: 1 of {N_ALL}"
    field.send_keys(Keys.ESCAPE)
    assert len(shown(page)) == N_ALL
    field.send_keys("ÜBERFLEISSIG".replace("SS", "ß").lower())
    assert shown(page) == ["team-full"]
    field.clear()
    field.send_keys("nobody at all")
    assert page.find_element(By.ID, "nobody").is_displayed()


@pytest.mark.parametrize(
    ("which", "names"),
    [("incomplete", ["team-broken"]), ("full", ["team-full"]), ("look", ["team-broken"])],
)
def test_filters(page: Chrome, class_folder: Path, which: str, names: list[str]) -> None:
    open_page(page, class_folder)
    Select(page.find_element(By.ID, "which")).select_by_value(which)
    assert shown(page) == names


def test_filters_and_search_go_together(page: Chrome, class_folder: Path) -> None:
    open_page(page, class_folder)
    Select(page.find_element(By.ID, "which")).select_by_value("pending")
    page.find_element(By.ID, "search").send_keys("team")
    assert shown(page) == [f"team-{number:02d}" for number in range(20)]


def test_who_made_a_mistake_is_a_click_away(page: Chrome, class_folder: Path) -> None:
    open_page(page, class_folder)
    button = page.find_element(By.CSS_SELECTOR, "button[data-mistake]")
    words = button.get_attribute("aria-label") or ""
    button.click()
    assert len(shown(page)) == 20 + len(HOSTILE)
    chosen = page.find_element(By.CSS_SELECTOR, ".chosen span").text
    assert words.partition(": ")[2] in chosen
    assert page.switch_to.active_element.get_attribute("id") == "search"
    page.find_element(By.ID, "clear-mistake").click()
    assert len(shown(page)) == N_ALL


def test_who_lost_points_in_a_question_is_a_click_away(page: Chrome, class_folder: Path) -> None:
    open_page(page, class_folder)
    page.find_element(By.CSS_SELECTOR, "button[data-question='0']").click()
    assert "team-full" not in shown(page)
    assert "team-broken" not in shown(page)
    assert len(shown(page)) == 20 + len(HOSTILE)


def test_sorting_by_points(page: Chrome, class_folder: Path) -> None:
    open_page(page, class_folder)
    head = page.find_element(By.CSS_SELECTOR, "[data-sort=s]")
    head.click()
    assert shown(page)[0] == "team-full"
    head.click()
    assert shown(page)[-1] == "team-full"
    cell = head.find_element(By.XPATH, "./..")
    assert cell.get_attribute("aria-sort") == "ascending"


def test_a_number_above_the_signs_sorts_by_that_question(page: Chrome, class_folder: Path) -> None:
    open_page(page, class_folder)
    head = page.find_element(By.CSS_SELECTOR, "[data-sort=q1]")
    assert head.get_attribute("title").startswith("normalize:")
    head.click()
    assert shown(page)[0] == "team-full"
    head.click()
    assert shown(page)[0] == "team-broken"


def test_other_tables_sort_too(page: Chrome, class_folder: Path) -> None:
    open_page(page, class_folder, "questions/multiply.html")
    names = "return [...document.querySelectorAll('#answers tbody th a')].map(a => a.textContent)"
    page.find_element(By.CSS_SELECTOR, "#answers [data-sort=s]").click()
    assert page.execute_script(names)[0] == "team-full"
    page.find_element(By.CSS_SELECTOR, "#answers [data-sort='']").click()
    assert page.execute_script(names)[0] == "team-00"


def test_a_sign_tells_its_question_and_points(page: Chrome, class_folder: Path) -> None:
    open_page(page, class_folder)
    sign = page.find_elements(By.CSS_SELECTOR, "#class tbody .signs b")[1]
    ActionChains(page).move_to_element(sign).perform()
    assert sign.get_attribute("title") == "normalize: 2 / 5"
    bare = page.execute_script(
        "return [...document.querySelectorAll('#class .flag, #class thead :is(button, th:not(:has("
        "button))), .tiles div')].filter(e => !e.title).length"
    )
    assert bare == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_headings_stand_above_what_they_head(page: Chrome, class_folder: Path, width: int) -> None:
    emulate(page, width=width)
    open_page(page, class_folder)
    left = (
        "return [...document.querySelectorAll(arguments[0])].map(e => e.getBoundingClientRect())"
        ".map(r => r.width && Math.round(r.left))"
    )
    heads = page.execute_script(left, "#class thead th, #class thead .signs > *")
    cells = page.execute_script(
        left, "#class tbody tr:first-child > *, #class tbody tr:first-child .signs > *"
    )
    assert heads == cells
    assert 0 not in heads[1:]


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_no_cell_reaches_into_the_next(page: Chrome, class_folder: Path, width: int) -> None:
    emulate(page, width=width)
    open_page(page, class_folder)
    page.execute_script(
        "for (const flag of document.querySelectorAll('.flag'))"
        " flag.textContent = 'timed out or crashed'"
    )
    wide = page.execute_script(
        "return [...document.querySelectorAll('#class tr > *')]"
        ".filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
    )
    assert wide == []


def test_on_paper_nothing_is_folded_and_no_row_is_left_out(
    page: Chrome, class_folder: Path
) -> None:
    for name, scrolls in (("index.html", ".attention"), ("team-00/report.html", "pre")):
        open_page(page, class_folder, name)
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        page.execute_script(
            "for (const d of document.querySelectorAll('details')) d.open = false;"
            "dispatchEvent(new Event('beforeprint'))"
        )
        left = "return document.querySelector('details:not([open], .asked)')"
        assert page.execute_script(left) is None
        asked = "return [...document.querySelectorAll('.asked')].some(e => e.offsetHeight)"
        assert page.execute_script(asked) is False
        cut = page.execute_script(
            "return [...document.querySelectorAll(arguments[0])]"
            ".filter(e => e.scrollHeight > e.clientHeight + 1).length",
            scrolls,
        )
        assert cut == 0
        page.execute_script("dispatchEvent(new Event('afterprint'))")
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        assert page.execute_script("return document.querySelector('details[open]')") is None
    open_page(page, class_folder)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    skipped = page.execute_script(
        "return [...document.querySelectorAll('#class tbody tr, .mistakes tbody tr')].filter("
        "r => getComputedStyle(r).contentVisibility !== 'visible'"
        " || getComputedStyle(r).display === 'none').length"
    )
    assert skipped == 0
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_text_has_contrast(page: Chrome, class_folder: Path, scheme: str, name: str) -> None:
    emulate(page, scheme)
    open_page(page, class_folder, name)
    ground = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (luminance(ground) < 0.5) == (scheme == "dark")
    card = page.execute_script(
        "return getComputedStyle(document.querySelector('.notice, .sum')).backgroundColor"
    )
    inks = page.execute_script(
        "return [...new Set([...document.querySelectorAll('body, .dim, a, .mark, .flag, .strip b,"
        " .deferred:not(rect, details, i)')].map(e => getComputedStyle(e).color))]"
    )
    for behind in (luminance(ground), luminance(card)):
        for ink in map(luminance, inks):
            contrast = (max(ink, behind) + 0.05) / (min(ink, behind) + 0.05)
            assert contrast >= 4.5, (inks, scheme)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_has_the_colours_of_its_page(
    page: Chrome, class_folder: Path, scheme: str
) -> None:
    emulate(page, scheme)
    open_page(page, class_folder, "team-01/report.html")
    page.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")

    def ground() -> float:
        shot = page.find_element(By.CSS_SELECTOR, ".picture").screenshot_as_png
        red, green, blue = Image.open(BytesIO(shot)).convert("RGB").getpixel((12, 6))
        return luminance(f"rgb({red}, {green}, {blue})")

    assert (ground() < 0.1) == (scheme == "dark")
    # What is chosen on the page wins over the system.
    for theme in ("light", "dark"):
        page.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
        assert (ground() < 0.1) == (theme == "dark")


def test_the_colours_can_be_chosen_and_stay(page: Chrome, class_folder: Path) -> None:
    emulate(page, "light")
    open_page(page, class_folder)
    button = page.find_element(By.CSS_SELECTOR, ".theme")
    for expected in ("light", "dark"):
        button.click()
        assert expected in button.text
    dark = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert luminance(dark) < 0.1
    open_page(page, class_folder, "team-00/student.html")
    assert page.execute_script("return document.documentElement.dataset.theme") == "dark"
    page.find_element(By.CSS_SELECTOR, ".theme").click()
    assert page.execute_script("return document.documentElement.dataset.theme") == "auto"


def test_everything_can_be_reached_by_keyboard(page: Chrome, class_folder: Path) -> None:
    open_page(page, class_folder)
    ActionChains(page).send_keys(Keys.TAB).perform()
    first = page.switch_to.active_element
    assert first.text == "Skip to the content"
    assert first.location["x"] >= 0
    ActionChains(page).send_keys("/").perform()
    assert page.switch_to.active_element.get_attribute("id") == "search"
    ActionChains(page).send_keys("team-03", Keys.TAB).perform()
    assert page.switch_to.active_element.get_attribute("id") == "which"
    outline = page.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    for _ in range(20):
        ActionChains(page).send_keys(Keys.TAB).perform()
        if page.switch_to.active_element.text == "team-03":
            break
    ActionChains(page).send_keys(Keys.ENTER).perform()
    assert page.current_url.endswith("/team-03/report.html")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_scrolls_up_and_down_only(
    page: Chrome, class_folder: Path, name: str, width: int
) -> None:
    emulate(page, width=width)
    open_page(page, class_folder, name)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", PAGES)
def test_what_is_heard(page: Chrome, class_folder: Path, name: str) -> None:
    open_page(page, class_folder, name)
    nameless = page.execute_script(
        "return [...document.querySelectorAll('img:not([alt]), svg:not([aria-label]),"
        " button, a, input, select')].filter(e => e.matches('img, svg') || !(e.textContent.trim()"
        " || e.getAttribute('aria-label') || e.labels?.length)).length"
    )
    assert nameless == 0
    assert page.execute_script("return document.querySelectorAll('h1').length") == 1
    ids = page.execute_script("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_text_is_inert(page: Chrome, class_folder: Path, number: int) -> None:
    folder = next(class_folder.glob(f"x{number:02d} *"))
    for name in ("report.html", "student.html"):
        open_page(page, class_folder, f"{folder.name}/{name}")
        assert page.title.startswith(f"x{number:02d} ")
        assert page.execute_script("return document.scripts.length") == 2
        assert not page.find_elements(By.CSS_SELECTOR, "iframe, object, embed, [onerror], [onload]")
        assert len(page.find_elements(By.CSS_SELECTOR, "img.picture")) == 1


def test_hostile_text_is_inert_in_the_class(page: Chrome, class_folder: Path) -> None:
    open_page(page, class_folder)
    assert page.title == "A toy · Class"
    assert page.execute_script("return document.scripts.length") == 2
    for number in range(len(HOSTILE)):
        page.find_element(By.ID, "search").clear()
        page.find_element(By.ID, "search").send_keys(f"x{number:02d}")
        names = shown(page)
        assert len(names) == 1
        page.find_element(By.LINK_TEXT, names[0].strip())
    # Every link leads to a file that is there.
    links = page.execute_script("return [...document.querySelectorAll('a[href]')].map(a => a.href)")
    page.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert all(link.startswith("file:") for link in links)


def only_link(page: Chrome) -> list[WebElement]:
    """Return the link of the one row that is shown; [] while there are more."""
    links = page.find_elements(By.CSS_SELECTOR, "#class tbody tr:not([hidden]) th a")
    return links if len(links) == 1 else []


def test_links_of_hostile_names_lead_somewhere(page: Chrome, class_folder: Path) -> None:
    for number in (0, 9, 13):
        open_page(page, class_folder)
        page.find_element(By.ID, "search").send_keys(f"x{number:02d}")
        # Rows that are still to be hidden would move the link away from below the pointer.
        (link,) = WebDriverWait(page, 30).until(only_link)
        link.click()
        assert page.title.startswith(f"x{number:02d} ")
        page.find_element(By.CSS_SELECTOR, "nav a").click()
        assert page.title == "A toy · Class"


def test_a_student_learns_of_nobody_else(page: Chrome, class_folder: Path) -> None:
    open_page(page, class_folder, "team-05/student.html")
    text = page.page_source
    for number in range(20):
        assert (f"team-{number:02d}" in text) == (number == 5)
        assert f"member {number}@" not in text
    assert not page.find_elements(By.CSS_SELECTOR, "nav")
