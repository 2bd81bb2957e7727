"""Sandboxes whose fork-servers are forks of one that has imported torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grader.sandbox.host.fork_server import CanaryHolder, ForkServerSandbox
from grader.sandbox.host.forked import Link, environment
from grader.sandbox.host.open import PROBE_SPEC
from grader.sandbox.walls.plan import Canary, WallPlan

_NO_CANARY = Canary("", "", {})
Settings = tuple[WallPlan, Mapping[str, str]]


class ForkedOfOne:
    """Opens them; keeps one fork-server for each kind of walls and environment."""

    def __init__(self) -> None:
        self._origins: list[tuple[Settings, Link]] = []

    def opened(
        self, plan: WallPlan, canaries: CanaryHolder, insist: bool = True
    ) -> ForkServerSandbox:
        """Return a sandbox; what is not to import torch starts its own, in no time."""
        # What does not insist on walls lacks one: its own origin would not hold.
        origin = self._origin(plan) if plan.preload and insist else None
        return ForkServerSandbox(plan, canaries, insist, origin)

    def close(self) -> None:
        """End the fork-servers that were kept."""
        for _, link in self._origins:
            link.close()

    def _origin(self, plan: WallPlan) -> Link:
        settings = (
            replace(plan, canary=_NO_CANARY),
            environment(plan.libraries, plan.fonts),
        )
        for known, link in self._origins:
            if known == settings:
                return link
        canaries = CanaryHolder()
        with ForkServerSandbox(replace(plan, canary=canaries.canary), canaries) as sandbox:
            # After the first process it imports the rest.
            sandbox.start(PROBE_SPEC).end()
            link = sandbox.hand_on().origin
        self._origins.append((settings, link))
        return link
