"""What computes operations of programs bit by bit as a card does, in device numerics.

The functions are those of `ttmlir.ttnn`; here is which of them an operation of a file is. What the
file configures in a way whose bits are not known is left to the nearest numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ttmlir.layout.enums import Arch, DataType, DeviceComputeConfig
from ttmlir.runtime.binary import Operation, Table, TensorRef, compute_config_of
from ttmlir.runtime.execution.operations import OperationCall, bind_parameters
from ttmlir.runtime.tensor import Array, TensorDesc
from ttmlir.sim.machine import card_formats, card_products, card_rows
from ttmlir.sim.machine.card_functions import card_function
from ttmlir.sim.machine.card_steps import (
    CALL_STEPS,
    CAST_STEPS,
    MULTIPLICATION_STEPS,
    REDUCTION_STEPS,
    ROW_STEPS,
)


class Kernel(NamedTuple):
    """A function of the arrays of operands, with the bits of a card."""

    function: Callable[..., Array | None]
    """It gives the result as the card stores it, and None where that is not known after all."""
    steps: int
    """Steps of a card's units that a call takes."""


def find_kernel(call: OperationCall, arch: Arch) -> Kernel | None:
    """What computes an operation with the bits of a card; None where they are not known."""
    record = _record_of(call.operation)
    if record is None or len(call.outputs) > 1:
        return None
    operands = [ref.desc for ref in call.operands if ref is not None]
    result, mnemonic = call.output.desc, call.definition.mnemonic
    found: Kernel | None = None
    if mnemonic == "typecast":
        found = _find_cast(operands[0], result)
    elif all(each.element.is_float for each in (*operands, result)):
        if mnemonic in _OF_DEFINITIONS:
            found = _OF_DEFINITIONS[mnemonic](record, call, operands, arch)
        elif call.definition.family.is_elementwise and operands:
            found = _find_elementwise(record, call, operands, arch)
    return None if found is None else found._replace(steps=found.steps + CALL_STEPS)


_FUSED = ("input_tensor_a_activations", "input_tensor_b_activations", "activations")
"""Fields of functions that are computed with an operation, without a rounding in between."""
_SAME = frozenset(
    {
        *("EltwiseUnaryOp", "EltwiseUnaryCompositeOp", "EltwiseBinaryOp"),
        *("EltwiseBinaryCompositeOp", "EltwiseTernaryWhereOp", "MatmulOp"),
        *("ReductionOp", "ReductionProdOp", "CumSumOp", "SoftmaxOp", "TypecastOp"),
    }
)
"""Tables of records that are the operations that they are made into, no larger ones."""


def _record_of(operation: Operation) -> Operation | None:
    """What the file says of an operation; None where it is a part of another one."""
    if operation.given is None:
        return operation
    record = operation.record
    return record if record is not None and record.table in _SAME else None


def _find_elementwise(
    record: Operation, call: OperationCall, operands: Sequence[TensorDesc], arch: Arch
) -> Kernel | None:
    formats = [each.data_type for each in operands]
    if call.output.desc.data_type is not formats[0]:
        return None
    if any(record.optional_field(each) for each in _FUSED):
        return None
    name, parameters = call.definition.mnemonic, bind_parameters(call)
    found = card_function(name, arch, formats, operands=len(operands), parameters=parameters)
    if found is None:
        return None
    return Kernel(found.function, found.steps * max(each.volume for each in operands))


def _find_cast(source: TensorDesc, result: TensorDesc) -> Kernel | None:
    for each in (source, result):
        host = each.element.host
        # Integers of 16 bits and fewer with signs are kept as if they had none.
        if host.kind == "b" or (host.kind == "i" and host.itemsize < 4):
            return None
    cast = partial(card_formats.cast, source=source.data_type, target=result.data_type)
    return Kernel(cast, CAST_STEPS * source.volume)


# --- Products -------------------------------------------------------------------------------------


def _find_product(
    record: Operation, call: OperationCall, operands: Sequence[TensorDesc], arch: Arch
) -> Kernel | None:
    parameters = bind_parameters(call)
    transposed = [bool(parameters.get(f"transpose_{side}")) for side in "ab"]
    return _product(record, operands, call.output.desc, transposed, call.compute_config, arch)


def _product(
    record: Operation,
    operands: Sequence[TensorDesc],
    result: TensorDesc,
    transposed: Sequence[bool],
    config: DeviceComputeConfig | None,
    arch: Arch,
) -> Kernel | None:
    """Of two matrices and, if there is one, a row that is added to each of the result."""
    plan: Table | None = record.optional_field("matmul_program_config")
    block = None if plan is None else int(plan["in0_block_w"])
    if plan is not None and plan.get("fused_activation") is not None:
        return None
    if any(each.memory_layout.is_sharded for each in (*operands, result)):
        return None
    a_shape, b_shape = (
        (*each.shape[:-2], *each.shape[:-3:-1]) if swapped else each.shape
        for each, swapped in zip(operands[:2], transposed, strict=True)
    )
    kept = [each.data_type for each in operands]
    formats = card_products.default_formats(kept[0], kept[1], result.data_type, arch)
    if config is not None:
        formats = formats._replace(
            fidelity=config.math_fidelity,
            wide=bool(config.fp32_dest_acc_en),
            in_l1=bool(config.packer_l1_acc),
        )
    if formats.wide and arch is Arch.WORMHOLE_B0:
        return None
    bias = kept[2] if len(kept) > 2 else None
    if not card_products.has_bits(a_shape, b_shape, formats, arch, bias):
        return None

    def multiply(a: Array, b: Array, *row: Array) -> Array | None:
        a, b = (
            each.swapaxes(-1, -2) if swapped else each
            for each, swapped in zip((a, b), transposed, strict=True)
        )
        added = (row[0], kept[2]) if row else None
        return card_products.multiply_matrices(a, b, formats, arch, added, block)

    return Kernel(multiply, MULTIPLICATION_STEPS * result.volume * a_shape[-1])


# --- Rows -----------------------------------------------------------------------------------------


def _find_softmax(
    record: Operation, call: OperationCall, operands: Sequence[TensorDesc], arch: Arch
) -> Kernel | None:
    (x,) = operands
    if call.parameters["dimension"] not in (-1, len(x.shape) - 1):
        return None
    if not _has_row_bits(record, operands, call.output.desc, arch, card_rows.WIDEST_SOFTMAX):
        return None
    stable = record.optional_field("numeric_stable") is not False
    softmax = partial(card_rows.softmax_rows, data_type=x.data_type, arch=arch, stable=stable)
    return Kernel(softmax, ROW_STEPS * x.volume)


def _has_row_bits(
    record: Operation,
    operands: Sequence[TensorDesc],
    result: TensorDesc,
    arch: Arch,
    widest: int,
) -> bool:
    x, formats = operands[0], [each.data_type for each in operands]
    return (
        record.optional_field("compute_config") is None
        and x.is_tiled
        and result.data_type is x.data_type
        and not any(each.memory_layout.is_sharded for each in (*operands, result))
        and card_rows.has_bits(arch, formats, x.shape, widest)
    )


# --- Sums -----------------------------------------------------------------------------------------


def _find_reduction(
    record: Operation, call: OperationCall, operands: Sequence[TensorDesc], arch: Arch
) -> Kernel | None:
    (x,), dims, mnemonic = operands, call.parameters["dim_arg"], call.definition.mnemonic
    result = call.output.desc
    if record.optional_field("compute_config") is not None or not dims:
        return None
    if result.data_type is not x.data_type or (mnemonic == "prod" and len(dims) > 1):
        return None
    if mnemonic == "max" and x.data_type in (DataType.BF16, DataType.F32):
        # The largest number is one of those that there are, except in blocks.
        return None

    def reduce(array: Array) -> Array | None:
        if mnemonic == "prod":
            found = card_products.multiply_along(array, dims[0], x.data_type, arch)
        else:
            found = card_products.reduce_tensor(mnemonic, array, dims, x.data_type, arch)
        return None if found is None else found.reshape(result.shape)

    return Kernel(reduce, REDUCTION_STEPS * x.volume)


def _find_running_sum(
    record: Operation, call: OperationCall, operands: Sequence[TensorDesc], arch: Arch
) -> Kernel | None:
    (x,), dim = operands, call.parameters["dim"]
    if call.output.desc.data_type is not x.data_type:
        return None
    accumulate = partial(card_products.accumulate, dim=dim, data_type=x.data_type, arch=arch)
    return Kernel(accumulate, REDUCTION_STEPS * x.volume)


_OF_DEFINITIONS: dict[str, Callable[..., Kernel | None]] = {
    "matmul": _find_product,
    "softmax": _find_softmax,
    **dict.fromkeys(("sum", "mean", "max", "prod"), _find_reduction),
    "cumsum": _find_running_sum,
}


# --- Whole records --------------------------------------------------------------------------------
# Several operations stand for some records of files, which a card computes at once.


class WholeRecord(NamedTuple):
    """A record as one function, which always has a result."""

    function: Callable[..., Array]
    operands: tuple[TensorRef, ...]
    output: TensorRef
    steps: int


def find_whole(record: Operation, arch: Arch) -> WholeRecord | None:
    """What a card makes of a record; None where one operation stands for it, or none is known."""
    find = _OF_RECORDS.get(record.table)
    return None if find is None else find(record, arch)


def _find_unary(record: Operation, arch: Arch) -> WholeRecord | None:
    """A function without parameters, by its name, which may be made of several definitions."""
    x, output = record.tensor("in"), record.tensor("out")
    if record.scalar("params") is not None or x.desc.data_type is not output.desc.data_type:
        return None
    if not (x.desc.element.is_float and x.desc.shape == output.desc.shape):
        return None
    name = re.sub("(?<!^)(?=[A-Z])", "_", record.enumerator("type")).lower()
    found = card_function(name, arch, [x.desc.data_type])
    if found is None:
        return None
    return WholeRecord(found.function, (x,), output, found.steps * x.desc.volume + CALL_STEPS)


def _find_linear(record: Operation, arch: Arch) -> WholeRecord | None:
    has_bias = record.optional_field("bias") is not None
    operands = tuple(map(record.tensor, ("a", "b", "bias") if has_bias else ("a", "b")))
    output, descs = record.tensor("out"), [each.desc for each in operands]
    if not all(each.element.is_float and len(each.shape) > 1 for each in (*descs[:2], output.desc)):
        return None
    if has_bias and descs[2].volume != output.desc.shape[-1]:
        return None
    transposed = [bool(record.scalar(f"transpose_{side}")) for side in "ab"]
    config = compute_config_of(record.scalar("compute_config"))
    product = _product(record, descs, output.desc, transposed, config, arch)
    if product is None:
        return None
    activate: Callable[[Array], Array] | None = None
    if record.scalar("activation"):
        found = card_function(record.scalar("activation"), arch, [output.desc.data_type])
        if found is None:
            return None
        activate = found.function

    def compute(*arrays: Array) -> Array:
        result: Any = product.function(*arrays)
        return result if activate is None else activate(result)

    return WholeRecord(compute, operands, output, product.steps + CALL_STEPS)


def _find_norm(
    normalize: Callable[..., Array | None], widest: int, record: Operation, arch: Arch
) -> WholeRecord | None:
    names = [name for name in ("weight", "bias") if record.has(name)]
    operands, output = tuple(map(record.tensor, ("input", *names))), record.tensor("out")
    x, *parameters = (each.desc for each in operands)
    if not all(each.element.is_float for each in (x, *parameters)) or not x.shape:
        return None
    if output.desc.shape != x.shape or any(each.volume != x.shape[-1] for each in parameters):
        return None
    if not _has_row_bits(record, [x, *parameters], output.desc, arch, widest):
        return None
    epsilon = float(record.scalar("epsilon"))

    def compute(array: Array, *others: Array) -> Array:
        given = {
            name: card_rows.Stored(np.ravel(each), desc.data_type)
            for name, each, desc in zip(names, others, parameters, strict=True)
        }
        result = normalize(card_rows.Stored(array, x.data_type), arch, epsilon=epsilon, **given)
        assert result is not None, "its bits are known"
        return result

    return WholeRecord(compute, operands, output, ROW_STEPS * x.volume + CALL_STEPS)


_OF_RECORDS: dict[str, Callable[[Operation, Arch], WholeRecord | None]] = {
    "EltwiseUnaryOp": _find_unary,
    "LinearOp": _find_linear,
    "MatmulOp": _find_linear,
    "LayerNormOp": partial(_find_norm, card_rows.layer_norm_rows, card_rows.WIDEST_LAYER_NORM),
    "RMSNormOp": partial(_find_norm, card_rows.rms_norm_rows, card_rows.WIDEST_RMS_NORM),
}
