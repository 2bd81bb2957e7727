"""Time on virtual devices: deterministic, from published constants, without arithmetic if wished.

``with on_timeline("t4", arithmetic=False) as time: …; time.elapsed``. The rules are in ``line``,
the constants in ``profiles``, what comes of it in ``report``.
"""

from __future__ import annotations

from grader.vgpu.timeline.clock import Timed, TimedElsewhere, TimeKeeper, afterwards, on_timeline
from grader.vgpu.timeline.line import Span, Timeline, Waited
from grader.vgpu.timeline.profiles import PROFILES, Profile, profile

__all__ = [
    "PROFILES", "Profile", "Span", "TimeKeeper", "Timed", "TimedElsewhere", "Timeline", "Waited",
    "afterwards", "on_timeline", "profile",
]  # fmt: skip
