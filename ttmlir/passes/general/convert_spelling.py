"""Write ttir operations as another version of tt-mlir does.

An operation is the same in all spellings; what differs is whether it writes to a destination, its
parameters and the annotations around it. `to=2024` gives each result a `tensor.empty` to write to,
constraints of the operands, and the parameters of September 2024; operations that came later, and
that are made of others, are decomposed. The modules of a device and of the host, meshes of one
device and what frontends say of arguments are left out, as 2024 has none of these. `to=2026` takes
destinations and constraints away, and gives operations the parameters of that year. `to=2025` does
the same, and gives each result a `ttir.empty` to write to.

Before:

    func.func @main(%a: tensor<33x70xf32>, %b: tensor<1x70xf32>) -> tensor<33x70xf32> {
      %0 = "ttir.broadcast"(%b) <{broadcast_dimensions = array<i64: 33, 1>}> :
          (tensor<1x70xf32>) -> tensor<33x70xf32>
      %1 = "ttir.add"(%a, %0) : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    #any_device_tile = #tt.operand_constraint<dram|l1|tile|...>
    module {
      func.func @main(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>) -> tensor<33x70xf32> {
        %0 = tensor.empty() : tensor<33x70xf32>
        %1 = "ttir.broadcast"(%arg1, %0) <{dimension = [0, 1],
            operand_constraints = [#any_device_tile, #any_device_tile]}> :
            (tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
        %2 = tensor.empty() : tensor<33x70xf32>
        %3 = "ttir.add"(%arg0, %1, %2) <{operandSegmentSizes = array<i32: 2, 1>,
            operand_constraints = [#any_device_tile, #any_device_tile, #any_device_tile]}>
            : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
        return %3 : tensor<33x70xf32>
      }
    }

Requires: static shapes; no operations of ttnn of 2025 and later.
Ensures: ttir operations are in the spelling; what they compute does not change.
Options: `to`: the spelling, `2024`, `2025` (of its end) or `2026`.
Not done here: tensors that have a layout keep the spelling of 2024, as layouts of ttir are gone in
2026; programs of several devices are refused, as are operations that are not made of
those of 2024; each message names the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    i32,
    i64,
)
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ttmlir.dialects import ttcore, ttir
from ttmlir.dialects.definition.ods import SEGMENTS, segment_sizes, segments_attr
from ttmlir.dialects.definition.table_ops import LateOnlyOp, ValueFormOp, parameters_in
from ttmlir.errors import ArgumentError
from ttmlir.ir.builder import Builder, Spelling, TTIRCarrier, array_in, use_style
from ttmlir.ir.late_movement import slice_late, write_slice_late
from ttmlir.ir.rewriting import erase_unused, insert_before, refuse_to_legalize, replace
from ttmlir.ir.tensor_types import (
    dtype_of,
    element_type,
    is_boolean,
    layout_of,
    tensor_like,
    value_shape,
)
from ttmlir.mlir.core_prefix import (
    forget_empty_late,
    forget_late_spelling,
    name_empty_late,
    use_late_spelling,
)
from ttmlir.mlir.option_values import option
from ttmlir.optable.late_forms import COMBINERS, IMAGE_DIMS, without_divisor
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.core.value_form import CACHE_OPERATIONS

if TYPE_CHECKING:
    from xdsl.context import Context

    from ttmlir.arrays.array import Array


_CONTROL = ttcore.WhileLoopOp | ttcore.CaseOp | ttcore.OptimizationBarrierOp


@dataclass(frozen=True)
class ConvertSpellingPass(ModulePass):
    """Write ttir operations as another version of tt-mlir does."""

    name = "convert-spelling"
    title = "ConvertSpelling"

    to: Spelling = option(Spelling.EARLY, "The year whose text is wanted: 2024, 2025 or 2026")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert everything inside the module, unless it is in the spelling."""
        if self.to is not Spelling.EARLY:
            _make_late(module)
            if self.to is Spelling.MIDDLE:
                write_to_empty(module)
            return
        if not is_late(module):
            return
        _refuse_library_calls(module)
        _take_destinations(module)
        _unwrap(module)
        for op in tuple(module.walk()):
            if isinstance(op, ttir.TTIRTableOp) and _is_late_form(op):
                _give_destination(op)
            elif isinstance(op, LateOnlyOp):
                _decompose(op)
            elif isinstance(op, ttcore.OptimizationBarrierOp):
                replace(op, *op.operands)
            elif isinstance(op, ttcore.WhileLoopOp):
                _convert_loop(op)
            elif isinstance(op, ttcore.CaseOp):
                _convert_branch(op)
            else:
                _drop_annotations(op)
        forget_late_spelling(module)


def decompose_late(module: ModuleOp) -> None:
    """Let operations of 2026 that 2024 lacks, or has in parts only, be made of those it has.

    Their results keep their types, with the layout that a tensor of ttnn has; on the way there are
    tensors without layout. For passes that read all other operations of 2026 as they are.
    """
    for op in tuple(module.walk()):
        uses = [next(iter(result.uses), None) for result in op.results]
        types = op.result_types
        if isinstance(op, LateOnlyOp) and op.name.startswith("ttir."):
            _decompose(op)
        elif (
            isinstance(op, ttir.TTIRTableOp)
            and op.DEFINITION.mnemonic in _SPECIAL
            and not op.has_destination
        ):
            _give_destination(op)
        else:
            continue
        for use, type_ in zip(uses, types, strict=True):
            if use is not None:
                made = use.operation.operands[use.index]
                if made.type != type_:
                    Rewriter.replace_value_with_new_type(made, type_)


def _take_destinations(module: ModuleOp) -> None:
    """Let the operations of 2025 make their results."""
    for op in tuple(module.walk()):
        if not isinstance(op, ttir.TTIRTableOp | ttir.LateOp) or not op.has_destination:
            continue
        if "operand_constraints" in op.properties:
            continue
        before = [init.owner for init in op.inits]
        first = len(op.operands) - len(before)
        if SEGMENTS in op.properties:
            sizes = segment_sizes(op.properties[SEGMENTS])
            count = 1 if op.form().operands[-1].variadic else len(before)
            op.properties[SEGMENTS] = segments_attr(sizes[:-count])
        op.operands = op.operands[:first]
        erase_unused(owner for owner in before if isinstance(owner, EmptyOp))
    if not any(isinstance(op, EmptyOp) for op in module.walk()):
        forget_empty_late(module)


_MAKE_RESULTS = ("get_dimension_size", "mesh_shard", "to_layout")
"""Operations that had no destination in 2025; nor had those without operands, and those that write
to an operand."""


def write_to_empty(module: ModuleOp) -> None:
    """Give the results of operations of 2026 a `ttir.empty` to write to, as in 2025."""
    for op in tuple(module.walk()):
        if not isinstance(op, ttir.TTIRTableOp | ttir.LateOp) or op.has_destination:
            continue
        mnemonic = op.name.removeprefix("ttir.")
        if not op.operands or not op.results or mnemonic in _MAKE_RESULTS or "cache" in mnemonic:
            continue
        if isinstance(op, ttir.LateOp) and op.takes_output:
            continue
        builder = Builder.before(op)
        inits = [builder.create_empty(result.type) for result in op.results]
        if SEGMENTS in op.properties:
            sizes = segment_sizes(op.properties[SEGMENTS])
            more = (len(inits),) if len(inits) > 1 else (1,)
            op.properties[SEGMENTS] = segments_attr((*sizes, *more))
        op.operands = (*op.operands, *inits)
    use_late_spelling(module)
    name_empty_late(module)


GENERAL_WINDOWS = ("ttir.convolution", "ttir.pooling")
"""Operations of 2025 that 2026 has images for."""


def write_caches_in_place(module: ModuleOp) -> None:
    """Let operations that write a cache give nothing: what they gave was the cache."""
    for op in tuple(module.walk()):
        if op.name in CACHE_OPERATIONS and op.results:
            new = type(op).create(
                operands=op.operands,
                properties=dict(op.properties),
                attributes=dict(op.attributes),
                location=op.location,
            )
            insert_before(op, new)
            replace(op, op.operands[0])


def _make_late(module: ModuleOp) -> None:
    """Let operations make their results, as in 2026."""
    _refuse_library_calls(module)
    _take_destinations(module)
    write_caches_in_place(module)
    if any(op.name in GENERAL_WINDOWS for op in module.walk()):
        from ttmlir.passes.ttir.decomposition.ttir_decomposition import decompose

        decompose(module, GENERAL_WINDOWS)
    for op in tuple(module.walk()):
        if isinstance(op, ttir.WhileOp):
            _convert_loop_late(op)
        elif isinstance(op, ttir.CaseOp):
            _replace_by(op, ttcore.CaseOp, {"branch_programs": op.properties["branches"]})
        if not isinstance(op, ttir.TTIROp):
            continue
        if not isinstance(op, ttir.TTIRTableOp):
            refuse_to_legalize(op, "2026 has no such operation of ttir")
        if _is_late_form(op):
            continue
        if any(layout_of(value.type) is not None for value in (*op.operands, *op.results)):
            refuse_to_legalize(op, "ttir of 2026 has no layouts; convert it before they are chosen")
        before = [init.owner for init in op.inits]
        with use_style(Spelling.LATE.style):
            try:
                made = _create_late(Builder.before(op), op)
            except ValueError as error:
                refuse_to_legalize(op, str(error))
        replace(op, *made)
        erase_unused(owner for owner in before if isinstance(owner, EmptyOp))
    use_late_spelling(module)


_OF_TRUTHS = {"reduce_or": "max", "reduce_and": "min"}
"""Operations that are the same on zeros and ones, and make these."""
_TRUTHS_BY = {late: early for early, late in _OF_TRUTHS.items()}


def _create_late(builder: Builder, op: ttir.TTIRTableOp) -> Sequence[SSAValue]:
    mnemonic, parameters = op.DEFINITION.mnemonic, op.parameters()
    operands, types = list(op.inputs), [result.type for result in op.results]
    if mnemonic == "slice_dynamic":
        starts = _numbers_in(builder, operands[1])
        return (slice_late(builder, operands[0], starts, value_shape(op.results[0]), types[0]),)
    if mnemonic == "slice_write":
        starts = _numbers_in(builder, operands[2])
        return (write_slice_late(builder, operands[0], operands[1], starts),)
    if mnemonic == "broadcast":
        shape, dims = value_shape(op.results[0]), cast("tuple[int, ...]", parameters["dimension"])
        own = value_shape(operands[0])
        if len(own) < len(shape):
            at = dims if len(dims) == len(own) else range(len(shape) - len(own), len(shape))
            extents = dict(zip(at, own, strict=True))
            operands = [
                builder.reshape(operands[0], [extents.get(n, 1) for n in range(len(shape))])
            ]
    if mnemonic == "scatter" or mnemonic.startswith("scatter_"):
        combine = mnemonic.removeprefix("scatter").removeprefix("_")
        return (builder.scatter(operands, cast("int", parameters["dim"]), combine),)
    if is_boolean(element_type(op.results[0])):
        # Passes of 2026 store truth values as floats, and leave other numbers than 0 and 1 as they
        # are: casts to them, and sums in place of "or".
        if mnemonic == "typecast" and not is_boolean(element_type(operands[0])):
            shape = (1,) * len(value_shape(operands[0]))
            zero = builder.create_splat(0, tensor_like(operands[0], shape))
            return (builder.create("ne", (operands[0], zero), types[0]),)
        # Of no elements none is the largest, and their sum is 0.
        is_empty = any(0 in value_shape(operand) for operand in operands)
        mnemonic = mnemonic if is_empty else _OF_TRUTHS.get(mnemonic, mnemonic)
    if mnemonic == "typecast":
        # Each cast rounds; one that does not say so vanishes before the next.
        parameters = {"conservative_folding": True}
    return builder.create_several(mnemonic, operands, types, **parameters)


def _numbers_in(builder: Builder, numbers: SSAValue) -> list[SSAValue]:
    """The elements of a vector, each as a tensor of one."""
    (count,) = value_shape(numbers)
    type_ = tensor_like(numbers, (1,))
    step = {"step": (1,)}
    return [
        builder.create("slice", [numbers], type_, begins=(at,), ends=(at + 1,), **step)
        for at in range(count)
    ]


def is_late(module: ModuleOp) -> bool:
    """True for a module with ttir operations that the passes of 2024 do not know."""
    ops = tuple(module.walk())
    if any(
        isinstance(op, LateOnlyOp | _CONTROL)
        or (isinstance(op, ttir.TTIRTableOp) and _is_late_form(op))
        for op in ops
    ):
        return True
    holds_device = any(isinstance(op, ttcore.DeviceModuleOp) for op in ops)
    return holds_device and not any(op.dialect_name() in ("ttnn", "d2m") for op in ops)


def _is_late_form(op: ttir.TTIRTableOp) -> bool:
    return not op.has_destination or "operand_constraints" not in op.properties


def _refuse_library_calls(module: ModuleOp) -> None:
    for op in module.walk():
        if op.name.startswith("ttnn.") and isinstance(op, LateOnlyOp | ValueFormOp):
            refuse_to_legalize(op, "only operations of ttir change their spelling; convert ttir")


# --- Around operations ----------------------------------------------------------------------------


def _unwrap(module: ModuleOp) -> None:
    """Put what the module of the device holds in place of it."""
    for holder in [op for op in module.body.ops if isinstance(op, ttcore.DeviceModuleOp)]:
        inner = holder.module
        for op in tuple(inner.body.ops):
            op.detach()
            if not isinstance(op, ttcore.DeviceOp):
                module.body.block.insert_op_before(op, holder)
        holder.detach()
        holder.erase()
    meshes = module.attributes.pop("ttcore.meshes", None)
    if isinstance(meshes, ttcore.MeshesAttr):
        for name, shape in meshes.data:
            if any(extent != 1 for extent in shape):
                extents = "x".join(map(str, shape))
                refuse_to_legalize(
                    module, f"the mesh '{name}' has {extents} devices; 1 is supported"
                )
    _drop_annotations(module)


def _drop_annotations(op: Operation) -> None:
    """Leave out what is said of operations, arguments and results since 2025."""
    for name in [name for name in op.attributes if _is_annotation(name)]:
        del op.attributes[name]
    for place in ("arg_attrs", "res_attrs"):
        listed = op.properties.get(place, op.attributes.get(place))
        if not isinstance(listed, ArrayAttr):
            continue
        kept = [
            {name: attr for name, attr in each.data.items() if not _is_annotation(name)}
            for each in cast("ArrayAttr[DictionaryAttr]", listed)
        ]
        home = op.properties if place in op.properties else op.attributes
        if any(kept):
            home[place] = ArrayAttr(DictionaryAttr(each) for each in kept)
        else:
            del home[place]


def _is_annotation(name: str) -> bool:
    return name.startswith(("ttcore.", "tt.function_type", "ttnn."))


# --- Operations -----------------------------------------------------------------------------------


def _give_destination(op: ttir.TTIRTableOp) -> None:
    _drop_annotations(op)
    builder = Builder.before(op)
    mnemonic = op.DEFINITION.mnemonic
    special = None if op.has_destination else _SPECIAL.get(mnemonic)
    if not op.has_destination and is_boolean(element_type(op.results[0])):
        mnemonic = _TRUTHS_BY.get(mnemonic, mnemonic)
    before = [init.owner for init in op.inits]
    types = [result.type for result in op.results]
    try:
        if special is not None:
            made = [special(builder, op)]
        else:
            made = builder.create_several(mnemonic, op.inputs, types, **op.parameters())
    except ValueError as error:
        refuse_to_legalize(op, str(error))
    replace(op, *made)
    erase_unused(owner for owner in before if isinstance(owner, EmptyOp))


def _multiply(builder: Builder, op: ttir.TTIRTableOp) -> SSAValue:
    """A product whose operands are transposed before it."""
    parameters = op.parameters()
    operands = [
        builder.cast(
            _transposed(builder, value) if parameters.get(name) else value,
            element_type(op.results[0]),
        )
        for value, name in zip(op.inputs, ("transpose_a", "transpose_b"), strict=True)
    ]
    return builder.create("matmul", operands, op.results[0].type)


def _transposed(builder: Builder, value: SSAValue) -> SSAValue:
    rank = len(value_shape(value))
    return builder.transpose(value, rank - 2, rank - 1)


def _scatter(builder: Builder, op: ttir.TTIRTableOp) -> SSAValue:
    """The operation of 2024 that combines as this one does."""
    kind = op.properties.get("scatter_reduce_type")
    how = kind.data.keyword if isinstance(kind, ttcore.ReduceTypeAttr) else "invalid"
    if how not in COMBINERS:
        raise ArgumentError(f"values that are put in one place are not combined by '{how}'")
    mnemonic = f"scatter_{COMBINERS[how]}".removesuffix("_")
    return builder.create(mnemonic, op.inputs, op.results[0].type, **op.parameters())


def _slice_dynamic(builder: Builder, op: ttir.TTIRTableOp) -> SSAValue:
    late = op.LATE
    said = parameters_in(op.properties, () if late is None else late.parameters or ())
    return _compute("slice_dynamic", builder, op, op.inputs, op.results, said)


def _pool(builder: Builder, op: ttir.TTIRTableOp) -> SSAValue:
    """The mean over a window, multiplied where the sum is divided by another number."""
    late, type_ = op.LATE, op.results[0].type
    if late is None or "divisor_override" not in op.properties:
        return builder.create("avg_pool2d", op.inputs, type_, **op.parameters())
    said = parameters_in(op.properties, late.parameters or ())
    parameters, factor = without_divisor(late, said)
    mean = builder.create("avg_pool2d", op.inputs, type_, **parameters)
    return (array_in(builder, mean) * factor).value


def _convolve(builder: Builder, op: ttir.TTIRTableOp) -> SSAValue:
    """A convolution of images with channels last, whatever the order of the dimensions was."""
    late = op.LATE
    assert late is not None, "convolutions have a form of 2026"
    said = parameters_in(op.properties, late.parameters or ())
    order = [cast("int", said.pop(name, at)) for at, name in enumerate(IMAGE_DIMS)]
    image, *others = op.inputs
    shapes = [value_shape(value) for value in op.inputs]
    assert late.read is not None, "convolutions have parameters of their own"
    parameters = late.read(said, shapes, value_shape(op.results[0]))
    extents = value_shape(op.results[0])
    type_ = tensor_like(op.results[0], [extents[dim] for dim in order])
    operands = [builder.permute(image, order), *others]
    made = builder.create(op.DEFINITION.mnemonic, operands, type_, **parameters)
    return builder.permute(made, [order.index(dim) for dim in range(len(order))])


def _pad(builder: Builder, op: ttir.TTIRTableOp) -> SSAValue:
    """Elements around a tensor; margins below 0 cut off some of it."""
    own = parameters_in(op.properties, op.PARAMETERS)
    padding = cast("tuple[int, ...]", own["padding"])
    margins = list(zip(padding[::2], padding[1::2], strict=True))
    return builder.pad(op.inputs[0], margins, cast("float", own["value"]))


def _contract(builder: Builder, op: ttir.TTIRTableOp) -> SSAValue:
    """A product in the elements of its result: those of the operands may not hold the sums."""
    result = op.results[0]
    operands = [builder.cast(value, element_type(result)) for value in op.inputs]
    return builder.create("dot_general", operands, result.type, **op.parameters())


_SPECIAL: dict[str, Callable[[Builder, ttir.TTIRTableOp], SSAValue]] = {
    "avg_pool2d": _pool,
    "conv2d": _convolve,
    "conv_transpose2d": _convolve,
    "dot_general": _contract,
    "matmul": _multiply,
    "pad": _pad,
    "scatter": _scatter,
    "slice_dynamic": _slice_dynamic,
}
"""Operations whose form of 2026 says more than the definition."""


def _convert_loop(op: ttcore.WhileLoopOp) -> None:
    """A loop whose body returns what the next iteration takes first."""
    count = len(op.results)
    if op.output_indices != tuple(range(count)) or op.state_count != count:
        refuse_to_legalize(op, "the body returns all that is carried, in the order of the operands")
    properties: dict[str, Attribute] = {"body": op.properties["body_program"]}
    if "condition_program" in op.properties:
        properties["condition"] = op.properties["condition_program"]
    else:
        initial, limit, step = (op.bound(name) for name in ("initial", "limit", "step"))
        if None in (initial, limit, step) or not step:
            refuse_to_legalize(op, "the number of iterations is a constant")
        trips = max(0, -(-(cast("int", limit) - cast("int", initial)) // step))
        properties["trip_count"] = IntegerAttr(trips, i64)
    _replace_by(op, ttir.WhileOp, properties)


def _convert_branch(op: ttcore.CaseOp) -> None:
    _replace_by(op, ttir.CaseOp, {"branches": op.properties["branch_programs"]})


def _convert_loop_late(op: ttir.WhileOp) -> None:
    count = len(op.results)
    properties: dict[str, Attribute] = {
        "body_program": op.properties["body"],
        "output_indices": DenseArrayBase.from_list(i32, range(count)),
        "state_count": IntegerAttr(count, i32),
    }
    if op.trip_count is None:
        properties["condition_program"] = op.properties["condition"]
    else:
        bounds = {"initial": 0, "limit": op.trip_count, "step": 1}
        properties.update((name, ttcore.LoopBoundAttr((n, None))) for name, n in bounds.items())
    _replace_by(op, ttcore.WhileLoopOp, properties)


def _replace_by(op: Operation, cls: type[Operation], properties: Mapping[str, Attribute]) -> None:
    new = cls.create(
        operands=op.operands,
        result_types=[result.type for result in op.results],
        properties=properties,
        location=op.location,
    )
    block = op.parent
    assert block is not None, "the operation is in a function"
    block.insert_op_before(new, op)
    replace(op, *new.results)


def _decompose(op: LateOnlyOp) -> None:
    """Put operations of 2024 in place of one that they make up."""
    from ttmlir.composites.late_operations import COMPOSITES, NUMBERS

    mnemonic = op.name.removeprefix("ttir.")
    _drop_annotations(op)
    builder = Builder.before(op)
    parameters = parameters_in(op.properties, op.LATE.parameters or ())
    number = parameters.get("fill_value", NUMBERS.get(mnemonic))
    if isinstance(number, int | float) and not op.operands:
        replace(op, builder.create_splat(number, op.results[0].type))
        return
    if mnemonic not in COMPOSITES or len(op.results) != 1:
        refuse_to_legalize(
            op,
            "it came after 2024 and is not made of operations of that year; "
            f"{', '.join(sorted((*COMPOSITES, *NUMBERS, 'full')))} are",
        )
    operands = [
        value for group in op.form().operands for value in (op.group(group.name) or (None,))
    ]
    try:
        replace(op, _compute(mnemonic, builder, op, operands, op.results, parameters))
    except ValueError as error:
        refuse_to_legalize(op, str(error))


def _compute(
    mnemonic: str,
    builder: Builder,
    op: Operation,
    operands: Sequence[SSAValue | None],
    results: Sequence[SSAValue],
    parameters: dict[str, Any],
) -> SSAValue:
    """What a composite makes of operands, in the elements of the result."""
    from ttmlir.composites.late_operations import COMPOSITES, TAKES_SHAPE

    carrier = TTIRCarrier(builder)
    given = [None if value is None else array_in(carrier, value) for value in operands]
    plain = {name: _plain(value) for name, value in parameters.items()}
    if mnemonic in TAKES_SHAPE:
        plain["shape"] = value_shape(results[0])
    found: Array = COMPOSITES[mnemonic](*given, **plain)
    return found.cast(dtype_of(element_type(results[0]))).value


def _plain(value: Any) -> Any:
    """A parameter in Python: a keyword for an attribute that holds one."""
    if not isinstance(value, Attribute):
        return value
    keyword = getattr(getattr(value, "data", None), "keyword", None)
    return value if keyword is None else keyword
