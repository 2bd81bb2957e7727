"""Usage errors of the commands that students run, in the reader's language.

Loaded where an option or an argument cannot be read: the catalogue is not needed before.
"""

from __future__ import annotations

import re
from typing import Any

from grader.errors import UsageError, nearest_name
from grader.report.messages.catalogue import words_in
from grader.verdict import Message, Param


def usage_error(error: Any, context: Any, language: str) -> UsageError:
    """Return what is wrong with the words of a command.

    Args:
        error: The library's: ``NoSuchOption``, ``BadOptionUsage``, ``BadParameter`` or the
            plain one, which says that there are too many words.
        context: Of the command's call.
        language: The reader's.
    """
    message, params = _found(error, context)
    asked: Param = f"{context.command_path} --help"
    words = words_in(language)
    told = UsageError(words.render(Message(message, {**params, "command": asked})))
    told.prefix = words.label("usage_error")
    return told


def _found(error: Any, context: Any) -> tuple[str, dict[str, Param]]:
    known = {name: item for item in context.command.params for name in (*item.opts, item.name)}
    option = getattr(error, "option_name", None)
    if option is None and getattr(error, "param", None) is not None:
        option = error.param.opts[0]
    if option is None:
        return "too_many_words", {}
    item = known.get(option)
    if item is None:
        names = [name for name in (*known, "--help") if name.startswith("--")]
        return "no_such_option", {"name": option, "nearest": nearest_name(option, names)}
    if item.is_flag:
        return "option_is_a_switch", {"name": option}
    # Where an option keeps its choices depends on the library's version; the help has them always.
    choices = _CHOICES.search((item.get_help_record(context) or ("",))[0])
    return "option_needs", {"name": option, "choices": choices[1].split("|") if choices else ""}


_CHOICES = re.compile(r"[\[{<](\w+(?:\|\w+)+)[\]}>]")
