"""Structures of arguments and results, and signatures in files."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from samples.ttnn_program import ProgramBuilder

from ttmlir.runtime import BinaryError, read_binary
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.signature import (
    IGNORED,
    LEAF,
    MAX_DEPTH,
    NOTHING,
    CallSignature,
    Structure,
    bounded,
    constant,
    dict_of,
    positional,
    tuple_of,
)

LIST = Structure(kind="List", children=(LEAF, IGNORED, LEAF))
TREE = tuple_of(LEAF, dict_of({"b": LIST, 3: NOTHING}), constant(True))


def signature(**fields: Any) -> CallSignature:
    """Of a program with two inputs and two outputs."""
    arguments = tuple_of(tuple_of(LEAF, constant("mean")), dict_of({"y": LEAF}))
    given = {"arguments": arguments, "results": tuple_of(LEAF, LEAF), **fields}
    return CallSignature(**{"name": "net", "input_names": ("x", "y"), **given})


def read(table: Any) -> CallSignature | None:
    """The signature of a program with two inputs and two outputs in a file."""
    b = ProgramBuilder()
    for _ in range(2):
        b.output(b.eltwise("Abs", [b.to_device(b.input((3, 5)))]))
    program = b.table()
    program["debug_info"]["call_signature"] = table
    return read_binary(b.pack(programs=[program]), "x.ttnn").programs[0].signature


def test_leaves_of_containers() -> None:
    """In the order of the structure, whatever the order of a dictionary's keys."""
    value = (1, {3: None, "b": [2, "dropped", 4]}, True)
    assert TREE.flatten(value, "x") == [1, 2, 4]
    assert TREE.leaf_count == 3
    assert TREE.unflatten(iter("xyz")) == ("x", {"b": ["y", None, "z"], 3: None}, True)
    assert positional(1, 1)[1].unflatten(iter("a")) == "a"
    assert positional(1, 2)[1].unflatten(iter("ab")) == ("a", "b")


def test_bounded_arrays() -> None:
    """They are cut to their extents, which follow them."""
    whole = np.arange(24).reshape(2, 3, 4)
    found = bounded([0, 2]).unflatten(iter([whole, np.int64(1), np.int64(3)]))
    np.testing.assert_array_equal(found, whole[:1, :, :3])
    assert [each.tolist() for each in bounded([2]).flatten(found, "y")] == [found.tolist(), 3]
    assert bounded([0, 2]).leaf_count == 3
    with pytest.raises(BinaryError, match="3 dimensions has fewer than said"):
        bounded([3]).unflatten(iter([whole, np.int64(1)]))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((1, {3: None, "b": [2, 4]}, True), r"x\[1\]\['b'\] has 3 items, got 2"),
        ((1, {"b": [2, 3, 4]}, True), r"x\[1\] has the keys 'b', 3, got 'b'"),
        ((1, [2], True), r"x\[1\] is a dictionary, got a list"),
        ((1, {3: 5, "b": [2, 3, 4]}, True), r"x\[1\]\[3\] is None in this program, not 5"),
        ((1, {3: None, "b": [2, 3, 4]}, False), r"x\[2\] is True in this program, not False"),
        (7, "x is a tuple, got a int"),
    ],
)
def test_other_structures(value: Any, message: str) -> None:
    """The message names the place."""
    with pytest.raises(InputError, match=message):
        TREE.flatten(value, "x")


def test_a_signature_in_a_file() -> None:
    """It is read as it was written."""
    for given in (
        signature(framework="torch"),
        signature(arguments=tuple_of(tuple_of(), dict_of({})), bound=(0, 1), state=1, results=LEAF),
        signature(
            argument_types=(np.dtype(bool), None),
            result_types=(np.dtype(np.int8), np.dtype(ml_dtypes.bfloat16)),
        ),
        signature(results=bounded([3])),
        signature(results=dict_of({"a": LIST, 3: tuple_of(NOTHING, constant(2.5))})),
    ):
        assert read(given.to_table()) == given
    assert read(None) is None


def test_calls_by_a_signature() -> None:
    """Arguments by position and by name; constants have to be those of the program."""
    given = signature()
    assert given.flatten((1, "mean"), {"y": 2}) == [1, 2]
    with pytest.raises(InputError, match="takes 2 arguments by position, got 1"):
        given.flatten((1,), {"y": 2})
    with pytest.raises(InputError, match="takes the arguments 'y' by name, got 'z'"):
        given.flatten((1, "mean"), {"z": 2})
    with pytest.raises(InputError, match="argument 1 is 'mean' in this program, not 'sum'"):
        given.flatten((1, "sum"), {"y": 2})


def node(kind: str, count: int = 0, text: str | None = None) -> dict[str, Any]:
    """A `StructureNode`."""
    return {"kind": kind, "count": count, "text": text}


EMPTY_DICT = node("Dict", 0, "[]")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"arguments": []}, "too few nodes"),
        ({"arguments": [node("Tuple", 2)]}, "a Tuple with 2 children"),
        ({"arguments": [node("Tuple", 2), node("Tuple", 1)]}, "too few nodes"),
        ({"arguments": [node("Tuple", 1 << 31)]}, "a Tuple with 2147483648 children"),
        ({"arguments": [node("Leaf", 1), node("Leaf")]}, "a Leaf with 1 children"),
        ({"arguments": [node("Leaf"), node("Leaf")]}, "more nodes than the first one has"),
        ({"arguments": [node("Leaf")]}, "not a tuple of a tuple and a dictionary"),
        ({"arguments": [node("Tuple", 1)] * (MAX_DEPTH + 2)}, "nested too deeply"),
        (
            {"arguments": [node("Tuple", 2), node("Tuple"), node("Dict", 1, "[3]"), node("Leaf")]},
            "names of arguments are texts",
        ),
        ({"arguments": [node("Tuple", 2), node("Tuple"), EMPTY_DICT]}, "does not fit a program"),
        ({"results": [node("Dict", 1, "[]"), node("Leaf")]}, "of 1 item with other keys"),
        ({"results": [node("Dict", 1, "[[1]]"), node("Leaf")]}, "keys and values are texts"),
        ({"results": [node("Dict", 1, "{"), node("Leaf")]}, "Expecting property name"),
        ({"results": [node("Constant", 0, "[" * 100000)]}, "maximum recursion depth"),
        ({"results": [node("Bounded", 1, "[0]"), node("Leaf")]}, "a bounded array with other"),
        ({"results": [node("Bounded", 2, "[-1]"), *[node("Leaf")] * 2]}, "a bounded array with"),
        ({"results": [node("Bounded", 1, "3"), node("Leaf")]}, "a bounded array with other"),
        (
            {
                "arguments": [
                    *(node("Tuple", 2), node("Tuple", 1), node("Bounded", 2, "[0]")),
                    *(node("Leaf"), node("Leaf"), EMPTY_DICT),
                ]
            },
            "only results are bounded",
        ),
        ({"results": [node("Leaf")]}, "does not fit a program of 2 inputs, 2 outputs"),
        ({"bound": [5]}, "does not fit a program"),
        ({"bound": [0, 0]}, "does not fit a program"),
        ({"state": 4000000000}, "does not fit a program"),
        ({"parameter_names": ["w"]}, "1 names of parameters, but 0 sizes"),
        ({"input_names": ["x"]}, "does not fit a program"),
        ({"argument_types": ["bool"]}, "does not fit a program"),
        ({"result_types": ["", "object"]}, "result_types: 'object' is no type of numbers"),
    ],
)
def test_damaged_signatures(fields: dict[str, Any], message: str) -> None:
    """They are refused before anything is made of them."""
    with pytest.raises(BinaryError, match=message):
        read({**signature().to_table(), **fields})
