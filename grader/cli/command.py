"""Where the ``grader`` command begins, before anything large is imported."""

from __future__ import annotations

import signal
import sys

from grader.interpreter import keep_to_one_thread


def main() -> None:
    """Run the command; interrupted before it is at work, end without a traceback.

    A command that is at work says itself what is kept, and exits likewise.
    """
    keep_to_one_thread()
    try:
        from grader.cli.app import main as run  # here: numpy reads the environment once

        run()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
