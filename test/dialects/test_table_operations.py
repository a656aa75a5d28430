"""Operation classes made from the operation table."""

from __future__ import annotations

import inspect
import sys

import pytest
from running.ir_text import message_of, parse_op
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr, TensorType, f32
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import ConstantLike, MemoryEffect

from ttmlir.dialects import ttir, ttnn
from ttmlir.dialects.definition.ods import ODSOperation, is_dps
from ttmlir.dialects.definition.table_ops import (
    LateOnlyOp,
    ParameterValue,
    TableOperation,
    class_name,
)
from ttmlir.optable import DEFINITIONS, late_forms
from ttmlir.optable.op_definition import Kind, OpDefinition

TTIR_OF_REFERENCE = """
    abs add alloc broadcast concat constant conv2d dealloc div embedding exp ge generic kernel
    matmul max max_pool2d maximum mean multiply neg reciprocal relu reshape sigmoid softmax sqrt
    squeeze subtract sum to_layout transpose unsqueeze yield
""".split()
TTNN_OF_REFERENCE = """
    abs add alloc concat conv2d dealloc div embedding empty exp full ge get_device matmul max
    max_pool2d maximum mean multiply neg reciprocal relu reshape sigmoid softmax sqrt subtract sum
    to_device to_layout to_memory_config transpose
""".split()
HERE = FileLineColLoc(StringAttr("here.mlir"), IntAttr(1), IntAttr(2))
SAMPLE: dict[Kind, ParameterValue] = {
    Kind.SI32: -3,
    Kind.I32: 5,
    Kind.I64: 2,
    Kind.SI64: -(2**40),
    Kind.F32: -0.5,
    Kind.BOOL: True,
    Kind.I32_ARRAY: (4, -1),
    Kind.I64_ARRAY: (),
    Kind.DENSE_I32: (1, 0, 2),
    Kind.DENSE_I64: (2**40, 1),
    Kind.DENSE_BOOL: (1, 0),
    Kind.STRING: "max",
}
OF_BITS = """
    bitwise_and bitwise_not bitwise_or bitwise_xor count_leading_zeros logical_left_shift
    logical_right_shift population_count right_shift
""".split()
ELEMENTWISE = [
    definition for definition in DEFINITIONS.values() if definition.family.is_elementwise
]


def value(*shape: int) -> SSAValue:
    """A tensor of this shape."""
    return AnyOp(result_types=[TensorType(f32, shape)]).results[0]


def classes() -> list[type[ODSOperation]]:
    """Every class that has a definition."""
    made = [
        ttir.op_class(definition.mnemonic)
        for definition in DEFINITIONS.values()
        if definition.in_ttir
    ]
    return made + [
        ttnn.op_class(definition.mnemonic)
        for definition in DEFINITIONS.values()
        if definition.in_ttnn
    ]


def test_all_operations_of_the_reference_exist() -> None:
    """34 operations of ttir and 32 of ttnn, under the reference's names."""
    assert (len(TTIR_OF_REFERENCE), len(TTNN_OF_REFERENCE)) == (34, 32)
    for mnemonic in TTIR_OF_REFERENCE:
        assert ttir.op_class(mnemonic).name == f"ttir.{mnemonic}"
    for mnemonic in TTNN_OF_REFERENCE:
        assert ttnn.op_class(mnemonic).name == f"ttnn.{mnemonic}"


def test_every_definition_has_its_classes() -> None:
    """A definition makes one class for each dialect that it is in, and names it."""
    for definition in DEFINITIONS.values():
        for dialect, name, there in (
            (ttir, "ttir", definition.in_ttir),
            (ttnn, "ttnn", definition.in_ttnn),
        ):
            forms = getattr(late_forms, name.upper())
            if not there and definition.mnemonic in forms:
                assert issubclass(dialect.op_class(definition.mnemonic), LateOnlyOp)
                continue
            if not there:
                with pytest.raises(KeyError, match=f"{name}.{definition.mnemonic}"):
                    dialect.op_class(definition.mnemonic)
                continue
            cls = dialect.op_class(definition.mnemonic)
            assert issubclass(cls, TableOperation)
            assert cls.DEFINITION is definition


@pytest.mark.parametrize(
    ("mnemonic", "name"),
    [
        ("max_pool2d", "MaxPool2dOp"),
        ("conv2d", "Conv2dOp"),
        ("ge", "GreaterEqualOp"),
        ("atan2", "Atan2Op"),
        ("logical_not", "LogicalNotOp"),
    ],
)
def test_classes_have_the_names_of_mlir(mnemonic: str, name: str) -> None:
    """Class names follow MLIR's convention and are attributes of the dialect's module."""
    assert class_name(mnemonic) == name
    assert getattr(ttir, name) is ttir.op_class(mnemonic)
    assert getattr(ttnn, name) is ttnn.op_class(mnemonic)


def test_unknown_class_names_are_attribute_errors() -> None:
    """A wrong name says which dialect lacks it."""
    with pytest.raises(AttributeError, match="'ttnn' has no operation class 'FrobnicateOp'"):
        _ = ttnn.FrobnicateOp


def test_patterns_can_match_the_family_and_the_definition() -> None:
    """A definition's class belongs to its family, and `DEFINITION` tells the definition."""
    out = value(3, 7)
    match ttir.AddOp.dps([value(3, 7), value(1, 7)], [out], location=HERE):
        case ttir.BinaryOp(DEFINITION=definition):
            assert definition is DEFINITIONS["add"]
        case other:
            pytest.fail(f"{other} is no binary operation")
    assert issubclass(ttir.AddOp, ttir.GenericRegionOp)
    assert not issubclass(ttir.SubtractOp, ttir.GenericRegionOp)


@pytest.mark.parametrize("definition", ELEMENTWISE, ids=lambda definition: definition.mnemonic)
@pytest.mark.parametrize("dialect", ["ttir", "ttnn"])
def test_elementwise_operations_round_trip(dialect: str, definition: OpDefinition) -> None:
    """Every elementwise operation reads, verifies and gives back its operands and parameters."""
    element = "i32" if definition.mnemonic in OF_BITS else "f32"
    shapes = ("3x7", "1x7", "3x1")[: len(definition.operands)]
    inputs = [f"tensor<{shape}x{element}>" for shape in shapes]
    properties = [f"{p.name} = 2.500000e-01 : f32" for p in definition.parameters]
    properties.append(f"operandSegmentSizes = array<i32: {len(inputs)}, 1>")
    if dialect == "ttir":
        properties.append("operand_constraints = []")
    types = [*inputs, "tensor<3x7xf32>"]
    names = ", ".join(f"%{i}" for i in range(len(types)))
    op = parse_op(
        f'"{dialect}.{definition.mnemonic}"({names}) <{{{", ".join(properties)}}}> : '
        f"({', '.join(types)}) -> tensor<3x7xf32>",
        *types,
    )
    assert message_of(op) is None
    assert is_dps(op)
    assert isinstance(op, TableOperation)
    assert op.inputs == tuple(op.operands[:-1])
    assert op.output is op.operands[-1]
    assert op.parameters() == {p.name: 0.25 for p in definition.parameters}


@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.name)
def test_parameters_survive_attributes(cls: type[ODSOperation]) -> None:
    """Python values become attributes that satisfy the constraints, and come back the same."""
    assert issubclass(cls, TableOperation)
    values = {p.name: SAMPLE[p.kind] for p in cls.PARAMETERS if p.kind in SAMPLE}
    properties = cls.parameter_properties(values)
    for name, attr in properties.items():
        constraint = cls.SIGNATURE.by_name[name].constraint
        assert constraint.storage(attr)
        assert constraint.holds(attr)
    op = cls.create(properties=properties)
    assert isinstance(op, TableOperation)
    assert op.parameters() == values


@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.name)
def test_documentation_names_every_parameter(cls: type[ODSOperation]) -> None:
    """Docstrings start with a sentence; those made from definitions list the parameters."""
    doc = cls.__doc__ or ""
    assert doc.partition("\n")[0].endswith(".")
    assert issubclass(cls, TableOperation)
    if f"class {cls.__name__}(" not in inspect.getsource(sys.modules[cls.__module__]):
        assert all(f"`{p.name}` ({p.kind.value}" in doc for p in cls.PARAMETERS)


def test_dps_helper_fills_segments_types_and_device() -> None:
    """Segment sizes, result types and the trailing device follow from the operands."""
    a, out = value(1, 1, 320, 8), value(1, 1, 150, 8)
    add = ttnn.AddOp.dps([a, a], [out], location=HERE)
    assert add.group_sizes() == (2, 1)
    assert add.results[0].type == out.type
    assert add.location is HERE
    device = AnyOp(result_types=[f32]).results[0]
    pool = ttnn.MaxPool2dOp.dps([a], [out], location=HERE, device=device)
    assert tuple(pool.operands) == (a, out, device)
    assert (pool.inputs, pool.inits, pool.device) == ((a,), (out,), device)


@pytest.mark.parametrize(
    ("operands", "bias"), [(("a", "w", "o"), ()), (("a", "w", "b", "o"), ("b",))]
)
def test_optional_operands_are_found(operands: tuple[str, ...], bias: tuple[str, ...]) -> None:
    """The bias of a convolution is present if there is one operand more."""
    values = {name: value(1, 1, 1, i + 1) for i, name in enumerate(operands)}
    op = ttir.Conv2dOp.create(operands=list(values.values()))
    assert op.group("bias") == tuple(values[name] for name in bias)
    assert op.output is values["o"]
    assert op.inputs == tuple(list(values.values())[:-1])


def test_only_yield_and_cast_are_pure() -> None:
    """No operation that computes says that it has no effects, so that none is ever removed."""
    effects = [
        op.name
        for dialect in (ttir.TTIR, ttnn.TTNN)
        for op in dialect.operations
        if op.get_trait(MemoryEffect) is not None
    ]
    assert sorted(effects) == ["ttir.ttnn_metal_layout_cast", "ttir.yield"]


def test_constants_fold_to_their_value() -> None:
    """`ttir.constant` is like a constant and folds to the attribute it holds."""
    op = parse_op(
        '%r = "ttir.constant"() <{value = dense<1.5> : tensor<4096x4096xf32>}> : '
        "() -> tensor<4096x4096xf32>"
    )
    assert message_of(op) is None
    assert ConstantLike.get_constant_value(op.results[0]) is op.properties["value"]


def test_splats_stay_small() -> None:
    """A splat of 64 MB takes four bytes."""
    op = parse_op(
        '%r = "ttir.constant"() <{value = dense<1.5> : tensor<4096x4096xf32>}> : '
        "() -> tensor<4096x4096xf32>"
    )
    assert isinstance(op, ttir.ConstantOp)
    assert len(op.value.data.data) == 4  # pyright: ignore


def test_dynamic_extents_pass_where_nothing_can_be_said() -> None:
    """Shape rules are not applied to dynamic tensors; broadcasting lets a larger extent win."""
    op: Operation = parse_op(
        '%r = "ttir.permute"(%0, %1) <{operand_constraints = [], permutation = array<i64: 1, 0>}> '
        ": (tensor<?x7xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>",
        "tensor<?x7xf32>",
        "tensor<7x3xf32>",
    )
    assert message_of(op) is None
    op = parse_op(
        '%r = "ttir.slice"(%0, %1) <{operand_constraints = [], begins = [1 : i32, 0 : i32], '
        "ends = [5 : i32, 7 : i32], step = [1 : i32, 1 : i32]}> "
        ": (tensor<?x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>",
        "tensor<?x7xf32>",
        "tensor<4x7xf32>",
    )
    assert message_of(op) is None
    op = parse_op(
        '%r = "ttir.add"(%0, %1, %1) <{operandSegmentSizes = array<i32: 2, 1>, '
        "operand_constraints = []}> : (tensor<?x7xf32>, tensor<3x7xf32>, tensor<3x7xf32>) -> "
        "tensor<3x7xf32>",
        "tensor<?x7xf32>",
        "tensor<3x7xf32>",
    )
    assert message_of(op) is None
