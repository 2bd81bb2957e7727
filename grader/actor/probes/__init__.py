"""What is counted while a hand-in's function runs, in calls made for nothing else.

All of it is said by the process that runs the hand-in: claims, which hostile code could forge.
"""

from __future__ import annotations

from grader.actor.probes.counting import COUNTING, Counting, warm

__all__ = ["COUNTING", "Counting", "warm"]
