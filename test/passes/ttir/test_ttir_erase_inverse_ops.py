"""Reshapes and permutations that are merged, slices before moves, products that keep their rows."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from running.pass_runner import body, printed

from ttmlir.compiler import compile_to_ttnn, complete_options, spell_pipeline
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.passes.ttir.ttir_erase_inverse_ops import Chain
from ttmlir.runtime import open_device, submit
from ttmlir.runtime.loading import read_binary

PASS = "ttir-erase-inverse-ops"
Numbers = NDArray[np.float32]


class Text:
    """A function of one tensor whose operations follow each other."""

    def __init__(self, *shape: int) -> None:
        """Begin with the argument."""
        self.lines: list[str] = []
        self.shape = self.source = shape
        self.value = "%x"
        self.weights: list[tuple[int, ...]] = []

    def _type(self, shape: tuple[int, ...]) -> str:
        return f"tensor<{'x'.join(map(str, shape))}xf32>"

    def _add(self, name: str, shape: tuple[int, ...], attributes: str, more: str = "") -> Text:
        number = len(self.lines)
        types = [self._type(self.shape), self._type(shape)]
        operands = [self.value, f"%e{number}"]
        if more:
            operands.insert(1, more)
            types.insert(1, self._type(self.weights[-1]))
        constraints = ", ".join(["#any"] * len(operands))
        self.lines += [
            f"%e{number} = tensor.empty() : {types[-1]}",
            f'%v{number} = "ttir.{name}"({", ".join(operands)}) <{{{attributes}'
            f"operand_constraints = [{constraints}]}}> : ({', '.join(types)}) -> {types[-1]}",
        ]
        self.value, self.shape = f"%v{number}", shape
        return self

    def reshape(self, *shape: int) -> Text:
        """The same elements."""
        text = ", ".join(f"{each} : i32" for each in shape)
        return self._add("reshape", shape, f"shape = [{text}], ")

    def permute(self, *order: int) -> Text:
        """Dimensions in another order."""
        text = f"permutation = array<i64: {', '.join(map(str, order))}>, "
        return self._add("permute", tuple(self.shape[each] for each in order), text)

    def slice(self, dim: int, begin: int, end: int) -> Text:
        """A part along a dimension."""
        begins, ends = [0] * len(self.shape), [*self.shape]
        begins[dim], ends[dim] = begin, end
        shape = tuple(last - first for first, last in zip(begins, ends, strict=True))
        words = {"begins": begins, "ends": ends, "step": [1] * len(begins)}
        text = "".join(
            f"{name} = [{', '.join(f'{each} : i32' for each in numbers)}], "
            for name, numbers in words.items()
        )
        return self._add("slice", shape, text)

    def matmul(self, columns: int) -> Text:
        """Times an argument."""
        self.weights.append((self.shape[-1], columns))
        name = f"%w{len(self.weights) - 1}"
        return self._add("matmul", (*self.shape[:-1], columns), "", name)

    def __str__(self) -> str:
        """The module."""
        arguments = [f"%x: {self._type(self.source)}"]
        arguments += [f"%w{i}: {self._type(each)}" for i, each in enumerate(self.weights)]
        lines = "\n  ".join([*self.lines, f"return {self.value} : {self._type(self.shape)}"])
        return (
            "#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>\n"
            f"func.func @f({', '.join(arguments)}) -> {self._type(self.shape)} {{\n  {lines}\n}}"
        )


def names(text: Text | str) -> list[str]:
    """What is computed after the pass, without what makes destinations."""
    words = [line.split('"')[1] for line in body(str(text), PASS) if '"ttir.' in line]
    return [word.removeprefix("ttir.") for word in words]


def run(text: Text, *inputs: Numbers) -> Numbers:
    """The result of the function, compiled as models are."""
    binary = read_binary(compile_to_ttnn(str(text), spell_pipeline("ttnn", "")), "f.ttnn")
    [result] = submit(open_device(), binary, 0, list(inputs))
    return result.to_numpy()


def counted(shape: tuple[int, ...]) -> Numbers:
    """A tensor whose elements are all different."""
    return np.arange(math.prod(shape), dtype=np.float32).reshape(shape)


def test_moves_that_undo_each_other_vanish() -> None:
    """The image of a network in its patches, and back."""
    text = Text(45, 4, 4, 33).permute(0, 3, 1, 2).reshape(45, 33, 16).permute(0, 2, 1)
    assert names(text) == ["reshape"]
    x = counted((45, 4, 4, 33))
    np.testing.assert_array_equal(run(text, x), x.reshape(45, 16, 33))


def test_a_move_of_few_wide_rows_replaces_one_of_many_narrow_ones() -> None:
    """Heads are put back beside each other: 4 x 8 would be a tile for each token."""
    text = Text(45, 4, 17, 8).permute(2, 0, 1, 3).reshape(17 * 45, 32)
    assert names(text) == ["reshape", "transpose", "reshape"]
    x = counted((45, 4, 17, 8))
    np.testing.assert_array_equal(run(text, x), x.transpose(2, 0, 1, 3).reshape(-1, 32))


def test_a_single_move_stays() -> None:
    """There is nothing to merge it with, whatever its form."""
    for text in (Text(1, 5, 70).permute(1, 0, 2), Text(6, 1, 1, 5).permute(0, 2, 3, 1)):
        assert len(names(text)) == 1


def test_a_moved_tensor_that_is_needed_stays() -> None:
    """Another user would have to move it once more."""
    text = str(Text(5, 6, 70).permute(0, 2, 1).reshape(5, 7, 10, 6).permute(0, 3, 1, 2))
    text = text.replace(
        "return %v4 : tensor<5x6x7x10xf32>", "return %v0, %v4 : tensor<5x70x6xf32>, REST"
    )
    text = text.replace("-> tensor<5x6x7x10xf32> {", "-> (tensor<5x70x6xf32>, REST) {")
    kept = names(text.replace("REST", "tensor<5x6x7x10xf32>"))
    assert kept[0] in ("permute", "transpose")
    assert len(kept) == 3


def test_slices_are_taken_before_moving() -> None:
    """Queries, keys and values lie beside each other in the result of one product."""
    text = Text(17, 45, 96).reshape(1, 17, 45, 3, 32).permute(3, 1, 2, 0, 4).slice(0, 1, 2)
    text.reshape(17, 45, 32)
    assert names(text) == ["slice"]
    x = counted((17, 45, 96))
    np.testing.assert_array_equal(run(text, x), x[..., 32:64])


def test_slices_that_cut_what_was_permuted_stay() -> None:
    """The first of the parts of a dimension that was cut has no place of its own."""
    text = Text(6, 40, 10).reshape(6, 8, 5, 10).permute(0, 2, 1, 3).slice(1, 1, 3)
    assert names(text) == ["reshape", "slice", "transpose"]
    x = counted((6, 40, 10))
    expected = x.reshape(6, 8, 5, 10).transpose(0, 2, 1, 3)[:, 1:3]
    np.testing.assert_array_equal(run(text, x), expected)


def test_products_keep_their_rows() -> None:
    """Those that are flattened for a product and put back after it."""
    text = Text(17, 45, 32).reshape(17 * 45, 32).matmul(70).reshape(17, 45, 70)
    assert names(text) == ["reshape", "matmul"]
    x, w = counted((17, 45, 32)) % 7, counted((32, 70)) % 5
    np.testing.assert_array_equal(run(text, x, w), x @ w)


def test_products_of_short_rows_stay_flat() -> None:
    """A row of each batch would be padded to a tile of 32: 32 times the work."""
    text = Text(512, 1, 2048).reshape(512, 2048).matmul(2048).reshape(512, 1, 2048)
    assert names(text) == ["reshape", "matmul", "reshape"]


def test_constants_are_moved_while_compiling() -> None:
    """Whatever their size, if nothing else needs them."""
    numbers = counted((33, 64))
    constant = f'dense<"0x{numbers.tobytes().hex().upper()}"> : tensor<33x64xf32>'
    text = str(Text(33, 64).permute(1, 0)).replace("%x: tensor<33x64xf32>", "")
    made = f'%x = "ttir.constant"() <{{value = {constant}}}> : () -> tensor<33x64xf32>'
    text = text.replace("{\n", "{\n  " + made + "\n", 1)
    assert names(text) == ["constant"]
    binary = read_binary(compile_to_ttnn(text, spell_pipeline("ttnn", "")), "f.ttnn")
    [result] = submit(open_device(), binary, 0, [])
    np.testing.assert_array_equal(result.to_numpy(), numbers.T)


def test_the_pipeline_runs_the_pass_if_it_is_told_to() -> None:
    """By an option with the name that tt-mlir has for it; models are compiled with it."""
    text = str(Text(5, 6, 70).permute(0, 2, 1).permute(0, 2, 1))
    pipeline = "ttir-to-ttnn-backend-pipeline"
    assert printed(text, pipeline).count('"ttnn.permute"') == 2
    of_models = [complete_options("ttnn", each) for each in ("", "spelling=2024")]
    for said in ("enable-erase-inverse-ops-pass=true", *of_models):
        short = f"{pipeline}={said}"
        assert "ttnn.transpose" not in printed(text, short)
        assert "ttnn.permute" not in printed(text, short)
    kept = complete_options("ttnn", "enable-erase-inverse-ops-pass=false spelling=2024")
    assert printed(text, f"{pipeline}={kept}").count('"ttnn.permute"') == 2


def test_what_is_made_takes_the_layouts_of_what_was_there() -> None:
    """Else the tensors would have to be brought into tiles first."""
    text = str(Text(5, 6, 70).permute(0, 2, 1).reshape(350, 6).permute(1, 0))
    constraint = "#tt.operand_constraint<dram|scalar|any_layout>"
    text = text.replace(
        "#tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>", constraint
    )
    assert "any_device_tile" not in printed(text, PASS)


def test_missing_constraints_are_told_as_ever() -> None:
    """By the pass that needs them."""
    text = str(Text(5, 6, 70).permute(0, 2, 1).permute(0, 2, 1).reshape(6, 350))
    text = text.replace("operand_constraints = [#any, #any]", "operand_constraints = []")
    with pytest.raises(DiagnosticError, match="has 0 operand_constraints for 2 operands"):
        printed(text, "ttir-to-ttnn-backend-pipeline")


_EXTENTS = st.lists(st.sampled_from([1, 2, 3, 4, 6, 8]), min_size=1, max_size=4)


@given(_EXTENTS, st.data())
def test_chains_say_what_numpy_does(extents: list[int], data: st.DataObject) -> None:
    """Any reshapes and permutations, as far as they cut at factors, and a slice at the end."""
    array = counted(tuple(extents)).astype(np.int64)
    chain, moved = Chain(tuple(extents)), array
    for _ in range(data.draw(st.integers(1, 4))):
        if data.draw(st.booleans()):
            order = data.draw(st.permutations(range(moved.ndim)))
            chain.permute(order)
            moved = moved.transpose(order)
        else:
            shape = _cut(moved.size, data.draw)
            if not chain.reshape(shape):
                return
            moved = moved.reshape(shape)
    form = chain.form
    assert (form.source, form.result) == (array.shape, moved.shape)
    made = array.reshape(form.split).transpose(form.order).reshape(form.result)
    np.testing.assert_array_equal(made, moved)
    bounds = [
        sorted(data.draw(st.tuples(st.integers(0, n - 1), st.integers(1, n)))) for n in moved.shape
    ]
    begins = [begin for begin, _ in bounds]
    ends = [max(end, begin + 1) for begin, end in bounds]
    place = chain.slice(begins, ends)
    if place is None:
        return
    form = chain.form
    sliced = array[tuple(slice(*each) for each in zip(*place, strict=True))]
    made = sliced.reshape(form.split).transpose(form.order).reshape(form.result)
    expected = moved[tuple(slice(*each) for each in zip(begins, ends, strict=True))]
    np.testing.assert_array_equal(made, expected)


def _cut(size: int, draw: Callable[..., int]) -> tuple[int, ...]:
    shape: list[int] = []
    while size > 1 and len(shape) < 4:
        factors = [each for each in range(1, size + 1) if size % each == 0]
        shape.append(draw(st.sampled_from(factors)))
        size //= shape[-1]
    return (*shape, size)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0, 70)])
def test_tensors_without_elements_are_left_alone(shape: tuple[int, ...]) -> None:
    """Nothing is known of their factors."""
    order = tuple(reversed(range(len(shape))))
    assert len(names(Text(*shape).permute(*order).permute(*order))) == 2
