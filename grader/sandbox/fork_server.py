"""Guests forked in milliseconds from a process that imported torch once, each behind its walls.

Every start ends in a proof: the guest tries to break out before anything is sent to it, and the
host compares what it met with what it must meet. One that met less is ended and refused.
"""

from __future__ import annotations

import os
import tempfile
import threading
from dataclasses import replace
from itertools import count

from grader.errors import InfrastructureError
from grader.sandbox.base import (
    Guest,
    GuestLimits,
    GuestNeeds,
    Isolation,
    Sandbox,
    Tier,
    WallRefusedError,
)
from grader.sandbox.canary import Yard
from grader.sandbox.forked import Failed, ForkedGuest
from grader.sandbox.link import Link
from grader.sandbox.slots import Slots
from grader.sandbox.walls import identity
from grader.sandbox.walls.plan import GuestPlan, Mechanism, WallPlan
from grader.sandbox.walls.proof import breaches

_MIN_PROCESSES = 8
"""Threads that torch and the interpreter may start even for honest single-threaded code."""


class ForkServerSandbox(Sandbox):
    """Starts guests by forking.

    Args:
        plan: Walls of every guest. ``WallPlan.off`` exists for tests.
        yard: What guests try to reach; closed with the sandbox.
        insist: Refuse a guest that met less than the plan promises. Without, no submission may
            come near it: it only shows which wall is in the way of the host's own programs.

    Raises:
        InfrastructureError: The fork-server cannot be started.
    """

    def __init__(self, plan: WallPlan, yard: Yard, insist: bool = True) -> None:
        self.plan = plan
        self._insist = insist
        self._yard = yard
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._slots = Slots() if plan.slots else None
        self._guests: dict[int, ForkedGuest] = {}
        self._restarted = False
        self._closed = False
        tier = Tier.FULL if plan.namespaces else Tier.RESTRICTED
        self.isolation = Isolation(tier, self._mechanisms())
        self._link = Link(plan, self._look)

    def start(self, limits: GuestLimits, needs: GuestNeeds) -> Guest:
        """See ``Sandbox.start``."""
        guest, met = self._start(self._guest_plan(limits, needs))
        self.isolation = replace(self.isolation, proved=met)
        return guest

    def probe(self, limits: GuestLimits) -> Isolation:
        """Start a guest that leaves a process behind, end it, and return what held.

        Raises:
            InfrastructureError: A wall cannot be put up or does not hold, or a process survived.
        """
        plan = self._guest_plan(limits, GuestNeeds())
        # Without namespaces there is no starting a process to be left behind; the proof has it.
        guest, met = self._start(replace(plan, leave_orphan=self.plan.namespaces))
        guest.end()
        if self.plan.namespaces and not guest.orphans_gone(1.0):
            raise InfrastructureError("a process that a guest left behind survived its end")
        return replace(self.isolation, proved=met)

    def grants(self, needs: GuestNeeds) -> bool:
        """See ``Sandbox.grants``. Processes and loopback take namespaces."""
        if needs.cuda > len(self.plan.gpus):
            return False
        if needs.loopback and self.plan.mechanism is Mechanism.NS:
            # A user namespace's own user may always; root in a container need not.
            return identity.may_raise_loopback()
        return self.plan.namespaces or not (needs.processes or needs.loopback)

    def close(self) -> None:
        """See ``Sandbox.close``."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            guests = list(self._guests.values())
        try:
            for guest in guests:
                guest.end()
        finally:
            self._link.close()
            self._yard.close()

    def _start(self, plan: GuestPlan) -> tuple[ForkedGuest, dict[str, str]]:
        guest = ForkedGuest(self._serving(), plan, lambda: self._release(plan))
        with self._lock:
            self._guests[plan.number] = guest
        report = guest.report()
        if isinstance(report, Failed):
            guest.end()
            text = f"a guest's walls could not be put up: {report.reason}"
            raise WallRefusedError(text, report.call)
        if self._insist and (found := breaches(self.plan, plan, report)):
            try:
                guest.end()
            except InfrastructureError as error:
                # A wall that keeps processes in may be the one that is not there.
                found.append(str(error))
            raise InfrastructureError("a guest's walls do not hold: " + "; ".join(found))
        return guest, dict(report)

    def _guest_plan(self, limits: GuestLimits, needs: GuestNeeds) -> GuestPlan:
        uid = self._slots.take() if self._slots else None
        flat = self.plan.mechanism is Mechanism.FLAT
        scratch = ""
        if flat:
            scratch = tempfile.mkdtemp(prefix="grader-")
            if uid is not None:
                os.chown(scratch, uid, uid)
        return GuestPlan(
            number=next(self._numbers),
            memory=limits.memory,
            output=limits.output,
            processes=max(_MIN_PROCESSES, limits.processes),
            scratch=limits.scratch,
            cpu_seconds=limits.cpu_seconds,
            uid=uid,
            scratch_path=scratch,
            shared_uid=flat and uid is None,
            loopback=needs.loopback and not flat,
            timed=needs.timed,
            gpus=self._gpus(needs),
            visible=",".join(gpu.uuid for gpu in needs.gpus),
        )

    def _gpus(self, needs: GuestNeeds) -> tuple[int, ...]:
        if not needs.cuda:
            return ()
        return tuple(gpu.minor for gpu in needs.gpus) or self.plan.gpus

    def _release(self, plan: GuestPlan) -> None:
        with self._lock:
            self._guests.pop(plan.number, None)
        if self._slots and plan.uid is not None:
            self._slots.give_back(plan.uid)

    def _serving(self) -> Link:
        """Return a fork-server that serves; one that died is started again, once."""
        with self._lock:
            if self._closed:
                raise InfrastructureError("the sandbox is closed")
            if not self._link.alive and not self._restarted:
                self._link.close()
                self._restarted = True
                self._link = Link(self.plan, self._look)
            link = self._link
        link.wait_ready()
        if not link.alive:
            raise InfrastructureError("the fork-server died twice; the machine may lack memory")
        return link

    def _look(self) -> None:
        with self._lock:
            guests = list(self._guests.values())
        for guest in guests:
            guest.look()

    def _mechanisms(self) -> tuple[str, ...]:
        spaces = ("user namespace",) if self.plan.mechanism is Mechanism.USERNS else ()
        names = [wall.value for wall in self.plan.walls() if self.plan.has(wall)]
        names = [
            f"landlock ABI {self.plan.landlock}" if name == "landlock" else name for name in names
        ]
        return ("fork-server", *spaces, *names)
