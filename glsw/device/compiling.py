"""Programs that a thread has the driver compile before they are needed.

NVIDIA's driver takes tenths of a second for a program that is not in its cache. It translates
several at a time, by threads of its own, and then makes the code of one after the other, while who
asks for a program waits. A thread with a context of its own asks, so that all of that is done while
the device computes something else; from the cache moderngl gets a program in milliseconds.
"""

from __future__ import annotations

import ctypes
import threading
from contextlib import suppress
from typing import Any

from glsw.device.egl import VERSIONS, EglContext

_COMPUTE_SHADER, _LINK_STATUS = 0x91B9, 0x8B82
_THREADS = 8  # of the driver
_EMPTY = "#version 430\nlayout(local_size_x = 1) in;\nvoid main() {}\n"


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


def load_compiler(context: EglContext) -> None:
    """Compile an empty program, if the current context can: drivers load their compiler then."""
    compiler = Compiler(context)
    compiler.finish(compiler.begin(_EMPTY))
    compiler.error()


class Compiler:
    """The functions of GL that compile programs: other threads run Python meanwhile."""

    def __init__(self, context: EglContext) -> None:
        number, pointer = ctypes.c_uint, ctypes.c_void_p

        def gl(name: str, *words: Any, result: Any = None) -> Any:
            return ctypes.CFUNCTYPE(result, *words)(context.load(name))

        self._stage = gl("glCreateShader", number, result=number)
        self._source = gl("glShaderSource", number, number, pointer, pointer)
        self._compile, self._delete = gl("glCompileShader", number), gl("glDeleteShader", number)
        self._program = gl("glCreateProgram", result=number)
        self._attach, self._link = gl("glAttachShader", number, number), gl("glLinkProgram", number)
        self._status = gl("glGetProgramiv", number, number, pointer)
        self.error = gl("glGetError", result=number)
        with suppress(Exception):
            gl("glMaxShaderCompilerThreadsKHR", number)(_THREADS)

    def begin(self, source: str) -> int:
        """Give a program to the driver, and return its number."""
        text = ctypes.c_char_p(source.encode("ascii"))
        stage, program = self._stage(_COMPUTE_SHADER), self._program()
        self._source(stage, 1, ctypes.byref(text), None)
        self._compile(stage)
        self._attach(program, stage)
        self._link(program)
        self._delete(stage)
        return int(program)

    def finish(self, program: int) -> None:
        """Wait until a program has its code."""
        self._status(program, _LINK_STATUS, ctypes.byref(ctypes.c_int()))
