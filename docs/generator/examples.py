"""An example of every TTIR operation: a function that can be compiled and run as it stands."""

from __future__ import annotations

from dataclasses import dataclass, field

from ttmlir.optable.elementwise import arity
from ttmlir.optable.op_definition import Domain, Kind, OpDefinition, Parameter, Shape

ANY_DEVICE = "#any_device"
HEADER = """\
#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
"""
_ELEMENTWISE_SHAPE = (33, 70)

Number = int | float | bool
ParameterValue = Number | str | tuple[int, ...]


@dataclass(frozen=True)
class Example:
    """Shapes and parameters that show what an operation does."""

    inputs: tuple[Shape, ...]
    output: Shape
    parameters: dict[str, ParameterValue] = field(default_factory=dict[str, ParameterValue])


_REDUCTION = Example(((33, 70),), (33, 1), {"keep_dim": True, "dim_arg": (1,)})
_PADDING = {f"padding_{side}": 1 for side in ("left", "right", "top", "bottom")}
_NO_PADDING = dict.fromkeys(_PADDING, 0)
_UNIT_STEPS = {
    f"{stem}_{axis}": 1 for stem in ("stride", "dilation") for axis in ("height", "width")
}

EXAMPLES: dict[str, Example] = {
    "clamp": Example(((33, 70),), (33, 70), {"min": 0.0, "max": 6.0}),
    "leaky_relu": Example(((33, 70),), (33, 70), {"parameter": 0.25}),
    **dict.fromkeys(
        (
            *("sum", "mean", "max", "min", "prod"),
            *("reduce_and", "reduce_or", "argmax"),
        ),
        _REDUCTION,
    ),
    "embedding": Example(((3, 5), (100, 64)), (3, 5, 64)),
    "softmax": Example(((33, 70),), (33, 70), {"dimension": -1}),
    "matmul": Example(((33, 70), (70, 5)), (33, 5)),
    "transpose": Example(((2, 33, 70),), (70, 33, 2), {"dim0": 0, "dim1": 2}),
    "concat": Example(((33, 70), (33, 5)), (33, 75), {"dim": 1}),
    "broadcast": Example(((1, 70),), (33, 70), {"dimension": (0,)}),
    "reshape": Example(((33, 70),), (11, 210), {"shape": (11, 210)}),
    "squeeze": Example(((33, 1, 70),), (33, 70), {"dim": 1}),
    "unsqueeze": Example(((33, 70),), (33, 1, 70), {"dim": 1}),
    "slice": Example(((33, 70),), (10, 35), {"begins": (3, 0), "ends": (33, 70), "step": (3, 2)}),
    "repeat": Example(((3, 5),), (6, 15), {"repeat_dimensions": (2, 3)}),
    "permute": Example(((2, 33, 70),), (70, 2, 33), {"permutation": (2, 0, 1)}),
    "reverse": Example(((2, 33, 70),), (2, 33, 70), {"dimensions": (0, 2)}),
    "pad": Example(((3, 5),), (4, 7), {"padding": (1, 0, 0, 2), "value": 0.5}),
    "sort": Example(((33, 70),), (33, 70), {"dim": -1, "descending": True, "stable": False}),
    "topk": Example(((33, 70),), (33, 5), {"k": 5, "dim": 1, "largest": True, "sorted": True}),
    "gather": Example(((33, 70), (33, 5)), (33, 5), {"dim": 1}),
    **dict.fromkeys(
        ("scatter", *(f"scatter_{name}" for name in ("add", "multiply", "maximum", "minimum"))),
        Example(((33, 70), (5, 1), (5, 70)), (33, 70), {"dim": 0}),
    ),
    "slice_dynamic": Example(((33, 70), (2,)), (5, 64), {"sizes": (5, 64)}),
    "slice_write": Example(((33, 70), (5, 64), (2,)), (33, 70)),
    "cumsum": Example(((33, 70),), (33, 70), {"dim": 0}),
    "dot_general": Example(
        ((2, 33, 70), (5, 70, 2)),
        (2, 33, 5),
        {
            "batch_dims_lhs": (0,),
            "contract_dims_lhs": (2,),
            "batch_dims_rhs": (2,),
            "contract_dims_rhs": (1,),
        },
    ),
    "conv2d": Example(
        ((1, 16, 20, 8), (24, 8, 3, 3), (1, 1, 1, 24)),
        (1, 16, 20, 24),
        {**_UNIT_STEPS, "groups": 1, **_PADDING},
    ),
    "max_pool2d": Example(
        ((1, 16, 20, 8),),
        (1, 8, 10, 8),
        {
            "kernel_height": 2,
            "kernel_width": 2,
            **_UNIT_STEPS,
            "stride_height": 2,
            "stride_width": 2,
            "ceil_mode": False,
            **_NO_PADDING,
        },
    ),
    "convolution": Example(
        ((2, 8, 16, 20), (3, 3, 8, 24), (24,)),
        (2, 24, 8, 20),
        {
            "dimension_numbers": "[b, f, 0, 1]x[0, 1, i, o]->[b, f, 0, 1]",
            "window_strides": (2, 1),
            "padding": (1, 0, 1, 1),
            "input_dilation": (1, 1),
            "weight_dilation": (1, 1),
            "window_reversal": (0, 0),
            "feature_group_count": 1,
            "batch_group_count": 1,
        },
    ),
    "conv_transpose2d": Example(
        ((1, 8, 10, 24), (24, 8, 2, 3), (1, 1, 1, 8)),
        (1, 16, 19, 8),
        {
            **_UNIT_STEPS,
            "stride_height": 2,
            "stride_width": 2,
            "groups": 1,
            **_NO_PADDING,
            "padding_left": 1,
            "padding_right": 1,
            "output_padding_height": 0,
            "output_padding_width": 0,
        },
    ),
    "pooling": Example(
        ((2, 8, 16, 20),),
        (2, 8, 8, 10),
        {
            "pooling_method": "sum",
            "window_dimensions": (1, 1, 3, 2),
            "window_strides": (1, 1, 2, 2),
            "base_dilations": (1, 1, 1, 1),
            "window_dilations": (1, 1, 1, 1),
            "padding": (0, 0, 0, 0, 1, 0, 0, 0),
        },
    ),
    "avg_pool2d": Example(
        ((1, 16, 20, 8),),
        (1, 8, 11, 8),
        {
            "kernel_height": 2,
            "kernel_width": 2,
            **_UNIT_STEPS,
            "stride_height": 2,
            "stride_width": 2,
            **_NO_PADDING,
            "padding_left": 1,
            "padding_right": 1,
            "ceil_mode": False,
            "count_include_pad": False,
        },
    ),
    "batch_norm_inference": Example(
        ((2, 8, 16, 20), (8,), (8,), (8,), (8,)),
        (2, 8, 16, 20),
        {"dimension": 1, "epsilon": 0.001},
    ),
    "constant": Example((), (2, 3), {"value": "dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>"}),
    "arange": Example((), (3, 5), {"start": 0, "end": 10, "step": 2, "arange_dimension": 1}),
}


def example_of(definition: OpDefinition) -> Example:
    """The example of an operation."""
    if definition.mnemonic in EXAMPLES:
        return EXAMPLES[definition.mnemonic]
    if not definition.family.is_elementwise:
        raise KeyError(f"add an example of '{definition.mnemonic}' to {__file__}")
    return Example((_ELEMENTWISE_SHAPE,) * arity(definition), _ELEMENTWISE_SHAPE)


def function_text(definition: OpDefinition) -> str:
    """The example as a function; `HEADER` has to stand before it."""
    example = example_of(definition)
    outputs = _output_types(definition, example)
    result = ", ".join(outputs)
    inputs = [_tensor(s, _element(definition, i)) for i, s in enumerate(example.inputs)]
    signature = ", ".join(
        f"%{name}: {type_}" for name, type_ in zip(_names(definition), inputs, strict=False)
    )
    results = f"({result})" if len(outputs) > 1 else result
    lines = [f"func.func @{definition.mnemonic}({signature}) -> {results} {{"]
    lines += [f"  {line}" for line in _body(definition, example, inputs, outputs)]
    last = ", ".join(f"%{name}" for name in definition.results) if len(outputs) > 1 else "%1"
    return "\n".join([*lines, f"  return {last} : {result}", "}"]) + "\n"


def _output_types(definition: OpDefinition, example: Example) -> list[str]:
    """The types of the results: of several, all but the first are places of elements."""
    elements = [_result_element(definition), *("i32" for _ in definition.results[1:])]
    return [_tensor(example.output, element) for element in elements]


def _body(
    definition: OpDefinition, example: Example, inputs: list[str], outputs: list[str]
) -> list[str]:
    properties = _properties(definition, example, outputs[0])
    if len(outputs) > 1:
        return _several(definition, inputs, outputs, properties)
    [output] = outputs
    if not definition.operands:
        return [f'%1 = "ttir.{definition.mnemonic}"() <{{{properties}}}> : () -> {output}']
    operands = ", ".join(
        [*(f"%{name}" for name, _ in zip(_names(definition), inputs, strict=False)), "%0"]
    )
    types = ", ".join([*inputs, output])
    return [
        f"%0 = tensor.empty() : {output}",
        f'%1 = "ttir.{definition.mnemonic}"({operands}) <{{{properties}}}>',
        f"    : ({types}) -> {output}",
    ]


def _several(
    definition: OpDefinition, inputs: list[str], outputs: list[str], properties: str
) -> list[str]:
    """The lines of an operation with several results."""
    empty = [f"%{number} = tensor.empty() : {type_}" for number, type_ in enumerate(outputs)]
    destinations = [f"%{number}" for number in range(len(outputs))]
    operands = ", ".join([*(f"%{name}" for name in _names(definition)), *destinations])
    results = ", ".join(f"%{name}" for name in definition.results)
    return [
        *empty,
        f'{results} = "ttir.{definition.mnemonic}"({operands}) <{{{properties}}}>',
        f"    : ({', '.join([*inputs, *outputs])}) -> ({', '.join(outputs)})",
    ]


def _names(definition: OpDefinition) -> list[str]:
    """Names of the arguments, enough for two variadic ones."""
    return [
        name
        for operand in definition.operands
        for name in (
            (f"{operand.name}0", f"{operand.name}1") if operand.variadic else (operand.name,)
        )
    ]


def _properties(definition: OpDefinition, example: Example, output: str) -> str:
    listed = [
        f"{parameter.name} = {_attribute(parameter, example.parameters[parameter.name], output)}"
        for parameter in definition.ttir_signature
        if parameter.name in example.parameters
    ]
    if definition.operands:
        constraints = ", ".join([ANY_DEVICE] * (len(example.inputs) + len(definition.results)))
        listed.append(f"operand_constraints = [{constraints}]")
    if definition.family.is_elementwise:
        listed.append(f"operandSegmentSizes = array<i32: {len(example.inputs)}, 1>")
    return ", ".join(listed)


def _attribute(parameter: Parameter, value: ParameterValue, output: str) -> str:
    match parameter.kind:
        case Kind.BOOL:
            return "true" if value else "false"
        case Kind.ELEMENTS:
            return f"{value} : {output}"
        case Kind.I32_ARRAY:
            return f"[{', '.join(f'{item} : i32' for item in _items(value))}]"
        case Kind.I64_ARRAY:
            return f"[{', '.join(map(str, _items(value)))}]"
        case Kind.STRING:
            return f'"{value}"'
        case Kind.DENSE_BOOL:
            return f"array<i1: {', '.join('true' if item else 'false' for item in _items(value))}>"
        case Kind.DENSE_I32 | Kind.DENSE_I64:
            element = parameter.kind.value.removeprefix("dense ")
            return f"array<{element}: {', '.join(map(str, _items(value)))}>"
        case _:
            return f"{value} : {parameter.kind.value}"


def _items(value: ParameterValue) -> tuple[int, ...]:
    assert isinstance(value, tuple)
    return value


def _element(definition: OpDefinition, operand: int) -> str:
    domain = definition.domains[min(operand, len(definition.domains) - 1)]
    return "i32" if domain in (Domain.INTEGER, Domain.INDEX, Domain.SHIFT) else "f32"


def _result_element(definition: OpDefinition) -> str:
    return "i32" if all(domain is Domain.INTEGER for domain in definition.domains) else "f32"


def _tensor(shape: Shape, element: str) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"
