"""Clumsy programs: each error is at the program's line, and its advice works."""

from __future__ import annotations

import copy
import inspect
import itertools
import pickle
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import EnumType
from pathlib import Path
from threading import Barrier, Thread
from typing import Any, cast

import numpy as np
import pytest
import torch

import ttmlir
from ttmlir import ttnn
from ttmlir.ttnn import registry
from ttmlir.ttnn.errors import check_class

L1 = ttnn.L1_MEMORY_CONFIG


def half(x: Any) -> Any:
    """The tensor in bfloat16."""
    return ttnn.typecast(x, ttnn.bfloat16)


MISUSES: dict[str, tuple[type[Exception], Callable[[Any, Any], Any], str]] = {
    "a data type of torch": (
        TypeError,
        lambda x, device: ttnn.from_torch(torch.ones(2), dtype=torch.bfloat16),
        "ttnn.from_torch: dtype is a ttnn.DataType, such as ttnn.bfloat16, not torch.bfloat16",
    ),
    "a data type as text": (
        TypeError,
        lambda x, device: ttnn.add(x, x, dtype="float32"),
        "ttnn.add: dtype is a ttnn.DataType, such as ttnn.bfloat16, not 'float32'",
    ),
    "a data type by place": (
        TypeError,
        lambda x, device: ttnn.typecast(x, np.float32),
        "ttnn.typecast: dtype is a ttnn.DataType, such as ttnn.bfloat16, not <class",
    ),
    "a memory as text": (
        TypeError,
        lambda x, device: ttnn.add(x, x, memory_config="L1"),
        "ttnn.add: memory_config is a ttnn.MemoryConfig, such as ttnn.L1_MEMORY_CONFIG, not 'L1'",
    ),
    "a layout as text": (
        TypeError,
        lambda x, device: ttnn.to_layout(x, "tile"),
        "ttnn.to_layout: layout is a ttnn.Layout, such as ttnn.TILE_LAYOUT, not 'tile'",
    ),
    "nothing for a tensor": (
        TypeError,
        lambda x, device: ttnn.copy(None, x),
        "ttnn.copy: input_a is a ttnn.Tensor, not None",
    ),
    "a number for a tensor": (
        TypeError,
        lambda x, device: ttnn.to_torch(3),
        "ttnn.to_torch: tensor is a ttnn.Tensor, not 3",
    ),
    "nothing for a data type": (
        TypeError,
        lambda x, device: ttnn.bitcast(x, None),
        "ttnn.bitcast: dtype is a ttnn.DataType, such as ttnn.bfloat16, not None",
    ),
    "nothing for a device": (
        TypeError,
        lambda x, device: ttnn.synchronize_device(None),
        "ttnn.synchronize_device: device is what ttnn.open_device returns, not None",
    ),
    "a tensor for a device": (
        TypeError,
        lambda x, device: ttnn.begin_trace_capture(x.shape),
        "ttnn.begin_trace_capture: mesh_device is what ttnn.open_device returns, not Shape([",
    ),
    "a device as text": (
        TypeError,
        lambda x, device: ttnn.to_device(x.cpu(), "cuda"),
        "ttnn.to_device: device is what ttnn.open_device returns, not 'cuda'",
    ),
    "a tensor of torch": (
        TypeError,
        lambda x, device: ttnn.add(x, torch.ones(2)),
        "ttnn.add: input_tensor_b is a ttnn.Tensor or a number, not torch.Tensor; ttnn.from_torch",
    ),
    "a tensor of ttnn for one of torch": (
        TypeError,
        lambda x, device: ttnn.from_torch(x, ttnn.float32),
        "ttnn.from_torch: this is a ttnn.Tensor already; ttnn.to_torch gives its numbers",
    ),
    "one tensor for a list": (
        TypeError,
        lambda x, device: ttnn.concat(x, x),
        "ttnn.concat: tensors is a list of tensors, as in concat([a, b], dim), not one",
    ),
    "a keyword of torch": (
        TypeError,
        lambda x, device: ttnn.softmax(x, axis=-1),
        "ttnn.softmax got an unexpected keyword argument 'axis'; it takes (input_tensor, dim=-1, ",
    ),
    "a keyword of a function": (
        TypeError,
        lambda x, device: ttnn.reshape(x, size=(2, 3)),
        "reshape() got an unexpected keyword argument 'size'; it takes (input_tensor, ",
    ),
    "a device by place": (
        TypeError,
        lambda x, device: ttnn.open_device(0),
        "open_device() takes 0 positional arguments but 1 was given; it takes (*, device_id=0, ",
    ),
    "a product of matrices that do not fit": (
        RuntimeError,
        lambda x, device: x @ x,
        "ttnn.matmul: ",
    ),
    "a power as operator": (
        TypeError,
        lambda x, device: x**2,
        "a ttnn.Tensor has no operator **; use ttnn.pow(tensor, exponent)",
    ),
    "the opposite as operator": (
        TypeError,
        lambda x, device: -x,
        "a ttnn.Tensor has no operator -tensor; use ttnn.neg(tensor)",
    ),
    "torch of a tensor on a device": (
        RuntimeError,
        lambda x, device: x.to_torch(),
        "Tensor.to_torch: it takes a tensor on the host; use ttnn.to_torch, or cpu() first",
    ),
    "one number of many": (
        RuntimeError,
        lambda x, device: x.item(),
        "Tensor.item: it takes a tensor of one element, not of Shape([2, 3])",
    ),
    "an index that is a mask": (
        TypeError,
        lambda x, device: x[x > 1],
        "ttnn.get_item: a tensor's index has integers, slices and an ellipsis",
    ),
    "cores that do not divide": (
        RuntimeError,
        lambda x, device: ttnn.create_sharded_memory_config(
            (33, 64), ttnn.CoreGrid(y=2, x=2), ttnn.ShardStrategy.HEIGHT
        ),
        "ttnn.create_sharded_memory_config: Invalid sharding core_grid: 33x64 elements are not",
    ),
    "a tensor that is too large": (
        RuntimeError,
        lambda x, device: ttnn.zeros(
            (20000, 5000), device=device, memory_config=ttnn.L1_MEMORY_CONFIG
        ),
        "ttnn.zeros: 3130016 bytes per bank do not fit into L1: the largest gap has ",
    ),
    "a tensor for a shape": (
        TypeError,
        lambda x, device: ttnn.ones(x),
        "ttnn.ones: shape is an iterable of integers, not ttmlir.ttnn.tensor.tensor.Tensor",
    ),
    "a tensor for repetitions": (
        TypeError,
        lambda x, device: ttnn.repeat(x, x),
        "ttnn.repeat: repetition_vector is an iterable of integers, not",
    ),
    "a negative extent": (
        RuntimeError,
        lambda x, device: ttnn.zeros([1, -1]),
        "ttnn.zeros: extents of a shape are not negative, got [1, -1]",
    ),
    "a tensor of torch for a diagonal": (
        TypeError,
        lambda x, device: ttnn.triu(x, diagonal=torch.ones(2, 3)),
        "ttnn.triu: diagonal is an integer, not torch.Tensor",
    ),
    "fractions for a dimension": (
        TypeError,
        lambda x, device: ttnn.has_tile_padding(x, dim=np.ones(3)),
        "ttnn.has_tile_padding: dim is an integer, not array([1., 1., 1.])",
    ),
    "an argument that zeros_like lacks": (
        TypeError,
        lambda x, device: ttnn.zeros_like(x, out=x),
        "zeros_like() got an unexpected keyword argument 'out'; it takes (tensor, dtype=None",
    ),
    "a number for a device": (
        TypeError,
        lambda x, device: ttnn.ones_like(x, device=2),
        "ttnn.ones_like: device is what ttnn.open_device returns, not 2",
    ),
    "a number for a layout": (
        TypeError,
        lambda x, device: ttnn.rand((2, 3), layout=2),
        "ttnn.rand: layout is a ttnn.Layout, such as ttnn.TILE_LAYOUT, not 2",
    ),
    "an optional tensor of another shape": (
        RuntimeError,
        lambda x, device: ttnn.full((3, 2), 1.0, optional_tensor=x),
        "ttnn.full: optional_tensor has Shape([2, 3]), the result Shape([3, 2])",
    ),
    "a number for a vector": (
        RuntimeError,
        lambda x, device: ttnn.tril(ttnn.sum(x)),
        "ttnn.tril: it takes at least 1 dimension, not 0",
    ),
    "limits of another shape": (
        RuntimeError,
        lambda x, device: ttnn.clamp(x, max=ttnn.transpose(x, 0, 1)),
        "ttnn.clamp: Operands are not broadcast compatible: 2x3 and 3x2",
    ),
    "weights of another shape": (
        RuntimeError,
        lambda x, device: ttnn.prelu(x, ttnn.transpose(x, 0, 1)),
        "ttnn.prelu: Operands are not broadcast compatible: 2x3 and 3x2",
    ),
    "an odd number for pairs": (
        RuntimeError,
        lambda x, device: ttnn.alt_complex_rotate90(x),
        "ttnn.alt_complex_rotate90: the last extent, 3, is odd: it makes no pairs",
    ),
    "a residual of another shape": (
        RuntimeError,
        lambda x, device: ttnn.layer_norm(x, residual_input_tensor=ttnn.transpose(x, 0, 1)),
        "ttnn.layer_norm: residual_input_tensor has Shape([3, 2]), not Shape([2, 3])",
    ),
    "the largest of no numbers": (
        RuntimeError,
        lambda x, device: ttnn.argmax(x[:0], dim=0),
        "ttnn.argmax: argmax of no numbers: the tensor has Shape([0, 3])",
    ),
    "a mask of another shape": (
        RuntimeError,
        lambda x, device: ttnn.scale_mask_softmax(x, 1.0, ttnn.transpose(x, 0, 1)),
        "ttnn.scale_mask_softmax: Operands are not broadcast compatible",
    ),
    "a tensor for a scale": (
        TypeError,
        lambda x, device: ttnn.scale_mask_softmax(x, x),
        "ttnn.scale_mask_softmax: scale is a number, not",
    ),
    "a matrix for places": (
        RuntimeError,
        lambda x, device: ttnn.slice(x, x, [1, 1]),
        "ttnn.slice: starts is a list, which Shape([2, 3]) is not",
    ),
    "a complex number for a scale": (
        TypeError,
        lambda x, device: ttnn.upsample(ttnn.ones((1, 2, 2, 3), device=device), 1j),
        "ttnn.upsample: scale_factor is an integer or a sequence of integers, not 1j",
    ),
    "a pair of heads": (
        TypeError,
        lambda x, device: ttnn.experimental.nlp_concat_heads_decode(
            ttnn.ones((1, 1, 2, 3), ttnn.float32, ttnn.TILE_LAYOUT, device), num_heads=(0, 1)
        ),
        "ttnn.experimental.nlp_concat_heads_decode: num_heads is an integer, not (0, 1)",
    ),
    "a number beyond its type": (
        RuntimeError,
        lambda x, device: ttnn.full((2, 3), -1, ttnn.uint32),
        "ttnn.full: fill_value=-1 is no number of DataType.UINT32",
    ),
    "a tensor for activations": (
        TypeError,
        lambda x, device: ttnn.add(x, x, activations=x),
        "ttnn.add: activations is a list of names of functions, or of ttnn.UnaryWithParam, not",
    ),
    "a negative scale of unsigned numbers": (
        RuntimeError,
        lambda x, device: ttnn.sum(ttnn.typecast(x, ttnn.uint32), scalar=-7),
        "ttnn.sum: scalar=-7 is no number of DataType.UINT32",
    ),
    "a limit below all integers": (
        RuntimeError,
        lambda x, device: ttnn.clamp(ttnn.typecast(x, ttnn.int32), min=-(2**40)),
        "ttnn.clamp: min=-1099511627776 is no number of int32",
    ),
    "a shape for a dimension": (
        TypeError,
        lambda x, device: ttnn.gather(x, (1, 1, 1, 1), ttnn.typecast(x, ttnn.uint32)),
        "ttnn.gather: dim is an integer, not (1, 1, 1, 1)",
    ),
    "an index with more rows than the tensor": (
        RuntimeError,
        lambda x, device: ttnn.gather(x, 1, ttnn.zeros((3, 3), ttnn.uint32, x.layout, device)),
        "ttnn.gather: an index of Shape([3, 3]) along dimension 1 of a tensor of Shape([2, 3])",
    ),
    "an index with more rows than the source": (
        RuntimeError,
        lambda x, device: ttnn.scatter(y := half(x), 0, ttnn.typecast(x, ttnn.uint32), y[:1]),
        "ttnn.scatter: an index of Shape([2, 3]) reads beyond src, which is Shape([1, 3])",
    ),
    "pages in four dimensions": (
        RuntimeError,
        lambda x, device: ttnn.experimental.paged_fill_cache(
            *[ttnn.ones((1, 1, 32, 64), ttnn.float32, ttnn.TILE_LAYOUT, device)] * 2,
            ttnn.zeros((1, 1, 2, 2), ttnn.int32, device=device),
        ),
        "ttnn.experimental.paged_fill_cache: page_table has Shape([1, 1, 2, 2]); it must be",
    ),
    "a correlation of different sizes": (
        RuntimeError,
        lambda x, device: ttnn.comp_pcc(np.ones(3), np.arange(4)),
        "ttnn.comp_pcc: arrays of different sizes are not compared: Shape([3]) and Shape([4])",
    ),
    "a difference of different sizes": (
        RuntimeError,
        lambda x, device: ttnn.comp_allclose(np.ones(3), np.ones(4)),
        "ttnn.comp_allclose: arrays of different sizes are not compared: Shape([3]) and Shape([4])",
    ),
    "a large number for a truth value": (
        TypeError,
        lambda x, device: ttnn.max(x, keepdim=2**40),
        "ttnn.max: keepdim is True or False, not 1099511627776",
    ),
    "a number that no integer of C holds": (
        RuntimeError,
        lambda x, device: ttnn.round(x, decimals=2**40),
        "ttnn.round: decimals is too large: 1099511627776",
    ),
    "more elements than memory": (
        RuntimeError,
        lambda x, device: ttnn.zeros((2**50, 1)),
        "ttnn.zeros: not enough memory: Unable to allocate 4.00 PiB for an array with shape",
    ),
    "two tensors for an output": (
        TypeError,
        lambda x, device: ttnn.cumsum(x, 0, out=[x, x]),
        "ttnn.cumsum: output_tensor is a ttnn.Tensor, not list; ttnn.from_torch and",
    ),
    "a dimension to roll beyond the last": (
        RuntimeError,
        lambda x, device: ttnn.roll(x, 1, 2),
        "ttnn.roll: dimension 2 is out of range for a tensor of rank 2",
    ),
    "a dimension beyond the last": (
        RuntimeError,
        lambda x, device: ttnn.has_tile_padding(x, dim=2),
        "ttnn.has_tile_padding: dimension 2 is out of range for a tensor of rank 2",
    ),
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuse(name: str, device: Any) -> None:
    """The file, line and column of the call, what is wrong, what there is, and the line."""
    kind, call, message = MISUSES[name]
    x = ttnn.ones((2, 3), ttnn.float32, ttnn.TILE_LAYOUT, device)
    with pytest.raises(kind) as caught:
        call(x, device)
    first, *rest = str(caught.value).splitlines()
    place, _, said = first.partition(" error: ")
    file, line, column, _ = place.split(":")
    assert file == "test/ttnn/test_misuse.py"
    assert said.startswith(message)
    source = Path(__file__).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    assert source.rstrip() == rest[0].removeprefix("  ")
    assert rest[1] == " " * (int(column) + 1) + "^"


def test_a_class_that_was_used_before_changes_no_message(device: Any) -> None:
    """The function around a constructor says what is wrong, whatever the program did before."""
    assert ttnn.Shape([2, 3]) == (2, 3)
    x = ttnn.ones((2, 3), ttnn.float32, ttnn.TILE_LAYOUT, device)
    with pytest.raises(TypeError, match=r"ttnn\.ones: shape is an iterable of integers, not "):
        ttnn.ones(x)
    with pytest.raises(TypeError, match=r"Shape: extents is an iterable of integers, not "):
        ttnn.Shape(x)


def test_a_with_block_is_where_its_error_is() -> None:
    """A device that is opened by `with` is opened by the program, not by contextlib."""
    with (
        pytest.raises(TypeError, match=r"^test/ttnn/test_misuse.py:\d+:.*device_id is an integer"),
        ttnn.manage_device("x"),  # pyright: ignore[reportArgumentType]
    ):
        pass


def test_names_of_torch() -> None:
    """What torch calls otherwise is named."""
    for name, ours in (("cat", "concat"), ("mm", "matmul"), ("flatten", "reshape")):
        with pytest.raises(AttributeError) as caught:
            getattr(ttnn, name)
        assert str(caught.value) == f"ttnn.{name} is not here yet; nearest: ttnn.{ours}"


@pytest.mark.parametrize("_", range(2))
def test_looking_a_class_up_changes_no_refusal(_: int) -> None:
    """The argument is called as in the function that the program calls, not as in a class of it."""
    with pytest.raises(TypeError, match=r"error: ttnn\.ones: shape is an iterable of integers"):
        ttnn.ones(ttnn.ones((2, 3)))
    with pytest.raises(TypeError, match="error: Shape: extents is an iterable of integers"):
        ttnn.Shape(ttnn.ones((2, 3)))


def test_classes_are_changed_once() -> None:
    """By threads that look them up at the same time."""

    def method(self: object) -> None:
        """Do nothing."""

    names = [f"method_{i}" for i in range(20)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(50):
            made = type("Made", (), dict.fromkeys(names, method))
            start = Barrier(4)

            def look_up(made: type = made, start: Barrier = start) -> None:
                start.wait()
                check_class(made)

            threads = [Thread(target=look_up) for _ in range(4)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
            for name in names:
                assert not hasattr(getattr(made, name).__wrapped__, "__wrapped__")
    finally:
        sys.setswitchinterval(interval)


def test_other_errors_stay(device: Any) -> None:
    """What a program's own function raises is not changed."""

    @ttnn.register_python_operation(name="test_broken")
    def broken(x: Any) -> Any:
        return x.colour

    try:
        with pytest.raises(AttributeError, match="no attribute 'colour'"):
            ttnn.test_broken(ttnn.ones((2, 3)))
    finally:
        from ttmlir.ttnn.registry import operations

        operations().pop("test_broken")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_python_copies_no_tensors(copied: Callable[[Any], Any], device: Any) -> None:
    """On a device and on the host; the calls that are named do it."""
    x = ttnn.ones((2, 3), ttnn.float32, ttnn.TILE_LAYOUT, device)
    for tensor in (x, x.cpu()):
        with pytest.raises(TypeError) as caught:
            copied([tensor] if copied is not copy.copy else tensor)
        assert str(caught.value) == (
            "a ttnn.Tensor is not copied or pickled by Python; ttnn.clone copies one on a device, "
            "ttnn.dump_tensor writes one to a file, ttnn.to_torch gives its numbers"
        )
    assert torch.equal(ttnn.to_torch(ttnn.clone(x)), torch.ones(2, 3))


WRONG: tuple[Any, ...] = (None, "x", -1, [], 2**70, np.ones(3))
SMALL = object()
"""Stands for a tensor of another shape and data type."""
NOT_CALLED = {
    *("attach_golden_function", "begin_trace_capture", "dump_operations"),
    *("register_python_operation", "SetDefaultDevice", "set_printoptions"),
}
"""Functions that change what other calls do, or write files."""
PARTS = 6


def value_for(parameter: inspect.Parameter, device: Any, x: Any) -> Any:
    """A value of the type that an argument is of, as far as its name and its annotation say."""
    annotation, name = str(parameter.annotation), parameter.name
    if parameter.default is not parameter.empty:
        return parameter.default
    if "Device" in annotation or name in ("device", "mesh_device"):
        return device
    if "CoreRangeSet" in annotation:
        return ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])
    names = ("input", "tensor", "q", "k", "v", "other", "weight", "predicate", "true", "false")
    return x if "Tensor" in annotation or name.startswith(names) else 1


def call_with(function: Any, wrong: str, value: object, device: Any, x: Any) -> None:
    """Call with a wrong value for one argument, and what else the function needs."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for each in inspect.signature(function).parameters.values():
        given = value if each.name == wrong else value_for(each, device, x)
        if each.kind is each.VAR_KEYWORD:
            continue
        if each.kind is each.VAR_POSITIONAL:
            args += [value] if each.name == wrong else []
        elif each.kind is each.POSITIONAL_ONLY:
            args.append(given)
        elif each.name == wrong or each.default is each.empty:
            kwargs[each.name] = given
    result: Any = function(*args, **kwargs)
    if isinstance(result, AbstractContextManager):
        with result:
            pass


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("part", range(PARTS))
def test_wrong_arguments_are_refused(
    part: int, device: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is given for one argument of a function or class: a result, or a refusal."""
    monkeypatch.chdir(tmp_path)
    others: list[str] = []
    for name in sorted(set(registry.known_names()) - NOT_CALLED)[part::PARTS]:
        found: Any = registry.find(name)
        if not callable(found) or isinstance(found, EnumType):
            continue
        parameters = list(inspect.signature(cast("Any", found)).parameters)
        # A few numbers, which NumPy reads one by one where a number is asked for; or whole tiles.
        shape = (32, 64) if name == "tilize" else (4, 32)
        x = small = None
        for wrong, value in itertools.product(parameters, (*WRONG, SMALL)):
            if x is None or not device.is_open:
                device = ttnn.open_device(device_id=0)
                x = ttnn.ones(shape, ttnn.float32, ttnn.TILE_LAYOUT, device)
                small = ttnn.ones((2, 3), ttnn.uint8, ttnn.TILE_LAYOUT, device)
            value = small if value is SMALL else value
            try:
                call_with(found, wrong, value, device, x)
            except ttmlir.Error:
                continue
            except Exception as error:
                others.append(f"ttnn.{name}, {wrong}={value!r}: {error!r}")
    assert not others, "\n".join(others)
