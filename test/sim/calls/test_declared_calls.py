"""Kernels can call what is declared and has a definition; nothing else of an API exists for
them."""

from __future__ import annotations

import inspect

import pytest

from ttmlir.optable.kernel import LIBRARY_CALLS as CALLS
from ttmlir.optable.kernel import Form, Role
from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.calls.kernel_api import KernelApi, declared_calls, kernel_call, waiting_calls
from ttmlir.sim.calls.math_api import MathApi
from ttmlir.sim.calls.pack_api import PackApi
from ttmlir.sim.calls.remote_buffer_api import RemoteBufferCalls
from ttmlir.sim.calls.unpack_api import UnpackApi
from ttmlir.sim.kernels.library import Library

APIS: dict[type[KernelApi], Role] = {
    DataMovementApi: Role.DATA,
    UnpackApi: Role.UNPACK,
    MathApi: Role.MATH,
    PackApi: Role.PACK,
}
NAMES = {
    definition.cpp for definition in CALLS if definition.form not in (Form.METHOD, Form.ELEMENT)
}
KNOWN_BY_THE_COMPILER = {
    *("get_compile_time_arg_val", "DPRINT", "reinterpret_cast", "load_from_l1", "store_to_l1"),
}
INTERNAL = {
    *("counters", "end", "turns", "limited", "load", "store", "poll", "dprint", "move_all"),
    *("spend", "report", "prepare", "compute", "binary", "tile", "check_tile", "numbers_of"),
}


@pytest.mark.parametrize("api", APIS)
def test_declared_calls_are_those_with_definitions(api: type[KernelApi]) -> None:
    """Each call that does something on a processor is declared there, and only calls are."""
    declared = set(declared_calls(api))
    # Headers make calls of sockets and remote buffers of these.
    assert declared - set(declared_calls(RemoteBufferCalls)) <= NAMES
    definitions = [
        definition
        for definition in CALLS
        if definition.header and definition.form in (Form.CALL, Form.OBJECT)
    ]
    wanted = {
        definition.cpp for definition in definitions if definition.roles & APIS[api]
    } - KNOWN_BY_THE_COMPILER
    assert wanted - declared == set()
    assert declared.isdisjoint(INTERNAL)


@pytest.mark.parametrize("api", APIS)
def test_nothing_else_resolves(api: type[KernelApi]) -> None:
    """Of all that the class has, the library finds declared calls and constants alone."""
    role = next(each for each in Role if each in APIS[api])
    library = Library(role, api)
    others = [name for name, _ in inspect.getmembers(api) if name not in declared_calls(api)]
    assert len(others) > 40
    found = [name for name in others if name not in NAMES and library.find_call(name) is not None]
    assert found == []
    assert [name for name in others if library.find_constant(name) is not None] == []
    assert library.find_constant("MEM_ZEROS_SIZE") == 512
    assert {name for name in dir(api) if library.is_variable(name)} == set()
    assert library.is_variable("noc_index") == (api is DataMovementApi)


def test_a_method_that_hides_a_call_has_to_be_declared_too() -> None:
    """What a declaration says is said of one method."""

    class Base:
        @kernel_call(waits=True)
        def wait(self) -> bool:
            return True

        @kernel_call(steady=True)
        def find(self) -> int:
            return 1

        @kernel_call()
        def _hidden(self) -> None:
            return None

    class Derived(Base):
        def wait(self) -> bool:
            return False

        @kernel_call(pure=True)
        def find(self) -> int:
            return 2

    assert set(declared_calls(Base)) == {"wait", "find"}
    assert set(declared_calls(Derived)) == {"find"}
    assert (waiting_calls(Base), waiting_calls(Derived)) == (frozenset({"wait"}), frozenset())
    facts = declared_calls(Base)["find"], declared_calls(Derived)["find"]
    assert [(each.pure, each.steady) for each in facts] == [(True, True), (True, False)]


STEADY = {
    *("get_arg_val", "get_common_arg_val", "get_arg_addr", "get_common_arg_addr"),
    *("safe_get_noc_addr", "get_noc_addr_helper", "NOC_XY_ADDR", "NOC_MULTICAST_ADDR", "NOC_X"),
    *("NOC_Y", "DYNAMIC_NOC_X", "DYNAMIC_NOC_Y", "NOC_XY_ENCODING", "NOC_UNICAST_ADDR_X"),
    *(
        "NOC_UNICAST_ADDR_Y",
        "get_tile_hw",
        "get_tile_size",
        "get_dataformat",
        "get_semaphore",
        "get_noc_addr",
    ),
    *("get_noc_multicast_addr", "get_absolute_logical_x", "get_absolute_logical_y"),
    *("get_relative_logical_x", "get_relative_logical_y"),
}


def test_calls_without_effect_are_the_known_ones() -> None:
    """A pure call may be left out; a steady one may be asked once instead of in each turn."""
    facts = declared_calls(DataMovementApi)
    assert {name for name, each in facts.items() if each.steady} == STEADY
    pure = {name for name, each in facts.items() if each.pure}
    ranges = {name for name in pure if name.startswith("SliceRange")}
    assert pure - ranges == {*STEADY, "get_write_ptr", "get_read_ptr"}
