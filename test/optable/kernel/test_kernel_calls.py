"""What has to hold for every definition of the table of kernel calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ttmlir.optable.kernel import (
    CALLS,
    Element,
    Form,
    Role,
    Scalar,
    ValueKind,
    call_named,
    calls_named,
)
from ttmlir.optable.kernel.kernel_call import ENUMS

UNITS = {
    *("pack_set_data_type", "unpack_set_data_type", "pack", "unpack_a", "unpack_ab"),
    *("add", "sub", "mul", "matmul"),
}


def test_mnemonics_are_unique() -> None:
    """So are the numbers of operands among the overloads of a name."""
    assert len({call.mnemonic for call in CALLS}) == len(CALLS)
    for call in CALLS:
        if call.header and call.form is Form.CALL:
            overloads = calls_named(call.cpp)
            kinds = {tuple(kind for _, kind in other.operands) for other in overloads}
            assert len(kinds) == len(overloads)
            assert {(other.roles, other.result and other.result[1]) for other in overloads} == {
                (call.roles, call.result and call.result[1])
            }


def test_names_headers_roles() -> None:
    """Each definition is complete and consistent in itself."""
    for call in CALLS:
        assert call.summary.endswith("."), call.mnemonic
        assert call.roles, call.mnemonic
        assert call.roles in Role.ALL, call.mnemonic
        assert call.cpp.isidentifier(), call.mnemonic
        assert bool(call.header) is (call.mnemonic not in UNITS), call.mnemonic
        names = [name for name, _ in call.operands] + [option.name for option in call.options]
        names += [template.name for template in call.templates]
        assert len(set(names)) == len(names), call.mnemonic
        enums = {template.enum for template in call.templates if template.enum}
        assert enums <= set(ENUMS), call.mnemonic


def test_tiles() -> None:
    """Operands that are named exist, and are what they are named as."""
    for call in CALLS:
        if call.tiles is None:
            assert call.reference is None, call.mnemonic
            continue
        operands = dict(call.operands)
        indices = (call.tiles.to, *call.tiles.dst, *(index for _, index in call.tiles.cbs))
        assert all(operands[name] is ValueKind.I32 for name in indices), call.mnemonic
        assert all(operands[name] is ValueKind.CB for name, _ in call.tiles.cbs), call.mnemonic
        assert {name for name, _, _ in call.tiles.scalars} <= set(operands), call.mnemonic
        assert Role.MATH in call.roles, call.mnemonic


def test_costs() -> None:
    """What computes takes time, with a source or an estimate, on threads that it runs on."""
    for call in CALLS:
        cost = call.cost
        cycles = {Role.UNPACK: cost.unpack, Role.MATH: cost.math, Role.PACK: cost.pack}
        assert all(role in call.roles for role, count in cycles.items() if count), call.mnemonic
        assert bool(cost.source) is any(cycles.values()), call.mnemonic
        assert cost.math > 0 or call.tiles is None, call.mnemonic


def test_approximations() -> None:
    """They are faster, take flags that the call and its preparation have, and have a source."""
    found = {call.mnemonic: call for call in CALLS if call.approximation is not None}
    assert set(found) == {
        f"{name}_tile" for name in ("exp", "gelu", "rsqrt", "sigmoid", "sqrt", "tanh")
    }
    for call in found.values():
        coarse = call.approximation
        assert coarse is not None
        assert set(coarse.flags) <= {template.name for template in call.templates}
        assert set(coarse.flags) <= {template.name for template in call_named(call.init).templates}
        assert 0 < coarse.cost.math < call.cost.math
        assert coarse.cost.source
        assert not call.cost.blackhole or coarse.cost.blackhole < call.cost.blackhole


def test_preparations() -> None:
    """The call that prepares another one exists, and runs wherever that one does."""
    by_mnemonic = {call.mnemonic: call for call in CALLS}
    for call in CALLS:
        if call.init:
            where = call.roles & (Role.UNPACK | Role.MATH)
            assert where in by_mnemonic[call.init].roles, call.mnemonic


def test_calls_are_found_by_their_names_in_cpp() -> None:
    """Overloads together, methods apart."""
    assert call_named("get_noc_addr").mnemonic == "get_noc_addr"
    assert [call.mnemonic for call in calls_named("get_noc_addr")] == [
        "get_noc_addr",
        "get_noc_addr_of_page",
        "get_local_noc_addr",
    ]
    assert call_named("DPRINT").mnemonic == "dprint"
    for name in ("pack", "is_local_page", "no_such_call"):
        with pytest.raises(KeyError):
            call_named(name)


@pytest.mark.parametrize(
    ("name", "fewest", "most"),
    [
        ("pack_tile", 2, 3),
        ("get_compile_time_arg_val", 1, 1),
        ("noc_async_write_multicast", 4, 6),
        ("matmul_tiles", 5, 6),
        ("untilize_init", 1, 2),
        ("DPRINT", 0, None),
    ],
)
def test_number_of_arguments(name: str, fewest: int, most: int | None) -> None:
    """As tt-metal's declarations have them."""
    call = call_named(name)
    assert (call.fewest_arguments, call.most_arguments) == (fewest, most)


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("cb_wait_front", Role.BRISC | Role.NCRISC | Role.UNPACK),
        ("cb_push_back", Role.BRISC | Role.NCRISC | Role.PACK),
        ("noc_async_read", Role.BRISC | Role.NCRISC),
        ("tile_regs_acquire", Role.MATH),
        ("tile_regs_wait", Role.PACK),
        ("copy_tile", Role.UNPACK | Role.MATH),
        ("exp_tile", Role.MATH),
        ("get_arg_val", Role.ALL),
    ],
)
def test_where_calls_run(name: str, roles: Role) -> None:
    """As tt-metal's macros UNPACK, MATH and PACK put them."""
    assert call_named(name).roles == roles


def value(name: str, *tiles: Any, **scalars: Any) -> list[float]:
    """The meaning of a call, as numbers."""
    reference = call_named(name).reference
    assert reference is not None
    arrays = [np.asarray(tile, np.float32) for tile in tiles]
    return np.asarray(reference(np, *arrays, **scalars), np.float64).tolist()


X = [[1, 2], [3, 4]]
Y = [[10, 20], [30, 40]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("add_tiles_bcast_rows", [[11, 22], [13, 24]]),
        ("add_tiles_bcast_cols", [[11, 12], [33, 34]]),
        ("sub_tiles_bcast_scalar", [[-9, -8], [-7, -6]]),
        ("mul_tiles_bcast_cols", [[10, 20], [90, 120]]),
        ("matmul_tiles", [[70, 100], [150, 220]]),
    ],
)
def test_calls_of_the_matrix_unit(name: str, expected: list[list[float]]) -> None:
    """By hand."""
    assert value(name, X, Y) == expected


def test_calls_on_one_tile_of_a_circular_buffer() -> None:
    """By hand."""
    assert value("transpose_wh_tile", X) == [[1, 3], [2, 4]]
    assert value("copy_tile", X) == X


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("NONE", [[1, 2], [3, 4]]),
        ("ROW", [[1, 2], [1, 2]]),
        ("COL", [[1, 1], [3, 3]]),
        ("SCALAR", [[1, 1], [1, 1]]),
    ],
)
def test_broadcasts_by_template_argument(kind: str, expected: list[list[float]]) -> None:
    """By hand."""
    assert value("unary_bcast", X, bcast_type=kind) == expected
    assert value("sub_tiles_bcast", [[0, 0], [0, 0]], X, bcast_type=kind) == [
        [-number for number in row] for row in expected
    ]


@pytest.mark.parametrize(
    ("name", "scalars", "expected"),
    [
        ("relu_max_tile", {"upper_limit": 1.5}, [0, 0, 0.5, 1.5]),
        ("relu_min_tile", {"value": 0.25}, [0.25, 0.25, 0.5, 2]),
        ("hardtanh_tile", {"min": -1, "max": 1}, [-1, 0, 0.5, 1]),
        ("hardsigmoid_tile", {}, [0, 0.5, 0.5 + 0.5 / 6, 0.5 + 2 / 6]),
        ("heaviside_tile", {"value": 0.75}, [0, 0.75, 1, 1]),
        ("rsub_unary_tile", {"value": 1}, [5, 1, 0.5, -1]),
        ("div_unary_tile", {"value": 0.5}, [-2, 0, 0.25, 1]),
        ("unary_gt_tile", {"value": 0}, [0, 0, 1, 1]),
        ("lez_tile", {}, [1, 1, 0, 0]),
        ("softsign_tile", {}, [-0.8, 0, 1 / 3, 2 / 3]),
        ("elu_tile", {"alpha": 2}, [2 * (np.exp(-4) - 1), 0, 0.5, 2]),
        ("selu_tile", {"scale": 3, "alpha": 2}, [6 * (np.exp(-4) - 1), 0, 1.5, 6]),
        (
            "softplus_tile",
            {"beta": 2, "beta_reciprocal": 0.5, "threshold": 3},
            [np.log(1 + np.exp(-8)) / 2, np.log(2) / 2, np.log(1 + np.e) / 2, 2],
        ),
        ("frac_tile", {}, [0, 0, 0.5, 0]),
        ("power_tile", {"value": 3}, [-64, 0, 0.125, 8]),
        ("fill_tile", {"value": 7}, None),
    ],
)
def test_calls_of_the_vector_unit(
    name: str, scalars: dict[str, float], expected: list[float] | None
) -> None:
    """By hand; the numbers of the call are named by the definition."""
    tiles = call_named(name).tiles
    assert tiles is not None
    assert {parameter for _, parameter, _ in tiles.scalars} == set(scalars)
    if expected is None:
        assert value(name, **scalars) == 7
        return
    np.testing.assert_allclose(value(name, [-4, 0, 0.5, 2], **scalars), expected, rtol=1e-6)


def test_numbers_are_encoded_as_tt_metal_takes_them() -> None:
    """Bits of a float, an integer with sign, or a float."""
    names = ("clamp_tile", "clamp_tile_int32", "fill_tile", "power_tile")
    tiles = {name: call_named(name).tiles for name in names}
    encodings = {n: [encoding for *_, encoding in t.scalars] for n, t in tiles.items() if t}
    assert encodings == {
        "clamp_tile": [Scalar.FLOAT_BITS] * 2,
        "clamp_tile_int32": [Scalar.INTEGER] * 2,
        "fill_tile": [Scalar.FLOAT],
        "power_tile": [Scalar.INTEGER],
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [("binary_right_shift_tile", [-1, 3]), ("binary_logical_right_shift_tile", [15, 3])],
)
def test_shifts_down(name: str, expected: list[int]) -> None:
    """The sign bit comes again, or zeros."""
    definition = call_named(name)
    assert definition.reference is not None
    assert definition.tiles is not None
    element = np.uint32 if definition.tiles.element is Element.UINT32 else np.int32
    x, y = np.array([-8, 12], np.int32), np.array([28, 2], np.int32)
    assert definition.reference(np, x.view(element), y.view(element)).tolist() == expected


def test_templates_of_calls_on_integers() -> None:
    """Of two that are added, only the computation names a format; so does a choice."""
    formats = {
        call.mnemonic: [template.name for template in call.templates]
        for call in CALLS
        if "_int_tile" in call.mnemonic or call.mnemonic.startswith("where_tile")
    }
    assert formats == {
        "add_int_tile_init": [],
        "add_int_tile": ["data_format"],
        "sub_int_tile_init": [],
        "sub_int_tile": ["data_format"],
        "mul_int_tile_init": ["data_format"],
        "mul_int_tile": ["data_format"],
        "where_tile_init": [],
        "where_tile": ["data_format"],
    }
