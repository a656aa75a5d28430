"""The walk over a kernel that fills a body in emitc: part of convert-ttkernel-to-emitc."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    i1,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects import emitc
from ttmlir.dialects.arith import (
    CASTS,
    COMPARISONS,
    EXTREMA,
    ON_BOOLEANS,
    PLAIN,
    UNSIGNED_CASTS,
    WRAPPING,
)
from ttmlir.dialects.emitc import expressions
from ttmlir.dialects.ttkernel import (
    BuiltinOp,
    CallOp,
    CBType,
    LocalSemaphoreType,
    NocAddrType,
    ReturnOp,
)
from ttmlir.ir.rewriting import refuse_at, refuse_to_legalize
from ttmlir.optable.kernel import Form, KernelCall, Template, TemplateKind
from ttmlir.optable.kernel.kernel_call import ENUMS

if TYPE_CHECKING:
    from xdsl.dialects.emitc import EmitCArrayElementType


# --- Convert arith to emitc -----------------------------------------------------------------------
# Operations of arith as operations of emitc: part of convert-ttkernel-to-emitc.
#
# What wraps around or is unsigned is computed on unsigned integers, since overflow of signed ones
# has no meaning in C++; the operands are cast, and the result is cast back.

_OPERATORS: dict[str, type[Operation]] = {
    "+": emitc.AddOp,
    "-": emitc.SubOp,
    "*": emitc.MulOp,
    "/": emitc.DivOp,
    "%": emitc.RemOp,
    "&": expressions.BitwiseAndOp,
    "|": expressions.BitwiseOrOp,
    "^": expressions.BitwiseXorOp,
    "<<": expressions.BitwiseLeftShiftOp,
    ">>": expressions.BitwiseRightShiftOp,
}
_PREDICATES = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
"""Of `emitc.cmp` by operator."""

Make = Callable[..., SSAValue]


def identity(type_: Attribute) -> Attribute:
    """The type itself."""
    return type_


class ArithConversion:
    """Makes the operations of emitc that compute what one of arith does."""

    def __init__(self, make: Make, type_of: Callable[[Attribute], Attribute] = identity) -> None:
        """`make(cls, operands, type, properties)` adds an operation and gives its result.

        `type_of` gives the type in emitc of a result.
        """
        self.make = make
        self.type_of = type_of

    def result(self, op: Operation, operands: Sequence[SSAValue]) -> SSAValue | None:
        """The result on the converted operands; None for an operation of another kind."""
        kind = type(op)
        if kind in WRAPPING:
            return self._wrapping(op, operands)
        if kind in PLAIN:
            cls = _OPERATORS[PLAIN[kind]]
            return self.make(cls, self._signed(operands), self.type_of(op.results[0].type))
        if kind in EXTREMA:
            chosen = self.compare(*EXTREMA[kind], operands)
            return self.make(
                emitc.ConditionalOp, [chosen, *operands], self.type_of(op.results[0].type)
            )
        if kind is arith.FloorDivSIOp:
            return self._floor_division(operands, op.results[0].type)
        return self._other(op, operands)

    def _floor_division(self, operands: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        """The quotient, one less where a remainder and the divisor differ in sign."""
        values = self._signed(operands)
        quotient = self.make(emitc.DivOp, values, type_)
        rest = self.make(emitc.RemOp, values, type_)
        zero, one = (self._number(each, type_) for each in (0, 1))
        signs = self.make(expressions.BitwiseXorOp, [rest, values[1]], type_)
        differ = self.compare("<", False, [signs, zero])
        both = [self.compare("!=", False, [rest, zero]), differ]
        less = self.make(emitc.SubOp, [quotient, one], type_)
        chosen = self.make(expressions.LogicalAndOp, both, i1)
        return self.make(emitc.ConditionalOp, [chosen, less, quotient], type_)

    def _number(self, value: int, type_: Attribute) -> SSAValue:
        constant = IntegerAttr(value, cast("IntegerType", type_))
        return self.make(emitc.ConstantOp, [], type_, {"value": constant})

    def _other(self, op: Operation, operands: Sequence[SSAValue]) -> SSAValue | None:
        result = self.type_of(op.results[0].type) if op.results else i1
        match op:
            case arith.ConstantOp():
                return self.make(emitc.ConstantOp, [], result, {"value": op.value})
            case arith.CmpiOp():
                return self.compare(*COMPARISONS[op.predicate.value.data], operands)
            case arith.SelectOp():
                return self.make(emitc.ConditionalOp, operands, result)
            case arith.NegfOp():
                return self.make(expressions.UnaryMinusOp, self._signed(operands), result)
            case arith.TruncIOp() if result == i1:
                return self._lowest_bit(operands[0])
            case arith.FPToUIOp() if width := _width(result):
                kind = IntegerType(width, Signedness.UNSIGNED)
                return self.cast(self.cast(operands[0], kind), result)
            case _ if isinstance(op, CASTS):
                value = self.cast(operands[0], result)
                # A set bit is -1 where the bit is the sign.
                signed = isinstance(op, arith.ExtSIOp | arith.SIToFPOp) and operands[0].type == i1
                return self.make(expressions.UnaryMinusOp, [value], result) if signed else value
            case _ if isinstance(op, UNSIGNED_CASTS):
                return self.cast(self.unsigned(operands[0]), result)
            case _:
                return None

    def cast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """The value as another type."""
        return self.make(emitc.CastOp, [value], type_)

    def unsigned(self, value: SSAValue) -> SSAValue:
        """The value without its sign."""
        type_: Attribute = value.type
        width = _width(type_)
        if width is None or width == 1:
            return value
        return self.cast(value, IntegerType(width, Signedness.UNSIGNED))

    def _signed(self, operands: Sequence[SSAValue]) -> list[SSAValue]:
        """The operands; an index, which is unsigned in C++, as a signed number."""
        return [
            self.cast(each, i32) if isinstance(each.type, IndexType) else each for each in operands
        ]

    def _wrapping(self, op: Operation, operands: Sequence[SSAValue]) -> SSAValue | None:
        result, operator = self.type_of(op.results[0].type), WRAPPING[type(op)]
        if result == i1 and operator not in ON_BOOLEANS:
            return None
        values = [self.unsigned(each) for each in operands]
        computed = self.make(_OPERATORS[operator], values, values[0].type)
        return computed if computed.type == result else self.cast(computed, result)

    def compare(self, operator: str, unsigned: bool, operands: Sequence[SSAValue]) -> SSAValue:
        """Whether a comparison holds."""
        values = [*map(self.unsigned, operands)] if unsigned else self._signed(operands)
        predicate = IntegerAttr(emitc.CmpOp.PREDICATES.index(_PREDICATES[operator]), i64)
        return self.make(emitc.CmpOp, values, i1, {"predicate": predicate})

    def _lowest_bit(self, value: SSAValue) -> SSAValue:
        width = _width(value.type)
        assert width is not None, "arith.trunci takes integers of a width"
        one = IntegerAttr(1, IntegerType(width))
        constant = self.make(emitc.ConstantOp, [], one.type, {"value": one})
        bit = self.make(expressions.BitwiseAndOp, [value, constant], one.type)
        return self.cast(bit, i1)


def _width(type_: Attribute) -> int | None:
    """How many bits an integer type has; None for any other type."""
    match type_:
        case IntegerType():
            return type_.width.data
        case _:
            return None


# --- Convert ttkernel to emitc --------------------------------------------------------------------

_CB = emitc.EmitC_OpaqueType(StringAttr("::tt::CB"))
_UNARY = (emitc.BitwiseNotOp, emitc.LogicalNotOp, emitc.UnaryMinusOp, emitc.UnaryPlusOp)
_WRITTEN_ELSEWHERE = "ttmlir-translate --ttkernel-to-cpp writes it"


def _opaque(text: str) -> emitc.EmitC_OpaqueAttr:
    return emitc.EmitC_OpaqueAttr(StringAttr(text))


def _convert(type_: Attribute) -> Attribute:
    match type_:
        case CBType():
            return _CB
        case NocAddrType():
            return i64
        case LocalSemaphoreType():
            return i32
        case _:
            return type_


class KernelConversion:
    """One walk over a function that fills a new body."""

    def __init__(self) -> None:
        """Nothing is converted yet."""
        self.values: dict[SSAValue, SSAValue] = {}
        self.block = Block()
        self.location = ModuleOp([]).location
        self.arith = ArithConversion(self.make)
        self.rules: dict[type[Operation], Callable[[Operation], None]] = {
            BuiltinOp: self._builtin,
            FuncReturnOp: self.convert_return,
            ReturnOp: self.convert_return,
            scf.ForOp: self.convert_for,
            scf.IfOp: self.convert_if,
            scf.WhileOp: self._while,
            memref.AllocaOp: self._allocate,
            memref.LoadOp: self._load,
            memref.StoreOp: self._store,
            emitc.VerbatimOp: self._copy,
            **dict.fromkeys(_UNARY, self._copy),
        }

    def convert(self, function: FuncOp) -> None:
        """Give the function a body in emitc, and no arguments."""
        if len(function.body.blocks) != 1:
            count = len(function.body.blocks)
            refuse_at(function, f"a kernel is one sequence of operations, this has {count} blocks")
        self.location = function.location
        for argument in function.body.block.args:
            if not isinstance(argument.type, CBType):
                refuse_to_legalize(
                    function,
                    f"argument #{argument.index} is no circular buffer; those of kernels are",
                )
            name = _opaque(argument.type.buffer.data.port.cpp_name)
            self.values[argument] = self.make(emitc.VariableOp, [], _CB, {"value": name})
        self.convert_operations(function.body.block)
        function.detach_region(0).erase()
        function.add_region(Region(self.block))
        function.function_type = FunctionType.from_lists([], [])
        function.properties.pop("arg_attrs", None)

    # Building.

    def add(self, op: Operation) -> None:
        """Append an operation."""
        op.location = self.location
        self.block.add_op(op)

    def make(
        self,
        cls: type[Operation],
        operands: Sequence[SSAValue],
        type_: Attribute,
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """Append an operation, and give its result."""
        op = cls.create(operands=operands, result_types=[type_], properties=dict(properties or {}))
        self.add(op)
        return op.results[0]

    def variable(self, value: SSAValue) -> SSAValue:
        """A variable without initial value for a carried or resulting value."""
        return self.make(emitc.VariableOp, [], _convert(value.type), {"value": _opaque("")})

    def assign_all(self, targets: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
        """Assign at once: a variable that is still to be read is copied before it changes."""
        sources = list(values)
        for index, target in enumerate(targets):
            later = sources[index + 1 :]
            if target in later and sources[index] is not target:
                copy = self.variable(target)
                self.add(emitc.AssignOp.create(operands=[copy, target]))
                sources[index + 1 :] = [copy if each is target else each for each in later]
            self.add(emitc.AssignOp.create(operands=[target, sources[index]]))

    def operands(self, op: Operation) -> list[SSAValue]:
        """The converted operands."""
        missing = [value for value in op.operands if value not in self.values]
        if missing:
            refuse_to_legalize(op, "it uses a value from outside of the kernel")
        return [self.values[value] for value in op.operands]

    # Operations.

    def convert_operations(self, block: Block) -> None:
        """Convert what a block holds."""
        for op in block.ops:
            outer, self.location = self.location, op.location
            self.convert_operation(op)
            self.location = outer

    def convert_operation(self, op: Operation) -> None:
        """Convert an operation."""
        rule = self.rules.get(type(op))
        if rule is not None:
            rule(op)
        elif isinstance(op, CallOp):
            self.call(op)
        elif not isinstance(op, scf.YieldOp | scf.ConditionOp):
            result = self.arith.result(op, self.operands(op))
            if result is None:
                refuse_to_legalize(
                    op, "kernels are calls of ttkernel, scalar arith, local memrefs and scf"
                )
            self.values[op.results[0]] = result

    def call(self, op: CallOp) -> None:
        """A call of a function."""
        call = type(op).CALL
        if not call.header:
            refuse_to_legalize(op, "tt-metal has no function for it")
        if call.form is not Form.CALL or any(_is_opaque(each) for each in op.results):
            refuse_to_legalize(op, f"it is no function in C++ for emitc; {_WRITTEN_ELSEWHERE}")
        arguments = [op.properties[name] for name in call.constants]
        operands = [IntegerAttr.from_index_int_value(i) for i in range(len(op.operands))]
        args = [*arguments, *operands] if arguments else None
        self._opaque_call(op, call.cpp, args, _template_args(op, call))

    def _builtin(self, op: Operation) -> None:
        symbol = op.properties["op"]
        assert isinstance(symbol, SymbolRefAttr), "the verifier has checked the attribute"
        self._opaque_call(op, symbol.root_reference.data, None, None)

    def _opaque_call(
        self,
        op: Operation,
        callee: str,
        args: Sequence[Attribute] | None,
        template_args: Sequence[Attribute] | None,
    ) -> None:
        new = emitc.CallOpaqueOp.make(
            callee,
            self.operands(op),
            [_convert(each.type) for each in op.results],
            args=args,
            template_args=template_args,
            location=op.location,
        )
        self.block.add_op(new)
        self.values.update(zip(op.results, new.results, strict=True))

    def _copy(self, op: Operation) -> None:
        """An operation of emitc on the converted operands."""
        new = type(op).create(
            operands=self.operands(op),
            result_types=[each.type for each in op.results],
            properties=op.properties,
        )
        self.add(new)
        self.values.update(zip(op.results, new.results, strict=True))

    # Arrays.

    def _allocate(self, op: Operation) -> None:
        type_ = op.results[0].type
        if not isinstance(type_, MemRefType) or op.operands or not type_.has_static_shape():
            refuse_to_legalize(op, "the extents of an array of a kernel are constants")
        element = cast("MemRefType[EmitCArrayElementType]", type_).element_type
        array = emitc.EmitC_ArrayType(type_.get_shape(), element)
        self.values[op.results[0]] = self.make(emitc.VariableOp, [], array, {"value": _opaque("")})

    def element(self, array: SSAValue, indices: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        """An element of an array."""
        operands = [self.values[each] for each in (array, *indices)]
        return self.make(emitc.SubscriptOp, operands, type_)

    def _load(self, op: Operation) -> None:
        """The element as it is now, in a variable."""
        array, *indices = op.operands
        result = op.results[0]
        copy = self.variable(result)
        element = self.element(array, indices, result.type)
        self.add(emitc.AssignOp.create(operands=[copy, element]))
        self.values[result] = copy

    def _store(self, op: Operation) -> None:
        value, array, *indices = op.operands
        element = self.element(array, indices, value.type)
        self.add(emitc.AssignOp.create(operands=[element, self.values[value]]))

    # Control flow.

    def convert_return(self, op: Operation) -> None:
        """The end of the function."""
        self.add(FuncReturnOp(*self.operands(op)))

    def convert_for(self, op: Operation) -> None:
        """A loop."""
        assert isinstance(op, scf.ForOp)
        bounds = [self.values[each] for each in (op.lb, op.ub, op.step)]
        carried = [self.variable(result) for result in op.results]
        self.assign_all(carried, [self.values[each] for each in op.iter_args])
        induction, *arguments = op.body.block.args
        body = Block(arg_types=[induction.type])
        self.values[induction] = body.args[0]
        self.values.update(zip(arguments, carried, strict=True))
        self.fill(body, op.body.block, carried)
        self.add(emitc.ForOp.create(operands=bounds, regions=[Region(body)]))
        self.values.update(zip(op.results, carried, strict=True))

    def convert_if(self, op: Operation) -> None:
        """A branch."""
        assert isinstance(op, scf.IfOp)
        condition = self.values[op.cond]
        results = [self.variable(result) for result in op.results]
        regions = [Region(), Region()]
        for source, target in zip(op.regions, regions, strict=True):
            if source.blocks:
                target.add_block(Block())
                self.fill(target.block, source.block, results)
        self.add(emitc.IfOp.create(operands=[condition], regions=regions))
        self.values.update(zip(op.results, results, strict=True))

    def _while(self, op: Operation) -> None:
        """An endless loop that is left where the condition does not hold.

        emitc has no such loop: its head, the way out and its end are text.
        """
        assert isinstance(op, scf.WhileOp)
        before, after = op.before_region.block, op.after_region.block
        carried = [self.variable(each) for each in op.arguments]
        self.assign_all(carried, [self.values[each] for each in op.arguments])
        self.values.update(zip(before.args, carried, strict=True))
        condition = before.last_op
        assert isinstance(condition, scf.ConditionOp), "the verifier has checked the terminator"
        passed = list(condition.args)
        plain = passed == list(before.args)
        results = carried if plain else [self.variable(each) for each in op.results]
        self._text("while (true) {")
        self.convert_operations(before)
        if not plain:
            self.assign_all(results, [self.values[each] for each in passed])
        leave = self.make(emitc.LogicalNotOp, [self.values[condition.condition]], i1)
        outer, self.block = self.block, Block()
        self._text("break;")
        self.add(emitc.YieldOp.create())
        way_out, self.block = self.block, outer
        self.add(emitc.IfOp.create(operands=[leave], regions=[Region(way_out), Region()]))
        self.values.update(zip(after.args, results, strict=True))
        self.convert_operations(after)
        terminator = after.last_op
        assert terminator is not None, "the verifier has checked the terminator"
        self.assign_all(carried, [self.values[each] for each in terminator.operands])
        self._text("}")
        self.values.update(zip(op.results, results, strict=True))

    def _text(self, text: str) -> None:
        self.add(emitc.VerbatimOp.make(text, location=self.location))

    def fill(self, body: Block, source: Block, targets: Sequence[SSAValue]) -> None:
        """Convert the body of a loop or branch, which assigns what it yields."""
        outer, self.block = self.block, body
        self.convert_operations(source)
        terminator = source.last_op
        if targets and terminator is not None:
            self.assign_all(targets, [self.values[each] for each in terminator.operands])
        self.add(emitc.YieldOp.create())
        self.block = outer


def _is_opaque(result: SSAValue) -> bool:
    """Whether the type of a result is one of ttkernel that no type of emitc stands for."""
    return _convert(result.type).name.startswith("ttkernel.")


def _template_args(op: CallOp, call: KernelCall) -> list[Attribute] | None:
    """The template arguments up to the last that the operation or its definition gives."""
    given = [_template_arg(op, template) for template in call.templates]
    while given and given[-1] is None:
        given.pop()
    arguments = [
        _opaque(template.default or "") if attribute is None else attribute
        for template, attribute in zip(call.templates, given, strict=False)
    ]
    return arguments or None


def _template_arg(op: CallOp, template: Template) -> Attribute | None:
    given = op.properties.get(template.name)
    match given:
        case None:
            return None if template.implied is None else _opaque(template.implied)
        case StringAttr(data=text) if template.kind is TemplateKind.ENUM:
            enum = ENUMS[template.enum]
            namespace = f"{enum.namespace}::" if enum.namespace else ""
            member = f"{namespace}{enum.name}::{text}"
            return _opaque(f"((uint32_t) {member})" if template.number else member)
        case StringAttr(data=text):
            return _opaque(text)
        case _:
            return given
