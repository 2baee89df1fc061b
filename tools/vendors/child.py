"""What runs before the driver of a device: tasks as JSON lines in, rows as JSON lines out.

A task is the name of one of `calls`, of which every program that it asks for gives a row, or a
program and its macros. Nothing is computed there: a call raises anything, or never ends by itself.
"""

import json
import os
import resource
import signal
import sys
from typing import Any, TextIO

import moderngl

from glsw.device import shader, transfer
from glsw.device.device import Device, open_device
from glsw.trust.proofs import Proofs
from tools.vendors.calls import calls
from tools.vendors.driver import Driver, Macros, bindings, shown

SECONDS, PATIENCE = 4.0, 120
"""CPU time of a call since it has compiled something; after how long the process is ended."""
MEMORY = 6 << 30


class Recorder:
    """Stands for the functions that compile, and tells of each program once."""

    def __init__(self, driver: Driver, out: TextIO) -> None:
        self._driver, self._out = driver, out
        self._seen: set[str] = set()
        # The engines find them in their module.
        shader.compute = self._compute  # type: ignore[assignment]
        shader.render = self._render  # type: ignore[assignment]

    def tell(self, **fields: Any) -> None:
        print(json.dumps(fields), file=self._out, flush=True)

    def compile(self, device: Device, name: str, macros: Macros) -> Any:
        """Compile a program, with a row the first time: it is kept by who compiles it."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(PATIENCE)
        key = json.dumps([name, shown(macros)])
        first = key not in self._seen
        if first:
            self.tell(starts=name, macros=shown(macros))
        made, row = self._driver.compile(device, name, macros)
        if first:
            self._seen.add(key)
            self.tell(**row)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        if isinstance(made, Exception):
            raise made
        return made

    def _compute(self, device: Device, name: str, /, **macros: Any) -> Any:
        return self.compile(device, name, macros)

    def _render(self, device: Device, vertex: str, fragment: str, /, **macros: Any) -> Any:
        return self.compile(device, fragment, macros)


def _too_long(*_: object) -> None:
    raise TimeoutError(f"{SECONDS:.0f} s of CPU time without a program")


def _pretend() -> None:
    """Let all that is read be zeros, on every device, and let engines pass their proofs."""

    def read(self: moderngl.Buffer, size: int = -1, offset: int = 0) -> bytes:
        return bytes(size if size >= 0 else self.size - offset)

    def read_into(_: moderngl.Buffer, buffer: Any, size: int = -1, offset: int = 0) -> None:
        room = memoryview(buffer).cast("B")
        room[: size if size >= 0 else None] = bytes(size if size >= 0 else len(room))

    buffer: Any = moderngl.Buffer
    buffer.read, buffer.read_into = read, read_into
    memory: Any = transfer
    memory._mapped = lambda *_: (0, None)  # then buffers are read
    memory.Readback._check = lambda *_: None
    proofs: Any = Proofs
    proofs.require = lambda *_: None


def main() -> None:
    """Do the tasks of standard input."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # where commands write
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    signal.signal(signal.SIGPROF, _too_long)
    _pretend()
    recorder, every, numbers = Recorder(Driver(), out), calls(), bindings()
    device = open_device(0, quiet=True)
    info = device.info
    recorder.tell(info=str(info), version=info.version_string)
    for line in sys.stdin:
        task, said = json.loads(line), ""
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(PATIENCE)
        try:
            if isinstance(task, str):
                every[task]()
            else:
                name, macros = task
                subgroups, half = macros.get("SUBGROUPS"), macros.get("NUMBER") == 1
                if (info.subgroup_size or not subgroups) and (info.half or not half):
                    device = open_device(0, quiet=True)
                    recorder.compile(device, name, numbers | macros)
                    device.programs.clear()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}".partition("\n")[0]
        signal.setitimer(signal.ITIMER_PROF, 0)
        recorder.tell(done=task, said=said)
    os._exit(0)  # without what drivers do at the end


if __name__ == "__main__":
    main()
