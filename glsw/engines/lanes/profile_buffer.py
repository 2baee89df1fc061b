"""Query profiles of engine ``lanes`` on the device: uploaded, or if they are large made there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.engines.lanes.geometry import Geometry, profile_letters
from glsw.engines.lanes.jobs import apart
from glsw.engines.lanes.query_profile import (
    profile_heads,
    query_profile,
    row_letters,
    stored_scores,
)
from glsw.engines.lanes.streams import Streams, lengths_of
from glsw.engines.lanes.targets import (
    MAX_GROUPS_PER_DISPATCH,
    OF_PROFILES,
    QUERY_PROFILE,
)

if TYPE_CHECKING:
    from glsw.engines.lanes.engine import Lanes

LARGE = 2**22
"""Bytes of profiles from which they are made on the device: to make one there takes a dispatch."""
_MAX_CODES = 256
_WORKGROUP = 64


class ProfileBuffer(NamedTuple):
    """Query profiles, the strips of each group at most, and bytes of a strip."""

    buffer: moderngl.Buffer
    strips: int
    strip_size: int


def profile_buffer(
    engine: Lanes,
    groups: Sequence[Streams[npt.NDArray[np.uint8]]],
    geometry: Geometry,
    first: npt.NDArray[np.intp],
) -> ProfileBuffer:
    """Return the profiles on the device; parameters as of `query_profile`."""
    strips = max(geometry.strips_of(group) for group in lengths_of(groups))
    size = geometry.size(profile_letters(engine.scoring))
    least = LARGE if engine.large_profile is None else engine.large_profile
    large = len(groups) * strips * size >= least
    if large and geometry.at_once and not engine.scoring.gaps:
        table = stored_scores(engine.scoring, geometry)
        if len(table) <= _MAX_CODES:
            return ProfileBuffer(_made(engine, groups, geometry, first, table), strips, size)
    words = query_profile(groups, engine.scoring, geometry, first)
    buffer = engine.pool.filled(words if geometry.at_once else apart(words))
    return ProfileBuffer(buffer, strips, size)


def _made(
    engine: Lanes,
    groups: Sequence[Streams[npt.NDArray[np.uint8]]],
    geometry: Geometry,
    first: npt.NDArray[np.intp],
    table: npt.NDArray[np.generic],
) -> moderngl.Buffer:
    """Have the device look up the score of each row with each letter."""
    rows = row_letters(groups, geometry)
    bits = table.T.copy().view(f"u{table.itemsize}").astype(np.uint32)
    heads = profile_heads(groups, geometry, first)
    made = engine.pool.take(len(rows) * geometry.size(table.shape[1] - 1))
    inputs = [engine.pool.filled(each) for each in (rows, bits, heads)]
    for binding, buffer in zip((QUERY_PROFILE, *OF_PROFILES), (made, *inputs), strict=True):
        buffer.bind_to_storage_buffer(binding.number)
    defines = {"BITS": 8 * table.itemsize, "WORKGROUP": _WORKGROUP}
    program = engine.program("lanes_profile.comp", **defines)
    program["head"], program["words"] = geometry.head, 4 * geometry.stride
    program["rows"] = rows.shape[1]
    program["codes"], program["letters"] = table.shape
    for start in range(0, len(rows), MAX_GROUPS_PER_DISPATCH):
        program["first_strip"] = start
        program.run(min(MAX_GROUPS_PER_DISPATCH, len(rows) - start))
    engine.device.check("making query profiles")
    engine.pool.give_when_read(inputs)
    return made
