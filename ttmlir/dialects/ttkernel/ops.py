"""Operations of ttkernel: the calls of the operation table and those that are written out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr, f32, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.traits import IsTerminator, Pure, ReturnLike

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import AssemblyOp
from ttmlir.dialects.definition.ods import (
    AttrConstraint,
    ODSOperation,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    properties,
    refuse,
)
from ttmlir.dialects.ttkernel.attrs import (
    CBType,
    DataFormatType,
    InterleavedAddrGenType,
    L1AddrPtrType,
    LocalSemaphoreType,
    NocAddrType,
    TensorAccessorArgsType,
    TensorAccessorType,
)
from ttmlir.dialects.ttkernel.late import CHECKS as LATE_CHECKS
from ttmlir.dialects.ttkernel.late import (
    GENERIC,
    is_late_type,
    late_signature,
    parse_late,
    print_late,
)
from ttmlir.layout.enums import STORED_DATA_TYPES
from ttmlir.mlir.core_prefix import (
    LATE_KERNEL_OPERATIONS,
    has_late_kernels,
    note_late_kernels,
)
from ttmlir.mlir.printing import MlirPrinter, OwnSyntax
from ttmlir.optable.kernel import CALLS, Form, KernelCall, Template, TemplateKind, ValueKind
from ttmlir.optable.kernel.kernel_call import ENUMS
from ttmlir.optable.kernel.late_calls import LATE_CALLS, late_call

RESULT_TYPES: Mapping[ValueKind, Attribute] = {
    ValueKind.I32: i32,
    ValueKind.BOOL: i1,
    ValueKind.F32: f32,
    ValueKind.NOC_ADDR: NocAddrType(),
    ValueKind.SEMAPHORE: LocalSemaphoreType(),
    ValueKind.L1_PTR: L1AddrPtrType.get(),
    ValueKind.DATA_FORMAT: DataFormatType(),
    ValueKind.ADDR_GEN: InterleavedAddrGenType(),
    ValueKind.ACCESSOR_ARGS: TensorAccessorArgsType(),
    ValueKind.ACCESSOR: TensorAccessorType(),
}
"""Type of what a call returns."""


def _one_of(summary: str, *kinds: ValueKind) -> TypeConstraint:
    types = tuple(RESULT_TYPES[kind] for kind in kinds)
    return TypeConstraint(summary, lambda type: type in types)


_CONSTRAINTS = {
    ValueKind.CB: TypeConstraint("TTKernel cb", lambda type: isinstance(type, CBType)),
    ValueKind.I32: _one_of("32-bit signless integer", ValueKind.I32),
    ValueKind.BOOL: _one_of("1-bit signless integer", ValueKind.BOOL),
    ValueKind.F32: _one_of("32-bit float", ValueKind.F32),
    ValueKind.NOC_ADDR: _one_of("TTKernel noc address", ValueKind.NOC_ADDR),
    ValueKind.ADDRESS: _one_of(
        "32-bit signless integer or TTKernel local semaphore", ValueKind.I32, ValueKind.SEMAPHORE
    ),
    ValueKind.SEMAPHORE: _one_of("TTKernel local semaphore", ValueKind.SEMAPHORE),
    ValueKind.L1_PTR: _one_of("TTKernel pointer to 32-bit words of L1", ValueKind.L1_PTR),
    ValueKind.DATA_FORMAT: _one_of("TTKernel data format", ValueKind.DATA_FORMAT),
    ValueKind.ADDR_GEN: _one_of(
        "TTKernel address generator or tensor accessor", ValueKind.ADDR_GEN, ValueKind.ACCESSOR
    ),
    ValueKind.ACCESSOR_ARGS: _one_of("TTKernel tensor accessor arguments", ValueKind.ACCESSOR_ARGS),
    ValueKind.ACCESSOR: _one_of("TTKernel tensor accessor", ValueKind.ACCESSOR),
}
_ANYTHING = TypeConstraint("any type", ods.always)
_ANY_POINTER = TypeConstraint(
    "TTKernel pointer to integers of L1", lambda type: isinstance(type, L1AddrPtrType)
)
_ANY_WIDTH = (Form.CAST, Form.LOAD, Form.STORE)
_DATA_TYPE = ods.enum_attr(ods.I32, len(STORED_DATA_TYPES), "TT DataTypes")


def _is_memref_or_cb(type: Attribute) -> bool:
    return isinstance(type, CBType) or (isinstance(type, MemRefType) and bool(type.shape.data))


_MEMREF_OR_CB = TypeConstraint(
    "non-0-ranked.memref of any type values or TTKernel cb", _is_memref_or_cb
)


class TTKernelOp(ODSOperation):
    """An operation of a kernel."""


_CONTROL_FLOW = frozenset({"scf.for", "scf.if", "scf.while"})


def _check_parent(op: Operation, word: str, *, nested: bool = True) -> None:
    """Refuse an operation outside of a kernel; with `nested` it may be in loops and branches."""
    parent = op.parent_op()
    while nested and parent is not None and parent.name in _CONTROL_FLOW:
        parent = parent.parent_op()
    inside = parent is not None and (
        parent.name == "ttmetal.dispatch"
        or (parent.name == "func.func" and isinstance(parent.parent_op(), ModuleOp))
    )
    if not inside:
        refuse(f"{word} must be inside of a DispatchOp region")


def _cb(value: SSAValue) -> CBType:
    return cast("CBType", value.type)


def _is_tiled(cb: CBType) -> bool:
    return cb.memref.element_type.name == "tt.tile"


def _check_formats(op: Operation, scalar: SSAValue, tiled: SSAValue) -> None:
    if _cb(scalar).buffer.data.port is _cb(tiled).buffer.data.port:
        refuse("Input circular buffer port and output circular buffer port must be different")
    if _is_tiled(_cb(scalar)):
        refuse("Input to TilizeOp or Output to UntilizeOp must have scalar element type")
    if not _is_tiled(_cb(tiled)):
        refuse("Input to UntilizeOp or Output to TilizeOp must have tile element type")


def _inside(word: str) -> Callable[[Operation], None]:
    return lambda op: _check_parent(op, word)


def _tilize(word: str) -> Callable[[Operation], None]:
    def check(op: Operation) -> None:
        _check_parent(op, word)
        _check_formats(op, scalar=op.operands[0], tiled=op.operands[-1])

    return check


def _untilize(word: str) -> Callable[[Operation], None]:
    def check(op: Operation) -> None:
        _check_parent(op, word)
        _check_formats(op, scalar=op.operands[-1], tiled=op.operands[0])

    return check


_CHECKS: dict[str, Callable[[Operation], None]] = {
    "cb_push_back": _inside("CBPushBackOp"),
    "cb_pop_front": _inside("CBPopFrontOp"),
    "cb_reserve_back": _inside("CBReserveBackOp"),
    "cb_wait_front": _inside("CBWaitFrontOp"),
    "tilize_init": _tilize("TilizeInitOp"),
    "tilize_block": _tilize("TilizeBlockOp"),
    "untilize_init": _untilize("UntilizeInitOp"),
    "untilize_block": _untilize("UntilizeBlockOp"),
}


class LateSyntaxOp(AssemblyOp, TTKernelOp, OwnSyntax):
    """An operation that has a syntax of its own in kernels of 2026, and the generic one in others.

    Its form, operands and attributes, is that of the module's kernels.
    """

    @classmethod
    def mnemonic(cls) -> str:
        """The name without the dialect."""
        return cls.name.removeprefix("ttkernel.")

    @property
    def is_late(self) -> bool:
        """True in the form of 2026."""
        return has_late_kernels(self) or any(
            is_late_type(value.type) for value in (*self.operands, *self.results)
        )

    def form(self) -> Signature:
        """The signature of 2024 or that of 2026."""
        late = late_signature(self.mnemonic()) if self.is_late else None
        return self.SIGNATURE if late is None else late

    @classmethod
    def readable_properties(cls) -> Mapping[str, Property]:
        """The properties of both forms."""
        return _readable_properties(cls)

    @classmethod
    def group_counts(cls) -> tuple[int, ...]:
        """How many groups a list of their sizes may name."""
        late = late_signature(cls.mnemonic())
        forms = (cls.SIGNATURE, *(() if late is None else (late,)))
        return tuple(len(form.operands) for form in forms if form.has_segments)

    def custom_name(self) -> str | None:
        """The name in the syntax of 2026; None in kernels of 2024."""
        is_custom = self.is_late and self.mnemonic() not in GENERIC
        if not is_custom or late_call(self.mnemonic()) is None:
            return None
        return self.generic_name()

    def generic_name(self) -> str:
        """The name in the module's form."""
        return LATE_KERNEL_OPERATIONS.get(self.name, self.name) if self.is_late else self.name

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        return parse_late(cls, cls.mnemonic(), parser)

    def print_custom(self, printer: MlirPrinter) -> None:
        """Write the operation after its name."""
        print_late(self, self.mnemonic(), printer)

    def verify_op(self) -> None:
        """Check what the operation requires in 2026."""
        if self.is_late and (check := LATE_CHECKS.get(self.mnemonic())) is not None:
            check(self)


@cache
def _readable_properties(cls: type[LateSyntaxOp]) -> Mapping[str, Property]:
    found = dict(cls.SIGNATURE.by_name)
    late = late_signature(cls.mnemonic())
    for name, each in (late.by_name if late is not None else {}).items():
        usual = found.get(name)
        if usual is not None:
            each = Property(name, ods.either(usual.constraint, each.constraint), optional=True)
        found[name] = each
    return found


class CallOp(LateSyntaxOp):
    """A call that has a definition in the table of kernel calls."""

    CALL: ClassVar[KernelCall]
    CHECK: ClassVar[Callable[[Operation], None] | None] = None

    def verify_op(self) -> None:
        """Check the place of the call and its circular buffers, where it has rules for them."""
        if self.is_late:
            super().verify_op()
        elif (check := type(self).CHECK) is not None:
            check(self)


class LateOp(LateSyntaxOp):
    """An operation that only kernels of 2026 have."""

    SIGNATURE: ClassVar = Signature()

    @property
    def is_late(self) -> bool:
        """Always."""
        return True

    @classmethod
    def convert_properties(
        cls, properties: dict[str, Attribute] | None, attributes: dict[str, Attribute]
    ) -> dict[str, Attribute]:
        """The properties of an operation that is read, which tells the form of its module."""
        note_late_kernels()
        return super().convert_properties(properties, attributes)


def _enumerator_attr(enum: str) -> AttrConstraint:
    """A string with the name of a member of an enumeration of tt-metal."""
    names = tuple(ENUMS[enum].members)
    return AttrConstraint(
        f"string attribute whose value is one of {', '.join(names)}",
        lambda attr: isinstance(attr, StringAttr),
        lambda attr: cast("StringAttr", attr).data in names,
    )


def _template_constraint(template: Template) -> AttrConstraint:
    match template.kind:
        case TemplateKind.TYPE:
            return ods.STRING
        case TemplateKind.BOOL:
            return ods.BOOL
        case TemplateKind.INT:
            return ods.I32
        case TemplateKind.ENUM:
            return _enumerator_attr(template.enum)


def _properties(call: KernelCall) -> tuple[Property, ...]:
    templates = (
        Property(
            template.name,
            _template_constraint(template),
            optional=template.default is not None or template.implied is not None,
        )
        for template in (*call.templates, *call.flags)
    )
    return (
        *(Property(name, _DATA_TYPE) for name in call.data_types),
        *(Property(name, ods.I32) for name in call.constants),
        *((Property(call.text, ods.STRING),) if call.text else ()),
        *templates,
    )


def _signature(call: KernelCall) -> Signature:
    values = (ValueGroup("argv", _ANYTHING, variadic=True),) if call.variadic else ()
    kinds = dict(_CONSTRAINTS)
    if call.form in _ANY_WIDTH:
        kinds[ValueKind.L1_PTR] = _ANY_POINTER
    operands = (ValueGroup(name, kinds[kind]) for name, kind in call.operands)
    return Signature(
        (*operands, *values),
        (ValueGroup(call.result[0], kinds[call.result[1]]),) if call.result else (),
        _properties(call),
    )


def _class_of(call: KernelCall) -> type[TTKernelOp]:
    check = _CHECKS.get(call.mnemonic)
    contents: dict[str, object] = {
        "name": f"ttkernel.{call.mnemonic}",
        "CALL": call,
        "CHECK": check and staticmethod(check),
        "SIGNATURE": _signature(call),
        "__doc__": call.summary,
        "__module__": __name__,
    }
    return cast("type[TTKernelOp]", type(_class_name(call.mnemonic), (CallOp,), contents))


class BuiltinOp(TTKernelOp):
    """A kernel known by name: `op` of the family `kind`.

    C1: it stands in a dispatch or in a function.
    """

    name = "ttkernel.builtin"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("args", _MEMREF_OR_CB, variadic=True),),
        properties=properties(op=ods.FLAT_SYMBOL, kind=ods.FLAT_SYMBOL),
    )

    def verify_op(self) -> None:
        """Check the place (C1)."""
        _check_parent(self, "KernelOp")


class ReturnOp(TTKernelOp):
    """The end of a kernel.

    C1: it stands in a dispatch or in a function.
    """

    name = "ttkernel.return"
    SIGNATURE: ClassVar = Signature()
    traits = traits_def(Pure(), ReturnLike(), IsTerminator())

    def verify_op(self) -> None:
        """Check the place (C1)."""
        _check_parent(self, "ReturnOp", nested=False)


class UnreachableOp(LateSyntaxOp):
    """A place that a kernel never reaches."""

    name = "ttkernel.unreachable"
    SIGNATURE: ClassVar = Signature()
    traits = traits_def(Pure(), ReturnLike(), IsTerminator())


def _class_name(mnemonic: str) -> str:
    words = re.sub(r"[:.]+", "_", mnemonic).replace("cb_", "CB_", 1 if mnemonic[:3] == "cb_" else 0)
    return "".join(word[:1].upper() + word[1:] for word in words.split("_")) + "Op"


def _late_class(mnemonic: str) -> type[TTKernelOp]:
    contents: dict[str, object] = {
        "name": f"ttkernel.{mnemonic}",
        "__doc__": f"`{mnemonic}` of kernels of 2026.",
        "__module__": __name__,
    }
    return cast("type[TTKernelOp]", type(_class_name(mnemonic), (LateOp,), contents))


_WITH_CLASS = frozenset((*(call.mnemonic for call in CALLS), "unreachable"))
OPERATIONS: tuple[type[TTKernelOp], ...] = (
    *(_class_of(call) for call in CALLS),
    *(_late_class(mnemonic) for mnemonic in LATE_CALLS if mnemonic not in _WITH_CLASS),
    BuiltinOp,
    ReturnOp,
    UnreachableOp,
)
"""Every operation of the dialect."""

_BY_MNEMONIC = {op.name.removeprefix("ttkernel."): op for op in OPERATIONS}


def op_class(mnemonic: str) -> type[TTKernelOp]:
    """The class of `ttkernel.<mnemonic>`; KeyError if there is no such operation."""
    return _BY_MNEMONIC[mnemonic]
