"""Programs some operations of which have no kernels: kernels among the calls of the ttnn library.

`outline_parts` takes the largest parts that have kernels out of a module in ttir, compiles each by
`ttir-to-ttmetal-pipeline` in ttnn-mode, and leaves a `ttir.custom_kernel` in its place, of which
the pipeline to ttnn makes a `ttnn.generic`. `Outlined.expand` puts the kernels there.

Which operations have kernels is asked of the passes that make them: those that refuse an operation
say why, and it stays a call of the library. Kernels that can be reached from each other without a
call of the library in between are one part.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrealizedConversionCastOp,
    bf16,
    f32,
    i32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import Rewriter

from ttmlir.dialects import ttir, ttnn
from ttmlir.dialects.definition.control import ControlOp
from ttmlir.dialects.definition.ods import KERNEL_THREAD, DestinationStyleOp
from ttmlir.dialects.tt.layout import element_of
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import splat_number
from ttmlir.ir.rewriting import (
    erase,
    insert_before,
    refuse_to_legalize,
    rename_references,
    replace,
    symbol_visibility,
)
from ttmlir.ir.tensor_types import shape_of, value_shape
from ttmlir.layout.data_format import TileFormat
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.mlir.attributes import attach_blobs, blobs_of, cloned
from ttmlir.mlir.reporting import DiagnosticError, name_location, name_of
from ttmlir.optable.op_definition import Family
from ttmlir.passes.core.manager import PassFailure, PassManager, parse_pipeline, with_environment
from ttmlir.passes.d2m.frontend.ttir_to_d2m import TTIRToD2MPass
from ttmlir.passes.d2m.fusion.d2m_mask_padding import FROM_HOST
from ttmlir.passes.general.ttcore_wrap_device_module import module_of_device
from ttmlir.passes.shardy.spreading.shardings import set_argument
from ttmlir.program import (
    ELEMENT_TYPES,
    CoreRange,
    CustomKernel,
    KernelDescription,
    KernelTensor,
    ProgramDescription,
    ReaderConfig,
    write_custom_kernel,
)

if TYPE_CHECKING:
    from xdsl.context import Context

_PIPELINE = "ttir-to-ttmetal-pipeline"
_NUMBERED = "operation of a part "
"""Before the number of an operation, in the name of its location."""
_PART = "part"
"""Before the number of a part, in the names of its program and of its kernels."""
_MOST_ATTEMPTS = 8
"""Operations that are left to the library one by one where kernels cannot be made."""
_RESHAPES = frozenset(("ttir.reshape", "ttir.squeeze", "ttir.unsqueeze"))
_AT_EDGES = frozenset(("ttir.concat", "ttir.slice_dynamic", "ttir.slice_write", *_RESHAPES))
"""Moves of single numbers that kernels do not do for other calls: they read or write each alone."""
_SMALL = 4096
"""Numbers of a constant of which each part that reads it has its own."""


@dataclass(frozen=True)
class LibraryCall:
    """An operation that has no kernels."""

    name: str
    location: LocationAttr
    reason: str
    """What refused to make kernels of it says, without what to do about it."""
    is_constant: bool
    """True if it depends on constants alone: it may be computed while compiling."""


@dataclass(frozen=True)
class Outlined:
    """What became of a module."""

    parts: Sequence[Part]
    """Those that have kernels."""
    calls: Sequence[LibraryCall]
    """The operations that stay the library's."""
    loops: Sequence[LibraryCall]
    """Loops and branches, which the host runs around kernels."""

    def expand(self, module: ModuleOp) -> None:
        """Put the kernels of the parts where the programs in their places are, in ttnn."""
        by_name = {part.name: part for part in self.parts}
        home = module_of_device(module)
        for op in list(module.walk()):
            if isinstance(op, ttnn.GenericOp):
                part = by_name.get(op.program.kernels[0].name)
                if part is not None:
                    part.expand(op, home)


def outline_parts(module: ModuleOp, options: str) -> Outlined:
    """Take the parts of a module in ttir of 2024 that have kernels out of it.

    `options` are those of `ttir-to-ttmetal-pipeline`. Raises DiagnosticError for what is no ttir.
    """
    from ttmlir.dialects import DIALECTS
    from ttmlir.mlir.context import make_context

    context = make_context(DIALECTS)
    _run("inline{canonicalize=false}", module, context)
    search = _Search(module, options, context)
    search.ask_passes()
    parts = search.compile_parts()
    search.arrange()
    for part in parts:
        part.outline()
    refused = [
        (op, LibraryCall(op.name, op.location, reason, is_constant=op in search.constants))
        for op, reason in sorted(search.refused.items(), key=lambda each: search.numbers[each[0]])
        if not isinstance(op, ttir.CustomKernelOp)
    ]
    return Outlined(
        parts,
        [call for op, call in refused if not isinstance(op, ControlOp)],
        [call for op, call in refused if isinstance(op, ControlOp)],
    )


def _functions(module: ModuleOp) -> Iterator[FuncOp]:
    return (op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks)


def _operations(module: ModuleOp) -> list[Operation]:
    """The operations of ttir in all functions."""
    return [
        op
        for function in _functions(module)
        for op in function.body.block.ops
        if op.name.startswith("ttir.")
    ]


def _run(pipeline: str, module: ModuleOp, context: Context) -> None:
    """Run passes on a module; DiagnosticError for what they refuse."""
    nest = with_environment(parse_pipeline(f"builtin.module({pipeline})"), os.environ)
    try:
        PassManager(nest=nest).run(context, module)
    except PassFailure as failure:
        if isinstance(failure.__cause__, DiagnosticError):
            raise failure.__cause__ from failure
        raise


def _inputs(op: Operation) -> Sequence[SSAValue]:
    """What an operation reads."""
    if not isinstance(op, DestinationStyleOp):
        return op.operands
    first, end = op.init_range
    return [value for number, value in enumerate(op.operands) if not first <= number < end]


def _constants(operations: Sequence[Operation]) -> set[Operation]:
    """Those that depend on constants alone, which the pipeline to ttnn computes."""
    found = set[Operation]()
    for op in operations:
        if not isinstance(op, ControlOp) and all(each.owner in found for each in _inputs(op)):
            found.add(op)
    return found


def _computes(op: Operation) -> bool:
    """False for operations that arrange numbers, which alone are no reason for a kernel."""
    definition = getattr(op, "DEFINITION", None)
    return definition is None or not (
        definition.family in (Family.MOVEMENT, Family.CREATION)
        or definition.mnemonic in ("constant", "typecast")
    )


# --- Numbers of operations ------------------------------------------------------------------------
# What passes make of an operation has its location, which says its number.


def _numbered_location(number: int, op: Operation) -> NameLoc:
    return name_location(f"{_NUMBERED}{number}", op.location)


def _number_in(location: Attribute) -> int | None:
    name = name_of(location)
    if name is None or not name.startswith(_NUMBERED):
        return None
    return int(name.removeprefix(_NUMBERED))


def _without_numbers(location: LocationAttr) -> LocationAttr:
    match location:
        case NameLoc(desc=name, location=child) if name.data.startswith(_NUMBERED):
            return cast("LocationAttr", child)
        case FusedLoc(locations=parts):
            each = tuple(map(_without_numbers, cast("ArrayAttr[LocationAttr]", parts)))
            return FusedLoc(each, location.metadata)
        case CallSiteLoc(callee=callee, caller=caller):
            return CallSiteLoc(
                _without_numbers(cast("LocationAttr", callee)),
                _without_numbers(cast("LocationAttr", caller)),
            )
        case _:
            return location


# --- Search ---------------------------------------------------------------------------------------
# Which operations have kernels, and which of them are a part together.


class _Search:
    """The operations of a module, and what is known of them."""

    def __init__(self, module: ModuleOp, options: str, context: Context) -> None:
        self.module = module
        self.options = options
        self.context = context
        self.operations = _operations(module)
        self.numbers = {op: number for number, op in enumerate(self.operations)}
        self.constants = _constants(self.operations)
        self.refused: dict[Operation, str] = {}
        """Why operations have no kernels."""
        self.phases: dict[Operation, int] = {}
        """How many calls of the library an operation waits for that wait for kernels."""
        self._at_edges: set[Operation] = set()
        self._moved: set[Operation] = set()
        """Operations that would give a part back what it was given, under another shape."""
        self.outlined: dict[SSAValue, SSAValue] = {}
        """What stands for results of parts that are outlined."""

    def ask_passes(self) -> None:
        """Find out what the passes in front of the loops over tiles refuse."""
        nest = parse_pipeline(f"builtin.module({_PIPELINE}{{{self.options}}})")
        passes = list(with_environment(nest, os.environ).passes())
        place = next(n for n, each in enumerate(passes) if isinstance(each, TTIRToD2MPass))
        is_done = False
        while not is_done:
            probe = self._numbered_clone()
            try:
                for step in passes[:place]:
                    step.run(self.context, probe)
                found = cast("TTIRToD2MPass", passes[place]).find_refused(probe)
                is_done = True
            except DiagnosticError as error:
                found = [error]
            for error in found:
                if not self._note(error, self.operations) and not is_done:
                    raise error

    def _numbered_clone(self) -> ModuleOp:
        """A copy whose operations have their numbers; those that are refused are no ttir there."""
        copy = cloned(self.module)
        for number, op in enumerate(_operations(copy)):
            op.location = _numbered_location(number, op)
            if self.operations[number] in self.refused:
                stand_in = UnrealizedConversionCastOp.create(
                    operands=op.operands, result_types=op.result_types, location=op.location
                )
                insert_before(op, stand_in)
                replace(op, *stand_in.results)
        return copy

    def _note(self, error: DiagnosticError, among: Sequence[Operation]) -> bool:
        """Note why an operation is refused; False if the error is about no other of these."""
        first = error.diagnostics[0]
        number = _number_in(first.location)
        op = None if number is None else self.operations[number]
        if op is None or op in self.refused or op not in among:
            return False
        self.refused[op] = _reason(first.message)
        return True

    def compile_parts(self) -> list[Part]:
        """The parts, compiled; what turns out not to have kernels is left to the library."""
        done: dict[tuple[Operation, ...], Part] = {}
        attempts = 0
        while True:
            self._leave_edges()
            chosen = [
                each for function in _functions(self.module) for each in self._choose(function)
            ]
            for ops in chosen:
                if ops in done:
                    continue
                part = Part(f"{_PART}{len(done)}", self, ops)
                try:
                    part.compile()
                except DiagnosticError as error:
                    attempts += 1
                    if attempts > _MOST_ATTEMPTS or not self._note(error, ops):
                        reason = _reason(error.diagnostics[0].message)
                        self.refused |= dict.fromkeys(ops, reason)
                    break
                self._moved |= part.moved
                if part.moved:
                    break
                done[ops] = part
            else:
                return [done[ops] for ops in chosen]

    def _choose(self, function: FuncOp) -> list[tuple[Operation, ...]]:
        """The operations of each part: kernels that wait for the same calls of the library."""
        parts: dict[int, list[Operation]] = {}
        for op in function.body.block.ops:
            if isinstance(op, EmptyOp | ReturnOp) or op in self.constants:
                continue
            has_kernels = self.has_kernels(op)
            makers = (value.owner for value in _inputs(op))
            self.phases[op] = max(
                (
                    self.phases[each] + (has_kernels and not self.has_kernels(each))
                    for each in makers
                    if isinstance(each, Operation) and each in self.phases
                ),
                default=0,
            )
            if has_kernels:
                parts.setdefault(self.phases[op], []).append(op)
        return [tuple(ops) for ops in parts.values() if any(map(_computes, ops))]

    def has_kernels(self, op: Operation) -> bool:
        """True unless kernels were refused, or somebody else has to make them."""
        return (
            op in self.numbers
            and op not in self.refused
            and op not in self._at_edges
            and op not in self._moved
        )

    def _leave_edges(self) -> None:
        """Leave moves between calls of the library and kernels to the library."""
        self._at_edges.clear()
        movable = (op for op in self.operations if op.name in _AT_EDGES)
        pending = [op for op in movable if op not in self.constants]
        while pending:
            found = {op for op in pending if self._is_at_edge(op)}
            if not found:
                return
            self._at_edges |= found
            pending = [op for op in pending if op not in found]

    def _is_at_edge(self, op: Operation) -> bool:
        users = (use.operation for result in op.results for use in result.uses)
        if not any(self._is_kernel(each) for each in users):
            return True
        if any(self._is_kernel(value.owner) for value in _inputs(op)):
            return False
        # Kernels read the matrices of another shape where they are.
        return op.name not in _RESHAPES or _matrix(op.operands[0]) != _matrix(op.results[0])

    def _is_kernel(self, op: object) -> bool:
        return isinstance(op, Operation) and self.has_kernels(op) and op not in self.constants

    def arrange(self) -> None:
        """Put the operations of each part beside each other, in front of what waits for them."""
        for function in _functions(self.module):
            block = function.body.block
            ops = list(block.ops)
            end = ops.pop()
            order = {
                op: (self.phases[op], not self.has_kernels(op), number)
                if op in self.phases
                else (-1, False, number)
                for number, op in enumerate(ops)
            }
            for op in ops:
                op.detach()
            for op in sorted(ops, key=order.__getitem__):
                block.insert_op_before(op, end)


def _matrix(value: SSAValue) -> tuple[int, ...]:
    """The extents of the rows and columns of a tensor."""
    return (1, 1, *value_shape(value))[-2:]


def _reason(message: str) -> str:
    """Why an operation is refused, without its name and without what to do about it."""
    _, found, reason = message.partition("': ")
    return (reason if found else message).partition("; ")[0]


# --- Part -----------------------------------------------------------------------------------------


class Part:
    """Operations of a block that become kernels together."""

    def __init__(self, name: str, search: _Search, ops: Sequence[Operation]) -> None:
        """Operations in their order, and what they exchange with others."""
        self.name = name
        self._search = search
        self._ops = ops
        own = set(ops)
        self._results = [
            result
            for op in ops
            for result in op.results
            if any(use.operation not in own for use in result.uses)
        ]
        self._inputs: list[SSAValue] = []
        self._function: FuncOp
        self._kernels: list[FuncOp] = []

    # --- Compilation ---------------------------------------------------------------------------

    def compile(self) -> None:
        """Make kernels of the part; DiagnosticError if that is refused."""
        module = self._build()
        options = f"ttnn-mode=true {self._search.options}".rstrip()
        _run(f"{_PIPELINE}{{{options}}}", module, self._search.context)
        functions = [op for op in module.ops if isinstance(op, FuncOp)]
        self._kernels = [each for each in functions if KERNEL_THREAD in each.attributes]
        (self._function,) = [each for each in functions if KERNEL_THREAD not in each.attributes]
        for op in module.walk():
            op.location = _without_numbers(op.location)
        self.moved = self._find_moved()

    def _find_moved(self) -> set[Operation]:
        """What makes results that no kernel writes, or that are another result, too."""
        end = self._function.body.block.last_op
        assert end is not None, "functions return"
        seen: set[SSAValue] = set()
        found: set[Operation] = set()
        for result, value in zip(self._results, end.operands, strict=True):
            if not isinstance(value.owner, ttnn.EmptyOp) or value in seen:
                found.add(result.owner)
            seen.add(value)
        return found

    def _build(self) -> ModuleOp:
        """A module of the part alone, whose operations have their numbers in their locations."""
        block = Block()
        values: dict[SSAValue, SSAValue] = {}
        for op in self._ops:
            for value in op.operands:
                self._enter(value, values, block, op)
            copy = op.clone(values)
            copy.location = _numbered_location(self._search.numbers[op], op)
            block.add_op(copy)
        results = [_in_ttnn(cast("OpResult", values[each])) for each in self._results]
        block.add_op(ReturnOp(*results))
        types = ([each.type for each in block.args], [each.type for each in results])
        function = FuncOp(self.name, types, Region(block))
        function.location = self._ops[0].location
        for number, value in enumerate(self._inputs):
            if _is_from_host(value):
                set_argument(function, number, **{FROM_HOST: UnitAttr()})
        module = ModuleOp([function])
        module.location = self._search.module.location
        attach_blobs(module, blobs_of(self._search.module))
        return module

    def _enter(
        self, value: SSAValue, values: dict[SSAValue, SSAValue], block: Block, reader: Operation
    ) -> None:
        """Let the part have a value that one of its operations reads."""
        if value in values:
            return
        owner = value.owner
        if isinstance(owner, EmptyOp) or (isinstance(owner, Operation) and self._is_own(owner)):
            for each in owner.operands:
                self._enter(each, values, block, reader)
            block.add_op(owner.clone(values))
            return
        self._inputs.append(value)
        values[value] = block.insert_arg(_type_in_ttnn(value.type, reader), len(block.args))

    def _is_own(self, op: Operation) -> bool:
        """True for constants of which each part has its own, and what is made of them alone."""
        if op not in self._search.constants or not self._search.has_kernels(op):
            return False
        if isinstance(op, ttir.ConstantOp):
            result = op.results[0]
            return math.prod(value_shape(result)) <= _SMALL or splat_number(result) is not None
        return all(self._is_own(cast("Operation", value.owner)) for value in _inputs(op))

    # --- In ttir -------------------------------------------------------------------------------

    def outline(self) -> None:
        """Put the call of a program that is still to be filled in the place of the operations."""
        builder = Builder.before(self._ops[0])
        inputs = [self._search.outlined.get(value, value) for value in self._inputs]
        operands = [
            value
            if (type_ := _type_of_program(value.type)) == value.type
            else builder.create("typecast", [value], type_)
            for value in inputs
        ]
        types = [_type_of_program(value.type) for value in self._results]
        tensors = [
            KernelTensor(
                name=f"{role}{number}",
                role=role,
                shape=shape_of(type_),
                element=str(cast("TensorType[Attribute]", type_).element_type),
                layout="tile",
                memory="dram",
            )
            for role, each in (("in", [value.type for value in operands]), ("out", types))
            for number, type_ in enumerate(each)
        ]
        stand_in = KernelDescription(
            name=self.name,
            source="",
            config=ReaderConfig(),
            core_ranges=(CoreRange((0, 0), (0, 0)),),
        )
        kernel = CustomKernel(
            name=self.name,
            tensors=tuple(tensors),
            program=ProgramDescription(kernels=(stand_in,)),
        )
        made = builder.create_custom_kernel(write_custom_kernel(kernel), operands, types)
        for old, new in zip(self._results, made, strict=True):
            same = new if new.type == old.type else builder.create("typecast", [new], old.type)
            old.replace_all_uses_with(same)
            self._search.outlined[old] = same
        inits = [
            value.owner
            for op in self._ops
            if isinstance(op, DestinationStyleOp)
            for value in op.inits
            if isinstance(value.owner, EmptyOp)
        ]
        for op in reversed(self._ops):
            erase(op)
        for op in dict.fromkeys(inits):
            if op.results[0].first_use is None:
                erase(op)

    # --- In ttnn -------------------------------------------------------------------------------

    def expand(self, generic: ttnn.GenericOp, home: ModuleOp) -> None:
        """Put the kernels in the place of the program that stands for them."""
        self._give_kernels(home)
        body = self._function.body.block
        end = cast("ReturnOp", body.last_op)
        values = dict(zip((*body.args, *end.operands), generic.operands, strict=True))
        made: list[Operation] = []
        for op in body.ops:
            if op is end or (op.results and op.results[0] in values):
                continue
            if isinstance(op, ttnn.GetDeviceOp):
                values[op.results[0]] = _device_of(generic, op)
                continue
            copy = op.clone(values)
            insert_before(generic, copy)
            made.append(copy)
        erase(generic)
        _end_lives([op for op in made if isinstance(op, ttnn.EmptyOp | ttnn.ConstantOp)])

    def _give_kernels(self, home: ModuleOp) -> None:
        """Add the kernels to the module, once."""
        if not self._kernels:
            return
        names = {each.sym_name.data: f"{self.name}_{each.sym_name.data}" for each in self._kernels}
        for op in self._function.walk():
            if isinstance(op, ttnn.GenericOp):
                op.properties["program"] = ttnn.ProgramAttr(_renamed(op.program, names))
        for function in self._kernels:
            function.detach()
            for op in function.walk():
                rename_references(op, names)
            function.sym_name = StringAttr(names[function.sym_name.data])
            home.body.block.add_op(function)
        self._kernels = []


_SAME_TILES = {"i1": bf16, "f64": f32, "i64": i32, "si64": i32}
"""What tiles of other numbers hold, and are called in programs of ttnn."""


def _type_of_program(type_: Attribute) -> Attribute:
    """The type under which a program of kernels takes or returns a tensor."""
    tensor = cast("TensorType[Attribute]", type_)
    element = _SAME_TILES.get(str(tensor.element_type), tensor.element_type)
    return TensorType(element, tensor.get_shape())


def _type_in_ttnn(type_: Attribute, op: Operation) -> TensorType[Attribute]:
    """The type of the tensor that kernels take or make: tiles that go round the banks of DRAM."""
    tensor, shape = cast("TensorType[Attribute]", type_), shape_of(type_)
    element = cast("TensorType[Attribute]", _type_of_program(type_)).element_type
    if str(element) not in ELEMENT_TYPES:
        refuse_to_legalize(op, f"tensors of {element} are not passed between kernels and calls")
    if 0 in shape:
        refuse_to_legalize(op, f"{type_} has no elements")
    layout = TensorLayout.of(
        shape,
        TileFormat.of(element_of(element).scalar),
        MemorySpace.DEVICE_DRAM,
        (1, 1),
        memory_layout=TensorMemoryLayout.INTERLEAVED,
    )
    return TensorType(tensor.element_type, shape, ttnn.TTNNLayoutAttr.of(layout))


def _is_from_host(value: SSAValue) -> bool:
    """True for an argument of the model, which the host lays out in tiles as it is."""
    owner = value.owner
    function = owner.parent_op() if isinstance(owner, Block) else None
    is_called_by_host = function is not None and symbol_visibility(function) == "public"
    return is_called_by_host and _type_of_program(value.type) == value.type


def _in_ttnn(value: OpResult) -> SSAValue:
    """The same result as a tensor of ttnn, and the tensor that it is written to."""
    op = value.op
    type_ = _type_in_ttnn(value.type, op)
    if isinstance(op, DestinationStyleOp):
        Rewriter.replace_value_with_new_type(op.inits[value.index], type_)
    return Rewriter.replace_value_with_new_type(value, type_)


def _renamed(program: ProgramDescription, names: Mapping[str, str]) -> ProgramDescription:
    return changed(
        program, kernels=tuple(changed(each, name=names[each.name]) for each in program.kernels)
    )


def _device_of(generic: ttnn.GenericOp, wanted: ttnn.GetDeviceOp) -> SSAValue:
    """The device that the block asks for, or a new request at its top."""
    block = generic.parent
    assert block is not None, "the program is in a function"
    for op in block.ops:
        if isinstance(op, ttnn.GetDeviceOp):
            return op.results[0]
    first = block.first_op
    assert first is not None, "the block holds the program"
    made = wanted.clone()
    insert_before(first, made)
    return made.results[0]


def _end_lives(makers: Sequence[Operation]) -> None:
    """Deallocate the tensors between the kernels of a part after their last use.

    They may fill L1, which the next part needs.
    """
    for op in makers:
        block, value = op.parent, op.results[0]
        assert block is not None, "the operation was put into a block"
        users = [use.operation for use in value.uses]
        if users:
            last = max(users, key=block.get_operation_index)
            end = ttnn.DeallocOp.create(operands=[value], location=last.location)
            block.insert_op_after(end, last)
