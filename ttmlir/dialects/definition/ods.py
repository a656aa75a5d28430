"""Operation definitions as data, checked the way MLIR's generated verifiers check.

An operation class carries a `Signature`: its operands, results, properties and regions, each with
a constraint. From it follow the conversion of the properties that stand in the text
(`ODSOperation.convert_properties`) and the verifier, whose order and words are those of the code
that `mlir-tblgen` makes from an operation definition specification (ODS): structure, operand
segments, presence of attributes, attribute constraints, types, the operation's own checks,
interfaces.

xDSL's own definitions (IRDL) are not used for these operations: they build slower and say it in
other words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, NoReturn, Self, TypeGuard, TypeVar, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    DictionaryAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    MemRefType,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    f64,
    i32,
)
from xdsl.ir import Attribute, Operation, OpTraits, SSAValue, TypeAttribute
from xdsl.irdl import traits_def
from xdsl.traits import HasCanonicalizationPatternsTrait, OpTrait
from xdsl.utils.exceptions import VerifyException

from ttmlir.mlir.core_prefix import TTCORE, core_prefix, spelled_operation
from ttmlir.mlir.printing import show_attribute
from ttmlir.mlir.reporting import Diagnostic, warn
from ttmlir.mlir.xdsl_internals import operands_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.pattern_rewriter import RewritePattern


ClassT = TypeVar("ClassT", bound=Operation | Attribute)


def classes_in(names: Mapping[str, object], kind: type[ClassT]) -> list[type[ClassT]]:
    """The operations or attributes that a module, whose `globals()` these are, has so far defined.

    They are those that have a name of their own, in order.
    """
    return [
        each
        for each in names.values()
        if isinstance(each, type)
        and issubclass(each, kind)
        and "name" in vars(each)
        and each.__module__ == names["__name__"]
    ]


# --- Names ----------------------------------------------------------------------------------------
# Names of the attributes that modules and functions carry.

SYSTEM_DESC = "tt.system_desc"
"""On a module: the machine that it is compiled for."""
DEVICE_NAME = "tt.device"
"""On a module: the chips of the machine that its functions use, as one grid of cores."""
ARG_ALLOC = "tt.arg_alloc"
"""On a function: where its arguments lie, one `#tt.arg_alloc` each."""
SCRATCH = "tt.scratch"
"""On a layout change: memory of each core that it may use, a `#tt.arg_alloc`."""
KERNEL_THREAD = "ttkernel.thread"
"""On a function that is a kernel: the processor that runs it, a `#ttkernel.thread`."""
REFERENCE = "ttmetal.reference"
"""On a dispatch: the elementwise operation that its kernel computes."""


# --- Ods ------------------------------------------------------------------------------------------

SEGMENTS = "operandSegmentSizes"
"""Property with the number of operands in each group of an operation with several variadic ones."""

_OLD_SEGMENTS = "operand_segment_sizes"
_NO_TRAITS = traits_def()

Test = Callable[[Attribute], bool]


def refuse(message: str) -> NoReturn:
    """Fail verification with `message`; the operation's name and place are put before it."""
    raise VerifyException(message)


# ---------------------------------------------------------------------------------------------
# Constraints of attributes
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AttrConstraint:
    """What an attribute must be.

    `storage` tells whether the attribute can be held by the property at all: MLIR's properties have
    a C++ type, and an attribute of another class is refused while the text is read. `holds` is the
    constraint proper, checked by the verifier, which names `summary`.
    """

    summary: str
    storage: Test
    holds: Test


def always(attr: Attribute) -> bool:
    """The test that everything passes."""
    return True


def is_type(attr: Attribute) -> bool:
    """True for types."""
    return isinstance(attr, TypeAttribute)


def _is_int(attr: Attribute, width: int, signedness: Signedness) -> bool:
    if not isinstance(attr, IntegerAttr):
        return False
    type = cast("IntegerAttr[IntegerType | IndexType]", attr).type
    return (
        isinstance(type, IntegerType)
        and type.width.data == width
        and type.signedness.data is signedness
    )


def integer_attr(width: int, signedness: Signedness) -> AttrConstraint:
    """An integer attribute of exactly this type."""
    word = "signless" if signedness is Signedness.SIGNLESS else signedness.name.lower()
    return AttrConstraint(
        f"{width}-bit {word} integer attribute",
        lambda attr: isinstance(attr, IntegerAttr),
        lambda attr: _is_int(attr, width, signedness),
    )


def _is_bool(attr: Attribute) -> bool:
    return _is_int(attr, 1, Signedness.SIGNLESS)


def _is_f32(attr: Attribute) -> bool:
    return isinstance(attr, FloatAttr) and cast("FloatAttr", attr).type.name == "f32"


def _is_array(attr: Attribute) -> bool:
    return isinstance(attr, ArrayAttr)


def array_attr(summary: str, element: Test) -> AttrConstraint:
    """An array attribute whose every element passes a test."""
    return AttrConstraint(
        summary,
        _is_array,
        lambda attr: all(element(item) for item in cast("ArrayAttr[Attribute]", attr).data),
    )


def integer_array_attr(width: int) -> AttrConstraint:
    """An array attribute of signless integers."""
    return array_attr(
        f"{width}-bit integer array attribute",
        lambda item: _is_int(item, width, Signedness.SIGNLESS),
    )


def _is_dense(attr: Attribute, width: int) -> bool:
    if not isinstance(attr, DenseArrayBase):
        return False
    type = cast("DenseArrayBase[IntegerType]", attr).elt_type
    return type.name == "integer_type" and type.width.data == width


def dense_array_attr(width: int) -> AttrConstraint:
    """`array<iN: ...>`; MLIR has a class of its own for each element type."""
    return AttrConstraint(
        f"i{width} dense array attribute", lambda attr: _is_dense(attr, width), always
    )


def _is_elements(attr: Attribute) -> bool:
    return isinstance(attr, (DenseIntOrFPElementsAttr, DenseResourceAttr))


def _is_flat_symbol(attr: Attribute) -> bool:
    return isinstance(attr, SymbolRefAttr) and not attr.nested_references.data


def enum_attr(base: AttrConstraint, count: int, summary: str) -> AttrConstraint:
    """An integer that numbers one of `count` cases; nothing else fits the property."""

    def is_case(attr: Attribute) -> bool:
        return base.holds(attr) and 0 <= cast("IntegerAttr", attr).value.data < count

    return AttrConstraint(summary, is_case, always)


def either(*constraints: AttrConstraint) -> AttrConstraint:
    """What one of several constraints accepts."""
    return AttrConstraint(
        " or ".join(each.summary for each in constraints),
        lambda attr: any(each.storage(attr) for each in constraints),
        lambda attr: any(each.storage(attr) and each.holds(attr) for each in constraints),
    )


def any_of(*constraints: AttrConstraint) -> AttrConstraint:
    """What one of several constraints accepts; a property of MLIR then holds any attribute."""
    return replace(either(*constraints), storage=always)


def named_attr(name: str, summary: str = "") -> AttrConstraint:
    """An attribute of a dialect, told by its name, so that its class need not be imported."""
    return AttrConstraint(summary, lambda attr: attr.name == name, always)


SI32 = integer_attr(32, Signedness.SIGNED)
I32 = integer_attr(32, Signedness.SIGNLESS)
SI64 = integer_attr(64, Signedness.SIGNED)
I64 = integer_attr(64, Signedness.SIGNLESS)
F32 = AttrConstraint("32-bit float attribute", lambda attr: isinstance(attr, FloatAttr), _is_f32)
FLOAT = AttrConstraint(
    "arbitrary float attribute", lambda attr: isinstance(attr, FloatAttr), always
)
BOOL = AttrConstraint("bool attribute", _is_bool, always)
UNIT = AttrConstraint("unit attribute", lambda attr: isinstance(attr, UnitAttr), always)
ARRAY = AttrConstraint("array attribute", _is_array, always)
DICTIONARY = AttrConstraint(
    "dictionary of named attribute values", lambda attr: isinstance(attr, DictionaryAttr), always
)
STRING = AttrConstraint("string attribute", lambda attr: isinstance(attr, StringAttr), always)
TYPE = AttrConstraint("any type attribute", is_type, always)
I32_ARRAY = integer_array_attr(32)
I64_ARRAY = integer_array_attr(64)
DENSE_I32 = dense_array_attr(32)
DENSE_I64 = dense_array_attr(64)
DENSE_BOOL = dense_array_attr(1)
ELEMENTS = AttrConstraint("constant vector/tensor attribute", _is_elements, always)
FLAT_SYMBOL = AttrConstraint("flat symbol reference attribute", _is_flat_symbol, always)
MAP_ARRAY = array_attr("AffineMap array attribute", lambda item: isinstance(item, AffineMapAttr))


# ---------------------------------------------------------------------------------------------
# Constraints of types
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TypeConstraint:
    """What the type of an operand or result must be."""

    summary: str
    holds: Test
    late_summary: str = ""
    """What is said since 2026, where that is something else."""


def _is_tensor(type: Attribute) -> bool:
    return isinstance(type, TensorType)


def _is_tensor_or_memref(type: Attribute) -> bool:
    return isinstance(type, TensorType) or (
        isinstance(type, MemRefType) and len(type.shape.data) > 0
    )


TENSOR = TypeConstraint("ranked tensor of any type values", _is_tensor)
TENSOR_OR_MEMREF = TypeConstraint(
    "ranked tensor of any type values or non-0-ranked.memref of any type values",
    _is_tensor_or_memref,
)
SEMAPHORE = TypeConstraint(
    "TTNN global semaphore.", lambda type: type.name == "ttnn.global_semaphore"
)
DEVICE = TypeConstraint(
    "TT device", lambda type: type.name in (DEVICE_NAME, "ttnn.device"), "TTNN device"
)


# ---------------------------------------------------------------------------------------------
# Signatures
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ValueGroup:
    """One operand or result, or a group of them."""

    name: str
    constraint: TypeConstraint = TENSOR
    variadic: bool = False
    optional: bool = False

    @property
    def is_single(self) -> bool:
        """True where exactly one value stands here."""
        return not (self.variadic or self.optional)


@dataclass(frozen=True, eq=False)
class Property:
    """One inherent attribute."""

    name: str
    constraint: AttrConstraint
    optional: bool = False


def values(**constraints: TypeConstraint) -> tuple[ValueGroup, ...]:
    """Single operands or results, in order: `values(lhs=TENSOR, rhs=TENSOR)`."""
    return tuple(ValueGroup(name, constraint) for name, constraint in constraints.items())


def properties(**constraints: AttrConstraint) -> tuple[Property, ...]:
    """Properties that an operation must have: `properties(dimension=I64)`."""
    return tuple(Property(name, constraint) for name, constraint in constraints.items())


@dataclass(frozen=True, eq=False)
class Signature:
    """Everything that the verifier checks of an operation before its own rules."""

    operands: tuple[ValueGroup, ...] = ()
    results: tuple[ValueGroup, ...] = ()
    properties: tuple[Property, ...] = ()
    regions: int | None = 0
    """Number of regions; None for any number."""
    init: str | None = None
    """The destination operand or group of operands, in destination-passing style."""
    same_sizes: bool = False
    """True where all variadic groups have one size, so that no property tells it."""
    by_name: dict[str, Property] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Sort the properties by name, the order in which they are verified and printed."""
        ordered = tuple(sorted(self.properties, key=lambda p: p.name))
        object.__setattr__(self, "properties", ordered)
        object.__setattr__(self, "by_name", {p.name: p for p in ordered})

    @cached_property
    def has_segments(self) -> bool:
        """True where a property tells how many operands each group has."""
        return not self.same_sizes and len(self.operands) - self.single_operands > 1

    @cached_property
    def single_operands(self) -> int:
        """How many operands are not in a group."""
        return sum(value.is_single for value in self.operands)

    @cached_property
    def has_variadic_results(self) -> bool:
        """True where the number of results differs from operation to operation."""
        return not all(value.is_single for value in self.results)

    @cached_property
    def has_single_inputs(self) -> bool:
        """True where only the destination may be a group of operands."""
        return all(value.is_single or value.name == self.init for value in self.operands)

    @cached_property
    def operand_index(self) -> dict[str, int]:
        """Place of each operand or group by name."""
        return {value.name: i for i, value in enumerate(self.operands)}


def _segment_sizes(op: Operation, groups: int) -> tuple[int, ...]:
    attr = op.properties.get(SEGMENTS)
    if attr is None:
        return (0,) * groups
    return _ints(attr)


@lru_cache(4096)
def _single_variadic_sizes(values: tuple[ValueGroup, ...], count: int) -> tuple[int, ...]:
    """The sizes of groups, where those that are variadic share what is left."""
    single = sum(value.is_single for value in values)
    each = (count - single) // max(1, len(values) - single)
    return tuple(1 if value.is_single else each for value in values)


class ODSOperation(Operation):
    """An operation whose class carries a `Signature`."""

    SIGNATURE: ClassVar[Signature]
    traits: ClassVar[OpTraits] = _NO_TRAITS

    def __init_subclass__(cls) -> None:
        """Check that the init is one of the operands."""
        super().__init_subclass__()
        if "SIGNATURE" in cls.__dict__ and cls.SIGNATURE.init is not None:
            assert cls.SIGNATURE.init in cls.SIGNATURE.operand_index, cls

    # -- operands ------------------------------------------------------------------------------

    @classmethod
    def segments(cls, *sizes: int) -> DenseArrayBase[IntegerType]:
        """The value of `operandSegmentSizes` for groups of these sizes."""
        return segments_attr(sizes)

    def form(self) -> Signature:
        """The signature that this operation is held to; some operations have had several."""
        return self.SIGNATURE

    def group_sizes(self) -> tuple[int, ...]:
        """Number of operands in each group, in the order of the signature."""
        return self.sizes_in(self.form())

    def sizes_in(self, form: Signature) -> tuple[int, ...]:
        """`group_sizes` for who knows the form already."""
        if form.has_segments:
            return _segment_sizes(self, len(form.operands))
        return _single_variadic_sizes(form.operands, len(operands_of(self)))

    def group_range(self, name: str) -> tuple[int, int]:
        """First and one past the last operand number of the group `name`."""
        return self.range_in(self.form(), name)

    def range_in(self, form: Signature, name: str) -> tuple[int, int]:
        """`group_range` for who knows the form already."""
        sizes = self.sizes_in(form)
        index = form.operand_index[name]
        first = sum(sizes[:index])
        return first, first + sizes[index]

    def group(self, name: str) -> tuple[SSAValue, ...]:
        """The operands of the group `name`: one, or none to many if optional or variadic."""
        first, end = self.group_range(name)
        return operands_of(self)[first:end]

    # -- properties ----------------------------------------------------------------------------

    @classmethod
    def readable_properties(cls) -> Mapping[str, Property]:
        """The properties of all forms by name."""
        return cls.SIGNATURE.by_name

    @classmethod
    def group_counts(cls) -> tuple[int, ...]:
        """How many groups a list of their sizes may name, in the usual form first."""
        return (len(cls.SIGNATURE.operands),) if cls.SIGNATURE.has_segments else ()

    @classmethod
    def convert_properties(
        cls, properties: dict[str, Attribute] | None, attributes: dict[str, Attribute]
    ) -> dict[str, Attribute]:
        """The properties of an operation read as `<{properties}> ... {attributes}`.

        Inherent attributes found in `attributes` are taken out of it. Raises VerifyException, whose
        text is the whole diagnostic, where MLIR's reader refuses.
        """
        signature = cls.SIGNATURE
        known = cls.readable_properties()
        result: dict[str, Attribute] = {}
        for name, attr in (properties or {}).items():
            if name in (SEGMENTS, _OLD_SEGMENTS) and cls.group_counts():
                result[SEGMENTS] = cls._converted_segments(attr, properties or {})
            elif name in known:
                if not known[name].constraint.storage(attr):
                    cls.refuse_properties(
                        properties or {},
                        f"Invalid attribute `{name}` in property conversion: {text(attr)}",
                    )
                result[name] = attr
        for name in [name for name in known if name in attributes] if attributes else ():
            attr = attributes.pop(name)
            _check_attribute(known[name], attr, f"'{cls.name}' op ")
            result.setdefault(name, attr)
        if signature.has_segments:
            cls._take_segments(result, attributes)
        return result

    @classmethod
    def _take_segments(
        cls, properties: dict[str, Attribute], attributes: dict[str, Attribute]
    ) -> None:
        counts = cls.group_counts()
        for name in (SEGMENTS, _OLD_SEGMENTS):
            attr = attributes.pop(name, None)
            # MLIR drops a list of the wrong length here without a word: the count check finds it.
            if attr is not None and DENSE_I32.storage(attr) and len(_ints(attr)) in counts:
                properties.setdefault(SEGMENTS, attr)
        if SEGMENTS not in properties:
            properties[SEGMENTS] = segments_attr((0,) * counts[0])

    @classmethod
    def _converted_segments(cls, attr: Attribute, properties: dict[str, Attribute]) -> Attribute:
        counts = cls.group_counts()
        if not DENSE_I32.storage(attr):
            cls.refuse_properties(properties, "expected DenseI32ArrayAttr for key `value`")
        if len(_ints(attr)) not in counts:
            found = len(_ints(attr))
            cls.refuse_properties(
                properties, f"size mismatch in attribute conversion: {found} vs {counts[0]}"
            )
        return attr

    @classmethod
    def refuse_properties(cls, properties: dict[str, Attribute], reason: str) -> NoReturn:
        """Refuse the properties of an operation that is read."""
        shown = text(DictionaryAttr(dict(sorted(properties.items()))))
        name = spelled_operation(cls.name, core_prefix())
        refuse(f"invalid properties {shown} for op {name}: {reason}")

    # -- verification --------------------------------------------------------------------------

    def verify_(self) -> None:
        """Check the operation in the order of MLIR's generated verifiers."""
        signature = self.form()
        check_structure(self, signature)
        if signature.has_segments:
            _check_segments(self, len(signature.operands))
        _check_attributes(self, signature)
        _check_types("operand", signature.operands, self.sizes_in(signature), operands_of(self))
        results = _single_variadic_sizes(signature.results, len(self.results))
        _check_types("result", signature.results, results, self.results)
        self.verify_op()
        self.verify_interfaces()

    def verify_op(self) -> None:
        """Check what only this operation requires."""

    def verify_interfaces(self) -> None:
        """Check what the operation's interfaces require."""


@cache
def segments_attr(sizes: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    """`array<i32: ...>` with the sizes of operand groups."""
    return DenseArrayBase.from_list(i32, sizes)


def _ints(attr: Attribute) -> tuple[int, ...]:
    # Operations share few such lists, and each asks for them again and again.
    known: tuple[int, ...] | None = attr.__dict__.get(_INTS)
    if known is None:
        known = cast("DenseArrayBase[IntegerType]", attr).get_values()
        object.__setattr__(attr, _INTS, known)
    return known


def segment_sizes(attr: Attribute) -> tuple[int, ...]:
    """The sizes that `operandSegmentSizes` lists; none if it is no such list."""
    known: tuple[int, ...] | None = attr.__dict__.get(_SIZES)
    if known is None:
        known = _ints(attr) if DENSE_I32.storage(attr) else ()
        object.__setattr__(attr, _SIZES, known)
    return known


_INTS = "_known_ints"
_SIZES = "_known_sizes"
"""Where an attribute holds the numbers that are in it."""


def is_set(op: Operation, name: str) -> bool:
    """True if an operation has a property that is true."""
    attr = op.properties.get(name)
    return attr is not None and bool(cast("IntegerAttr", attr).value.data)


def text(attr: Attribute) -> str:
    """An attribute as diagnostics show it, without aliases."""
    return show_attribute(attr)


def check_structure(op: Operation, signature: Signature) -> None:
    """Refuse other numbers of regions, results, successors and operands."""
    _check_region_count(len(op.regions), signature.regions)
    _check_result_count(len(op.results), signature)
    if op.successors:
        refuse(f"requires 0 successors but found {len(op.successors)}")
    _check_operand_count(len(operands_of(op)), signature)


def _check_region_count(count: int, expected: int | None) -> None:
    if expected is None or count == expected:
        return
    few = ("requires zero regions", "requires one region")
    refuse(few[expected] if expected < len(few) else f"expected {expected} regions")


def _check_result_count(count: int, signature: Signature) -> None:
    if signature.has_variadic_results or count == len(signature.results):
        return
    expected = len(signature.results)
    few = ("requires zero results", "requires one result")
    refuse(few[expected] if expected < 2 else f"expected {expected} results")


def _check_operand_count(count: int, signature: Signature) -> None:
    single = signature.single_operands
    if single < len(signature.operands):
        if count < single:
            refuse(f"expected {single} or more operands, but found {count}")
    elif count != single:
        few = ("requires zero operands", "requires a single operand")
        refuse(few[single] if single < 2 else f"expected {single} operands, but found {count}")


def _check_segments(op: Operation, groups: int) -> None:
    attr = op.properties.get(SEGMENTS)
    if attr is not None and (not DENSE_I32.storage(attr) or len(_ints(attr)) != groups):
        refuse(
            f"'{SEGMENTS}' attribute for specifying operand segments must have {groups} elements"
        )
    sizes = _segment_sizes(op, groups)
    if any(size < 0 for size in sizes):
        refuse(f"'{SEGMENTS}' attribute cannot have negative elements")
    count = len(operands_of(op))
    if sum(sizes) != count:
        refuse(
            f"operand count ({count}) does not match with the total size "
            f"({sum(sizes)}) specified in attribute '{SEGMENTS}'"
        )


def _check_attributes(op: Operation, signature: Signature) -> None:
    properties = op.properties
    for prop in signature.properties:
        if not prop.optional and prop.name not in properties:
            refuse(f"requires attribute '{prop.name}'")
    for prop in signature.properties:
        if (attr := properties.get(prop.name)) is not None:
            _check_attribute(prop, attr)


def _check_attribute(prop: Property, attr: Attribute, prefix: str = "") -> None:
    constraint = prop.constraint
    if not (constraint.storage(attr) and constraint.holds(attr)):
        refuse(
            f"{prefix}attribute '{prop.name}' failed to satisfy constraint: {constraint.summary}"
        )


def _check_types(
    kind: str, specs: tuple[ValueGroup, ...], sizes: tuple[int, ...], values: Sequence[SSAValue]
) -> None:
    index = 0
    for spec, size in zip(specs, sizes, strict=True):
        if spec.optional and size > 1:
            refuse(f"{kind} group starting at #{index} requires 0 or 1 element, but found {size}")
        if spec.is_single and size != 1:
            refuse(f"{kind} group '{spec.name}' requires 1 element, but found {size}")
        for value in values if size == len(values) else values[index : index + size]:
            if not spec.constraint.holds(value.type):
                some = "variadic of " if spec.variadic else ""
                constraint = spec.constraint
                late = constraint.late_summary if core_prefix() == TTCORE else ""
                refuse(
                    f"{kind} #{index} must be {some}{late or constraint.summary}, "
                    f"but got '{text(value.type)}'"
                )
            index += 1


# --- Dps ------------------------------------------------------------------------------------------
# Destination-passing style: the operands that an operation writes its results to are its inits.


class DestinationStyleOp(ODSOperation):
    """An operation whose results have the types of its inits and alias them."""

    @property
    def init_range(self) -> tuple[int, int]:
        """First and one past the last operand number of the inits."""
        form = self.form()
        assert form.init is not None, f"{self.name} names no init"
        return self.range_in(form, form.init)

    @property
    def inits(self) -> tuple[SSAValue, ...]:
        """The operands that the results are written to, one per result."""
        first, end = self.init_range
        return operands_of(self)[first:end]

    @property
    def inputs(self) -> tuple[SSAValue, ...]:
        """The operands before the inits."""
        return operands_of(self)[: self.init_range[0]]

    @property
    def output(self) -> SSAValue:
        """The init of an operation that has one."""
        return operands_of(self)[self.init_range[0]]

    @property
    def written_results(self) -> dict[int, SSAValue]:
        """The results by the number of the operand that is their destination."""
        first, end = self.init_range
        operands = operands_of(self)
        tensors = (n for n in range(first, end) if operands[n].type.name == "tensor")
        return dict(zip(tensors, self.results, strict=True))

    @classmethod
    def dps(
        cls,
        inputs: Sequence[SSAValue],
        inits: Sequence[SSAValue],
        properties: Mapping[str, Attribute] | None = None,
        *,
        result_types: Sequence[Attribute] | None = None,
        location: LocationAttr,
        device: SSAValue | None = None,
    ) -> Self:
        """Make the operation; result types follow from the inits unless they are given."""
        props = dict(properties or {})
        if cls.SIGNATURE.has_segments and (inits or not result_types):
            props[SEGMENTS] = segments_attr((len(inputs), len(inits)))
        trailing = () if device is None else (device,)
        return cls.create(
            operands=(*inputs, *inits, *trailing),
            result_types=[init.type for init in inits] if result_types is None else result_types,
            properties=props,
            location=location,
        )

    def verify_interfaces(self) -> None:
        """Compare the results with the inits."""
        check_destination_style(self)


def is_dps(op: Operation) -> TypeGuard[DestinationStyleOp]:
    """True for operations in destination-passing style."""
    return isinstance(op, DestinationStyleOp)


def check_destination_style(op: DestinationStyleOp) -> None:
    """Refuse results that do not correspond to the tensors among the inits."""
    first, end = op.init_range
    operands = operands_of(op)
    tensors: list[tuple[int, Attribute]] = []
    for number in range(first, end):
        type: Attribute = operands[number].type
        if type.name == "tensor":
            tensors.append((number, type))
        elif type.name != "memref":
            refuse(f"expected that operand #{number} is a tensor or a memref")
    if len(op.results) != len(tensors):
        refuse(
            f"expected the number of tensor results ({len(op.results)}) to be equal to the "
            f"number of output tensors ({len(tensors)})"
        )
    for (number, type), result in zip(tensors, op.results, strict=True):
        if type is not result.type and type != result.type:
            refuse(
                f"expected type of operand #{number} ('{text(type)}') to match type of "
                f"corresponding result ('{text(result.type)}')"
            )


# --- Traits ---------------------------------------------------------------------------------------
# Traits of operations that MLIR expresses through interfaces of their dialects.


@dataclass(frozen=True)
class KeepsConstants(OpTrait):
    """Constants that an operation's regions use stay in these regions, as in kernels.

    It stands for `DialectFoldInterface::shouldMaterializeInto`.
    """


@dataclass(frozen=True)
class CanonicalPatterns(HasCanonicalizationPatternsTrait):
    """The canonical forms of an operation, at `module:attribute`; imported when first asked for.

    Patterns create operations, so their module needs the one of the operation's class.
    """

    path: str

    def get_patterns(self, op: type[Operation]) -> tuple[RewritePattern, ...]:
        """The patterns at the path."""
        module, _, attribute = self.path.partition(":")
        return cast("tuple[RewritePattern, ...]", getattr(import_module(module), attribute))

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        """None without a path."""
        return ()


# --- Narrowing ------------------------------------------------------------------------------------
# Warnings about numbers that devices keep in other bits than the program asks for.

F64_IS_NARROWED = (
    "tensors of f64 are kept as f32 on the device; the numerics 'exact' compute them in 64 bits"
)


def narrow(root: Operation) -> Diagnostic | None:
    """The warning about tensors of f64 inside `root`, at the first one; None without any."""
    for op in root.walk():
        for value in _values(op):
            type_ = value.type
            if isinstance(type_, TensorType) and _is_f64(
                cast("TensorType[Attribute]", type_).element_type
            ):
                return Diagnostic("warning", op.location, F64_IS_NARROWED)
    return None


def _is_f64(element: Attribute) -> bool:
    return element in (f64, ComplexType(f64))


def warn_of_narrowing(root: Operation) -> None:
    """Give the warning about tensors of f64 if there are any inside `root`."""
    if (warning := narrow(root)) is not None:
        warn(warning)


def widen(root: Operation) -> Diagnostic | None:
    """The warning about tensors of few bits inside `root`, at the first one; None without any."""
    for op in root.walk():
        for value in _values(op):
            type_ = value.type
            if isinstance(type_, TensorType):
                element = cast("TensorType[Attribute]", type_).element_type
                if (wide := _wide_type(element)) is not None:
                    message = f"tensors of {element} are kept as {wide} on the device"
                    return Diagnostic("warning", op.location, message)
    return None


def _wide_type(element: Attribute) -> str | None:
    """The type that a device keeps elements of fewer bits in; None for other types."""
    if isinstance(element, IntegerType):
        integer = cast("IntegerType", element)
        if 1 < integer.width.data < _BYTE_BITS:
            return str(IntegerType(_BYTE_BITS, integer.signedness.data))
    is_small = isinstance(element, AnyFloat) and element.name.startswith(("f8E", "f6E", "f4E"))
    return "bf16" if is_small else None


_BYTE_BITS = 8


def warn_of_widening(root: Operation) -> None:
    """Give the warning about tensors of few bits if there are any inside `root`."""
    if (warning := widen(root)) is not None:
        warn(warning)


def _values(op: Operation) -> Iterator[SSAValue]:
    """The results of an operation and the arguments of its blocks."""
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args
