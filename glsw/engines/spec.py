"""What an engine is made of, as another process can make it too."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

from glsw.device.device import Device, open_device
from glsw.engines import ENGINES, Engine
from glsw.scoring.scoring import Scoring
from glsw.scoring.three import Scoring3


class EngineChoice(NamedTuple):
    """What an engine is made of; other processes get it in place of the engine.

    Parameters
    ----------
    name : str
        A name in `engines`.
    scoring : Scoring or Scoring3
    device : int, str, Device or None
        As for `glsw.device.device.open_device`.
    memory : int or None
        Bytes of device memory.
    """

    name: str
    scoring: Scoring | Scoring3
    device: int | str | Device | None = None
    memory: int | None = None

    @property
    def engines(self) -> Mapping[str, Any]:
        """The engines that there are, by name."""
        return ENGINES

    @property
    def requires(self) -> tuple[int, int] | None:
        """The OpenGL version that the engine needs; ValueError if it cannot be made like this."""
        if self.name not in self.engines:
            raise ValueError(f"unknown engine {self.name!r}; there are {', '.join(self.engines)}")
        kind = self.engines[self.name]
        if self.memory is not None:
            if "memory" not in inspect.signature(kind).parameters:
                raise ValueError(f"engine {self.name!r} takes no memory limit")
            if self.memory < 2**20:
                raise ValueError(f"memory {self.memory}: at least 1 MiB expected")
        requires: tuple[int, int] | None = kind.requires
        return requires

    def make(self, *, quiet: bool = False) -> Engine:
        """Return the engine, its device opened; errors as `open_device` and `requires`."""
        requires, device, kind = self.requires, self.device, self.engines[self.name]
        if requires is None:
            engine: Engine = kind(self.scoring)
            return engine
        if not isinstance(device, Device):
            device = open_device(device, require=requires, quiet=quiet)
        options = {} if self.memory is None else {"memory": self.memory}
        engine = kind(self.scoring, device, **options)
        return engine
