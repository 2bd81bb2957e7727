"""Help texts in Korean, of the commands that students run."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from grader.cli import app as cli
from grader.cli.korean import COMMANDS
from grader.report.messages.language import VARIABLE

ENGLISH = re.compile(r"(?:[A-Za-z]+,? ){2}[a-z]+")


def help_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> str:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.argv", ["grader", *words, "--help"])
    with pytest.raises(SystemExit):
        cli.main()
    return capsys.readouterr().out


@pytest.mark.parametrize("words", [(), ("check",), ("submit-zip",)])
def test_help_is_in_the_readers_language(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "en")
    english = help_text(monkeypatch, capsys, *words)
    assert english.startswith("Usage: grader")
    monkeypatch.setenv(VARIABLE, "ko")
    korean = help_text(monkeypatch, capsys, *words)
    assert korean.startswith("사용법: grader")
    assert not ENGLISH.search(korean)
    assert all(cell_len(line) <= 78 for line in korean.splitlines())
    # Nothing is left out.
    assert re.findall(r"--[\w-]+", korean) == re.findall(r"--[\w-]+(?!`)", english)


@pytest.mark.parametrize("language", [("--lang", "ko"), ("--lang=ko",)])
def test_an_option_asks_for_a_language_too(
    language: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "en")
    assert help_text(monkeypatch, capsys, "check", *language).startswith("사용법: grader check")
    monkeypatch.setenv(VARIABLE, "ko")
    assert help_text(monkeypatch, capsys, "check", "--lang", "en").startswith("Usage:")


@pytest.mark.parametrize(
    ("words", "english", "korean"),
    [
        (("check", "--dvice", "cpu"), "Did you mean “--device”?", "“--device”인가요?"),
        (("check", "--device", "much"), "--device takes one of these: auto, cpu", "auto, cpu,"),
        (("check", "--questions"), "--questions needs a value behind it.", "뒤에 값을"),
        (("check", "--watch=3"), "write “--watch” alone", "“--watch”만 쓰세요"),
        (("submit-zip", "a", "b"), "one folder or one file", "인자가 너무 많습니다"),
    ],
)
def test_a_wrong_call_is_told_in_the_readers_language(
    words: tuple[str, ...],
    english: str,
    korean: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(VARIABLE, "en")
    for asked, said in ((), english), (("--lang", "ko"), korean):
        monkeypatch.setattr("sys.argv", ["grader", words[0], *asked, *words[1:]])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        error = capsys.readouterr().err
        assert ended.value.code == 2
        assert said in error
        assert f"grader {words[0]} --help" in error
        assert error.startswith("오류: " if asked else "error: ")
        assert not asked or not ENGLISH.search(error.replace("auto, cpu, virtual, cuda", ""))


def test_every_command_of_the_list_has_a_line() -> None:
    assert COMMANDS.keys() == cli.COMMANDS.keys()


def test_what_instructors_run_stays_in_english(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "ko")
    assert help_text(monkeypatch, capsys, "schema").startswith("Usage: grader schema")
