"""Trials of programs: right, wrong, failed or hanging; the outcomes are remembered.

What is wrong, fails or does not end raises `UnprovedError`: the router goes on with the next safer
variant of the engine, and then with another engine.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import moderngl

from glsw import caller
from glsw.device.current import DeviceError, DeviceMemoryError, UnreliableError
from glsw.device.device import Device, EndlessError
from glsw.device.shader import ShaderError
from glsw.trust.verdicts import ENDLESS, RIGHT, Verdicts

PATIENCE = 10.0
"""Seconds after which a program that computes a small batch is taken not to end, at most."""
_LEAST_PATIENCE, _SHARE = 1.5, 1e-2  # less than watchdogs have; of it, a tiny dispatch
_SOFTWARE_FACTOR = 30  # of the patience with software renderers: they may compile meanwhile
UNSTEADY, RESET = "wrong results that do not repeat", "fails: it resets the device"
_OF_PYTHON = ArithmeticError, AssertionError, LookupError, RuntimeError, TypeError, ValueError
FAULTS = moderngl.Error, DeviceError, ShaderError, *_OF_PYTHON
"""What a device that computes wrong numbers, or does not compile, may bring about."""


class UnprovedError(Exception):
    """An engine is wrong, fails or hangs on this device.

    Parameters
    ----------
    engine : str
    verdict : str
        What is wrong.
    """

    def __init__(self, engine: str, verdict: str) -> None:
        super().__init__(f"engine {engine!r}: {verdict}")
        self.engine, self.verdict = engine, verdict


class DeviceFaultWarning(RuntimeWarning):
    """A device computes wrong results or fails, and something else is used instead."""


class Proofs:
    """What a device has proved, in this process and before.

    Parameters
    ----------
    device : Device
    verdicts : Verdicts, optional
        By default those in the user's cache.
    """

    def __init__(self, device: Device, verdicts: Verdicts | None = None) -> None:
        self.device = device
        self.verdicts = verdicts or Verdicts.of(device.info)

    @classmethod
    def of(cls, device: Device) -> Proofs:
        """Return those of a device."""
        device.proofs = found = device.proofs or cls(device)
        return found

    def require(self, engine: str, family: str, trial: Callable[[], bool]) -> None:
        """Have an engine prove a family of programs, unless it has done so.

        Nothing is known where the device lacks memory for it.

        The family is what distinguishes them, such as their macros. The trial computes the work,
        and tells whether it is right.

        Raises
        ------
        UnprovedError
            It is wrong or fails or does not end, now or at an earlier time.
        """
        trouble = self.device.trouble
        if trouble:
            raise UnprovedError(engine, trouble)
        verdicts, key = self.verdicts, f"{engine}: {family}"
        verdict = self.verdict(engine, family)
        if verdict is None:
            again = verdicts.begin(key)
            try:
                verdict = self.tried(trial)
            except (DeviceMemoryError, MemoryError):  # for work that may be more than is asked
                verdicts.forget(key)
                return
            except BaseException:
                verdicts.forget(key)
                raise
            if verdict != ENDLESS and self.device.trouble:  # no verdict on the program
                verdicts.forget(key)
            elif verdict != ENDLESS or again:  # others may have kept the device busy
                verdicts.put(key, verdict)
        if verdict != RIGHT:
            raise UnprovedError(engine, verdict)

    def verdict(self, engine: str, family: str) -> str | None:
        """Return the verdict on a family of programs, None if there is none yet."""
        return self.verdicts.get(f"{engine}: {family}")

    def tried(self, trial: Callable[[], bool]) -> str:
        """Return the verdict of a trial, in which no wait takes longer than `PATIENCE`.

        A compiler's fault repeats. A device on which one does not repeat is not used any more.
        """
        device = self.device
        if device.trouble:
            return f"not tried: {device.trouble}"
        verdict, _ = self._outcome(trial)
        if verdict not in (RIGHT, RESET, ENDLESS):  # the first one has read more: of new programs
            first, second = (self._outcome(trial) for _ in range(2))
            if first != second or first[0] != verdict:
                verdict = device.trouble = UNSTEADY
        return verdict

    def _outcome(self, trial: Callable[[], bool]) -> tuple[str, int]:
        """Return the verdict of a trial, and a digest of all that it has read."""
        with self.device as device:
            reads = device.readback
        reads.digest = 0
        return self._verdict(trial), reads.digest

    def _verdict(self, trial: Callable[[], bool]) -> str:
        device = self.device
        before = device.patience
        device.patience = PATIENCE * (_SOFTWARE_FACTOR if device.info.software else 1)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if not device.info.software:
                    least = max(_LEAST_PATIENCE, self._latency() / _SHARE)
                    device.patience = min(PATIENCE, least)
                return RIGHT if trial() else "wrong results"
        except EndlessError:
            device.trouble = ENDLESS
            return ENDLESS
        except UnreliableError:
            return device.trouble
        except (DeviceMemoryError, MemoryError):
            raise
        except FAULTS as error:
            if device.closed:  # it has lost its context
                if not device.guilty:  # by the work of others
                    raise
                device.reopen()
                return RESET
            with device, device.checked("allocating 4 bytes"):  # any error may say that it is full
                device.ctx.buffer(reserve=4).release()
            return f"fails: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        finally:
            device.patience = before

    def _latency(self) -> float:
        """Return the seconds of a tiny dispatch: many if others keep the device busy."""
        with self.device as device:
            buffer = device.ctx.buffer(bytes(4))
            for _ in range(2):  # the first one compiles
                start = time.perf_counter()
                device.readback.read(buffer, 4)
            buffer.release()
        return time.perf_counter() - start


def warn_of(device: Device, fault: UnprovedError | UnreliableError, instead: str) -> None:
    """Warn that a device has a fault, and what is used instead."""
    told = str(fault).removeprefix(f"{device.info.name}: ")
    caller.warn(
        f"{device.info.name}: {told}; {instead} is used instead (please report what "
        "`glsw devices --test` prints)",
        DeviceFaultWarning,
    )
