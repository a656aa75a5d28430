// Extents of tiles and of the faces that they are made of, in elements.
#pragma once

#include <cstdint>

namespace tt {
namespace constants {

constexpr uint32_t FACE_HEIGHT = 16;
constexpr uint32_t FACE_WIDTH = 16;
constexpr uint32_t FACE_HW = FACE_HEIGHT * FACE_WIDTH;
constexpr uint32_t TILE_HEIGHT = 2 * FACE_HEIGHT;
constexpr uint32_t TILE_WIDTH = 2 * FACE_WIDTH;
constexpr uint32_t TILE_HW = TILE_HEIGHT * TILE_WIDTH;

}  // namespace constants
}  // namespace tt
