"""Why mutants that nothing notices do nothing wrong.

Each reason goes with patterns of the mutants that it holds for: workload, kernel, the change.
"""

from __future__ import annotations

import re

_INITS = (
    "binary_op_init_common|add_tiles_init|sub_tiles_init|mul_tiles_init|mm_init|mm_block_init|"
    "mm_block_init_short_with_dt|sub_bcast_cols_init_short|init_sfpu|copy_tile_init|"
    "copy_tile_to_dst_init_short_with_dt|transpose_wh_init_short|tilize_init|tilize_uninit|"
    "untilize_init|untilize_uninit|compute_kernel_hw_startup|reconfig_data_format|mm_init_short|"
    "add_bcast_rows_init_short|unary_bcast_init|binary_dest_reuse_tiles_init|reduce_init|"
    "sub_bcast_cols_init_short|mul_bcast_cols_init_short|reconfig_data_format_srca|add_init|"
    "copy_init|matmul_init|matmul_block_init"
)
_SPREAD_ROW = r"EltwiseBinaryType\.ELWADD, BroadcastType\.ROW"
_SUM_ROW = r"PoolType\.SUM, ReduceDim\.REDUCE_ROW"

REASONS: dict[str, tuple[str, ...]] = {
    "The layout that is read instead is the same: 2, the number of a circular buffer, is "
    "interleaved in DRAM, too, and common run-time arguments are not read.": (
        r"TensorAccessorArgs\(\d, 0\).* -> .*TensorAccessorArgs\(\d, [01]\)",
    ),
    "It keeps its words elsewhere in L1, where nobody else has any: kernels may do so.": (
        r"Gather read.py: where = get_write_ptr\(index\) -> where = get_write_ptr\(index\) \* 2",
    ),
    "It waits for more room than it fills, which the circular buffer has some time: the kernel "
    "is right, only slower.": (
        r": cb_reserve_back\(([\w:]+), (.+)\)(;?) -> "
        r"cb_reserve_back\(\1, (?:\2 \+ 1|\(?\2\)? \* 2|[2-4])\)\3",
    ),
    "A preparation takes nothing but the format from a circular buffer, and the one that it "
    "names instead has the same format.": (
        rf": ((?:{_INITS})(?:<.*>)?)\((.*)\)(;?) -> \1\((.*)\)\3",
        r": mm_block_init_short\(\w+, \w+, (.*)\); -> mm_block_init_short\([^,]+, [^,]+, \1\);",
        r": reconfig_data_format_srca\(.*\); -> nothing",
        rf": (init_bcast|reduce_init)\(.*, ({_SPREAD_ROW}|{_SUM_ROW})\) -> \1\(.*, \2\)",
        r"get_(tile_size|dataformat)\(",
    ),
    "What it sets is set again before it is used.": (
        r"subtract_row_sums.cpp: binary_op_init_common\(.*\); -> nothing",
        r"subtract_row_sums.cpp: (pack_)?reconfig_data_format\(.*\); -> ",
        r"tilize_untilize.cpp: compute_kernel_hw_startup\(.*\); -> nothing",
        r": copy_tile_init\(\w+\); -> nothing",
        r"AddRow add.py: init_bcast\(.*\) -> init_bcast\(.*(ELWMUL|COL)",
        r"AddRow add.py: add_bcast_rows_init_short\(x, row\) -> pass",
    ),
    "The operation is symmetric in what was swapped, or what follows makes it so.": (
        r": (add_tiles|mul_tiles|binary_max_tile)\(.*\); -> \1\(",
        r": ((?:add|mul)_binary_tile)\((\w+), (\w+), (\w+)\); -> \1\(\3, \2, \4\);",
        r"generated_chain_1.cpp: sub_tiles\(",
    ),
    "Without `out_of_order` the packer goes from page to page and ignores the index.": (
        r": pack_tile\(\w+, \w+, (\w+)\); -> pack_tile\(\w+, \w+, \1 (\+ 1|\* 2|/ 2)\);",
    ),
    "The other semaphore has the same value and nobody else uses it on these cores: a word for "
    "the sender and one for each receiver lie on different cores.": (
        r"handshake.cpp: const uint32_t (ready|valid)_address = ",
        r"multicast_(a|b|shards_of_a).cpp: const(expr)? uint32_t (ready|valid)_(id|address) = ",
    ),
    "Nobody waits for the semaphore again.": (
        r"handshake.cpp: noc_semaphore_set\(ready, 0\); -> ",
        r"multicast_shards_of_a.cpp: noc_semaphore_set\(ready, 0\); -> ",
    ),
    "The rectangle grows by columns or rows of the network that have no Tensix cores, which take "
    "no multicasts.": (
        r"uint32_t (start|end)_[xy] = get_arg_val",
        r"get_noc_multicast_addr\(.*\).*;? -> .*get_noc_multicast_addr\(.*(\+ 1|/ 2)",
    ),
    "A linked multicast only keeps the path for the next one, for speed.": (
        r"noc_async_write_multicast(_loopback_src)?\(.*, true\); -> .*, false\);",
    ),
    "On Wormhole a multicast and a later one to the same rectangle arrive in order; only "
    "Blackhole needs the flush.": (
        r"multicast_(a|b|shards_of_a).cpp: noc_async_writes_flushed\(\); -> nothing",
    ),
    "A later barrier waits for the copy too, before anything relies on it.": (
        r"(handshake|multicast_a|multicast_b|multicast_shards_of_a|fused_product writer0).cpp: "
        r"noc_async_write_barrier\(\); -> nothing",
    ),
    "A later barrier waits for the reads too, before their bytes are pushed.": (
        r"fused_gather reader1.cpp: noc_async_read_barrier\(\); -> nothing$",
    ),
    "With one number for all reads every other barrier waits for both that are under way.": (
        r"double_buffered_reader.cpp: noc_async_read_set_trid\(1 \+ i % 2\); -> ",
    ),
    "Smaller subblocks of the same block give the same tiles in the same order.": (
        r"uint32_t subblock_[mn] = get_compile_time_arg_val",
    ),
    "The loop turns once: blocks are as wide as subblocks.": (
        r"for \(uint32_t n = 0; n < block_n; n \+= subblock_n\) \{ -> .*n (\+|-)= subblock_n",
    ),
    "A receiver only counts its rounds, and two blocks make two also with a larger step.": (
        r"multicast_(a|b).cpp: for \(.*\) \{ -> for \(.*first_k \+= block_k \+ 1\) \{ #2",
    ),
    "Any number but 0 is true.": (
        r"pack_reconfig_l1_acc\(1\); -> pack_reconfig_l1_acc\(2\);",
        r": (mm_block_init_short|matmul_block_init)\((\w+, \w+), (\w+), (.*)\); -> "
        r"\1\(\2, \3 (\+ 1|\* 2), \4\);",
        r": matmul_block\((\w+, \w+, \w+, \w+, \w+), (\w+), (.*)\); -> "
        r"matmul_block\(\1, \2 (\+ 1|\* 2), \3\);",
    ),
    "What is unpacked is transposed by the preparation; the product need not say so again.": (
        r"fused_views compute0.cpp: matmul_block\((\w+, \w+, \w+, \w+, \w+), (\w+), (.*)\); -> "
        r"matmul_block\(\1, \2 / 2, \3\);",
    ),
    "A flag that is raised once more behind the last step is read by nobody, and when it is raised "
    "before that is only a matter of time.": (
        r"fused_product (reader|writer)0.cpp: v\d+\[v\d+\] = v\d+; -> nothing( #\d)?$",
        r"fused_product (reader|writer)0.cpp: bool v\d+ = cb_pages_reservable_at_back\(.*\); -> ",
    ),
    "What is not written, or not read, is padding, or what is beyond the view.": (
        r"fused_gather writer1.cpp: int32_t v\d+ = 4096; -> int32_t v\d+ = 4095;",
        r"fused_gather reader1.cpp: int32_t v\d+ = (34|32); -> ",
        r"fused_gather reader1.cpp: bool (v\d+) = (\w+) < (\w+); -> bool \1 = \2 <= \3;",
        r"fused_gather reader1.cpp: uint32_t (v\d+) = (\w+) \+ (\w+); -> "
        r"uint32_t \1 = \2 - \3;",
        r"fused_gather reader1.cpp: (v\d+\[v\d+\]) = (v\d+); -> \1 = \2 \+ 1;",
        r"fused_gather reader1.cpp: noc_async_read\((.*), (\w+)\); -> "
        r"noc_async_read\(\1, \2 / 2\);",
        r"fused_sums writer0.cpp: int32_t v\d+ = 4096; -> int32_t v\d+ = 4095;",
    ),
    "Registers that the packer has released hold zeros, which is what they are filled with.": (
        r"fused_(sums|softmax) compute0.cpp: fill_tile_init\(\); -> nothing #\d",
        r"fused_(?:sums|softmax) compute0.cpp: fill_tile\((\w+), (\w+)\); -> "
        r"(nothing|fill_tile\(\1 \+ 1, \2\);)$",
        r": where_tile<.*>\((.*), (\w+), (\w+)\); -> where_tile<.*>\(\1, \2 \+ 1, \3\);",
    ),
    "Every number below all others does for what is beyond a row, and so does NaN, which the "
    "matrix unit does not know.": (
        r"fused_softmax compute0.cpp: int32_t v\d+ = -8388608; -> ",
        r"fused_softmax compute0.cpp: fill_tile_bitcast\((\w+), (\w+)\); -> "
        r"fill_tile_bitcast\(\1, \2 (\+ 1|\* 2)\);",
    ),
    "What tells numbers from padding is the numbers themselves: those that are 0 in the rows here "
    "are neither the largest nor large enough to count.": (
        r"fused_softmax compute0.cpp: copy_tile\((\w+), (.*)\); -> copy_tile\(\1 / 2, \2\);",
        r"fused_softmax compute0.cpp: where_tile<.*>\((\w+), (.*)\); -> "
        r"where_tile<.*>\(\1 \+ 1, \2\);",
    ),
    "The vector unit stays prepared, and what follows sets the packer up anew, or reads only what "
    "it keeps.": (r"fused_softmax compute0.cpp: (where_tile_init|reduce_uninit)\(\); -> nothing",),
    "The other circular buffer holds ones, too: those that tell numbers from padding.": (
        r"fused_sums compute0.cpp: reduce_tile<.*>\(\w+, (\w+), (.*)\); -> .*, \1 / 2, \2\);",
    ),
    "The pages of a circular buffer on a tensor are there from the beginning, and nothing else "
    "uses them: there is nothing to wait for.": (r"announce_shards.cpp: cb_reserve_back\(",),
    "The program ends here, and the next one begins with circular buffers of its own; a tensor "
    "stays where it is.": (
        r"multiply_shards.cpp: cb_pop_front\(.*\); -> (nothing|cb_pop_front\(.*/ 2\);)",
        r"generated_sum_\d.cpp: cb_p(op_front|ush_back)\(.*\); -> (nothing|.*/ 2\);)( #2)?$",
    ),
}


def reason_for(workload: str, key: str) -> str:
    """Why a mutant survives; empty if there is no reason."""
    text = f"{workload} {key}"
    for reason, patterns in REASONS.items():
        if any(re.search(pattern, text) for pattern in patterns):
            return reason
    return ""
