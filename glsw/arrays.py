"""Array types by element type; shapes are documented where they are used."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Bool: TypeAlias = npt.NDArray[np.bool_]
Int8: TypeAlias = npt.NDArray[np.int8]
Int32: TypeAlias = npt.NDArray[np.int32]
Int64: TypeAlias = npt.NDArray[np.int64]
Intp: TypeAlias = npt.NDArray[np.intp]
UInt8: TypeAlias = npt.NDArray[np.uint8]
UInt32: TypeAlias = npt.NDArray[np.uint32]
UInt64: TypeAlias = npt.NDArray[np.uint64]
Float64: TypeAlias = npt.NDArray[np.float64]
Structured: TypeAlias = npt.NDArray[np.void]
Codes: TypeAlias = npt.NDArray[np.uint8]
"""Letters of an alphabet; of positions of profiles and of two tracks they are uint16."""
