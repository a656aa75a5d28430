"""Kernels of 2026 in emitc: part of convert-ttkernel-to-emitc.

tt-metal of 2026 has objects where that of 2024 has functions: a circular buffer is asked by its
methods, which emitc has as text, and layouts of tensors are types with template arguments. The
operations, their order and the names are those of tt-mlir, which tt-lang 1.1.1 shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    i1,
    i32,
    i64,
)
from xdsl.dialects.emitc import (
    EmitC_LValueType,
    EmitC_OpaqueType,
    EmitC_PointerType,
    EmitC_PtrDiffT,
    EmitC_SizeT,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects import emitc
from ttmlir.dialects.arith import IndexCastUIOp
from ttmlir.dialects.definition.ods import KERNEL_THREAD
from ttmlir.dialects.emitc import expressions
from ttmlir.dialects.tt.layout import DataTypeAttr
from ttmlir.dialects.ttkernel import CBType, LateSyntaxOp
from ttmlir.dialects.ttkernel.attrs import (
    BcastTypeAttr,
    EltwiseBinaryTypeAttr,
    ReduceDimAttr,
    ReduceTypeAttr,
    ReuseTypeAttr,
    ThreadTypeAttr,
)
from ttmlir.dialects.ttkernel.late import constant_of
from ttmlir.ir.rewriting import refuse_at, refuse_to_legalize
from ttmlir.layout.enums import DataType, ThreadType
from ttmlir.optable.kernel.late_calls import LatePart, late_call
from ttmlir.passes.emitc.arith_folds import fold_arith
from ttmlir.passes.emitc.kernel_conversion import ArithConversion, KernelConversion

if TYPE_CHECKING:
    from ttmlir.dialects.definition.ods import ODSOperation

# --- Types ----------------------------------------------------------------------------------------


def _type(text: str) -> EmitC_OpaqueType:
    return EmitC_OpaqueType(StringAttr(text))


def _text(text: str) -> emitc.EmitC_OpaqueAttr:
    return emitc.EmitC_OpaqueAttr(StringAttr(text))


_SIZE = EmitC_SizeT()
_CB = _type("::tt::CB")
_WORD = _type("volatile tt_l1_ptr uint32_t")
_GENERATOR = _type("InterleavedAddrGenFast<true>")
_MANAGER = _type("experimental::FabricConnectionManager")
_TYPES: Mapping[str, Attribute] = {
    "index": _SIZE,
    "ttkernel.DataFormat": _type("DataFormat"),
    "ttkernel.PageMapping": _type("PageMapping"),
    "ttkernel.TensorAccessor": _type("TensorAccessor"),
    "ttkernel.TensorAccessorArgs": _type("TensorAccessorArgs"),
    "ttkernel.cb": _CB,
    "ttkernel.fabric_connection_manager": _MANAGER,
    "ttkernel.interleaved_addr_gen_fast": _GENERATOR,
    "ttkernel.l1_addr": i32,
    "ttkernel.l1_addr_ptr": EmitC_PointerType(_WORD),
    "ttkernel.local_semaphore": i32,
    "ttkernel.noc_addr": i64,
}


def convert_type(type_: Attribute) -> Attribute:
    """The type of a kernel's value in emitc."""
    return _TYPES.get(type_.name, type_)


_TYPE_NAMES = {
    "i1": "bool",
    "i32": "uint32_t",
    "ttkernel.PageMapping": "PageMapping",
    "ttkernel.noc_addr": "uint64_t",
}
"""C++ types of what methods return."""


# --- Template arguments ---------------------------------------------------------------------------

_FORMATS: Mapping[DataType, str] = {
    DataType.BF16: "Float16_b",
    DataType.BFP_BF2: "Bfp2_b",
    DataType.BFP_BF4: "Bfp4_b",
    DataType.BFP_BF8: "Bfp8_b",
    DataType.BFP_F2: "Bfp2",
    DataType.BFP_F4: "Bfp4",
    DataType.BFP_F8: "Bfp8",
    DataType.F16: "Float16",
    DataType.F32: "Float32",
    DataType.SI32: "Int32",
    DataType.U16: "UInt16",
    DataType.U32: "UInt32",
    DataType.U8: "UInt8",
}


def _format(op: Operation, data_type: DataType) -> str:
    found = _FORMATS.get(data_type)
    if found is None:
        refuse_to_legalize(op, f"tiles have no elements of {data_type.keyword}")
    return f"DataFormat::{found}"


def _template_argument(op: Operation, attr: Attribute) -> str:
    match attr:
        case DataTypeAttr(data=data_type):
            return _format(op, data_type)
        case ReduceTypeAttr(data=member):
            return f"PoolType::{member.name}"
        case ReduceDimAttr(data=member):
            return f"ReduceDim::REDUCE_{member.name}"
        case BcastTypeAttr(data=member):
            return f"BroadcastType::{member.name}"
        case EltwiseBinaryTypeAttr(data=member):
            return f"ELW{member.name}"
        case ReuseTypeAttr(data=member):
            return f"EltwiseBinaryReuseDestType::{member.name}"
        case _:
            number = cast("IntegerAttr[IntegerType]", attr)
            is_truth = number.type.width.data == 1
            return str(number.value.data) if not is_truth else str(bool(number.value.data)).lower()


_BY_VALUE = "static_cast<std::underlying_type_t<DataFormat>>"
_IMPLIED: Mapping[str, tuple[str, ...]] = {
    "fill_tile_int": ("DataFormat::Int32",),
    "get_arg_val": ("uint32_t",),
    "get_common_arg_val": ("uint32_t",),
    "get_noc_addr_from_bank_id": ("true",),
}
"""Template arguments that the operations do not have."""
_OF_ELEMENTS = frozenset(
    f"experimental::{name}"
    for name in ("fill_arange_tile", "write_col_mask_tile", "write_row_mask_tile")
)
"""Calls whose template argument is the format of their circular buffer."""
_WITHOUT_ARGUMENT = frozenset(("linked", "multicast_path_reserve"))
"""Attributes that calls in C++ do not take."""


def _is_true(attr: Attribute | None) -> bool:
    return attr is not None and attr != IntegerAttr(0, i1)


def _argument_of(op: ODSOperation, mnemonic: str, part: LatePart) -> Attribute | None:
    """The template argument that an attribute is; None for one that C++ does without."""
    attr = op.properties.get(part.name)
    only_if_true = mnemonic == "reduce_uninit" or part.name == "posted"
    if part.name in _WITHOUT_ARGUMENT or (only_if_true and not _is_true(attr)):
        return None
    if part.kind == "unit":
        return _text("true" if attr is not None else "false")
    if part.name == "out_of_order":
        return IntegerAttr(0, i1) if attr is None else attr
    if attr is None:
        return None if part.default is None else _text(str(part.default))
    text = _template_argument(op, attr)
    return _text(f"{_BY_VALUE}({text})" if mnemonic.startswith("typecast_tile") else text)


def _template_arguments(op: ODSOperation, mnemonic: str) -> list[Attribute] | None:
    if mnemonic in _IMPLIED:
        return [*map(_text, _IMPLIED[mnemonic])]
    if mnemonic in _OF_ELEMENTS:
        element = cast("CBType", op.operands[-1].type).memref.element_type
        data_type = getattr(element, "data_type", None)
        if not isinstance(data_type, DataType):
            refuse_to_legalize(op, "its circular buffer does not hold tiles")
        return [_text(_format(op, data_type))]
    call = late_call(mnemonic)
    assert call is not None, "the rules are those of operations of 2026"
    found = [
        argument
        for part in call.attributes
        if (argument := _argument_of(op, mnemonic, part)) is not None
    ]
    return found or None


# --- Arith ----------------------------------------------------------------------------------------

_SHIFTS = {
    "arith.shli": (expressions.BitwiseLeftShiftOp, True),
    "arith.shrsi": (expressions.BitwiseRightShiftOp, False),
    "arith.shrui": (expressions.BitwiseRightShiftOp, True),
}
"""Shifts, and whether what is shifted has no sign."""
_UNSIGNED_EXTREMA = {"arith.maxui": "std::max<size_t>", "arith.minui": "std::min<size_t>"}
_SIGNED_PREDICATES = range(2, 6)
_DISTANCE = EmitC_PtrDiffT()


class LateArithConversion(ArithConversion):
    """Makes what mlir of 2026 makes of arith, where that is not what it made before."""

    def result(self, op: Operation, operands: Sequence[SSAValue]) -> SSAValue | None:
        """The result on the converted operands; None for an operation of another kind."""
        type_ = self.type_of(op.results[0].type) if op.results else i1
        if op.name in _SHIFTS:
            return self._shift(op, operands, type_)
        if op.name in _UNSIGNED_EXTREMA:
            return self.call(_UNSIGNED_EXTREMA[op.name], operands, type_)
        match op:
            case arith.CmpiOp() if (
                op.predicate.value.data in _SIGNED_PREDICATES or op.predicate.value.data < 2
            ) and operands[0].type == _SIZE:
                operands = [self.cast(each, _DISTANCE) for each in operands]
            case arith.IndexCastOp():
                return self.cast(self.cast(operands[0], _DISTANCE), type_)
            case IndexCastUIOp():
                number = type_ if type_ != _SIZE else operands[0].type
                return self.cast(self.cast(operands[0], _unsigned_type(number)), type_)
            case arith.ExtUIOp() if operands[0].type != i1:
                wide = self.cast(self.unsigned(operands[0]), _unsigned_type(type_))
                return self.cast(wide, type_)
            case arith.TruncIOp() if type_ != i1:
                narrow = self.cast(self.unsigned(operands[0]), _unsigned_type(type_))
                return self.cast(narrow, type_)
            case _:
                pass
        return super().result(op, operands)

    def call(self, name: str, operands: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        """A call of a function."""
        callee = {"callee": StringAttr(name)}
        return self.make(emitc.CallOpaqueOp, list(operands), type_, callee)

    def _shift(self, op: Operation, operands: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        """A shift, and 0 where it is as wide as the number, which C++ leaves open."""
        cls, unsigned = _SHIFTS[op.name]
        value = self.unsigned(operands[0]) if unsigned else operands[0]
        count = self.unsigned(operands[1])
        held: Attribute = value.type
        in_range = self.compare("<", False, [count, self._width_of(count.type)])
        zero = self.make(emitc.ConstantOp, [], held, {"value": _zero(held)})
        block = Block()
        shifted = cls.create(operands=[value, count], result_types=[held])
        chosen = emitc.ConditionalOp.create(
            operands=[in_range, shifted.results[0], zero], result_types=[held]
        )
        block.add_ops([shifted, chosen, emitc.YieldOp.create(operands=chosen.results)])
        operands_ = [value, count, in_range, zero]
        result = self._make_region(emitc.ExpressionOp, operands_, held, Region(block))
        return result if held == type_ else self.cast(result, type_)

    def _make_region(
        self, cls: type[Operation], operands: list[SSAValue], type_: Attribute, region: Region
    ) -> SSAValue:
        value = self.make(cls, operands, type_)
        assert isinstance(value.owner, Operation)
        value.owner.add_region(region)
        return value

    def _width_of(self, type_: Attribute) -> SSAValue:
        if isinstance(type_, IntegerType):
            integer = cast("IntegerType", type_)
            width = IntegerAttr(integer.width.data, integer)
            return self.make(emitc.ConstantOp, [], type_, {"value": width})
        bits = IntegerAttr.from_index_int_value(8)
        eight = self.make(emitc.ConstantOp, [], type_, {"value": bits})
        size = self.call("sizeof", [eight], type_)
        return self.make(emitc.MulOp, [eight, size], type_)


def _zero(type_: Attribute) -> Attribute:
    if isinstance(type_, IntegerType):
        return IntegerAttr(0, cast("IntegerType", type_))
    return IntegerAttr.from_index_int_value(0)


def _unsigned_type(type_: Attribute) -> Attribute:
    """The type of as many bits without sign."""
    if isinstance(type_, IntegerType):
        return IntegerType(cast("IntegerType", type_).width.data, Signedness.UNSIGNED)
    return type_


# --- Conversion -----------------------------------------------------------------------------------

_METHODS = {
    "cb_pop_front": "pop_front",
    "cb_push_back": "push_back",
    "cb_reserve_back": "reserve_back",
    "cb_wait_front": "wait_front",
    "get_read_ptr": "get_read_ptr",
    "get_write_ptr": "get_write_ptr",
}
"""What a circular buffer is asked."""
_WITH_SCALAR = frozenset(
    (
        *("add_unary_tile", "add_unary_tile_int32", "div_unary_tile", "mul_unary_tile"),
        *("sub_unary_tile", "sub_unary_tile_int32"),
    )
)
"""Calls whose number goes through a volatile variable, for the compiler's sake."""
_NAMED = {
    "mem_zeros_base": "MEM_ZEROS_BASE",
    "mem_zeros_size": "MEM_ZEROS_SIZE",
    "my_logical_x_": "get_absolute_logical_x()",
    "my_logical_y_": "get_absolute_logical_y()",
    "my_x": "my_x[noc_index]",
    "my_y": "my_y[noc_index]",
}
"""What C++ has names for."""
_ONLY_IF_USED = frozenset(
    (
        "TensorAccessorArgs",
        "experimental::create_fabric_connection_manager",
        "get_interleaved_addr_gen_fast",
    )
)
"""Operations without text where nobody uses their results."""


class LateConversion(KernelConversion):
    """One walk over a function of 2026 that fills a new body."""

    def __init__(self) -> None:
        """Nothing is converted yet."""
        super().__init__()
        self.arith = LateArithConversion(self.make, convert_type)
        self.rules[scf.IfOp] = self.convert_if
        self.rules[scf.ForOp] = self.convert_for
        self.rules[FuncReturnOp] = self.convert_return
        self._special: dict[str, Callable[[LateSyntaxOp], None]] = {
            "TensorAccessorArgs": self._accessor_args,
            "bitcast": self._bitcast,
            "dprint": self._print,
            "experimental::create_fabric_connection_manager": self._manager,
            "experimental::get_device_id_from_logical_mesh_position": self._device_id,
            "experimental::get_my_logical_mesh_position": self._position,
            "get_compile_time_arg_val": self._compile_time_argument,
            "get_interleaved_addr_gen_fast": self._generator,
            "invoke_sfpi": self._sfpi,
            "load_from_l1": self._load_word,
            "pack_reconfig_l1_acc": self._accumulate,
            "store_to_l1": self._store_word,
            **dict.fromkeys(_METHODS, self._method),
            **dict.fromkeys(_WITH_SCALAR, self._with_scalar),
            **dict.fromkeys(_NAMED, self._name),
        }
        self._seen = 0
        """Results of the module before an operation, in its block and all of the blocks around."""
        self._around = 0
        """Results of the module in the blocks around, and in regions after this one."""
        self._made = 0
        """Results that the conversion has made, in the same blocks."""
        self._folded = 0
        """Constants of arith that folds have made, in the same blocks."""
        self._constants: int | None = 0
        """Constants of the module so far, which have names; None once none has."""
        self._names: dict[SSAValue, str] = {}
        """Names in C++ of circular buffers and of what accessors are made with."""
        self._declared: set[str] = set()
        self._runtime_buffers = 0
        self._is_compute = False

    def convert(self, function: FuncOp) -> None:
        """Give the function a body in emitc."""
        if len(function.body.blocks) != 1:
            count = len(function.body.blocks)
            refuse_at(function, f"a kernel is one sequence of operations, this has {count} blocks")
        if function.body.block.args:
            refuse_to_legalize(
                function,
                "kernels of 2026 have no arguments; get_arg_val and get_compile_time_arg_val "
                "give them",
            )
        self.location = function.location
        thread = function.attributes[KERNEL_THREAD]
        self._is_compute = isinstance(thread, ThreadTypeAttr) and (
            thread.value is ThreadType.TENSIX
        )
        self.convert_operations(function.body.block)
        function.detach_region(0).erase()
        function.add_region(Region(self.block))

    # Numbers.
    #
    # Variables of C++ are named after numbers of values, which are those that MLIR prints while the
    # function is half converted: it holds the operations as they were and the new ones.

    def add(self, op: Operation) -> None:
        """Append an operation."""
        super().add(op)
        self._made += len(op.results)

    def _number(self) -> int:
        """The number of the result of the operation that is being converted."""
        hidden = 0 if self._constants is None else self._constants + self._folded
        return self._seen + self._made + self._folded - hidden

    def convert_operations(self, block: Block) -> None:
        """Convert what a block holds."""
        outside, seen = self._around, self._around
        # Those of regions of operations that follow have numbers before those of earlier regions.
        self._around += sum(len(op.results) + _count_inside(op.regions) for op in block.ops)
        for op in block.ops:
            outer, self.location = self.location, op.location
            self._seen = seen
            self._around -= _count_inside(op.regions)
            self.convert_operation(op)
            self.location = outer
            seen += len(op.results)
            if self._constants is not None and isinstance(op, arith.ConstantOp):
                self._constants += 1
        self._around = outside

    def fill(self, body: Block, source: Block, targets: Sequence[SSAValue]) -> None:
        """Convert the body of a loop or branch, whose results are made before it."""
        made, folded, around = self._made, self._folded, self._around
        self._made += len(targets)
        region, op = source.parent_region(), source.parent_op()
        assert region is not None, "the block of a loop or branch"
        assert op is not None, "the block of a loop or branch"
        self._around += _count_inside(op.regions[op.regions.index(region) + 1 :])
        super().fill(body, source, targets)
        self._made, self._folded, self._around = made, folded, around

    # Operations.

    def convert_operation(self, op: Operation) -> None:
        """Convert an operation."""
        if not isinstance(op, LateSyntaxOp):
            if not self._fold(op):
                super().convert_operation(op)
            return
        mnemonic = op.mnemonic()
        if mnemonic in _ONLY_IF_USED and not any(result.uses for result in op.results):
            return
        rule = self._special.get(mnemonic)
        if rule is not None:
            rule(op)
        elif "." in mnemonic:
            self._object_method(op)
        elif late_call(mnemonic) is None or mnemonic == "unreachable":
            refuse_to_legalize(op, "tt-metal of 2026 has no function for it")
        else:
            self._function(op)

    def _fold(self, op: Operation) -> bool:
        """Give an operation of arith the value or the constant that it folds to."""
        folded = fold_arith(op) if op.dialect_name() == "arith" else None
        if folded is None:
            return False
        if not isinstance(folded, SSAValue):
            type_ = convert_type(folded.type)
            self.values[op.results[0]] = self.make(emitc.ConstantOp, [], type_, {"value": folded})
            self._folded += 1
        else:
            self.values[op.results[0]] = self.values[folded]
        return True

    def _set_result(self, op: Operation, value: SSAValue) -> None:
        self.values[op.results[0]] = value

    def _function(self, op: LateSyntaxOp) -> None:
        mnemonic = op.generic_name().removeprefix("ttkernel.")
        new = emitc.CallOpaqueOp.make(
            mnemonic,
            self.operands(op),
            [convert_type(each.type) for each in op.results],
            template_args=_template_arguments(op, op.mnemonic()),
            location=op.location,
        )
        self.add(new)
        self.values.update(zip(op.results, new.results, strict=True))
        if op.results and isinstance(op.results[0].type, CBType):
            number = self._runtime_buffers
            self._runtime_buffers += 1
            new.attributes["ttkernel.cb_arg_idx"] = IntegerAttr(number, i32)
            self._buffer(op.results[0], f"cb_arg_{number}")

    # Text.

    def _verbatim(self, text: str, operands: Sequence[SSAValue] = ()) -> None:
        self.add(emitc.VerbatimOp.make(text, operands, location=self.location))

    def _literal(self, text: str, type_: Attribute) -> SSAValue:
        return self.make(emitc.LiteralOp, [], type_, {"value": StringAttr(text)})

    def _stored(self, type_: Attribute) -> SSAValue:
        variable = EmitC_LValueType(type_)
        return self.make(emitc.VariableOp, [], variable, {"value": _text("")})

    def _loaded(self, variable: SSAValue) -> SSAValue:
        type_ = cast("EmitC_LValueType", variable.type).value_type
        return self.make(emitc.LoadOp, [variable], type_)

    def _assign(self, value: SSAValue, variable: SSAValue) -> None:
        self.add(emitc.AssignOp.create(operands=[variable, value]))

    # Arguments and circular buffers.

    def _compile_time_argument(self, op: LateSyntaxOp) -> None:
        result = op.results[0]
        index = cast("IntegerAttr[IntegerType]", op.properties["arg_index"]).value.data
        value = self._literal(f"get_compile_time_arg_val({index})", convert_type(result.type))
        if isinstance(result.type, CBType):
            assert isinstance(value.owner, Operation)
            value.owner.attributes["ttkernel.cb_ctarg_idx"] = IntegerAttr(index, i32)
        self._set_result(op, value)
        if isinstance(result.type, CBType):
            self._buffer(result, f"cb_ctarg_{index}")

    def _buffer(self, buffer: SSAValue, name: str) -> None:
        """Declare the object of a circular buffer, if it is asked something anywhere."""
        self._names[buffer] = name
        if name in self._declared or not _is_asked(buffer):
            return
        self._declared.add(name)
        self._verbatim(f"experimental::CircularBuffer {name}({{}});", [self.values[buffer]])

    def _method(self, op: LateSyntaxOp) -> None:
        name = self._names.get(op.operands[0])
        if name is None:
            refuse_to_legalize(op, "its circular buffer is no argument of the kernel")
        method = _METHODS[op.mnemonic()]
        if op.results:
            self._set_result(op, self._literal(f"{name}.{method}()", i32))
        else:
            self._verbatim(f"{name}.{method}({{}});", self.operands(op)[1:])

    def _name(self, op: LateSyntaxOp) -> None:
        type_ = convert_type(op.results[0].type)
        value = {"value": _text(_NAMED[op.mnemonic()])}
        self._set_result(op, self.make(emitc.ConstantOp, [], type_, value))

    # Accessors of tensors.

    def _accessor_args(self, op: LateSyntaxOp) -> None:
        result = op.results[0]
        previous = op.group("prev_args")
        texts: list[str] = []
        for word, rest in (("cta", "compile_time"), ("crta", "common_runtime")):
            expression = op.properties.get(f"{word}_expr")
            if isinstance(expression, StringAttr):
                texts.append(expression.data)
            elif previous:
                texts.append(f"{self._names[previous[0]]}.next_{rest}_args_offset()")
            else:
                texts.append(str(constant_of(op.group(f"{word}_base")[0])))
        name = f"tensor_accessor_args_{self._number()}"
        self._names[result] = name
        self._verbatim(f"auto {name} = TensorAccessorArgs<{', '.join(texts)}>();")
        self._set_result(op, self._literal(name, _type("TensorAccessorArgs")))

    def _object_method(self, op: LateSyntaxOp) -> None:
        result = op.results[0]
        method = op.mnemonic().partition(".")[2]
        name = f"temp_{self._number()}"
        type_ = _TYPE_NAMES.get(result.type.name) or _TYPE_NAMES[str(result.type)]
        places = ", ".join("{}" for _ in op.operands[1:])
        self._verbatim(f"{type_} {name} = {{}}.{method}({places});", self.operands(op))
        self._set_result(op, self._literal(name, convert_type(result.type)))

    def _generator(self, op: LateSyntaxOp) -> None:
        values = self.operands(op)[1:]
        variable = self._stored(_GENERATOR)
        members = [
            self.make(
                expressions.MemberOp,
                [variable],
                EmitC_LValueType(value.type),
                {"member": StringAttr(name)},
            )
            for name, value in zip(
                ("bank_base_address", "page_size", "data_format"), values, strict=True
            )
        ]
        for member, value in zip(members, values, strict=True):
            self._assign(value, member)
        self._set_result(op, self._loaded(variable))

    # Memory.

    def element(self, array: SSAValue, indices: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        """An element of an array."""
        if not isinstance(self.values[array].type, EmitC_PointerType):
            return super().element(array, indices, type_)
        operands = [self.values[each] for each in (array, *indices)]
        return self.make(emitc.SubscriptOp, operands, EmitC_LValueType(type_))

    def _load_word(self, op: LateSyntaxOp) -> None:
        pointer, offset = op.operands
        value = self._loaded(self.element(pointer, [offset], _WORD))
        self._set_result(op, self.make(emitc.CastOp, [value], i32))

    def _store_word(self, op: LateSyntaxOp) -> None:
        value, pointer, offset = op.operands
        element = self.element(pointer, [offset], _WORD)
        word = self.make(emitc.CastOp, [self.values[value]], _WORD)
        self._assign(word, element)

    # Other calls.

    def _with_scalar(self, op: LateSyntaxOp) -> None:
        tile, number = self.operands(op)
        text = f"{{{{ volatile int32_t __s = {{}}; {op.mnemonic()}({{}}, __s); }}"
        self._verbatim(text, [number, tile])

    def _accumulate(self, op: LateSyntaxOp) -> None:
        self._verbatim("PACK((llk_pack_reconfig_l1_acc({})));", self.operands(op))

    def _bitcast(self, op: LateSyntaxOp) -> None:
        value, result = self.operands(op)[0], op.results[0]
        if result.type == i32:
            self._set_result(op, self.make(emitc.CastOp, [value], i32))
        elif result.type.name == "f32":
            name = f"_rc{self._number()}"
            self._verbatim(
                f"uint32_t {name}_src = {{}}; float {name}; "
                f"__builtin_memcpy(&{name}, &{name}_src, sizeof({name}));",
                [value],
            )
            self._set_result(op, self._literal(name, result.type))
        else:
            refuse_to_legalize(op, "bits become numbers of i32 and f32 only")

    def _sfpi(self, op: LateSyntaxOp) -> None:
        if len(op.regions[0].blocks) != 1:
            refuse_to_legalize(op, "its region is one sequence of operations")
        self._verbatim("experimental::invoke_sfpi([=]() {")
        self.convert_operations(op.regions[0].block)
        self._verbatim("});")

    def _print(self, op: LateSyntaxOp) -> None:
        pieces = cast("StringAttr", op.properties["fmt"]).data.split("{}")
        values = self.operands(op)
        arguments: list[SSAValue] = []
        for number, piece in enumerate(pieces):
            if piece:
                quoted = _quoted(piece)
                arguments.append(self._literal(f'"{quoted}"', _type("const char[]")))
            if number < len(values):
                value = values[number]
                if self._is_compute and isinstance(op.operands[number].type, CBType):
                    value = self._call_function("ttmlir::CBPrinter", [value])
                arguments.append(value)
        self.add(emitc.CallOpaqueOp.make("ttmlir::dprint", arguments, [], location=op.location))

    def _call_function(self, name: str, operands: Sequence[SSAValue]) -> SSAValue:
        call = emitc.CallOpaqueOp.make(name, operands, [_type(name)], location=self.location)
        self.add(call)
        return call.results[0]

    # Fabric.

    def _manager(self, op: LateSyntaxOp) -> None:
        self._set_result(op, self._loaded(self._stored(_MANAGER)))

    def _position(self, op: LateSyntaxOp) -> None:
        dim = cast("IntegerAttr[IntegerType]", op.properties["dim"]).value.data
        number = self._literal(str(dim), _type("uint64_t"))
        self._call_with(op, [*self.operands(op), number])

    def _device_id(self, op: LateSyntaxOp) -> None:
        manager, *indices = self.operands(op)
        array = self._stored(_type(f"std::array<uint32_t, {len(indices)}>"))
        places = ", ".join("{}" for _ in indices)
        text = f"{{}} = std::array<uint32_t, {len(indices)}>{{{{{places}}};"
        self._verbatim(text, [array, *indices])
        self._call_with(op, [manager, self._loaded(array)])

    def _call_with(self, op: LateSyntaxOp, operands: Sequence[SSAValue]) -> None:
        call = emitc.CallOpaqueOp.make(
            op.mnemonic(),
            operands,
            [convert_type(each.type) for each in op.results],
            location=op.location,
        )
        self.add(call)
        self._set_result(op, call.results[0])

    # Numbers and control flow.

    def variable(self, value: SSAValue) -> SSAValue:
        """Part of the conversion."""
        type_ = value.type
        held = type_.value_type if isinstance(type_, EmitC_LValueType) else type_
        return self._stored(convert_type(held))

    def convert_for(self, op: Operation) -> None:
        """A loop."""
        assert isinstance(op, scf.ForOp)
        self._constants = None
        bounds = [self.values[each] for each in (op.lb, op.ub, op.step)]
        carried = [self.variable(result) for result in op.results]
        for value, variable in zip(op.iter_args, carried, strict=True):
            self._assign(self.values[value], variable)
        induction, *arguments = op.body.block.args
        body = Block(arg_types=[convert_type(induction.type)])
        self.values[induction] = body.args[0]
        made, outer, self.block = self._made, self.block, body
        for argument, variable in zip(arguments, carried, strict=True):
            self.values[argument] = self._loaded(variable)
        self.block = outer
        self.fill(body, op.body.block, carried)
        self._made = made
        self.add(emitc.ForOp.create(operands=bounds, regions=[Region(body)]))
        for result, variable in zip(op.results, carried, strict=True):
            self.values[result] = self._loaded(variable)

    def convert_if(self, op: Operation) -> None:
        """A branch."""
        self._constants = None
        super().convert_if(op)
        for result in op.results:
            self.values[result] = self._loaded(self.values[result])

    def assign_all(self, targets: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
        """Assign one after the other: the values are those that were loaded before."""
        for target, value in zip(targets, values, strict=True):
            self._assign(value, target)


def _count_inside(regions: Sequence[Region]) -> int:
    """How many results operations in regions have."""
    return sum(len(op.results) for region in regions for op in region.walk())


def _is_asked(buffer: SSAValue) -> bool:
    return any(
        isinstance(use.operation, LateSyntaxOp)
        and use.operation.mnemonic() in _METHODS
        and use.index == 0
        for use in buffer.uses
    )


def _quoted(text: str) -> str:
    escapes = {"\n": "\\n", "\t": "\\t", '"': '\\"'}
    return "".join(escapes.get(letter, letter) for letter in text)
