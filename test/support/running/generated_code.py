"""Looks at the Python code of every kernel that the tests compile.

The list of what may stand in it is written down here by hand, apart from the compiler's own.
"""

from __future__ import annotations

import ast
import re
import sys
from functools import cache, wraps
from typing import Any

COMPILER = "ttmlir.sim.kernels.compiler"
FORBIDDEN = (
    *(ast.Import, ast.ImportFrom, ast.Lambda, ast.ClassDef, ast.Global, ast.Nonlocal, ast.Delete),
    *(ast.AsyncFunctionDef, ast.Await, ast.With, ast.Starred, ast.JoinedStr, ast.ListComp),
    *(ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Dict, ast.Set, ast.Match, ast.Del),
    *(ast.Pow, ast.MatMult, ast.Slice, ast.In, ast.Is),
)
NAME = re.compile(r"[vtfc]_\w+|_")
SERVICES = {"_load", "_store", "_poll", "_iterations", "_limited", "_dprint", "_thread"}
SERVICES |= {"_received", "_move_bytes", "_fill_bytes", "_step"}
HELPERS = {
    *("_bits", "_put_bits", "_put_parts", "_sliced", "_ctz", "_clz", "_popcount", "_sqrt"),
    "_floor",
    *("_quotient", "_remainder", "_shift_count", "_index", "_float32", "_float"),
    *("_float_quotient", "_truncated", "_float_bits", "_bits_float", "_double_bits"),
    *("_bits_double", "_put", "_point", "_point_at_one", "_is_local", "_element_at", "_put_at"),
    *("_advance", "_advance_any", "_distance", "_is_same", "_address", "_pointer_to"),
    *("_copied", "_overwrite", "_printed", "_character", "_endless", "_missing", "_min", "_max"),
    *("_member", "_next_argument", "_no_function", "_base", "_point_at_bits", "_make_place"),
    *("_late_array", "_named"),
    *("_put_member", "_awaited", "_printed_float", "_formatted"),
    *("_range", "_rounds", "_unset", "_fault", "_FAULTS", "_error"),
}
ATTRIBUTES = {
    *("async_read", "async_write", "async_write_multicast", "set_async_read_state"),
    *("async_read_with_state", "set_async_write_state", "async_write_with_state"),
    *("inline_dw_write", "async_read_barrier", "async_write_barrier", "async_writes_flushed"),
    *("async_atomic_barrier", "async_full_barrier", "get_noc_id", "reserve_back", "push_back"),
    *("wait_front", "pop_front", "get_cb_id", "get_id", "get_write_ptr", "get_read_ptr"),
    *("get_tile_size", "get_tile_hw", "get_entry_size", "get_total_num_entries"),
    *("get_total_size_bytes", "get_dataformat", "pages_reservable_at_back"),
    *("pages_available_at_front", "finish", "up", "down", "wait", "wait_min", "set", "value"),
    *("set_multicast", "relay_unicast", "relay_multicast", "inc_multicast"),
    *("async_write_zeros", "write_zeros_l1_barrier", "write_zeros_dram_barrier"),
    *("builtin_count", "builtin_extent", "builtin_page_of_shard", "builtin_bank_of_page"),
    *("builtin_place_of_page",),
    *("h0", "h1", "hs", "w0", "w1", "ws"),
    *("is_dram", "is_sharded", "log_base_2_of_page_size", "num_compile_time_args"),
    *("get_aligned_page_size", "get_bank_base_address"),
    *("clock", "bank_base_address", "page_size", "data_format"),
    *("get_noc_addr", "get_shard_noc_addr", "is_local_bank", "is_local_addr", "is_local_page"),
    *("fifo_size", "fifo_limit", "fifo_page_size", "fifo_num_pages", "fifo_rd_ptr", "fifo_wr_ptr"),
    *("fifo_wr_tile_ptr", "tiles_acked", "tiles_received", "tiles_acked_received_init"),
    *("is_local_shard", "next_compile_time_args_offset", "next_common_runtime_args_offset"),
}
CONSTANTS = (int, float, str, bool, type(None))


@cache
def is_forbidden(kind: type[ast.AST]) -> bool:
    """True for a kind of node that no kernel has."""
    return issubclass(kind, FORBIDDEN)


@cache
def is_known(name: str) -> bool:
    """True for a name that kernels may use."""
    return NAME.fullmatch(name) is not None or name in SERVICES | HELPERS


def check_code(module: ast.Module) -> None:
    """Fail if there is anything in the code of a kernel that does not belong there."""
    for node in ast.walk(module):
        assert not is_forbidden(type(node)), ast.dump(node)
        match node:
            case ast.Name(id=name) | ast.arg(arg=name):
                assert is_known(name), f"the name {name}"
                stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
                assert not stored or re.match(r"[vt]_|_$", name), f"{name} is set"
            case ast.Attribute(attr=name):
                assert name in ATTRIBUTES, f"the attribute {name}"
            case ast.keyword(arg=name):
                assert name in {"template", *ATTRIBUTES}, f"the keyword {name}"
            case ast.Constant(value=value):
                assert type(value) in CONSTANTS, f"a constant {value!r}"
            case ast.FunctionDef(name=name, decorator_list=decorators):
                assert re.match("f_|_kernel$", name), f"the function {name}"
                assert not decorators
            case ast.Call(func=function):
                assert isinstance(function, (ast.Name, ast.Attribute)), ast.dump(function)
                assert not (isinstance(function, ast.Name) and function.id[:2] in ("v_", "t_"))
            case _:
                pass


def watch_compiler() -> None:
    """Check what the compiler of kernels makes from now on, if a test has loaded it."""
    compiler = sys.modules.get(COMPILER)
    if compiler is None or hasattr(compiler, "watched"):
        return
    made: Any = compiler.CompiledKernel

    @wraps(made, updated=())
    def checked(*arguments: Any, **keywords: Any) -> Any:
        kernel = made(*arguments, **keywords)
        check_code(kernel.module)
        compiler.watched += 1
        return kernel

    compiler.watched = 0
    compiler.CompiledKernel = checked
