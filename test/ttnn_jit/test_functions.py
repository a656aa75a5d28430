"""What functions that are compiled may do: Python's control flow, arguments, caches, refusals."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ttmlir import ttnn, ttnn_jit
from ttmlir.ttnn_jit.function import CAPACITY


def tensor(device: Any, *shape: int, start: float = -1, **where: Any) -> Any:
    """Numbers from `start` to 1."""
    array = np.linspace(start, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    return ttnn.Tensor(array, ttnn.bfloat16, device, ttnn.TILE_LAYOUT, **where)


def numbers(tensor: Any) -> np.ndarray:
    """The numbers of a tensor."""
    return ttnn.to_numpy(tensor.cpu()).astype(np.float32)


def error_of(call: Callable[[], object], kind: type[Exception] = RuntimeError) -> str:
    """The text of what a call raises."""
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def tables(function: Any, *tensors: Any) -> list[str]:
    """What the compiled file does, one operation after another."""
    return [each.table for each in function.compile(*tensors).binary.programs[0].operations]


# --- Python --------------------------------------------------------------------------------------


def test_equal_calls_are_computed_once(device: Any) -> None:
    """Both results are tensors of their own."""

    @ttnn_jit.jit()
    def twice(x: Any) -> Any:
        return ttnn.exp(x), ttnn.exp(x), ttnn.add(ttnn.exp(x), ttnn.exp(x))

    x = tensor(device, 33, 70)
    first, second, total = twice(x)
    np.testing.assert_allclose(numbers(first), np.exp(numbers(x)), rtol=2.0**-7)
    np.testing.assert_array_equal(numbers(first), numbers(second))
    np.testing.assert_allclose(numbers(total), 2 * np.exp(numbers(x)), rtol=2.0**-6)
    assert tables(twice, x).count("GenericOp") == 1
    ttnn.deallocate(first)
    np.testing.assert_allclose(numbers(second), np.exp(numbers(x)), rtol=2.0**-7)


def test_functions_on_meshes(tmp_path: Path) -> None:
    """Each device computes with its parts; what they exchange is outside of the function."""

    @ttnn_jit.jit()
    def grow(x: Any, y: Any) -> Any:
        return ttnn.add(ttnn.exp(x), y), ttnn.exp(y)

    @ttnn_jit.jit()
    def exchange(x: Any) -> Any:
        return ttnn.all_reduce(ttnn.exp(x))

    with ttnn.create_mesh_device(ttnn.MeshShape(1, 2)) as mesh:
        array = np.linspace(-1, 1, 33 * 70, dtype=np.float32).reshape(33, 70)
        mapper = ttnn.ShardTensorToMesh(mesh, 1)
        x = ttnn.from_torch(
            array, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper
        )
        total, other = grow(x, x)
        composer = ttnn.ConcatMeshToTensor(mesh, 1)
        for result, expected in ((total, np.exp(array) + array), (other, np.exp(array))):
            assert result.device() is mesh
            found = ttnn.to_numpy(result, mesh_composer=composer).astype(np.float32)
            np.testing.assert_allclose(found, expected, rtol=2.0**-6, atol=2.0**-6)
        text = error_of(lambda: exchange(x))
        assert "exchanges nothing between the 2 devices of the mesh; call ttnn.all_gather" in text
        assert "test_functions.py:" in text
        text = error_of(lambda: grow.save(tmp_path / "kernels.py", x, x))
        assert "a script is for one device" in text


def test_control_flow_is_unrolled(device: Any) -> None:
    """`for`, `if`, shapes and functions of functions are Python's own."""

    def power(x: Any, count: int) -> Any:
        result = x
        for _ in range(count - 1):
            result = ttnn.multiply(result, x)
        return result

    @ttnn_jit.jit()
    def polynomial(x: Any, orders: tuple[int, ...], *, negate: bool = False) -> Any:
        total = None
        for order in orders:
            term = power(x, order)
            total = term if total is None else ttnn.add(total, term)
        if negate and x.shape[0] > 1 and x.dtype == ttnn.bfloat16:
            return ttnn.neg(total)
        return total

    x = tensor(device, 40, 70)
    wanted = numbers(x) + numbers(x) ** 3
    np.testing.assert_allclose(numbers(polynomial(x, (1, 3))), wanted, atol=0.02)
    np.testing.assert_allclose(numbers(polynomial(x, (1, 3), negate=True)), -wanted, atol=0.02)
    assert polynomial.num_entries == 2


def test_several_results_and_nested_arguments(device: Any) -> None:
    """Tuples and lists of tensors come in and go out."""

    @ttnn_jit.jit()
    def swap(pair: list[Any], by: dict[str, Any]) -> tuple[Any, ...]:
        return ttnn.exp(pair[1]), pair[0], ttnn.add(pair[0], by["more"])

    x, y, z = (tensor(device, 33, 65, start=start) for start in (-1, -2, 0))
    first, second, third = swap([x, y], {"more": z})
    np.testing.assert_allclose(numbers(first), np.exp(numbers(y)), rtol=0.02)
    np.testing.assert_array_equal(numbers(second), numbers(x))
    np.testing.assert_allclose(numbers(third), numbers(x) + numbers(z), atol=0.02)


def test_compiled_functions_call_each_other(device: Any) -> None:
    """Both become one."""

    @ttnn_jit.jit()
    def inner(x: Any) -> Any:
        return ttnn.exp(x)

    @ttnn_jit.jit()
    def outer(x: Any) -> Any:
        return ttnn.neg(inner(x))

    x = tensor(device, 40, 70)
    assert outer.compile(x).num_kernel_launches == 1
    np.testing.assert_allclose(numbers(outer(x)), -np.exp(numbers(x)), rtol=0.02)
    assert inner.num_entries == 0


def test_tracing_takes_no_memory(device: Any) -> None:
    """Recording leaves the device as it was, also after an error."""
    x = tensor(device, 64, 64)
    view = device.get_memory_view(ttnn.BufferType.DRAM)

    @ttnn_jit.jit(compile_only=False)
    def wrong(x: Any) -> Any:
        return ttnn.mul(ttnn.exp(x), x)

    error_of(lambda: wrong(x), AssertionError)
    after = device.get_memory_view(ttnn.BufferType.DRAM)
    assert after.total_bytes_allocated_per_bank == view.total_bytes_allocated_per_bank
    assert numbers(ttnn.exp(x)).shape == (64, 64)


# --- Caches --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (1, 1, True),
        (1, 2, False),
        (1, 1.0, False),
        (1, True, False),
        (0.0, -0.0, False),
        (float("nan"), float("nan"), True),
        ("a", "a", True),
        ((1, 2), (1, 2), True),
        ([1, 2], (1, 2), False),
    ],
)
def test_scalars_are_part_of_the_key(device: Any, first: Any, second: Any, *, same: bool) -> None:
    """Numbers that could make a difference make an entry of their own."""

    @ttnn_jit.jit()
    def function(x: Any, value: Any) -> Any:
        return ttnn.exp(x)

    x = tensor(device, 32, 32)
    function(x, first)
    function(x, second)
    assert function.num_entries == (1 if same else 2)


def test_global_numbers_are_part_of_the_key(device: Any) -> None:
    """A function that reads a number from around it is compiled again when it changes."""
    factor = 2.0

    @ttnn_jit.jit()
    def scale(x: Any) -> Any:
        return ttnn.multiply(x, factor)

    x = tensor(device, 32, 32)
    first = numbers(scale(x))
    factor = 4.0
    np.testing.assert_array_equal(numbers(scale(x)), first * 2)


@pytest.mark.parametrize(
    "other",
    [
        {"shape": (64, 32)},
        {"dtype": ttnn.float32},
        {"layout": ttnn.ROW_MAJOR_LAYOUT},
        {"memory_config": ttnn.L1_MEMORY_CONFIG},
    ],
)
def test_metadata_is_the_key(device: Any, other: dict[str, Any]) -> None:
    """Shape, data type, layout and memory each make an entry."""
    function = ttnn_jit.jit()(lambda x: ttnn.exp(x))
    facts = {"shape": (32, 32), "dtype": ttnn.bfloat16, "layout": ttnn.TILE_LAYOUT}
    for given in (facts, {**facts, **other}):
        function(ttnn.ones(device=device, **given))
    assert function.num_entries == 2


def test_addresses_are_bound_at_each_call(device: Any) -> None:
    """One entry, tensors at random addresses: each call reads and writes its own."""
    function = ttnn_jit.jit(max_grid=(7, 7))(lambda x, y: ttnn.add(ttnn.exp(x), y))
    chooser = random.Random(0)
    held: list[Any] = []
    addresses: set[int] = set()
    for call in range(40):
        x, y = tensor(device, 32, 64, start=-call), tensor(device, 32, 64, start=call)
        result = function(x, y)
        np.testing.assert_allclose(
            numbers(result), np.exp(numbers(x)) + numbers(y), rtol=0.02, atol=0.02
        )
        addresses.add(result.buffer_address())
        held += [x, y, result]
        chooser.shuffle(held)
        del held[chooser.randrange(4) :]
    assert function.num_entries == 1
    assert len(addresses) > 3


def test_oldest_entry_makes_room(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache holds the entries that were used last."""
    cache = ttnn_jit.JitCache(2)
    entries = [object() for _ in range(3)]
    for key in (0, 1):
        cache.put(key, entries[key])
    assert cache.get(0) is entries[0]
    cache.put(2, entries[2])
    assert (cache.get(0), cache.get(1), cache.get(2)) == (entries[0], None, entries[2])
    assert CAPACITY == 64


def test_without_a_cache(device: Any) -> None:
    """Every call compiles; the number of entries is no question then."""
    function = ttnn_jit.jit(enable_cache=False)(lambda x: ttnn.exp(x))
    x = tensor(device, 32, 32)
    np.testing.assert_array_equal(numbers(function(x)), numbers(function(x)))
    message = error_of(lambda: function.num_entries, AssertionError)
    assert message == "the cache is not enabled; give jit enable_cache=True"


# --- Flags ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"compile_only": True, "fallback": True}, "compile_only and fallback do not go together"),
        ({"frontend": "guess"}, "frontend is one of ast, graph_capture, tracing, not 'guess'"),
        ({"max_grid": 3}, "max_grid is two numbers from 0 on, not 3"),
        ({"max_grid": ("7", 7)}, "max_grid is two numbers from 0 on, not ('7', 7)"),
        ({"max_grid": (7,)}, "max_grid is two numbers from 0 on, not (7,)"),
        ({"max_grid": (7, -1)}, "max_grid is two numbers from 0 on, not (7, -1)"),
        ({"math_fidelity": "HiFi9"}, "math_fidelity is one of LoFi, HiFi2, HiFi3, HiFi4, not"),
    ],
)
def test_flags_that_cannot_be(flags: dict[str, Any], message: str) -> None:
    """ValueError where the function is decorated."""
    assert message in error_of(lambda: ttnn_jit.jit(**flags), ValueError)


@pytest.mark.parametrize("frontend", ["ast", "graph_capture", "tracing"])
def test_frontends_are_one(device: Any, frontend: str) -> None:
    """Calls are recorded whatever the frontend is called."""
    flags: dict[str, Any] = {"frontend": frontend, "graph_capture": frontend != "ast"}
    function = ttnn_jit.jit(**flags)(lambda x: ttnn.exp(x))
    x = tensor(device, 32, 32)
    np.testing.assert_allclose(numbers(function(x)), np.exp(numbers(x)), rtol=0.02)


def test_max_grid_limits_the_cores(device: Any) -> None:
    """Columns and rows, less by one."""
    function = ttnn_jit.jit(max_grid=(1, 3))(lambda x: ttnn.exp(x))
    compiled = function.compile(tensor(device, 512, 512))
    (program,) = compiled.descriptions.values()
    cores = {core for kernel in program.kernels for each in kernel.core_ranges for core in each}
    assert len(cores) > 1
    assert max(x for x, _ in cores) <= 1
    assert max(y for _, y in cores) <= 3


@pytest.mark.parametrize("fidelity", ["HiFi2", ttnn.MathFidelity.HiFi2])
def test_math_fidelity_reaches_the_kernels(device: Any, fidelity: Any) -> None:
    """By name, or as ttnn's number."""
    function = ttnn_jit.jit(math_fidelity=fidelity)(lambda x: ttnn.matmul(x, x))
    (program,) = function.compile(tensor(device, 64, 64)).descriptions.values()
    assert program.kernels[-1].config.math_fidelity.name == "HIFI2"


def test_memory_config_is_that_of_the_result(device: Any) -> None:
    """The result is where it is wanted."""
    grid = ttnn.CoreGrid(y=2, x=2)
    config = ttnn.create_sharded_memory_config(
        (64, 128), core_grid=grid, strategy=ttnn.ShardStrategy.BLOCK
    )
    x = tensor(device, 64, 128)
    function = ttnn_jit.jit(memory_config=config)(lambda x: ttnn.exp(x))
    result = function(x)
    assert result.memory_config() == config
    np.testing.assert_allclose(numbers(result), np.exp(numbers(x)), rtol=0.02)
    assert tables(function, x) == ["GetDeviceOp", "EmptyOp", "GenericOp"]


def test_fallback_runs_the_function(device: Any) -> None:
    """What cannot be compiled runs as plain calls of ttnn."""
    function = ttnn_jit.jit(fallback=True)(lambda x: ttnn.mul(x, x))
    x = tensor(device, 32, 32)
    np.testing.assert_allclose(numbers(function(x)), numbers(x) ** 2, atol=0.01)
    assert function.num_entries == 0
    assert function.fallback_used


def test_fallback_is_that_of_the_last_call(device: Any) -> None:
    """`fallback_used` says of the last call whether it was compiled; `func` is the function."""

    def double(x: Any, by_mul: bool) -> Any:
        return ttnn.mul(x, 2) if by_mul else ttnn.multiply(x, 2)

    function = ttnn_jit.jit(fallback=True)(double)
    x = tensor(device, 32, 32)
    assert function.func is double
    assert not function.fallback_used
    used: list[bool] = []
    for by_mul in (False, True, False):
        function(x, by_mul)
        used.append(function.fallback_used)
    assert used == [False, True, False]


def test_modules_of_upstream() -> None:
    """Programs written for tt-mlir's own package import these."""
    from ttnn_jit._src.utils import get_maximal_block_sharding_grid
    from ttnn_jit.api import jit

    assert jit is ttnn_jit.jit
    # 4x6 tiles on 8x8 cores; 2*5x9 tiles on 7 columns and 6 rows.
    assert get_maximal_block_sharding_grid((128, 192), (8, 8)) == (5, 3)
    assert get_maximal_block_sharding_grid((2, 160, 288), (7, 6)) == (2, 4)
    with pytest.raises(ValueError, match="a tensor of \\[33, 32\\] is no whole number of tiles"):
        get_maximal_block_sharding_grid((33, 32), (8, 8))


def test_fallback_where_a_pass_fails(device: Any) -> None:
    """It does not matter what the function lacks."""
    function = ttnn_jit.jit(fallback=True)(lambda x: ttnn.lgamma(x))
    x = tensor(device, 32, 32, start=0.5)
    np.testing.assert_array_equal(numbers(function(x)), numbers(ttnn.lgamma(x)))


def test_fallback_where_an_argument_is_refused(device: Any) -> None:
    """Also where a call of ttnn hands the refusal on."""
    function = ttnn_jit.jit(fallback=True)(lambda x: ttnn.matmul(x, x, activation="relu"))
    x = tensor(device, 32, 32)
    expected = numbers(ttnn.matmul(x, x, activation="relu"))
    np.testing.assert_array_equal(numbers(function(x)), expected)


def test_extra_pipeline_options(device: Any) -> None:
    """Options of the pipeline, as on the command line."""
    function = ttnn_jit.jit(extra_pipeline_options="enable-fusion=false")(
        lambda x: ttnn.neg(ttnn.exp(x))
    )
    assert function.compile(tensor(device, 32, 32)).num_kernel_launches == 2


# --- Refusals ------------------------------------------------------------------------------------

CALLS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: ttnn.to_torch(x), "Function to_torch not supported"),
    (lambda x: ttnn.argmax(x, 0), "Function argmax not supported; call it outside"),
    (lambda x: ttnn.add_(x, x), "Function add_ not supported; use ttnn.add"),
    # The nearest names are no synonyms: they compute something else.
    (lambda x: ttnn.glu(x), "glu not supported; nearest names: ttnn.gelu; call ttnn.glu outside"),
    (lambda x: ttnn.sub(x, x), "Function sub not supported; use ttnn.subtract"),
    (lambda x: ttnn.swish(x), "Function swish not supported; use ttnn.silu"),
    (lambda x: ttnn.clip(x, 0, 1), "Function clip not supported; use ttnn.clamp"),
    (lambda x: ttnn.expp(x), "Function expp not supported; nearest: ttnn.exp"),
]


@pytest.mark.parametrize(("function", "message"), CALLS)
def test_unsupported_calls(device: Any, function: Any, message: str) -> None:
    """The call is named, with the line, and what to call instead."""
    text = error_of(lambda: ttnn_jit.jit()(function)(tensor(device, 32, 32)), AssertionError)
    assert message in text
    assert text.startswith(f"{Path(__file__).name}:") or f"{Path(__file__).name}:" in text
    assert text.endswith("^")


REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: ttnn.add(x, x, activations=["relu"]), "ttnn.add: activations is not supported"),
    (lambda x: ttnn.round(x, decimals=2), "ttnn.round: decimals is 0"),
    (lambda x: ttnn.sum(x, dim=0, scalar=2.0), "ttnn.sum: scalar is 1"),
    (lambda x: ttnn.cumsum(x, 0, reverse_order=True), "ttnn.cumsum: reverse_order and dtype"),
    (lambda x: x[3:3], "a part of a tensor has no elements: [0, 48]"),
    (lambda x: ttnn.pad(x, (40, 48), (0, 0), 1.0), "ttnn.pad: give pairs for each dimension"),
    (lambda x: 3, "returns tensors of ttnn, or a tuple of them, not int"),
    (lambda x: ttnn.zeros((32, 32)), "its result is on the host; give it the device of a tensor"),
    (lambda x: ttnn.matmul(x, ttnn.exp(x), transpose_a=1, bias=1), "unexpected keyword argument"),
]


@pytest.mark.parametrize(("function", "message"), REFUSED)
def test_refused_arguments(device: Any, function: Any, message: str) -> None:
    """What kernels do not compute is refused, with the line."""
    kinds = (RuntimeError, TypeError)
    with pytest.raises(kinds) as caught:
        ttnn_jit.jit()(function)(tensor(device, 32, 48))
    assert message in str(caught.value)
    assert str(caught.value).count(Path(__file__).name) == 1


def test_tensor_from_around_the_function(device: Any) -> None:
    """Tensors are arguments: others would be bound once and for all."""
    other = tensor(device, 32, 32)
    function = ttnn_jit.jit()(lambda x: ttnn.add(x, other))
    text = error_of(lambda: function(tensor(device, 32, 32)))
    assert "a tensor of Shape([32, 32]) is no argument of the function that is compiled" in text


def test_arguments_that_cannot_be(device: Any) -> None:
    """No tensor, tensors of the host, and values that cannot be compared."""
    function = ttnn_jit.jit()(lambda x, y=None: ttnn.exp(x))
    assert "is called without a tensor" in error_of(lambda: function(3))
    host = ttnn.Tensor(np.ones((32, 32), np.float32), ttnn.bfloat16, None, ttnn.TILE_LAYOUT)
    assert "operands must be on device" in error_of(lambda: function(host))
    text = error_of(lambda: function(tensor(device, 32, 32), np.ones(3)))
    assert "an argument of type ndarray cannot be a part of the key" in text
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        function()


def _sharded(layout: str, grid: Any, shard: tuple[int, int], **facts: Any) -> Any:
    spec = ttnn.ShardSpec(grid, shard, facts.get("orientation", ttnn.ShardOrientation.ROW_MAJOR))
    memory = facts.get("memory", ttnn.BufferType.L1)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout[layout], memory, spec)


def _cores(*ranges: tuple[tuple[int, int], tuple[int, int]]) -> Any:
    return ttnn.CoreRangeSet(
        [ttnn.CoreRange(ttnn.CoreCoord(*a), ttnn.CoreCoord(*b)) for a, b in ranges]
    )


LAYOUTS = [
    (
        _sharded("BLOCK_SHARDED", _cores(((0, 0), (1, 1))), (32, 32), memory=ttnn.BufferType.DRAM),
        "sharded DRAM tensors are not supported",
    ),
    (
        _sharded(
            "BLOCK_SHARDED",
            _cores(((0, 0), (1, 1))),
            (32, 32),
            orientation=ttnn.ShardOrientation.COL_MAJOR,
        ),
        "column-major sharding is not supported",
    ),
    (
        _sharded("HEIGHT_SHARDED", _cores(((0, 0), (0, 0)), ((2, 2), (2, 2))), (32, 64)),
        "grids with more than one core range are not supported",
    ),
]


@pytest.mark.parametrize(("config", "message"), LAYOUTS)
def test_layouts_that_kernels_do_not_take(device: Any, config: Any, message: str) -> None:
    """They are refused, with what to do."""
    x = ttnn.ones((64, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, config)
    text = error_of(lambda: ttnn_jit.jit()(lambda x: ttnn.exp(x))(x))
    assert message in text
    assert "move it with ttnn.to_memory_config first" in text


@pytest.mark.parametrize(
    ("layout", "ranges", "shard"),
    [
        ("HEIGHT_SHARDED", ((1, 2), (4, 3)), (32, 64)),
        ("WIDTH_SHARDED", ((2, 1), (3, 2)), (256, 32)),
        ("BLOCK_SHARDED", ((3, 1), (4, 4)), (64, 32)),
    ],
)
def test_shards_on_any_rectangle(device: Any, layout: str, ranges: Any, shard: Any) -> None:
    """The cores that hold an argument need not begin at (0, 0)."""
    shape = (256, 64) if layout != "WIDTH_SHARDED" else (256, 128)
    config = _sharded(layout, _cores(ranges), shard)
    x = tensor(device, *shape)
    moved = ttnn.to_memory_config(x, config)
    function = ttnn_jit.jit(max_grid=(7, 7))(lambda x, y: ttnn.add(ttnn.exp(x), y))
    result = function(moved, x)
    assert result.spec == moved.spec
    np.testing.assert_allclose(numbers(result), np.exp(numbers(x)) + numbers(x), atol=0.03)
    # Kernels read and write shards where they are.
    assert tables(function, moved, x) == ["GetDeviceOp", "EmptyOp", "GenericOp"]


SHARDS = _sharded("BLOCK_SHARDED", _cores(((2, 1), (4, 2))), (64, 64))
"""Of tensors of 96x160: the last ones are not full."""


SQUARES = _sharded("HEIGHT_SHARDED", _cores(((0, 0), (2, 0))), (32, 96))
TALL = _sharded("HEIGHT_SHARDED", _cores(((1, 1), (2, 3))), (32, 160))


def _both(x: Any) -> Any:
    powers = ttnn.exp(x)
    return powers, powers + 1


def _scores(x: Any) -> Any:
    """A product in shards, which softmax reads, too."""
    scores = ttnn.matmul(ttnn.exp(x), x, transpose_b=True) * 0.002
    return ttnn.to_memory_config(scores, SQUARES), ttnn.softmax(scores, -1)


def _softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _scores_of(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scores = np.exp(x) @ x.T * 0.002
    return scores, _softmax(scores)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("function", "meaning", "count"),
    [
        (lambda x: (x, ttnn.exp(x)), lambda x: (x, np.exp(x)), 1),
        (_both, lambda x: (np.exp(x), np.exp(x) + 1), 1),
        (
            lambda x: ttnn.to_memory_config(ttnn.exp(x), ttnn.DRAM_MEMORY_CONFIG),
            lambda x: (np.exp(x),),
            1,
        ),
        (
            lambda x: ttnn.concat([ttnn.exp(x), x], 0, memory_config=TALL),
            lambda x: (np.concatenate([np.exp(x), x]),),
            3,
        ),
        (_scores, _scores_of, 1),
    ],
)
def test_programs_on_shards(device: Any, function: Any, meaning: Any, count: int) -> None:
    """Results in shards, of several kernels or read again, are those of plain calls."""
    x = ttnn.to_memory_config(tensor(device, 96, 160), SHARDS)
    results, plain = ttnn_jit.jit(max_grid=(7, 7))(function)(x), function(x)
    results = results if isinstance(results, tuple) else (results,)
    plain = plain if isinstance(plain, tuple) else (plain,)
    for result, same, wanted in zip(results, plain, meaning(numbers(x)), strict=True):
        assert result.spec == same.spec
        np.testing.assert_allclose(numbers(result), wanted, atol=0.04 * np.abs(wanted).max())
    made = tables(ttnn_jit.jit(max_grid=(7, 7))(function), x)
    assert made.count("GenericOp") == count


@pytest.mark.parametrize(
    ("options", "roundings"),
    [
        # The exponential and the sum.
        ("fp32-dest-acc-en=true", 2),
        # The matrix unit adds 16 numbers at a time, 22 times, and each time rounds what it has so
        # far: half of the result on average.
        ("fp32-dest-acc-en=false", 2 + 22 / 2),
    ],
)
def test_other_boards(options: str, roundings: float) -> None:
    """Blackhole has another grid, other memory and other networks."""
    device = ttnn.open_device(device_id=0, board="p150")
    x = tensor(device, 200, 350)
    jit = ttnn_jit.jit(max_grid=(20, 20), extra_pipeline_options=options)
    result = numbers(jit(lambda x: ttnn.sum(ttnn.exp(x), dim=-1))(x))
    np.testing.assert_allclose(result, np.exp(numbers(x)).sum(-1), rtol=roundings * 2**-8)
    ttnn.close_device(device)


def test_compiled_files_are_the_same_each_time(device: Any) -> None:
    """Byte for byte."""

    def function(x: Any) -> Any:
        return ttnn.matmul(ttnn.exp(x), ttnn.transpose(x, 0, 1))

    x = tensor(device, 96, 160)
    first, second = (ttnn_jit.jit()(function).compile(x).data for _ in range(2))
    assert first == second
