"""Grading by hand as a person does it: keys, two browsers, a kill, and a hostile class."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import chromium_driver
from desk_class import graded_class
from hostile import HOSTILE
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from grader.batch.ledger import graded_so_far
from grader.report.model import LineComment
from grader.store.journal import JOURNAL_FILE, watched

pytestmark = pytest.mark.heavy
SIZE = 20
LINK = re.compile(r"^(\w+): (http://127\.0\.0\.1:\d+/enter/\S+)$", re.MULTILINE)
Start = Callable[..., tuple[subprocess.Popen[str], dict[str, str]]]


@pytest.fixture
def start() -> Iterator[Start]:
    begun: list[subprocess.Popen[str]] = []

    def run(out: Path, names: str = "ann,bob") -> tuple[subprocess.Popen[str], dict[str, str]]:
        words = [sys.executable, "-um", "grader", "desk", str(out), "--no-browser", "--as", names]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        begun.append(process)
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(names.count(",") + 2)]
        return process, dict(LINK.findall("".join(lines)))

    yield run
    for process in begun:
        process.kill()
        process.wait()


@pytest.fixture
def second() -> Iterator[Chrome]:
    driver = chromium_driver()
    yield driver
    driver.quit()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return graded_class(tmp_path, [f"team-{number:02d}" for number in range(SIZE)])


def text(driver: Chrome, name: str) -> str:
    return driver.find_element(By.ID, name).text


def wait(driver: Chrome, holds: Callable[[], object]) -> None:
    WebDriverWait(driver, 10, poll_frequency=0.02).until(lambda _: holds())


def enter(driver: Chrome, link: str, page: str = "queue") -> None:
    driver.get(link)
    home = link.partition("/enter/")[0]
    wait(driver, lambda: driver.current_url == f"{home}/")
    driver.get(f"{home}/{page}")
    if page == "queue":
        wait(driver, lambda: text(driver, "what"))


def press(driver: Chrome, *signs: str) -> None:
    ActionChains(driver).send_keys(*signs).perform()


def open_items(driver: Chrome) -> int:
    return int(text(driver, "progress").split()[0])


def decided(out: Path) -> list[tuple[str, str, float, str]]:
    with watched(out / JOURNAL_FILE) as (journal, _):
        return [
            (done.name, each.place, each.points, each.who)
            for done in graded_so_far(journal)
            for each in done.decisions
        ]


def comments(out: Path) -> list[tuple[str, LineComment]]:
    with watched(out / JOURNAL_FILE) as (journal, _):
        return [(done.name, each) for done in graded_so_far(journal) for each in done.comments]


def test_forty_items_by_keyboard_alone(chromium: Chrome, out: Path, start: Start) -> None:
    process, links = start(out)
    enter(chromium, links["ann"])
    keys = 0
    for left in range(2 * SIZE, 0, -1):
        wait(chromium, lambda left=left: open_items(chromium) == left and text(chromium, "what"))
        before = chromium.current_url
        assert chromium.switch_to.active_element.get_attribute("id") == "item"
        essay = "why_it_diverges" in text(chromium, "what")
        signs = ("1", "2", Keys.ENTER) if essay else ("1", Keys.ENTER)
        keys += len(signs)
        press(chromium, *signs)
        if left > 1:
            wait(chromium, lambda before=before: chromium.current_url != before)
    wait(chromium, lambda: text(chromium, "none"))
    assert keys <= 3 * 2 * SIZE
    assert len(decided(out)) == 2 * SIZE
    assert {points for _, place, points, _ in decided(out) if place == "double.loops"} == {1}
    assert {points for _, place, points, _ in decided(out) if place != "double.loops"} == {1.5}
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    assert "4.5,5.5" in (out / "gradebook.csv").read_text()
    assert (out / "team-00/student.html").is_file()


def test_keys_for_reason_points_neighbours_and_undo(
    chromium: Chrome, out: Path, start: Start
) -> None:
    enter(chromium, start(out)[1]["ann"])
    first = chromium.current_url
    press(chromium, "n")
    wait(chromium, lambda: chromium.current_url != first)
    press(chromium, "p")
    wait(chromium, lambda: chromium.current_url == first)
    press(chromium, "c", "Half of n and p.", Keys.ESCAPE, ".", "0.5", Keys.ENTER)
    wait(chromium, lambda: chromium.current_url != first)
    assert [points for _, _, points, _ in decided(out)] == [0.5]
    press(chromium, "u")
    wait(chromium, lambda: chromium.current_url == first and open_items(chromium) == 2 * SIZE)
    assert decided(out) == []
    press(chromium, "s", "f", Keys.ENTER)
    wait(chromium, lambda: open_items(chromium) == SIZE)
    assert {points for _, _, points, _ in decided(out)} == {2}


def test_two_people_see_each_other_and_are_asked(
    chromium: Chrome, second: Chrome, out: Path, start: Start
) -> None:
    _, links = start(out)
    enter(chromium, links["ann"])
    address = chromium.current_url
    enter(second, links["bob"])
    assert second.current_url != address  # what ann has open is passed over
    second.get("about:blank")
    second.get(address)
    wait(second, lambda: text(second, "held") == "ann has this open.")
    press(chromium, "1", Keys.ENTER)
    wait(chromium, lambda: open_items(chromium) == 2 * SIZE - 1)
    press(second, "2", Keys.ENTER)
    wait(second, lambda: text(second, "clash"))
    assert re.match(
        r"Not saved\. ann gave 1 on .*: “Graded by hand\.”\. Yours: 2 “", text(second, "clash")
    )
    assert [who for *_, who in decided(out)] == ["ann"]
    second.find_element(By.ID, "mine").click()
    wait(second, lambda: second.current_url != address)
    assert [(points, who) for _, _, points, who in decided(out)] == [(2, "bob")]


def test_comments_on_lines_by_keyboard(
    chromium: Chrome, second: Chrome, out: Path, start: Start
) -> None:
    process, links = start(out)
    enter(chromium, links["ann"])
    enter(second, links["bob"])
    second.get("about:blank")
    second.get(address := chromium.current_url)
    wait(second, lambda: text(second, "what"))
    press(chromium, "l", Keys.ENTER, HOSTILE[0])
    # A decision would leave the item, and with it what is typed.
    press(chromium, Keys.TAB, Keys.TAB, Keys.TAB, "n")
    assert chromium.current_url == address
    chromium.find_element(By.ID, "comment").send_keys(Keys.ENTER)
    wait(chromium, lambda: HOSTILE[0] in text(chromium, "lines"))
    assert "ann, 20" in text(chromium, "comments")
    ((name, said),) = comments(out)
    assert (said.line, said.text, said.who, said.check) == (3, HOSTILE[0], "ann", "loops")
    press(second, "l", Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ENTER, "Mine.", Keys.ENTER)
    wait(second, lambda: text(second, "trouble").startswith("Not saved. ann wrote here"))
    assert [each.text for _, each in comments(out)] == [HOSTILE[0]]
    press(second, Keys.ENTER)
    wait(second, lambda: [each.text for _, each in comments(out)] == ["Mine."])
    assert decided(out) == []
    home = address.partition("/queue")[0]
    chromium.get(f"{home}/student/{name}")
    wait(chromium, lambda: "Mine." in text(chromium, "comments"))
    press(chromium, "l")
    wait(chromium, lambda: chromium.switch_to.active_element.text == "1")
    press(chromium, Keys.ARROW_DOWN, Keys.ENTER, "One")
    ActionChains(chromium).key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()
    press(chromium, "two.", Keys.ENTER)
    wait(chromium, lambda: len(comments(out)) == 2)
    assert comments(out)[0][1].text == "One\ntwo."
    chromium.switch_to.frame("report")
    wait(chromium, lambda: len(chromium.find_elements(By.CSS_SELECTOR, ".comment")) == 2)
    chromium.switch_to.default_content()
    chromium.find_element(By.CSS_SELECTOR, "#comments button").click()
    chromium.find_element(By.XPATH, "//button[text()='Delete']").click()
    wait(chromium, lambda: [each.text for _, each in comments(out)] == ["Mine."])
    assert chromium.title == "toy · desk"
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    assert "Mine." in (out / name / "student.html").read_text()


def test_a_kill_loses_nothing_that_was_shown_as_saved(
    chromium: Chrome, out: Path, start: Start
) -> None:
    process, links = start(out)
    enter(chromium, links["ann"])
    for left in range(2 * SIZE - 1, 2 * SIZE - 6, -1):
        before = chromium.current_url
        press(chromium, "1", Keys.ENTER)
        wait(chromium, lambda before=before: chromium.current_url != before)
        assert open_items(chromium) == left
    process.kill()
    process.wait()
    press(chromium, "1", Keys.ENTER)
    wait(chromium, lambda: "does not answer" in text(chromium, "trouble"))
    again, links = start(out)
    enter(chromium, links["ann"])
    assert open_items(chromium) == 2 * SIZE - 5
    again.send_signal(signal.SIGTERM)
    again.wait(20)
    assert (out / "gradebook.csv").read_text().count("3,5.5") == 5


def test_a_hostile_class_is_inert(chromium: Chrome, tmp_path: Path, start: Start) -> None:
    names = [f"x{number:02d} {each}".replace("/", "") for number, each in enumerate(HOSTILE)]
    out = graded_class(tmp_path, names, HOSTILE)
    home = (link := start(out)[1]["ann"]).partition("/enter/")[0]
    chromium.get_log("browser")
    enter(chromium, link, "")
    wait(chromium, lambda: len(chromium.find_elements(By.CSS_SELECTOR, "#rows tr")) == len(names))
    titles = {chromium.title}
    assert HOSTILE[0].replace("/", "") in text(chromium, "rows")
    links = [
        each.get_attribute("href") for each in chromium.find_elements(By.CSS_SELECTOR, "#rows a")
    ]
    for place in links:
        chromium.get(place)
        wait(chromium, lambda: text(chromium, "name"))
        chromium.switch_to.frame("report")
        wait(chromium, lambda: chromium.find_elements(By.CSS_SELECTOR, ".check"))
        titles.add(chromium.execute_script("return document.title.slice(0, 3) == 'ran'"))
        chromium.switch_to.default_content()
        titles.add(chromium.title)
    chromium.get(f"{home}/queue")
    wait(chromium, lambda: text(chromium, "what"))
    for _ in range(2 * len(names)):
        before = chromium.current_url
        chromium.find_element(By.CSS_SELECTOR, "#file summary").click()
        press(chromium, Keys.ESCAPE, "n")
        time.sleep(0.05)
        wait(
            chromium,
            lambda before=before: chromium.current_url != before or before.endswith(last(chromium)),
        )
        titles.add(chromium.title)
    assert titles == {"toy · desk", False}
    assert chromium.current_url.startswith(home)
    assert chromium.get_log("browser") == []


def last(driver: Chrome) -> str:
    return driver.execute_script("return queue.items[queue.items.length - 1].id")
