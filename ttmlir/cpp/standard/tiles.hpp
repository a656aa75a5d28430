// unpack_tile_size pack_tile_size unpack_src_format unpack_dst_format pack_src_format pack_dst_format unpack_tile_r_dim unpack_tile_c_dim pack_tile_r_dim pack_tile_c_dim unpack_tile_face_r_dim pack_tile_face_r_dim unpack_tile_num_faces pack_tile_num_faces unpack_partial_face pack_partial_face unpack_narrow_tile pack_narrow_tile
namespace tiles {

// What the build generates for each circular buffer: tables by its number.
struct Sizes {
    constexpr uint32_t operator[](uint32_t cb) const { return get_tile_size(cb); }
};
struct Formats {
    constexpr uint8_t operator[](uint32_t cb) const { return static_cast<uint8_t>(get_dataformat(cb)); }
};
struct Heights {
    constexpr uint8_t operator[](uint32_t cb) const { return get_tile_hw(cb) / 32; }
};
struct Faces {
    constexpr uint8_t operator[](uint32_t cb) const { return get_tile_hw(cb) == 32 * 32 ? 4 : 2; }
};
struct FaceRows {
    constexpr uint8_t operator[](uint32_t cb) const { return get_tile_hw(cb) < 16 * 32 ? get_tile_hw(cb) / 32 : 16; }
};
struct Partial {
    constexpr uint8_t operator[](uint32_t cb) const { return get_tile_hw(cb) < 16 * 32; }
};
template <uint8_t number>
struct Alike {
    constexpr uint8_t operator[](uint32_t cb) const { return number; }
};

constexpr Sizes unpack_tile_size{}, pack_tile_size{};
constexpr Formats unpack_src_format{}, unpack_dst_format{}, pack_src_format{}, pack_dst_format{};
constexpr Heights unpack_tile_r_dim{}, pack_tile_r_dim{};
constexpr Alike<32> unpack_tile_c_dim{}, pack_tile_c_dim{};
constexpr FaceRows unpack_tile_face_r_dim{}, pack_tile_face_r_dim{};
constexpr Faces unpack_tile_num_faces{}, pack_tile_num_faces{};
constexpr Partial unpack_partial_face{}, pack_partial_face{};
constexpr Alike<0> unpack_narrow_tile{}, pack_narrow_tile{};

}  // namespace tiles
