"""What the build of tt-metal 0.81 generates beside a kernel: tables, macros, layouts in types."""

from __future__ import annotations

import pytest
from oracles.kernel_oracle import RecordingApi

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.execution.run import COMPUTE_APIS, build_facts_of_chip
from ttmlir.sim.kernels import compile_kernel
from ttmlir.sim.machine.device import SimChip

INTERLEAVED, SHARDED = 2, 3
"""Words of a layout: in DRAM, and in shards there."""


def compile_text(
    text: str, role: Role, *, full_sync: bool = False, args: tuple[int, ...] = ()
) -> None:
    """Compile a kernel with circular buffers 0 of bf16 and 1 of float32."""
    settings = ComputeSettings(dst_full_sync_en=full_sync)
    build = build_facts_of_chip(
        SimChip.of_board("n150"),
        {0: DataType.BF16, 1: DataType.F32},
        role,
        settings=settings,
        noc_index=0,
    )
    api = COMPUTE_APIS.get(role, DataMovementApi)
    compile_kernel(text, "k.cpp", role, api=api, build=build, compile_time_args=args)


@pytest.mark.parametrize("role", [Role.NCRISC, Role.UNPACK, Role.MATH, Role.PACK])
def test_tables_of_circular_buffers(role: Role) -> None:
    """Sizes and formats are those of the buffers; all tiles have four faces."""
    compile_text(
        "static_assert(unpack_tile_size[0] == 2048 && pack_tile_size[1] == 4096);"
        "static_assert(unpack_src_format[0] == 5 && pack_dst_format[1] == 0);"
        "static_assert(unpack_tile_r_dim[7] == 32 && pack_tile_face_r_dim[0] == 16);"
        "static_assert(unpack_tile_num_faces[3] == 4 && !unpack_partial_face[2]);"
        "void kernel_main() {}",
        role,
    )


@pytest.mark.parametrize("full_sync", [False, True])
def test_macros_of_threads(full_sync: bool) -> None:
    """One of three is defined, and how DST is shared."""
    name = "SyncFull" if full_sync else "SyncHalf"
    text = (
        "#if defined(UCK_CHLKC_UNPACK) + defined(UCK_CHLKC_PACK) != 0 || "
        "!defined(UCK_CHLKC_MATH) || !defined(DST_SYNC_MODE)\n#error wrong\n#endif\n"
        f"static_assert(DST_SYNC_MODE == DstSync::{name});\nvoid kernel_main() {{}}"
    )
    compile_text(text, Role.MATH, full_sync=full_sync)
    with pytest.raises(CppSyntaxError, match="#error wrong"):
        compile_kernel(text, "k.cpp", Role.BRISC, api=RecordingApi)


_LAYOUT = """
template <typename A> void read(const A& accessor) {
  static_assert(A::DSpec::is_dram == IN_DRAM);
  if constexpr (A::DSpec::is_interleaved) {
    static_assert(WANTED == 1);
  } else {
    static_assert(WANTED == 2);
  }
}
void kernel_main() {
  constexpr auto first = TensorAccessorArgs<0>();
  constexpr auto second = TensorAccessorArgs<1>();
  TensorAccessor a(first, get_arg_val<uint32_t>(0), 2048);
  const auto b = TensorAccessor(second, get_arg_val<uint32_t>(1), 2048);
  read(NAME);
}
"""


def test_layouts_in_types_of_accessors() -> None:
    """Two tensors, one of them in L1, whose accessors have types of their own."""
    shape, in_l1 = (2, 1, 4, 4, 4, 4, 0), ~INTERLEAVED
    for first, second in ((INTERLEAVED, SHARDED & in_l1), (INTERLEAVED & in_l1, SHARDED)):
        for name, wanted, flags in (("a", 1, first), ("b", 2, second)):
            text = _LAYOUT.replace("NAME", name).replace("WANTED", str(wanted))
            text = text.replace("IN_DRAM", str(int(bool(flags & INTERLEAVED))))
            compile_text(text, Role.NCRISC, args=(first, second, *shape))


_SHAPES = """
template <typename A> uint32_t read(const A& reader) {
  static_assert(A::DSpec::tensor_shape_static == STATIC && A::DSpec::is_static == STATIC);
  static_assert(A::DSpec::has_static_rank == STATIC);
  if constexpr (A::DSpec::tensor_shape_static) {
    static_assert(reader.dspec().rank() == 2 && reader.dspec().shard_shape()[0] == 2);
    if constexpr (reader.dspec().rank() > 1 && reader.dspec().tensor_shape()[1] > 1) {
      constexpr uint32_t width = reader.dspec().tensor_shape()[1];
      static_assert(width == 5 && reader.dspec().tensor_volume() == 15);
      static_assert(reader.dspec().shard_volume() == 4);
      static_assert(reader.dspec().num_banks() == 4);
      return width;
    }
  }
  return 1;
}
void kernel_main() {
  const auto a = TensorAccessor(TensorAccessorArgs<1>(), get_arg_val<uint32_t>(0), 64);
  read(a);
}
"""


def test_shapes_in_types_of_accessors() -> None:
    """What is among the compile-time arguments is constant, as in tt-metal's `DistributionSpec`."""
    sharded = (SHARDED, 2, 4, 3, 5, 2, 2, 0, 0)
    for layout, is_static in ((sharded, True), ((INTERLEAVED,), False), ((SHARDED | 0x7C,), False)):
        text = _SHAPES.replace("STATIC", str(is_static).lower())
        compile_text(text, Role.NCRISC, args=(7, *layout))


_BESIDE = """
template <typename A> struct Facts { const uint32_t cb; const bool inverts; const A layout; };
constexpr auto find_facts() {
  constexpr auto layout = TensorAccessorArgs<2>();
  return Facts<decltype(layout)>{
      get_compile_time_arg_val(0), get_compile_time_arg_val(1) != 0, layout};
}
void kernel_main() {
  constexpr auto facts = find_facts();
  static_assert(facts.cb == WANTED && !facts.inverts);
  constexpr uint32_t twice = facts.cb * 2;
  const auto a = TensorAccessor(facts.layout, get_arg_val<uint32_t>(0), 2048);
}
"""


def test_constants_beside_layouts() -> None:
    """An object that has the layout of a tensor as a member is a constant, too."""
    compile_text(_BESIDE.replace("WANTED", "5"), Role.NCRISC, args=(5, 0, INTERLEAVED))
    with pytest.raises(CppSyntaxError, match="static_assert failed"):
        compile_text(_BESIDE.replace("WANTED", "4"), Role.NCRISC, args=(5, 0, INTERLEAVED))
