"""How calls are written as operations of ttkernel in 2026.

The dialect of 2026 has other operands and attributes than that of September 2024, and operations
that it lacked. A form names them in the order in which the text has them:

    "dst_index:int out_cb:cb out_index:int out_of_order:flag=0"
    "ttkernel.pack_tile(%0, %1, %2, true) : (i32, !ttkernel.cb<2, f32>, i32) -> ()"

`?` is optional, `*` any number. What stands in braces is only in the dictionary of attributes,
where what follows `=` is left out; elsewhere it is written where the operation has nothing else.
After `->` are the results.

Source: the text and the messages of tt-lang 1.1.1, of July 2026, and the list of operations of
tt-mlir 19c86fca45.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

OPERANDS: Mapping[str, tuple[str, ...]] = {
    "address": ("i32", "l1_addr", "local_semaphore"),
    "anything": (),
    "accessor": ("TensorAccessor",),
    "accessor_args": ("TensorAccessorArgs",),
    "argument": ("index", "i32", "ui32", "cb", "l1_addr"),
    "cb": ("cb",),
    "f32": ("f32",),
    "format": ("DataFormat",),
    "generator": ("interleaved_addr_gen_fast",),
    "generator_or_accessor": ("interleaved_addr_gen_fast", "TensorAccessor"),
    "i1": ("i1",),
    "i16": ("i16",),
    "i32": ("i32",),
    "i8": ("i8",),
    "index": ("index",),
    "int": ("index", "i32"),
    "l1_address": ("i32", "l1_addr"),
    "manager": ("fabric_connection_manager",),
    "noc_addr": ("noc_addr",),
    "page_mapping": ("PageMapping",),
    "pointer": ("l1_addr_ptr",),
    "semaphore": ("local_semaphore",),
    "semaphore_address": ("l1_addr", "local_semaphore"),
    "ui32": ("ui32",),
}
"""The types that a kind of operand or result may have; none for all types."""

ATTRIBUTES = frozenset(
    (
        *("bcast_type", "data_type", "eltwise_binary_type", "flag", "i64", "number"),
        *("reduce_dim", "reduce_type", "reuse_type", "text", "unit"),
    )
)
"""The kinds of attributes."""


@dataclass(frozen=True)
class LatePart:
    """An operand or an attribute in a form."""

    name: str
    kind: str
    optional: bool = False
    variadic: bool = False
    in_dictionary: bool = False
    default: int | None = None

    @property
    def is_attribute(self) -> bool:
        """True for attributes, False for operands."""
        return self.kind in ATTRIBUTES


@dataclass(frozen=True)
class LateCall:
    """The form of an operation of 2026."""

    parts: tuple[LatePart, ...]
    """Operands and attributes in the order of the text."""
    results: tuple[str, ...] = ()

    @property
    def operands(self) -> tuple[LatePart, ...]:
        """The operands in order."""
        return tuple(part for part in self.parts if not part.is_attribute)

    @property
    def attributes(self) -> tuple[LatePart, ...]:
        """The attributes in order."""
        return tuple(part for part in self.parts if part.is_attribute)


_FORMS: tuple[tuple[str, str], ...] = (
    (
        "",
        "abs_tile_init acos_tile_init add_binary_tile_init add_int_tile_init asin_tile_init "
        "atan2_binary_tile_init atan_tile_init binary_bitwise_tile_init "
        "binary_max_int32_tile_init binary_max_tile_init binary_min_int32_tile_init "
        "binary_min_tile_init binary_shift_tile_init binop_with_scalar_tile_init "
        "bitwise_not_tile_init clamp_tile_init copy_dest_values_init cos_tile_init "
        "div_binary_tile_init eq_binary_tile_init eqz_tile_init erf_tile_init erfc_tile_init "
        "exp2_tile_init exp_tile_init experimental::unpack_stall_on_pack expm1_tile_init "
        "fill_tile_init ge_binary_tile_init gelu_tile_init gez_tile_init gt_binary_tile_init "
        "gtz_tile_init hardsigmoid_tile_init invoke_sfpi le_binary_tile_init lez_tile_init "
        "log1p_tile_init log_tile_init logical_not_tile_init lt_binary_tile_init "
        "ltz_tile_init mul_binary_tile_init ne_binary_tile_init negative_tile_init "
        "nez_tile_init noc_async_read_barrier noc_async_write_barrier power_binary_tile_init "
        "power_tile_init recip_tile_init relu_tile_init rounding_op_tile_init rsqrt_tile_init "
        "selu_tile_init sigmoid_tile_init sign_tile_init signbit_tile_init silu_tile_init "
        "sin_tile_init softsign_tile_init sqrt_tile_init square_tile_init "
        "sub_binary_tile_init sub_int_tile_init tan_tile_init tanh_tile_init "
        "tile_regs_acquire tile_regs_commit tile_regs_release tile_regs_wait unreachable "
        "where_tile_init",
    ),
    (
        "tile_index:int",
        "bitwise_not_tile cos_tile erf_tile erfc_tile exp2_tile exp_tile expm1_tile frac_tile "
        "gelu_tile hardsigmoid_tile log1p_tile log_tile negative_tile recip_tile relu_tile "
        "relu_tile_int32 rsqrt_tile sigmoid_tile sign_tile signbit_tile silu_tile "
        "softsign_tile sqrt_tile square_tile tan_tile trunc_tile",
    ),
    (
        "dst0_index:int",
        "abs_tile abs_tile_int32 acos_tile asin_tile atan_tile ceil_tile eqz_tile "
        "eqz_tile_int32 floor_tile gez_tile gez_tile_int32 gtz_tile gtz_tile_int32 lez_tile "
        "lez_tile_int32 ltz_tile ltz_tile_int32 negative_tile_int32 nez_tile nez_tile_int32 "
        "sin_tile tanh_tile",
    ),
    (
        "dst0_index:int dst1_index:int odst_index:int",
        "add_binary_tile atan2_binary_tile binary_max_int32_tile binary_max_tile "
        "binary_min_int32_tile binary_min_tile div_binary_tile eq_binary_tile ge_binary_tile "
        "gt_binary_tile le_binary_tile lt_binary_tile mul_binary_tile ne_binary_tile "
        "power_binary_tile sub_binary_tile",
    ),
    (
        "dst0_index:int dst1_index:int odst_index:int dtype:data_type",
        "add_int_tile binary_left_shift_tile binary_logical_right_shift_tile "
        "binary_right_shift_tile bitwise_and_binary_tile bitwise_or_binary_tile "
        "bitwise_xor_binary_tile mul_int_tile sub_int_tile",
    ),
    (
        "dst0_index:int param:i32",
        "add_unary_tile add_unary_tile_int32 div_unary_tile mul_unary_tile power_tile "
        "sub_unary_tile sub_unary_tile_int32",
    ),
    ("cb:cb numPages:i32", "cb_pop_front cb_push_back cb_reserve_back cb_wait_front"),
    (
        "trid:i32 noc:i8?",
        "noc_async_read_barrier_with_trid noc_async_read_set_trid "
        "noc_async_write_barrier_with_trid noc_async_write_set_trid",
    ),
    (
        "in0_cb:cb in1_cb:cb in0_tile_index:int in1_tile_index:int dst_index:int",
        "add_tiles mul_tiles sub_tiles",
    ),
    ("in0_cb:cb in1_cb:cb", "add_tiles_init mul_tiles_init sub_tiles_init"),
    ("cb:cb -> i32", "get_read_ptr get_tile_size get_write_ptr"),
    (
        (
            "srcLocalL1Addr:i32 dstNocAddrMulticast:noc_addr size:i32 num_dests:i32 "
            "linked:flag? multicast_path_reserve:flag? noc:i8?"
        ),
        "noc_async_write_multicast noc_async_write_multicast_loopback_src "
        "noc_async_write_multicast_one_packet",
    ),
    ("cbIn:cb numTiles:i32 cbOut:cb", "tilize_block tilize_init untilize_block"),
    ("dst_index:int min_param:i32 max_param:i32", "clamp_tile clamp_tile_int32"),
    (
        "fabric_connection_manager:manager",
        "experimental::close_fabric_connections experimental::setup_fabric_connections",
    ),
    (
        (
            "noc_x_start:int noc_y_start:int noc_x_end:int noc_y_end:int addr:address noc:i8? "
            "-> noc_addr"
        ),
        "experimental::get_noc_multicast_addr get_noc_multicast_addr",
    ),
    (
        "cbIn:cb cbOut:cb blockR:i32 blockC:i32",
        "experimental::tilize_block experimental::untilize_block",
    ),
    ("arg_index:int -> argument", "get_arg_val get_common_arg_val"),
    ("icb:cb ocb:cb", "init_sfpu unary_op_init_common"),
    ("-> i32", "mem_zeros_base mem_zeros_size"),
    ("-> index", "my_logical_x_ my_logical_y_"),
    ("noc:i8? -> index", "my_x my_y"),
    ("sem_addr:pointer val:int", "experimental::semaphore_wait noc_semaphore_set"),
    ("cbIn:cb", "untilize_init untilize_uninit"),
    ("args:accessor_args bank_base_address_in:i32 page_size_in:i32 -> accessor", "TensorAccessor"),
    (
        (
            "cta_base:i32? crta_base:i32? prev_args:accessor_args? cta_expr:text? "
            "crta_expr:text? -> accessor_args"
        ),
        "TensorAccessorArgs",
    ),
    (
        (
            "in_cb:cb in_tile_index:int dst_tile_index:int "
            "eltwise_binary_type:eltwise_binary_type reuse_type:reuse_type"
        ),
        "binary_dest_reuse_tiles",
    ),
    (
        "in_cb:cb eltwise_binary_type:eltwise_binary_type reuse_type:reuse_type",
        "binary_dest_reuse_tiles_init",
    ),
    ("in0_cb:cb in1_cb:cb out_cb:cb", "binary_op_init_common"),
    ("input:ui32 -> anything", "bitcast"),
    ("icb0:cb icb1:cb? ocb:cb", "compute_kernel_hw_startup"),
    ("cb:cb start_tile_index:int start_dst_index:int ntiles:int", "copy_block_matmul_partials"),
    ("idst_in:int idst_out:int", "copy_dest_values"),
    ("cb0:cb tile_index_cb:int tile_index_dst:int", "copy_tile"),
    ("cb0:cb", "copy_tile_init"),
    ("fmt:text argv:anything*", "dprint"),
    ("logical_x:int -> int", "experimental::convert_logical_x_to_translated"),
    ("logical_y:int -> int", "experimental::convert_logical_y_to_translated"),
    ("-> manager", "experimental::create_fabric_connection_manager"),
    (
        (
            "fabric_connection_manager:manager dst_mesh_id:i16 dst_dev_id:i16 "
            "dst_addr:noc_addr src_addr:i32 len_bytes:i32"
        ),
        "experimental::fabric_fast_write_any_len",
    ),
    (
        (
            "fabric_connection_manager:manager dst_mesh_id:i16 dst_dev_id_start:i16 "
            "dst_dev_id_end:i16 dst_addr:noc_addr src_addr:i32 len_bytes:i32"
        ),
        "experimental::fabric_mcast_fast_write_any_len",
    ),
    (
        (
            "fabric_connection_manager:manager dst_mesh_id:i16 dst_dev_id_start:i16 "
            "dst_dev_id_end:i16 semaphore_addr:noc_addr incr:int"
        ),
        "experimental::fabric_mcast_sem_inc",
    ),
    (
        (
            "fabric_connection_manager:manager dst_mesh_id:i16 dst_dev_id:i16 "
            "semaphore_addr:noc_addr incr:int"
        ),
        "experimental::fabric_sem_inc",
    ),
    ("cb:cb", "experimental::fill_arange_tile"),
    (
        "fcm:manager position_indices:index* -> i16",
        "experimental::get_device_id_from_logical_mesh_position",
    ),
    ("-> i16", "experimental::get_my_device_id"),
    ("fcm:manager {dim:i64} -> index", "experimental::get_my_logical_mesh_position"),
    (
        (
            "in0_cb_id:cb in1_cb_id:cb in0_tile_idx:int in1_tile_idx:int dst_tile_idx:int "
            "transpose:i32 ct_dim:i32 rt_dim:i32 kt_dim:i32 nt_dim:i32"
        ),
        "experimental::matmul_block",
    ),
    (
        ("cbIn:cb cbOut:cb blockR:i32 blockC:i32 {colsPerDstPass:number} {totalColTiles:number}"),
        "experimental::pack_untilize_block",
    ),
    ("sem_addr:pointer val:i32", "experimental::semaphore_wait_min"),
    ("validCols:i32 cb:cb", "experimental::write_col_mask_tile"),
    ("validRows:i32 cb:cb", "experimental::write_row_mask_tile"),
    ("dst_index:int value:f32", "fill_tile"),
    ("dst_index:int value:i32", "fill_tile_int"),
    ("arg_index:number -> argument", "get_compile_time_arg_val"),
    ("cb:cb -> format", "get_dataformat"),
    (
        "DRAM:i1 bank_base_address:i32 page_size:i32 data_format:format -> generator",
        "get_interleaved_addr_gen_fast",
    ),
    ("x:int y:int l1Address:address -> noc_addr", "get_noc_addr"),
    ("bank_id:i32 bankAddressOffset:i32 -> noc_addr", "get_noc_addr_from_bank_id"),
    ("semaphore:int -> semaphore", "get_semaphore"),
    (
        "self_:generator id:i32 offset:i32 noc:i8? -> noc_addr",
        "interleaved_addr_gen_fast.get_noc_addr",
    ),
    ("l1_ptr:pointer offset:i32 -> i32", "load_from_l1"),
    ("dst0_index:int {dtype:data_type}", "logical_not_tile"),
    (
        (
            "in0_cb_id:cb in1_cb_id:cb in0_tile_idx:int in1_tile_idx:int dst_tile_idx:int "
            "transpose:i32 ct_dim:i32 rt_dim:i32 kt_dim:i32"
        ),
        "matmul_block",
    ),
    (
        "in0_cb_id:cb in1_cb_id:cb in0_tile_idx:int in1_tile_idx:int dst_tile_idx:int",
        "matmul_tiles",
    ),
    (
        "in0_cb:cb in1_cb:cb out_cb:cb transpose:i32 ct_dim:i32 rt_dim:i32 kt_dim:i32",
        "mm_block_init",
    ),
    ("in0_cb:cb in1_cb:cb transpose:i32 ct_dim:i32 rt_dim:i32 kt_dim:i32", "mm_block_init_short"),
    ("in0_cb:cb in1_cb:cb out_cb:cb transpose:i32", "mm_init"),
    ("in0_cb:cb in1_cb:cb transpose:i32", "mm_init_short"),
    ("dtype:data_type", "mul_int_tile_init"),
    ("noc_id:i8?", "noc_async_atomic_barrier"),
    ("srcNocAddr:noc_addr dstLocalL1Addr:i32 size:i32", "noc_async_read"),
    ("srcNocAddr:noc_addr size:i32", "noc_async_read_one_packet_set_state"),
    ("srcNocAddr:noc_addr dstLocalL1Addr:l1_address", "noc_async_read_one_packet_with_state"),
    (
        "srcBaseAddr:i32 srcAddr:i32 dstLocalL1Addr:l1_address trid:i32 noc:i8?",
        "noc_async_read_one_packet_with_state_with_trid",
    ),
    ("id:i32 addrGenStruct:generator_or_accessor dstLocalL1Addr:i32", "noc_async_read_tile"),
    ("srcLocalL1Addr:i32 dstNocAddr:noc_addr size:i32", "noc_async_write"),
    (
        "srcLocalL1Addr:i32 dstNocAddr:noc_addr size:i32 trid:i32 noc:i8?",
        "noc_async_write_one_packet_with_trid",
    ),
    ("id:int addrGenStruct:generator_or_accessor srcLocalL1Addr:i32", "noc_async_write_tile"),
    ("addr:noc_addr incr:int noc_id:i8? posted:flag?", "noc_semaphore_inc"),
    ("addr:noc_addr incr:int num_dests:i32 noc_id:i8? posted:flag?", "noc_semaphore_inc_multicast"),
    (
        (
            "src_local_l1_addr:semaphore_address dst_noc_addr_multicast:noc_addr "
            "num_dests:i32 linked:flag? multicast_path_reserve:flag?"
        ),
        "noc_semaphore_set_multicast",
    ),
    (
        (
            "src_local_l1_addr:semaphore_address dst_noc_addr_multicast:noc_addr "
            "num_dests:i32 linked:flag?"
        ),
        "noc_semaphore_set_multicast_loopback_src",
    ),
    ("out_cb:cb", "pack_reconfig_data_format"),
    ("l1_acc_en:i32", "pack_reconfig_l1_acc"),
    ("dst_index:int out_cb:cb out_index:int out_of_order:flag=0", "pack_tile"),
    ("dst_index:int out_cb:cb ntiles:int", "pack_tile_block"),
    ("cbIn:cb cbOut:cb {colsPerDstPass:number=1} {totalColTiles:number=1}", "pack_untilize_init"),
    ("cbOut:cb", "pack_untilize_uninit"),
    ("tile_index:int from_:int scale:int", "rand_tile"),
    ("seed:int", "rand_tile_init"),
    (
        (
            "in_cb:cb scaling_cb:cb out_cb:cb reduce_type:reduce_type reduce_dim:reduce_dim "
            "{full_fp32:unit?}"
        ),
        "reduce_init",
    ),
    (
        (
            "in_cb:cb scaling_cb:cb in_tile_index:int scaling_tile_index:int dst_index:int "
            "reduce_type:reduce_type reduce_dim:reduce_dim {full_fp32:unit?}"
        ),
        "reduce_tile",
    ),
    ("{full_fp32:unit?}", "reduce_uninit"),
    ("addr:address -> pointer", "reinterpret_cast"),
    ("idMask:i32 noc:i8?", "reset_noc_trid_barrier_counter"),
    ("tile_index:int scale:i32 alpha:i32", "selu_tile"),
    (
        ("dst_index:int reduce_type:reduce_type data_format:data_type reduce_dim:reduce_dim"),
        "sfpu_reduce",
    ),
    ("reduce_type:reduce_type data_format:data_type", "sfpu_reduce_init"),
    ("value:i32 l1_ptr:pointer offset:i32", "store_to_l1"),
    ("tensor_accessor:accessor page_id:i32 -> page_mapping", "tensor_accessor.get_bank_and_offset"),
    (
        "tensor_accessor:accessor id:i32 offset:i32 noc:i8? -> noc_addr",
        "tensor_accessor.get_noc_addr",
    ),
    (
        "tensor_accessor:accessor shard_id:i32 offset:i32 noc:i8? -> i32",
        "tensor_accessor.get_shard_noc_addr",
    ),
    (
        "tensor_accessor:accessor virtual_x:i32 virtual_y:i32 noc:i8? -> i1",
        "tensor_accessor.is_local_addr",
    ),
    ("tensor_accessor:accessor id:i32 offset:i32 noc:i8? -> i1", "tensor_accessor.is_local_bank"),
    ("tensor_accessor:accessor page_id:i32 noc:i8? -> i1", "tensor_accessor.is_local_page"),
    ("tensor_accessor:accessor shard_id:i32 noc:i8? -> i1", "tensor_accessor.is_local_shard"),
    ("cbI:cb cbOut:cb", "tilize_uninit"),
    ("cbIn:cb cbOut:cb", "transpose_wh_init"),
    ("icb:cb itile:int idst:int", "transpose_wh_tile"),
    ("dst0_index:int in_dtype:data_type out_dtype:data_type", "typecast_tile"),
    ("in_dtype:data_type out_dtype:data_type", "typecast_tile_init"),
    ("in_cb:cb in_tile_index:int dst_tile_index:int bcast_type:bcast_type", "unary_bcast"),
    ("in_cb:cb out_cb:cb bcast_type:bcast_type", "unary_bcast_init"),
    (
        (
            "dst_cond_index:int dst_true_index:int dst_false_index:int odst_index:int "
            "dtype:data_type"
        ),
        "where_tile",
    ),
)
"""Each form, with the operations that have it."""

_FORM_OF: Mapping[str, str] = {name: form for form, names in _FORMS for name in names.split()}

LATE_CALLS = tuple(_FORM_OF)
"""The mnemonics of all operations of 2026."""


def _part(text: str) -> LatePart:
    in_dictionary, text = text[0] == "{", text.strip("{}")
    text, _, default = text.partition("=")
    name, _, kind = text.partition(":")
    return LatePart(
        name,
        kind.rstrip("?*"),
        optional=kind[-1] == "?" or bool(default),
        variadic=kind[-1] == "*",
        in_dictionary=in_dictionary,
        default=int(default) if default else None,
    )


@cache
def _parsed(form: str) -> LateCall:
    parts, _, results = form.partition("->")
    return LateCall(tuple(map(_part, parts.split())), tuple(results.split()))


def late_call(mnemonic: str) -> LateCall | None:
    """The form of an operation in 2026; None for one that the dialect does not have any more."""
    form = _FORM_OF.get(mnemonic)
    return None if form is None else _parsed(form)
