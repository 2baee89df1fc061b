"""Compiles programs in a thread before they are needed.

NVIDIA's driver takes tenths of a second for a program that is not in its cache. It translates
several at a time, by threads of its own, and then makes the code of one after the other, while who
asks for a program waits. A thread with a context of its own asks, so that all of that is done while
the device computes something else; from the cache moderngl gets a program in milliseconds.
"""

from __future__ import annotations

import threading
from contextlib import suppress

from glsw.device.egl import VERSIONS, Compiler, EglContext


class Begun:
    """A program that a `Compiling` compiles.

    Parameters
    ----------
    source : str
        The text of a compute shader.

    Attributes
    ----------
    done : Event
        Set when the driver has it in its cache, or does not compile it.
    """

    def __init__(self, source: str) -> None:
        self.source, self.done = source, threading.Event()


class Compiling(threading.Thread):
    """Compiles programs, and ends when there are no more.

    Parameters
    ----------
    index : int
        Of the device in EGL's list.
    first : Begun
    """

    def __init__(self, index: int, first: Begun) -> None:
        super().__init__(name="glsw-programs")
        self._index, self._left, self._ended = index, [first], False
        self._changes = threading.Lock()
        self.start()

    def takes(self, program: Begun) -> bool:
        """Take one more program; False if the thread has ended."""
        with self._changes:
            self._left += [program] * (not self._ended)
            return not self._ended

    def wait_for(self, program: Begun) -> None:
        """Wait until a program is done, which comes before others."""
        with self._changes:
            if program in self._left:
                self._left.remove(program)
                self._left.insert(0, program)
        program.done.wait()

    def run(self) -> None:
        """Compile all programs."""
        try:
            with suppress(Exception):  # moderngl compiles them too, and says what is wrong
                self._compile(EglContext(self._index, VERSIONS))
        finally:
            with self._changes:
                self._ended = True
                for program in self._left:
                    program.done.set()

    def _compile(self, context: EglContext) -> None:
        compiler, begun = Compiler(context), dict[Begun, int]()
        while True:
            with self._changes:
                left = list(self._left)
                self._ended = not left
            if not left:
                break
            for program in left:
                if program not in begun:
                    begun[program] = compiler.begin(program.source)
            compiler.finish(begun[left[0]])
            with self._changes:
                self._left.remove(left[0])
            left[0].done.set()
        context.__exit__()
        context.release()
