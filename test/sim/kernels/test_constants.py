"""Macros, constants and conditions of switches."""

from __future__ import annotations

from functools import partial

import pytest
from oracles.kernel_oracle import RecordingApi, run

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.errors import SimError
from ttmlir.sim.kernels import compile_kernel
from ttmlir.sim.kernels.build import BindingNames, Build, CircularBufferFacts

MACROS = {
    "NOC_0": 0,
    "NOC_1": 1,
    "INT32_MAX": 2147483647,
    "INT32_MIN": -2147483648,
    "UINT8_MAX": 255,
    "UINT16_MAX": 65535,
    "UINT32_MAX": 4294967295,
}


@pytest.mark.parametrize("name", MACROS)
def test_macros(name: str) -> None:
    """Their numbers, and whether arithmetic with them is unsigned."""
    assert run(f"void kernel_main() {{ note({name}); }}").noted == [MACROS[name]]
    unsigned = name == "UINT32_MAX"
    below = run(f"void kernel_main() {{ note({name} * 0 - 1 < 0); }}").noted
    assert list(map(bool, below)) == [not unsigned]


@pytest.mark.parametrize("number", range(5))
def test_conditions_of_switches_are_evaluated_once(number: int) -> None:
    """However many cases they are compared with."""
    text = """void kernel_main() {
        int n = get_arg_val<int>(0);
        switch (n++) {
            case 3: note(30);
            case 1: note(10); break;
            case 2: note(20); break;
            default: note(90);
        }
        note(n);
    }"""
    cases = {1: [10], 2: [20], 3: [30, 10]}
    assert run(text, number).noted == [*cases.get(number, [90]), number + 1]


BUILD = Build(
    circular_buffers=(
        (3, CircularBufferFacts(data_format=5, tile_size=2048)),
        (16, CircularBufferFacts(data_format=6, tile_size=1088)),
    ),
    constants=(("DRAM_ALIGNMENT", 64), ("DST_ACCUM_MODE", 1), ("MATH_FIDELITY", 4)),
    macros=(("NUM_DRAM_BANKS", "12"), ("IS_NOT_POW2_NUM_DRAM_BANKS", "1")),
)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("get_tile_size(3)", 2048),
        ("get_tile_size(tt::CBIndex::c_16) / 2", 544),
        ("static_cast<uint32_t>(get_dataformat(16))", 6),
        ("get_tile_hw(3)", 1024),
        ("get_ct_arg<1>()", 7),
        ("get_ct_arg<get_compile_time_arg_val(0)>()", 7),
        ("DRAM_ALIGNMENT", 64),
        ("DST_ACCUM_MODE ? 4 : 8", 4),
        ("MATH_FIDELITY", 4),
        ("NUM_DRAM_BANKS", 12),
        ("tt::constants::TILE_HW + tt::constants::FACE_HW", 1280),
        ("std::min<uint32_t>(get_tile_size(16), 2000)", 1088),
    ],
)
def test_what_the_build_knows_is_constant(expression: str, value: int) -> None:
    """It may be a constexpr variable, a size of an array and an argument of a template."""
    text = f"""
    #ifndef IS_NOT_POW2_NUM_DRAM_BANKS
    #error "the board has 12 banks"
    #endif
    template <uint32_t n> uint32_t given() {{ return n; }}
    void kernel_main() {{
        constexpr uint32_t x = {expression};
        static_assert(x == {value});
        uint32_t array[x];
        array[0] = given<x>();
    }}"""
    compile_kernel(
        text, "k.cpp", Role.BRISC, api=RecordingApi, compile_time_args=(1, 7), build=BUILD
    )


def test_what_the_build_does_not_know_is_found_when_the_kernel_runs() -> None:
    """A circular buffer that is not configured, and one that is not named by a constant."""
    for expression in ("get_tile_size(5)", "get_tile_size(get_arg_val<uint32_t>(0))"):
        text = f"void kernel_main() {{ uint32_t x = {expression}; constexpr uint32_t y = 1; }}"
        compile_kernel(text, "k.cpp", Role.BRISC, api=DataMovementApi, build=BUILD)


NAMED = """
    constexpr const char* names[] = {"width", "height"};
    template <uint32_t N>
    constexpr std::array<uint32_t, N> fill(const char* const* from) {
        std::array<uint32_t, N> found{};
        for (uint32_t i = 0; i < N; ++i) found[i] = get_named_compile_time_arg_val(from[i]);
        return found;
    }
    void kernel_main() {
        constexpr auto known = fill<2>(names);
        static_assert(known[0] == 3 && known[1] == 5);
        note(get_named_compile_time_arg_val(names[get_arg_val<uint32_t>(0)]));
    }"""


def test_names_of_arguments_are_taken_from_tables() -> None:
    """When the kernel is compiled, and when it runs; one that nobody gave is told."""
    known = {"width": 3, "height": 5}
    build = partial(compile_kernel, role=Role.BRISC, api=RecordingApi)
    kernel = build(NAMED, "k.cpp", named_compile_time_args=known)
    api = RecordingApi(1)
    list(kernel.start(api))
    assert api.noted == [5]
    kernel = build(
        NAMED.replace("static_assert", "//"), "k.cpp", named_compile_time_args={"high": 5}
    )
    with pytest.raises(SimError, match=r"no compile-time argument 'width'; the kernel has 'high'"):
        list(kernel.start(api))


NAMES = BindingNames(
    arguments=("start", "count"),
    common_arguments=("scale",),
    constants=(("width", 12),),
    circular_buffers=(("in", 3), ("out", 16)),
    semaphores=(("ready", 2),),
)


def test_names_are_constants() -> None:
    """Of compile-time arguments, circular buffers and semaphores."""
    text = """void kernel_main() {
        constexpr uint32_t width = get_arg(args::width);
        static_assert(width == 12 && dfb::out == 16);
        uint32_t tile[width];
        note(get_arg(args::count));
        note(get_vararg(1));
        note(dfb::in);
        note(sem::ready);
    }"""
    kernel = compile_kernel(text, "k.cpp", Role.BRISC, api=RecordingApi, build=Build(names=NAMES))
    api = RecordingApi(100, 101, 102, 103)
    list(kernel.start(api))
    assert api.noted == [101, 103, 3, 2]


def test_functions_take_names_of_circular_buffers() -> None:
    """Their patterns of access are deduced, and known for no board that there is."""
    text = """
        template <typename T, dfb::AccessPattern P, dfb::AccessPattern C>
        void add(DFBBindingToken<P, C> token, T value) {
            static_assert(P == dfb::AccessPattern::UNKNOWN && P == C);
            note(uint16_t(token) + value);
        }
        void kernel_main() { add(dfb::out, 2); DFBBindingToken<> in = dfb::in; note(in); }"""
    kernel = compile_kernel(text, "k.cpp", Role.BRISC, api=RecordingApi, build=Build(names=NAMES))
    api = RecordingApi()
    list(kernel.start(api))
    assert api.noted == [18, 3]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("get_arg(args::strat)", "names no argument 'strat'; there are args::start, args::count"),
        ("get_arg(3)", "get_arg takes a name of the host program: args::name"),
        ("get_arg(args::strat)", "did you mean 'args::start'"),
    ],
)
def test_names_that_the_host_program_does_not_give(expression: str, message: str) -> None:
    """The message lists those that there are."""
    text = f"void kernel_main() {{ uint32_t x = {expression}; }}"
    with pytest.raises(CppSyntaxError, match=message):
        compile_kernel(text, "k.cpp", Role.BRISC, api=RecordingApi, build=Build(names=NAMES))
