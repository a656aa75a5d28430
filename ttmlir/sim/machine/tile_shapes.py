"""Tiles with fewer rows than 32: which faces they have, and how many rows of these.

Such a tile has the faces of the upper half or the first one alone, of fewer rows where there are
not 16. In the registers its numbers stand where a whole tile has them; the other places hold 0.

Source: tt-metal, tt_metal/api/tt-metalium/tile.hpp; tt-llk, llk_unpack_A.h, llk_pack.h.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.layout.data_format import is_block_float
from ttmlir.layout.enums import DataType
from ttmlir.sim.errors import SimError
from ttmlir.sim.machine.numerics import TILE_BYTES, TILE_VOLUME

_FACES, _FACE_ROWS, _COLUMNS = 4, 16, 16
HEIGHTS = (1, 2, 4, 8, 16, 32)
"""Rows that a tile of 32 columns can have."""


@dataclass(frozen=True)
class TileShape:
    """Which numbers of a tile circular buffers hold."""

    faces: int = _FACES
    face_rows: int = _FACE_ROWS
    height: int = 32
    """Rows of the tile, by which hosts and kernels count its bytes."""

    @classmethod
    def of_height(cls, height: int) -> TileShape:
        """A tile of so many rows; SimError for a number that tiles do not have."""
        if height not in HEIGHTS:
            raise SimError(
                f"a tile of {height} rows; tiles have {', '.join(map(str, HEIGHTS[:-1]))} or "
                f"{HEIGHTS[-1]} rows of 32 numbers"
            )
        return WHOLE if height == 32 else cls(2, height, height)

    @property
    def is_whole(self) -> bool:
        """Whether there are all faces with all of their rows."""
        return self.faces == _FACES and self.face_rows == _FACE_ROWS

    @property
    def rows(self) -> int:
        """Rows of the registers that have numbers of the tile."""
        return self.face_rows + (_FACE_ROWS if self.faces == _FACES else 0)

    @property
    def columns(self) -> int:
        """Columns of the registers that have numbers of the tile."""
        return _COLUMNS if self.faces == 1 else 2 * _COLUMNS

    @property
    def volume(self) -> int:
        """Numbers of a tile, as kernels are told."""
        return TILE_VOLUME * self.height // 32

    def check(self, index: int, data_type: DataType) -> None:
        """SimError for a format that comes in whole tiles only."""
        if not self.is_whole and is_block_float(data_type):
            raise SimError(
                f"circular buffer {index} holds {data_type.schema_name} in tiles of "
                f"{self.faces} faces of {self.face_rows} rows; block floats come in whole tiles, "
                "and others in tiles of fewer rows"
            )

    def size_told(self, data_type: DataType) -> int:
        """Bytes of a tile, as kernels are told."""
        return TILE_BYTES[data_type] * self.height // 32

    def size_moved(self, data_type: DataType) -> int:
        """Bytes of a tile that the unpackers and the packer move."""
        return TILE_BYTES[data_type] * self.faces * self.face_rows // (_FACES * _FACE_ROWS)

    def widen(self, data: NDArray[Any]) -> NDArray[Any]:
        """The bytes of a whole tile with those of such a tile, in the order of memory."""
        size = data.size * _FACES * _FACE_ROWS // (self.faces * self.face_rows)
        whole = np.zeros((_FACES, size // _FACES), np.uint8)
        part = data.reshape(self.faces, -1)
        whole[: self.faces, : part.shape[1]] = part
        return whole.reshape(-1)

    def narrow(self, data: NDArray[Any]) -> NDArray[Any]:
        """The bytes of such a tile, of those of a whole one."""
        faces = data.reshape(_FACES, -1)
        part = faces[: self.faces, : faces.shape[1] * self.face_rows // _FACE_ROWS]
        return np.ascontiguousarray(part).reshape(-1)


WHOLE = TileShape()
