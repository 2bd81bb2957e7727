"""The host's side of the analysis: one short-lived process serves many hand-ins."""

from __future__ import annotations

from grader.static_analysis.disposable import SECONDS, Disposable
from grader.static_analysis.facts import SourceFacts
from grader.static_analysis.packed import unpack


class SourceReader(Disposable):
    """Reads hand-ins in a process of their own. A context manager; safe to use after a fork.

    Args:
        seconds: Wall time that one file may take.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        super().__init__("grader.static_analysis", seconds)

    def read(self, data: bytes) -> SourceFacts:
        """Return the facts about a file; why there are none, if it killed its reader. Never raises.

        Args:
            data: The exact bytes that run.
        """
        try:
            return unpack(self.ask(data))
        except (OSError, ValueError, TimeoutError, EOFError) as error:
            self.close()
            return SourceFacts(unreadable=f"the analysis ended: {error}")
