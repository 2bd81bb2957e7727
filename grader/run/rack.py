"""The devices of this machine: a job gets a healthy one to itself, or none of it counts.

A device is looked at before and after each job. Where it, or what is ours on it, failed, the
result is thrown away, the device is examined in a fresh process, and taken out if it is still not
well; the job begins again, on another device if there is one. A job whose devices keep failing is
given up: its points stay pending, and the device that is left serves the next hand-in.

Defends against: a device that one hand-in has broken and the next would pay for; two timed runs on
one device; a hand-in that breaks one device after another.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from grader.errors import InfrastructureError
from grader.run.device_worker import DeviceWorker, SickDeviceError
from grader.run.leases import Leases

_T = TypeVar("_T")

_TURNS = 2
"""Times that a job is begun: breaking devices may not go on for ever."""

_PATIENCE = 600.0
_TICK = 0.1


class NoDeviceError(InfrastructureError):
    """No device can be used; says why for each."""


class DeviceTakenError(InfrastructureError):
    """All devices were in use for longer than anybody waits."""


class Rack:
    """All devices.

    Args:
        devices: Their names; the first that is free is taken.
        open_worker: Makes a worker for a device that was leased.
        leases: Who has which device.
        patience: Seconds to wait for one.
    """

    def __init__(
        self,
        devices: Sequence[str],
        open_worker: Callable[[str], DeviceWorker],
        leases: Leases,
        patience: float = _PATIENCE,
    ) -> None:
        self._devices = tuple(devices)
        self._open = open_worker
        self._leases = leases
        self._patience = patience

    def run(self, job: Callable[[DeviceWorker], _T]) -> _T:
        """Run a job on a device.

        Args:
            job: Called with a worker, again from the beginning where a device failed.

        Raises:
            NoDeviceError: None is left, or those that the job had failed.
            DeviceTakenError: All were in use for too long.
        """
        failures: list[str] = []
        tried: list[str] = []
        for _ in range(_TURNS):
            with self._leased(tried) as device:
                try:
                    return self._on(device, job)
                except InfrastructureError as error:
                    failures.append(f"{device}: {error}")
                    tried.append(device)
                    self._examine(device, str(error))
        raise NoDeviceError("; ".join(failures))

    def sick(self) -> list[str]:
        """Look at every device; take out those that are not well, and say why each is out.

        Raises:
            DeviceTakenError: One was in use for too long.
        """
        for device in self._devices:
            if not self._leases.why_out(device):
                with self._leases.hold(device, self._patience) as held:
                    if not held:
                        raise DeviceTakenError(f"in use for more than {self._patience:g} s")
                    self._examine(device, "a call on it ended with an error")
        out = ((device, self._leases.why_out(device)) for device in self._devices)
        return [f"{device}: {reason}" for device, reason in out if reason]

    def _on(self, device: str, job: Callable[[DeviceWorker], _T]) -> _T:
        worker = self._open(device)
        try:
            _insist(worker)
            result = job(worker)
            _insist(worker)
        except BaseException:
            with contextlib.suppress(InfrastructureError):
                worker.close()
            raise
        try:
            worker.close()
        except InfrastructureError as error:
            # Found out after the result, which stands; but nobody else may have this device.
            self._leases.take_out(device, str(error))
        return result

    def _examine(self, device: str, reason: str) -> None:
        """Take a device out unless a fresh process finds it well."""
        try:
            worker = self._open(device)
            try:
                _insist(worker)
            finally:
                worker.close()
        except InfrastructureError as error:
            self._leases.take_out(device, f"{reason}; looked at again: {error}")

    @contextlib.contextmanager
    def _leased(self, tried: Sequence[str]) -> Iterator[str]:
        deadline = time.monotonic() + self._patience
        # One that this job has not had is tried first.
        order = sorted(self._devices, key=tried.count)
        while True:
            out = {device: self._leases.why_out(device) for device in order}
            if all(out.values()):
                told = "; ".join(
                    f"{device}: {reason} (to put it back, remove {self._leases.note(device)})"
                    for device, reason in out.items()
                )
                raise NoDeviceError(f"no GPU is left that may be used: {told or 'there is none'}")
            for device in (name for name in order if not out[name]):
                with self._leases.hold(device, 0.0) as held:
                    # It may have been taken out while its last holder had it.
                    if held and not self._leases.why_out(device):
                        yield device
                        return
            if time.monotonic() > deadline:
                raise DeviceTakenError(f"in use for more than {self._patience:g} s: {order}")
            time.sleep(_TICK)


def _insist(worker: DeviceWorker) -> None:
    health = worker.health()
    if health.problem:
        raise SickDeviceError(health.problem)
