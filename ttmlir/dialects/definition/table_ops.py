"""Operation classes made from the definitions of the operation table.

A dialect declares one abstract class per family of operations; `OpClasses` makes a subclass for
each definition, with the definition as `DEFINITION`. Patterns match the family and test the
definition:

    case ttir.UnaryOp(DEFINITION=definition): ...
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FixedBitwidthType,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import (
    SEGMENTS,
    DestinationStyleOp,
    ODSOperation,
    Property,
    Signature,
    ValueGroup,
    refuse,
    segment_sizes,
)
from ttmlir.errors import ArgumentError, InputError, MissingNameError
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.attributes import float_attr
from ttmlir.mlir.context import LaterDialect
from ttmlir.mlir.core_prefix import TTCORE, core_prefix
from ttmlir.mlir.printing import SuggestsNames
from ttmlir.mlir.xdsl_internals import operands_of
from ttmlir.optable.contraction import matrix_shape
from ttmlir.optable.creation import arange_shape
from ttmlir.optable.late_forms import LateForm, parse_operand
from ttmlir.optable.op_definition import Family, Kind, OpDefinition, Operand, Parameter

if TYPE_CHECKING:
    from ttmlir.dialects.tt import MemorySpaceAttr, TensorLayoutAttr

# --- Definition docs ------------------------------------------------------------------------------
# Documentation of operations that are made from definitions.
#
# Each docstring says, in this order: the meaning in a sentence, the formula, the parameters, the
# constraints that the verifier checks (C1, C2 ...), the form in the text, and where the operation
# comes from.


def describe(
    name: str,
    definition: OpDefinition,
    parameters: Sequence[Parameter],
    signature: Signature,
    check: Callable[[Operation], None] | None,
) -> str:
    """The docstring of the class of operation `name`."""
    parts = [
        definition.summary,
        _formula(definition),
        "\n".join(map(_parameter_line, parameters)),
        _constraints(check),
        f"Form:\n    {_form(name, signature)}",
        f"In tt-mlir since {definition.since}.",
    ]
    return "\n\n".join(part for part in parts if part)


def _formula(definition: OpDefinition) -> str:
    return (
        definition.formula
        if not definition.formula or "=" in definition.formula
        else f"output = {definition.formula}"
    )


def _parameter_line(parameter: Parameter) -> str:
    optional = ", optional" if parameter.optional else ""
    meaning = f": {parameter.doc}" if parameter.doc else ""
    return f"`{parameter.name}` ({parameter.kind.value}{optional}){meaning}"


@cache
def _constraints(check: Callable[[Operation], None] | None) -> str:
    if check is None:
        return ""
    return cleandoc(check.__doc__ or "").partition("\n\n")[2]


def _form(name: str, signature: Signature) -> str:
    operands = ", ".join(
        f"%{value.name}{'...' if value.variadic else '?' if value.optional else ''}"
        for value in signature.operands
    )
    properties = ", ".join(
        f"{prop.name}{'?' if prop.optional else ''}" for prop in signature.properties
    )
    shown = f" <{{{properties}}}>" if properties else ""
    results = ", ".join(f"%{result.name}" for result in signature.results)
    return f'{results} = "{name}"({operands}){shown}' if results else f'"{name}"({operands}){shown}'


# --- Definition ops -------------------------------------------------------------------------------

_SI32 = IntegerType(32, Signedness.SIGNED)
_SI64 = IntegerType(64, Signedness.SIGNED)

_CONSTRAINTS = {
    Kind.SI32: ods.SI32,
    Kind.I32: ods.I32,
    Kind.I64: ods.I64,
    Kind.SI64: ods.SI64,
    Kind.F32: ods.F32,
    Kind.BOOL: ods.BOOL,
    Kind.I32_ARRAY: ods.I32_ARRAY,
    Kind.I64_ARRAY: ods.I64_ARRAY,
    Kind.DENSE_I32: ods.DENSE_I32,
    Kind.DENSE_I64: ods.DENSE_I64,
    Kind.DENSE_BOOL: ods.DENSE_BOOL,
    Kind.STRING: ods.STRING,
    Kind.ELEMENTS: ods.ELEMENTS,
    Kind.UI32: ods.integer_attr(32, Signedness.UNSIGNED),
    Kind.UI8: ods.integer_attr(8, Signedness.UNSIGNED),
    Kind.SI8: ods.integer_attr(8, Signedness.SIGNED),
    Kind.NUMBER: ods.any_of(ods.F32, ods.I32),
    Kind.EXTENTS: ods.any_of(ods.I32, ods.DENSE_I32),
    Kind.SIGNED_EXTENTS: ods.any_of(ods.SI32, ods.DENSE_I32),
    Kind.SYMBOL: ods.FLAT_SYMBOL,
}

_BITS = {
    **dict.fromkeys((Kind.SI32, Kind.I32, Kind.I32_ARRAY, Kind.DENSE_I32), 32),
    **dict.fromkeys((Kind.SI64, Kind.I64, Kind.I64_ARRAY, Kind.DENSE_I64), 64),
}
"""How wide the integers of a parameter are."""

ParameterValue = int | float | bool | str | tuple[int, ...] | Attribute
"""A parameter in Python: lists are tuples, elements stay the attribute."""


def _int_of(attr: Attribute) -> int:
    return cast("IntegerAttr", attr).value.data


def _ints_of_array(attr: Attribute) -> tuple[int, ...]:
    return tuple(item.value.data for item in cast("ArrayAttr[IntegerAttr]", attr).data)


def _ints_of_dense(attr: Attribute) -> tuple[int, ...]:
    return tuple(cast("DenseArrayBase[IntegerType]", attr).iter_values())


def _number_of(attr: Attribute) -> int | float:
    return cast("IntegerAttr | FloatAttr", attr).value.data


def _extents_of(attr: Attribute) -> int | tuple[int, ...]:
    return _ints_of_dense(attr) if attr.name == "array" else _int_of(attr)


_FROM_ATTR: dict[Kind, Callable[[Attribute], ParameterValue]] = {
    Kind.SI32: _int_of,
    Kind.I32: _int_of,
    Kind.I64: _int_of,
    Kind.SI64: _int_of,
    Kind.F32: lambda attr: cast("FloatAttr", attr).value.data,
    Kind.BOOL: lambda attr: bool(_int_of(attr)),
    Kind.I32_ARRAY: _ints_of_array,
    Kind.I64_ARRAY: _ints_of_array,
    Kind.DENSE_I32: _ints_of_dense,
    Kind.DENSE_I64: _ints_of_dense,
    Kind.DENSE_BOOL: lambda attr: tuple(map(bool, _ints_of_dense(attr))),
    Kind.STRING: lambda attr: cast("StringAttr", attr).data,
    Kind.ELEMENTS: lambda attr: attr,
    Kind.UI32: _int_of,
    Kind.UI8: _int_of,
    Kind.SI8: _int_of,
    Kind.NUMBER: _number_of,
    Kind.EXTENTS: _extents_of,
    Kind.SIGNED_EXTENTS: _extents_of,
    Kind.ATTRIBUTE: lambda attr: attr,
    Kind.ATTRIBUTES: lambda attr: attr,
    Kind.SYMBOL: lambda attr: attr,
}

# The values come from `ParameterValue`, whose alternative is fixed by the kind.
_TO_ATTR: dict[Kind, Callable[[Any], Attribute]] = {
    Kind.SI32: lambda value: IntegerAttr(value, _SI32),
    Kind.I32: lambda value: IntegerAttr(value, i32),
    Kind.I64: lambda value: IntegerAttr(value, i64),
    Kind.SI64: lambda value: IntegerAttr(value, _SI64),
    Kind.F32: lambda value: float_attr(value, f32),
    Kind.BOOL: lambda value: IntegerAttr(int(value), i1),
    Kind.I32_ARRAY: lambda value: ArrayAttr(IntegerAttr(item, i32) for item in value),
    Kind.I64_ARRAY: lambda value: ArrayAttr(IntegerAttr(item, i64) for item in value),
    Kind.DENSE_I32: lambda value: DenseArrayBase.from_list(i32, value),
    Kind.DENSE_I64: lambda value: DenseArrayBase.from_list(i64, value),
    Kind.DENSE_BOOL: lambda value: DenseArrayBase.from_list(i1, [int(item) for item in value]),
    Kind.STRING: StringAttr,
    Kind.ELEMENTS: lambda value: value,
    Kind.UI32: lambda value: IntegerAttr(value, IntegerType(32, Signedness.UNSIGNED)),
    Kind.UI8: lambda value: IntegerAttr(value, IntegerType(8, Signedness.UNSIGNED)),
    Kind.SI8: lambda value: IntegerAttr(value, IntegerType(8, Signedness.SIGNED)),
    Kind.NUMBER: lambda value: (
        float_attr(value, f32) if isinstance(value, float) else IntegerAttr(value, i32)
    ),
    Kind.EXTENTS: lambda value: (
        IntegerAttr(value, i32) if isinstance(value, int) else DenseArrayBase.from_list(i32, value)
    ),
    Kind.SIGNED_EXTENTS: lambda value: (
        IntegerAttr(value, _SI32)
        if isinstance(value, int)
        else DenseArrayBase.from_list(i32, value)
    ),
    Kind.ATTRIBUTE: lambda value: value,
    Kind.ATTRIBUTES: lambda value: value,
    Kind.SYMBOL: lambda value: value,
}


def parameter_value(attr: Attribute, kind: Kind) -> ParameterValue:
    """The Python value of a parameter's attribute."""
    return _FROM_ATTR[kind](attr)


def parameters_in(
    properties: Mapping[str, Attribute], parameters: Iterable[Parameter]
) -> dict[str, ParameterValue]:
    """Parameters as Python values; absent optional ones are left out."""
    return {
        each.name: parameter_value(properties[each.name], each.kind)
        for each in parameters
        if each.name in properties
    }


def parameter_attr(value: ParameterValue, kind: Kind) -> Attribute:
    """The attribute that carries a parameter's Python value."""
    return _TO_ATTR[kind](value)


def properties_of(parameters: Iterable[Parameter]) -> tuple[Property, ...]:
    """The properties that carry these parameters."""
    return tuple(Property(p.name, _constraint_of(p), p.optional) for p in parameters)


def _constraint_of(parameter: Parameter) -> ods.AttrConstraint:
    names = parameter.attribute.split("|")
    shown = " or ".join(names)
    match parameter.kind:
        case Kind.ATTRIBUTE if len(names) > 1:
            summary = " or ".join(map(_described_attribute, names))
            return ods.AttrConstraint(summary, ods.always, lambda attr: attr.name in names)
        case Kind.ATTRIBUTE:
            return ods.AttrConstraint(shown, lambda attr: attr.name in names, ods.always)
        case Kind.ATTRIBUTES:
            return ods.array_attr(f"array of {shown}", lambda item: item.name in names)
        case kind:
            return _CONSTRAINTS[kind]


def _described_attribute(name: str) -> str:
    """How messages name an attribute: `TTNN MatmulMultiCoreReuseProgramConfig`."""
    dialect, _, mnemonic = name.partition(".")
    parts = (_UPPER.get(part, part.capitalize()) for part in mnemonic.split("_"))
    return f"{dialect.upper()} {''.join(parts)}"


_UPPER = {"1d": "1D", "dram": "DRAM"}


class TableOperation(ODSOperation):
    """An operation that has a definition in the operation table."""

    DEFINITION: ClassVar[OpDefinition]
    PARAMETERS: ClassVar[tuple[Parameter, ...]] = ()
    """The definition's parameters in this dialect."""
    CHECK: ClassVar[Callable[[Operation], None] | None] = None
    """The verifier of what only this operation requires."""

    def verify_op(self) -> None:
        """Run the operation's own verifier."""
        if (check := type(self).CHECK) is not None:
            check(self)

    def parameters(self) -> dict[str, ParameterValue]:
        """The operation's parameters as Python values; absent optional ones are left out."""
        return parameters_in(self.properties, self.PARAMETERS)

    @classmethod
    def parameter_properties(cls, values: Mapping[str, ParameterValue]) -> dict[str, Attribute]:
        """Properties for the parameters named in `values`; KeyError for an unknown name.

        ValueError for a number that an attribute has no room for.
        """
        cls._check_widths(values, cls.PARAMETERS)
        kinds = {p.name: p.kind for p in cls.PARAMETERS}
        return {name: parameter_attr(value, kinds[name]) for name, value in values.items()}

    @classmethod
    def _check_widths(
        cls, values: Mapping[str, ParameterValue | None], parameters: Iterable[Parameter]
    ) -> None:
        for each in parameters:
            value, bits = values.get(each.name), _BITS.get(each.kind)
            if bits is None:
                continue
            limit = 1 << (bits - 1)
            for number in value if isinstance(value, tuple) else (value,):
                if isinstance(number, int) and not -limit <= number < limit:
                    raise ArgumentError(
                        f"'{cls.name}' has no room for {number}: its parameter '{each.name}' takes "
                        f"numbers of {bits} bits"
                    )


LateVerifier = Callable[[ODSOperation, Iterable[Parameter], OpDefinition | None], bool]
"""Verifies an operation in the form of 2026; False where that form has no verifier of its own."""


def operand_values(operands: Iterable[Operand]) -> tuple[ValueGroup, ...]:
    """Operands of a definition as those of an operation."""
    return tuple(
        ValueGroup(
            operand.name,
            _constraint(operand),
            variadic=operand.variadic,
            optional=operand.optional,
        )
        for operand in operands
    )


def _constraint(operand: Operand) -> ods.TypeConstraint:
    """The types of an operand; the device of a few operations is not their last one."""
    if operand.name == "device":
        return ods.DEVICE
    return ods.SEMAPHORE if operand.is_semaphore else ods.TENSOR


def destination_signature(
    definition: OpDefinition,
    properties: tuple[Property, ...],
    *,
    trailing: tuple[ValueGroup, ...] = (),
) -> Signature:
    """The signature of an operation in destination-passing style."""
    is_elementwise = definition.family.is_elementwise
    many = is_elementwise or len(definition.results) > 1
    inputs = (
        (ValueGroup("inputs", variadic=True),)
        if is_elementwise
        else operand_values(definition.operands)
    )
    init = ValueGroup("outputs" if many else "output", variadic=many)
    return Signature(
        (*inputs, init, *trailing),
        (ValueGroup("results" if many else "result", variadic=many),),
        properties,
        init=init.name,
    )


# --- Forms ----------------------------------------------------------------------------------------
# Operations have had several forms: until 2025 they wrote to a destination that was handed to
# them, since then they make their results, and in 2026 many have other parameters, too. All forms
# of an operation are one class, and its operands and properties tell which form it is in.


class ValueFormOp(DestinationStyleOp, TableOperation, SuggestsNames):
    """An operation that writes to a destination, or makes its results: then `inits` is empty."""

    LATE: ClassVar[LateForm | None] = None
    VERIFY_LATE: ClassVar[LateVerifier | None] = None
    """The verifiers of 2026 of the dialect."""
    """What is different in 2026."""
    LATE_PROPERTIES: ClassVar[tuple[Property, ...]] = ()
    """Optional properties of the forms without a destination; with one they are not kept."""
    NAMES_DESTINATION: ClassVar[bool] = False
    """True where a destination may be told by the number of operands alone, as in 2025."""
    TRAILING: ClassVar[tuple[ValueGroup, ...]] = ()
    """Operands after the destination, in the forms without one."""

    # -- forms ---------------------------------------------------------------------------------

    @property
    def has_destination(self) -> bool:
        """False where the operation makes its results."""
        signature = self.SIGNATURE
        sizes = self.properties.get(SEGMENTS)
        if sizes is not None:
            # Lists of the wrong length are refused as those of a destination.
            return len(segment_sizes(sizes)) not in _counts_of_values(type(self))
        if "operand_constraints" in self.properties:
            return True
        operands = operands_of(self)
        count = len(operands)
        if self.DEFINITION.family.is_elementwise:
            return self.NAMES_DESTINATION and count > len(self.DEFINITION.operands)
        if signature.has_single_inputs:
            if count >= len(signature.operands) and self._says_what_it_must(signature):
                return True
            late = _late_destination_form(type(self)) if self.NAMES_DESTINATION else None
            return late is not None and self._has_all_of(late)
        # With a group of any size, the type tells a destination from another operand.
        last = count - 1 - len([group for group in signature.operands[-1:] if group in _TRAILING])
        if last < 0 or not self.results:
            return True
        if last == 0 and (self.NAMES_DESTINATION or core_prefix() == TTCORE):
            return False
        if operands[last].type != self.results[0].type:
            return False
        # So may another operand be, as the bias of a convolution whose result is one pixel. What
        # is written to is empty, but for ttnn of 2024, where all operations have it.
        most = max(len(form.operands) for form in _value_forms(type(self)))
        always = core_prefix() != TTCORE and not self.name.startswith("ttir.")
        return always or count > most or _is_empty(operands[last])

    def _has_all_of(self, late: Signature) -> bool:
        """True where as many operands can only be those of 2026 and a destination."""
        count = len(operands_of(self))
        return (
            not late.has_segments
            and count == len(late.operands)
            and len(late.operands) > len(self.SIGNATURE.operands)
        )

    def _says_what_it_must(self, signature: Signature) -> bool:
        """False where as many operands can only be those of 2026."""
        late = self.LATE
        if late is None or late.operands is None:
            return True
        if len(late.operands) + len(self.TRAILING) < len(signature.operands):
            return True
        required = (each.name for each in signature.properties if not each.optional)
        return all(name in self.properties or name == "operand_constraints" for name in required)

    def form(self) -> Signature:
        """The signature of the form that the operation is in."""
        if not self.has_destination:
            forms = _value_forms(type(self))
            return next((form for form in forms if self._fits(form)), forms[0])
        has_constraints = "operand_constraints" in self.properties
        is_bare = not has_constraints and core_prefix() == TTCORE
        if not self.NAMES_DESTINATION or (has_constraints and not self._lacks_sizes()):
            return self.SIGNATURE
        late = _late_destination_form(type(self))
        is_late = is_bare or self._lacks_sizes() or (late is not None and self._has_all_of(late))
        if not is_late:
            return self.SIGNATURE
        if not has_constraints and late is not None and self._fits(late):
            return late
        return _fixed_form(type(self))

    def _lacks_sizes(self) -> bool:
        return self.SIGNATURE.has_segments and SEGMENTS not in self.properties

    def _fits(self, form: Signature) -> bool:
        properties = self.properties
        assumed = _defaults(type(self))
        required = (each.name for each in form.properties if not each.optional)
        return all(name in properties or name in assumed for name in required) and all(
            name in form.by_name
            and form.by_name[name].constraint.storage(attr)
            and form.by_name[name].constraint.holds(attr)
            for name, attr in properties.items()
            if name != SEGMENTS
        )

    @classmethod
    def late_parameters(cls) -> tuple[Parameter, ...]:
        """The parameters in 2026."""
        late = cls.LATE
        return cls.PARAMETERS if late is None or late.parameters is None else late.parameters

    @property
    def is_late(self) -> bool:
        """True in the form of 2026, or that with a destination, where it is one of its own."""
        if self.LATE is None:
            return False
        cls, form = type(self), self.form()
        return form is _value_forms(cls)[0] or form is _late_destination_form(cls)

    def parameters(self) -> dict[str, ParameterValue]:
        """The parameters of the definition; ValueError for a form of 2026 that it has none for."""
        late = self.LATE
        if late is None or late.parameters is None or not self.is_late:
            return super().parameters()
        found = parameters_in(self.properties, late.parameters)
        if late.read is None:
            return found
        shapes = [shape_of(value) for value in self.inputs]
        return late.read(found, shapes, shape_of(self.results[0]) if self.results else ())

    @classmethod
    def late_properties(
        cls, values: Mapping[str, ParameterValue], shapes: Sequence[Shape], result: Shape
    ) -> dict[str, Attribute]:
        """The properties in 2026, from parameters of that form or, else, of the definition."""
        late = cls.LATE
        if late is None or late.parameters is None:
            return cls.parameter_properties(values)
        if late.write is not None and not values.keys() <= {each.name for each in late.parameters}:
            values = late.write(dict(values), shapes, result)
        cls._check_widths(values, late.parameters)
        return late_properties(late, values)

    # -- destinations --------------------------------------------------------------------------

    @property
    def init_range(self) -> tuple[int, int]:
        """First and one past the last operand number of the inits, if there are any."""
        form = self.form()
        if form.init is not None:
            return self.range_in(form, form.init)
        end = len(operands_of(self)) - len(
            [group for group in form.operands[-1:] if group in _TRAILING]
        )
        return end, end

    @property
    def output(self) -> SSAValue:
        """The destination; without one the result, which has its type."""
        return super().output if self.has_destination else self.results[0]

    @property
    def written_results(self) -> dict[int, SSAValue]:
        """The results by the number of the operand that is their destination."""
        return super().written_results if self.has_destination else {}

    def result_names(self) -> Sequence[str]:
        """Names that several results are suggested, where the operation makes them."""
        if len(self.results) < 2 or self.has_destination:
            return ()
        return self.DEFINITION.results if self.LATE is None else self.LATE.results

    # -- reading -------------------------------------------------------------------------------

    @classmethod
    def readable_properties(cls) -> Mapping[str, Property]:
        """The properties of all forms by name."""
        return _readable(cls)

    @classmethod
    def group_counts(cls) -> tuple[int, ...]:
        """How many groups a list of their sizes may name."""
        forms = (cls.SIGNATURE, *_value_forms(cls))
        late = _late_destination_form(cls) if cls.NAMES_DESTINATION else None
        forms = forms if late is None else (*forms, late)
        return tuple(len(form.operands) for form in forms if form.has_segments)

    @classmethod
    def convert_properties(
        cls, properties: dict[str, Attribute] | None, attributes: dict[str, Attribute]
    ) -> dict[str, Attribute]:
        """The properties as they stand in the text: none is made up for sizes of groups."""
        has_sizes = any(SEGMENTS in each for each in (properties or {}, attributes))
        result = super().convert_properties(properties, attributes)
        is_late = core_prefix() == TTCORE
        if not has_sizes and (is_late or cls.NAMES_DESTINATION):
            if is_late or "operand_constraints" not in result:
                result.pop(SEGMENTS, None)
        return result

    def finish_reading(self) -> None:
        """Fill in what a text of 2025 and 2026 need not say."""
        if self.LATE is None or self.LATE.parameters is None:
            return
        if self.has_destination and not self.is_late:
            return
        for each in self.LATE.parameters:
            if each.default is not None and each.name not in self.properties:
                self.properties[each.name] = parameter_attr(each.default, each.kind)

    # -- verification --------------------------------------------------------------------------

    def verify_op(self) -> None:
        """Run the operation's own verifier, where its form has parameters of the definition."""
        if self.is_late or (self.LATE is None and not self.has_destination):
            verify = type(self).VERIFY_LATE
            if verify is not None and verify(self, self.late_parameters(), self.DEFINITION):
                return
        if self.is_late:
            try:
                self.parameters()
            except ValueError:
                return
        super().verify_op()

    def verify_interfaces(self) -> None:
        """Compare the results with the inits, if there are any."""
        if self.has_destination:
            super().verify_interfaces()


_TRAILING: list[ValueGroup] = []
"""Operands that are no tensors, after the destination."""


def trailing_operand(group: ValueGroup) -> ValueGroup:
    """Let an operand be one that follows the destination."""
    _TRAILING.append(group)
    return group


@cache
def _counts_of_values(cls: type[ValueFormOp]) -> tuple[int, ...]:
    """How many groups the lists of their sizes name in forms without a destination."""
    return tuple(len(form.operands) for form in _value_forms(cls) if form.has_segments)


@cache
def _fixed_form(cls: type[ValueFormOp]) -> Signature:
    """The signature of 2025: operands by name, a destination, and no constraints of them."""
    signature = cls.SIGNATURE
    return Signature(
        (*operand_values(cls.DEFINITION.operands), ValueGroup("output"), *cls.TRAILING),
        (ValueGroup("result"),),
        tuple(each for each in signature.properties if each.name != "operand_constraints"),
        init="output",
    )


@cache
def _value_forms(cls: type[ValueFormOp]) -> tuple[Signature, ...]:
    """The signatures without a destination, that of 2026 first."""
    definition, late = cls.DEFINITION, cls.LATE
    results = tuple(map(ValueGroup, definition.results))
    kept = tuple(
        each
        for each in cls.SIGNATURE.properties
        if each.name != "operand_constraints" and each.name not in {p.name for p in cls.PARAMETERS}
    )
    more = (*kept, *cls.LATE_PROPERTIES)
    own = Signature(
        (*operand_values(definition.operands), *cls.TRAILING),
        results,
        (*properties_of(cls.PARAMETERS), *more),
    )
    if late is None:
        return (own,)
    named = properties_of(cls.PARAMETERS if late.parameters is None else late.parameters)
    names = {each.name for each in named}
    operands = definition.operands if late.operands is None else late.operands
    trailing = () if late.device is False else cls.TRAILING
    form = Signature(
        (*operand_values(operands), *trailing),
        results,
        (*named, *(each for each in more if each.name not in names)),
    )
    return form, own


@cache
def _defaults(cls: type[ValueFormOp]) -> frozenset[str]:
    """The parameters of 2026 that a text need not name."""
    parameters = () if cls.LATE is None else cls.LATE.parameters or ()
    return frozenset(each.name for each in parameters if each.default is not None)


@cache
def _late_destination_form(cls: type[ValueFormOp]) -> Signature | None:
    """The signature of 2025 with the operands and parameters of 2026; None where it has none."""
    if cls.LATE is None:
        return None
    return _with_destinations(_value_forms(cls)[0])


def _with_destinations(form: Signature) -> Signature:
    """The signature of an operation that writes its results to the last operands."""
    many = len(form.results) > 1
    init = ValueGroup("outputs" if many else "output", variadic=many)
    return Signature((*form.operands, init), form.results, form.properties, init=init.name)


@cache
def _readable(cls: type[ValueFormOp]) -> Mapping[str, Property]:
    """Every property of a form; one whose kind differs among forms may be any of them."""
    found: dict[str, Property] = {}
    for form in (cls.SIGNATURE, *_value_forms(cls)):
        for each in form.properties:
            if each in cls.LATE_PROPERTIES:
                continue
            known = found.setdefault(each.name, each)
            if known.constraint is not each.constraint:
                either = ods.either(known.constraint, each.constraint)
                found[each.name] = Property(each.name, either, each.optional)
    return found


class LateOnlyOp(ODSOperation, SuggestsNames):
    """An operation of 2025 and 2026 without a definition: it is read, checked by its form, and
    printed."""

    LATE: ClassVar[LateForm]
    VERIFY_LATE: ClassVar[LateVerifier | None] = None
    """The verifiers of 2026 of the dialect."""
    NAMES_DESTINATION: ClassVar[bool] = False
    """True where the operation may write to a destination, as in 2025."""

    @property
    def takes_output(self) -> bool:
        """True where the form of 2026 names what is written to, too."""
        return any(group.name in ("output", "outputs") for group in self.SIGNATURE.operands)

    @property
    def has_destination(self) -> bool:
        """True where the last operands are what the results are written to."""
        if not self.NAMES_DESTINATION or not self.results or self.takes_output:
            return False
        form, operands, count = self.SIGNATURE, operands_of(self), len(self.results)
        sizes = self.properties.get(SEGMENTS)
        if sizes is not None and len(segment_sizes(sizes)) != len(form.operands):
            return True
        if all(group.is_single for group in form.operands):
            return len(operands) > len(form.operands)
        # With optional operands only what makes the last ones tells what they are.
        return len(operands) > count and all(
            _is_empty(value) and value.type == result.type
            for value, result in zip(operands[-count:], self.results, strict=True)
        )

    @property
    def inits(self) -> tuple[SSAValue, ...]:
        """What the results are written to; nothing where the operation makes them."""
        return operands_of(self)[-len(self.results) :] if self.has_destination else ()

    def form(self) -> Signature:
        """The signature of the form that the operation is in."""
        return _late_only_destination_form(type(self)) if self.has_destination else self.SIGNATURE

    @classmethod
    def group_counts(cls) -> tuple[int, ...]:
        """How many groups a list of their sizes may name."""
        forms = [cls.SIGNATURE]
        if cls.NAMES_DESTINATION and cls.LATE.results:
            forms.append(_late_only_destination_form(cls))
        return tuple(len(form.operands) for form in forms if form.has_segments)

    def verify_op(self) -> None:
        """Run the verifier of 2026, if there is one."""
        if (verify := type(self).VERIFY_LATE) is not None:
            verify(self, self.LATE.parameters or (), None)

    @classmethod
    def late_properties(
        cls, values: Mapping[str, ParameterValue], shapes: Sequence[Shape], result: Shape
    ) -> dict[str, Attribute]:
        """The properties of parameters; shapes are asked for where there are other forms, too."""
        return late_properties(cls.LATE, values)

    def finish_reading(self) -> None:
        """Fill in what the text need not say."""
        for each in self.LATE.parameters or ():
            if each.default is not None and each.name not in self.properties:
                self.properties[each.name] = parameter_attr(each.default, each.kind)

    def result_names(self) -> Sequence[str]:
        """Names that results are suggested: those of the form, where there are several."""
        names, count = self.LATE.results, len(self.results)
        if count < 2 or count > len(names):
            return ()
        return [name.rstrip("?*") for name in names[:count]]


def _is_empty(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and value.owner.name == "tensor.empty"


@cache
def _late_only_destination_form(cls: type[LateOnlyOp]) -> Signature:
    return _with_destinations(cls.SIGNATURE)


def late_properties(form: LateForm, values: Mapping[str, ParameterValue]) -> dict[str, Attribute]:
    """The properties of an operation of 2026; parameters that have a default are always there."""
    properties: dict[str, Attribute] = {}
    for each in form.parameters or ():
        value = values.get(each.name, cast("ParameterValue | None", each.default))
        if value is not None:
            properties[each.name] = parameter_attr(value, each.kind)
    return properties


def late_signature(form: LateForm, trailing: tuple[ValueGroup, ...] = ()) -> Signature:
    """The signature of an operation that has a form of 2026 alone."""
    operands = operand_values(form.operands or ())
    return Signature(
        (*operands, *trailing),
        operand_values(map(parse_operand, form.results)),
        properties_of(form.parameters or ()),
    )


# Names that MLIR spells out where the mnemonic abbreviates.
_SPELLED_OUT = {
    "eq": "Equal",
    "ne": "NotEqual",
    "ge": "GreaterEqual",
    "gt": "GreaterThan",
    "le": "LessEqual",
    "lt": "LessThan",
}


def class_name(mnemonic: str) -> str:
    """Name of the operation class: `max_pool2d` is `MaxPool2dOp`, `ge` is `GreaterEqualOp`."""
    spelled = _SPELLED_OUT.get(mnemonic)
    return (spelled or "".join(part.capitalize() for part in mnemonic.split("_"))) + "Op"


OpT = TypeVar("OpT", bound=ODSOperation)


class UnknownOperationError(InputError, KeyError):
    """A mnemonic that a dialect does not have."""

    # That of KeyError is the repr of the text.
    __str__ = Exception.__str__


class OpClasses(Generic[OpT]):
    """The operation classes of a dialect by mnemonic and by class name, in order of declaration.

    Those of the table are made when they are asked for: a program has few of them.
    """

    def __init__(self, dialect: str, explicit: Iterable[type[OpT]]) -> None:
        """Start with the classes that are written out."""
        self.dialect = dialect
        self._made: dict[str, type[OpT]] = {}
        self._makers: dict[str, Callable[[], type[OpT]] | None] = {}
        """How the class of each mnemonic is made; None for those that are written out."""
        for cls in explicit:
            mnemonic = cls.name.removeprefix(f"{dialect}.")
            assert mnemonic not in self._made, f"{cls.name} is declared twice"
            self._made[mnemonic] = cls
            self._makers[mnemonic] = None

    def declare(self, mnemonic: str, make: Callable[[], type[OpT]]) -> None:
        """Declare an operation whose class is made later, unless it is declared already."""
        self._makers.setdefault(mnemonic, make)

    def make_defined(
        self,
        definition: OpDefinition,
        bases: tuple[type[OpT], ...],
        *,
        parameters: tuple[Parameter, ...],
        signature: Signature,
        check: Callable[[Operation], None] | None,
        late: LateForm | None,
        trailing: tuple[ValueGroup, ...] = (),
        module: str,
    ) -> type[OpT]:
        """Make the class of a definition, in the name of a module."""
        name = f"{self.dialect}.{definition.mnemonic}"
        namespace: dict[str, object] = {
            "LATE": late,
            "TRAILING": trailing,
            "name": name,
            "DEFINITION": definition,
            "PARAMETERS": parameters,
            "SIGNATURE": signature,
            "CHECK": check and staticmethod(check),
            "__doc__": describe(name, definition, parameters, signature, check),
            "__module__": module,
        }
        return cast("type[OpT]", type(class_name(definition.mnemonic), bases, namespace))

    def make_late(
        self,
        mnemonic: str,
        form: LateForm,
        bases: tuple[type, ...],
        *,
        trailing: tuple[ValueGroup, ...] = (),
        module: str,
    ) -> type[OpT]:
        """Make the class of an operation that has a form of 2026 alone."""
        name = f"{self.dialect}.{mnemonic}"
        signature = late_signature(form, trailing)
        namespace: dict[str, object] = {
            "name": name,
            "LATE": form,
            "SIGNATURE": signature,
            "__doc__": f"{form.summary}\n\nForm:\n    {_form(name, signature)}",
            "__module__": module,
        }
        return cast("type[OpT]", type(class_name(mnemonic), bases, namespace))

    def __iter__(self) -> Iterator[type[OpT]]:
        """All classes in order of declaration."""
        return map(self.by_mnemonic, tuple(self._makers))

    def __contains__(self, mnemonic: str) -> bool:
        """True if the dialect has this operation."""
        return mnemonic in self._makers

    def by_mnemonic(self, mnemonic: str) -> type[OpT]:
        """The class of an operation; UnknownOperationError, with near names, if there is none."""
        if (made := self._made.get(mnemonic)) is not None:
            return made
        make = self._makers.get(mnemonic)
        if make is None:
            from difflib import get_close_matches

            near = get_close_matches(mnemonic, self._makers, cutoff=0.7)
            hint = f"did you mean {' or '.join(near)}?" if near else "docs/ops.md lists them"
            raise UnknownOperationError(
                f"there is no operation '{self.dialect}.{mnemonic}'; {hint}"
            )
        return self._made.setdefault(mnemonic, make())

    def by_class_name(self, name: str) -> type[OpT]:
        """The class with this Python name; AttributeError if there is none."""
        mnemonic = self._mnemonics.get(name)
        if mnemonic is None:
            raise MissingNameError(f"dialect '{self.dialect}' has no operation class '{name}'")
        return self.by_mnemonic(mnemonic)

    @cached_property
    def _mnemonics(self) -> Mapping[str, str]:
        return {
            class_name(each) if make else self._made[each].__name__: each
            for each, make in self._makers.items()
        }


class TableDialect(LaterDialect, Generic[OpT]):
    """A dialect with the operations of a table."""

    def __init__(self, classes: OpClasses[OpT], attributes: Sequence[type[Attribute]]) -> None:
        """The classes are made when they are asked for."""
        super().__init__(classes.dialect, [], list(attributes))
        self._classes = classes

    @property
    def operations(self) -> Iterator[type[Operation]]:
        """All operations, whose classes are made."""
        return iter(self._classes)

    def find_operation(self, name: str) -> type[Operation] | None:
        """The class of an operation by its full name; None if there is none."""
        mnemonic = name.removeprefix(f"{self.name}.")
        return self._classes.by_mnemonic(mnemonic) if mnemonic in self._classes else None


# --- Shape checks ---------------------------------------------------------------------------------
# Verifiers that ttir and ttnn share: shapes of operands, results and parameters.
#
# Each function checks one operation and stops at the first violation. The order and the words of
# the messages, misspellings included, are tt-mlir's (TTIROps.cpp and TTNNOps.cpp at 880154e3c2);
# what it crashes on, or computes only nonsense of, is refused here with a message of its own.

Shape = tuple[int, ...]
Check = Callable[[Operation], None]


def tensor_type(value: SSAValue) -> TensorType[Attribute]:
    """The type of a value that has been checked to be a ranked tensor."""
    return cast("TensorType[Attribute]", value.type)


def shape_of(value: SSAValue) -> Shape:
    """The extents of a tensor; dynamic ones are `DYNAMIC_INDEX`."""
    return tensor_type(value).get_shape()


def is_static(shape: Sequence[int]) -> bool:
    """True if every extent is known."""
    return DYNAMIC_INDEX not in shape


def int_property(op: Operation, name: str) -> int:
    """The value of an integer property that has been checked."""
    return cast("IntegerAttr", op.properties[name]).value.data


def comma_separated(shape: Sequence[int]) -> str:
    """Extents as the messages show them: `(1, 2, 3)` without the parentheses."""
    return ", ".join("?" if extent == DYNAMIC_INDEX else str(extent) for extent in shape)


def _output_shape(op: Operation) -> Shape:
    return shape_of(cast("DestinationStyleOp", op).output)


def ruled_shape(op: Operation) -> Shape:
    """The shape that the definition gives the result; its reason is the error where it gives
    none."""
    assert isinstance(op, TableOperation)
    assert isinstance(op, DestinationStyleOp)
    rule = op.DEFINITION.result_shape
    assert rule is not None, f"{op.name} has no rule of its shape"
    try:
        return rule(*map(shape_of, op.inputs), **op.parameters())
    except ValueError as error:
        refuse(str(error))


def broadcast_pair(first: Shape, second: Shape) -> Shape | None:
    """Shape that two shapes broadcast to, None if they do not.

    A dynamic extent gives way to one greater than 1, as in MLIR's `getBroadcastedShape`.
    """
    rank = max(len(first), len(second))
    padded_first = (1,) * (rank - len(first)) + first
    padded_second = (1,) * (rank - len(second)) + second
    result: list[int] = []
    for a, b in zip(padded_first, padded_second, strict=True):
        if a == b or b == 1:
            result.append(a)
        elif a == 1:
            result.append(b)
        elif DYNAMIC_INDEX in (a, b):
            result.append(max(a, b))
        else:
            return None
    return tuple(result)


def check_elementwise(op: Operation) -> None:
    """Check the shapes of an elementwise operation.

    C1: all operands, outputs included, broadcast against each other as in NumPy.
    C2: the result has the shape they broadcast to.
    """
    if not op.results:
        # The check of the destination words it better, unless there is none.
        if not cast("DestinationStyleOp", op).inits:
            refuse("requires at least one output and one result")
        return
    shapes = [shape_of(operand) for operand in op.operands]
    # The reference folds pairs, so that a destination alone is compared with no shape.
    folded = shapes[0] if cast("DestinationStyleOp", op).inputs else ()
    for shape in shapes[1:]:
        pair = broadcast_pair(folded, shape)
        if pair is None:
            refuse("Operands are not broadcast compatible")
        folded = pair
    if folded != shape_of(op.results[0]):
        refuse("Result shape must match operand shapes after broadcasting")


def check_bits(op: Operation) -> None:
    """Check the numbers of an operation on bits.

    C1: the inputs are integers.
    """
    for value in cast("DestinationStyleOp", op).inputs:
        if isinstance(element := tensor_type(value).element_type, AnyFloat | ComplexType):
            refuse(f"takes integers, but an input has elements of {element}; convert it first")


def check_elementwise_bitcast(op: Operation) -> None:
    """Check shapes and numbers of an elementwise operation that keeps bits.

    C1: all operands, outputs included, broadcast against each other as in NumPy.
    C2: the result has the shape they broadcast to.
    C3: input and output have elements of as many bits.
    """
    check_elementwise(op)
    values = (*cast("DestinationStyleOp", op).inputs, *op.results)
    elements = [tensor_type(value).element_type for value in values]
    widths = {each.bitwidth for each in elements if isinstance(each, FixedBitwidthType)}
    if len(widths) > 1:
        spelled = " and ".join(map(str, elements))
        refuse(f"keeps bits, but the elements of input and output, {spelled}, differ in their size")


def check_elementwise_bits(op: Operation) -> None:
    """Check shapes and numbers of an elementwise operation on bits.

    C1: all operands, outputs included, broadcast against each other as in NumPy.
    C2: the result has the shape they broadcast to.
    C3: the inputs are integers.
    """
    check_elementwise(op)
    check_bits(op)


def check_embedding(op: Operation) -> None:
    """Check the ranks of a lookup.

    C1: the table has two dimensions.
    C2: the output has one dimension more than the row numbers.
    """
    if len(_output_shape(op)) != len(ruled_shape(op)):
        refuse("Output must have one dimension more than input")


def check_softmax(op: Operation) -> None:
    """Check shapes and dimension of a softmax.

    C1: input and output have the same shape.
    C2: the dimension is one of the input's; negative ones count from the end.
    """
    if _output_shape(op) != ruled_shape(op):
        refuse("Input and output shapes must be the same")


def check_transpose(op: Operation) -> None:
    """Check shapes and dimensions of a transposition.

    C1: the input has at least two dimensions.
    C2: the output has as many.
    C3: both dimensions are the input's; negative ones count from the end.
    C4: the output has their extents exchanged.
    """
    source, output = shape_of(op.operands[0]), _output_shape(op)
    if len(source) < 2:
        refuse("Input must be at least a 2D tensor")
    if len(output) != len(source):
        refuse("Input must have the same rank as output")
    expected = ruled_shape(op)
    dims = (int_property(op, "dim0"), int_property(op, "dim1"))
    if any(output[dim] != expected[dim] for dim in dims):
        refuse("Input-output transpose dimension mismatch.")


def check_concat(op: Operation) -> None:
    """Check shapes and dimension of a concatenation.

    C1: there is an input.
    C2: the dimension is one of the first input's; negative ones count from the end.
    C3: all inputs have the same rank.
    C4: their extents agree, except along the dimension.
    """
    ruled_shape(op)


def check_reshape(op: Operation) -> None:
    """Check shapes and parameter of a reshape.

    C1: the parameter has an entry for each dimension of the output.
    C2: the shapes are static.
    C3: input and output have the same number of elements.
    C4: the entries are the output's extents, or once -1 for an extent that follows from the rest.
    """
    source, output = shape_of(op.operands[0]), _output_shape(op)
    shape = cast("Shape", cast("TableOperation", op).parameters()["shape"])
    if len(shape) != len(output):
        refuse("Shape attribute size must match output tensor rank")
    if not (is_static(source) and is_static(output)):
        refuse("Input and output tensors must have static shapes")
    if math.prod(ruled_shape(op)) != math.prod(output):
        refuse("Input and output tensors must have the same number of elements")
    if any(extent not in (-1, there) for extent, there in zip(shape, output, strict=True)):
        refuse("Shape attribute must match the output tensor shape for dimensions that are not -1")


def check_squeeze(op: Operation) -> None:
    """Check shapes and dimension of a squeeze.

    C1: the dimension is one of the input's; negative ones count from the end.
    C2: its extent is 1.
    C3: the output has the other dimensions, one at least.
    """
    output, expected = _output_shape(op), ruled_shape(op)
    if not output:
        refuse("Output tensor must have at least one dimension.")
    if len(output) != len(expected):
        refuse("Output tensor rank must be one less than the input tensor rank.")
    if output != expected:
        dim = int_property(op, "dim") % (len(expected) + 1)
        refuse(
            "Dimensions of the output tensor must be the same as the input tensor except for "
            f"dimension {dim}."
        )


def check_unsqueeze(op: Operation) -> None:
    """Check shapes and dimension of an unsqueeze.

    C1: the dimension is one of the output's; negative ones count from the end.
    C2: the output has one dimension more than the input.
    C3: the extent of the new dimension is 1.
    C4: the others are the input's.
    """
    output, expected = _output_shape(op), ruled_shape(op)
    if len(output) != len(expected):
        refuse("Output tensor must have one more dimension than the input tensor")
    if output[int_property(op, "dim")] != 1:
        refuse("Dimension added must be of size 1")
    if output != expected:
        refuse(
            "All dimensions of the input tensor must be the same as the output tensor except for "
            "the dimension added"
        )


def check_matmul(op: Operation) -> None:
    """Check the shapes of a matrix product.

    C1: both inputs have at least two dimensions, and they and the output as many.
    C2: the columns of `a` are the rows of `b`.
    C3: the output has the rows of `a` and the columns of `b`.
    """
    a, b, output = shape_of(op.operands[0]), shape_of(op.operands[1]), _output_shape(op)
    if isinstance(op, ValueFormOp) and op.is_late:
        if output != ruled_shape(op):
            refuse("Output must have the shape of the product")
        return
    try:
        rows, columns = matrix_shape(a, b)
    except ValueError as error:
        refuse(str(error))
    if len(a) != len(b):
        refuse("Input A and B must have the same rank")
    if len(output) != len(a):
        refuse("Input A and B must have the same rank as the output")
    if output[-2] != rows:
        refuse("Output must have the same number of rows as input A")
    if output[-1] != columns:
        refuse("Output must have the same number of columns as input B")


def check_conv2d(op: Operation) -> None:
    """Check the ranks of a convolution.

    C1: the input has at least three dimensions.
    C2: the weight has four.
    C3: the bias, if present, has four.
    """
    if len(shape_of(op.operands[0])) < 3:
        refuse("Input must be at least a 3D tensor")
    if len(shape_of(op.operands[1])) != 4:
        refuse("Weight must be a 4D tensor")
    bias = cast("ODSOperation", op).group("bias")
    if bias and len(shape_of(bias[0])) != 4:
        refuse("Bias must be a 4D tensor")


def check_window_fits(op: Operation, height: int, width: int) -> None:
    """Refuse a window that is larger than the image."""
    parameters = cast("dict[str, int]", cast("TableOperation", op).parameters())
    for name, extent in (("height", height), ("width", width)):
        kernel = parameters[f"kernel_{name}"]
        if kernel > extent != DYNAMIC_INDEX:
            refuse(
                f"Kernel {name} {kernel} is greater than input {name} {extent}. "
                "This MaxPool2d configuration is invalid."
            )


def check_pool_rank(op: Operation) -> Shape:
    """The shape of the image, which has four dimensions."""
    shape = shape_of(op.operands[0])
    if len(shape) != 4:
        refuse(
            f"Input tensor rank must be 4. Recieved input with rank {len(shape)}. "
            f"Shape: ({comma_separated(shape)})."
        )
    return shape


def check_image(op: Operation) -> tuple[int, int, int, int]:
    """The shape of the image, which has four dimensions."""
    shape = shape_of(op.operands[0])
    if len(shape) != 4:
        refuse(f"Input must be a 4D tensor, but its shape is ({comma_separated(shape)}).")
    batch, height, width, channels = shape
    return batch, height, width, channels


def check_output(op: Operation, expected: Shape) -> None:
    """Refuse an output of another shape; dynamic shapes are not compared."""
    output = _output_shape(op)
    if is_static(expected) and is_static(output) and expected != output:
        refuse(f"Output shape ({comma_separated(output)}) must be ({comma_separated(expected)}).")


def check_shape_rule(op: Operation) -> None:
    """Check the shape of the output.

    C1: the operation is defined on these shapes and parameters.
    C2: the output has the shape that follows from them; dynamic shapes are not compared.
    """
    assert isinstance(op, DestinationStyleOp)
    if all(is_static(shape_of(value)) for value in (*op.inputs, op.output)):
        check_output(op, ruled_shape(op))


def check_ordering(op: Operation) -> None:
    """Check shapes and elements of an operation that puts numbers in order.

    C1: there are two results: the numbers, and their places.
    C2: the operation is defined on this shape and these parameters.
    C3: both results have the shape that follows from them; dynamic shapes are not compared.
    C4: the numbers have the elements of the input, and the places are integers.
    """
    if len(op.results) != 2:
        refuse(f"makes two results, the numbers and their indices, but found {len(op.results)}")
    assert isinstance(op, DestinationStyleOp)
    numbers, places = op.results
    if all(is_static(shape_of(value)) for value in (*op.inputs, numbers, places)):
        expected = ruled_shape(op)
        for result in op.results:
            if shape_of(result) != expected:
                refuse(
                    f"Output shape ({comma_separated(shape_of(result))}) must be "
                    f"({comma_separated(expected)})."
                )
    before, after = (tensor_type(value).element_type for value in (op.inputs[0], numbers))
    if before != after:
        refuse(f"the numbers are of {before}, and the first result of {after}; they are the same")
    if not isinstance(element := tensor_type(places).element_type, IntegerType):
        refuse(f"the second result has elements of {element}; indices are integers")


def check_constant(op: Operation) -> None:
    """Refuse a value of another shape than the result, or of other elements than numbers."""
    # Dense resources have the same field.
    value = cast("DenseIntOrFPElementsAttr", op.properties["value"])
    if value.type.get_shape() != shape_of(op.results[0]):
        refuse("failed to verify that all of {value, result} have same shape")
    if not isinstance(value.type.get_element_type(), IntegerType | IndexType | AnyFloat):
        refuse("value attribute must be of int or float type.")


def check_arange(op: Operation) -> None:
    """Check step, dimension and the extent that follows from the bounds."""
    parameters = cast("dict[str, int]", cast("TableOperation", op).parameters())
    shape = shape_of(op.results[0])
    try:
        expected = arange_shape(shape=shape, **parameters)
    except ValueError as error:
        refuse(str(error))
    dim = parameters["arange_dimension"]
    if shape[dim] not in (expected[dim], DYNAMIC_INDEX):
        refuse(
            f"Extent {shape[dim]} of dimension {dim} must be {expected[dim]}, the number of values."
        )


SHARED_CHECKS: dict[str, Check] = {
    "embedding": check_embedding,
    "softmax": check_softmax,
    "transpose": check_transpose,
    "concat": check_concat,
    "reshape": check_reshape,
    "squeeze": check_squeeze,
    "unsqueeze": check_unsqueeze,
    "matmul": check_matmul,
}
"""Checks by mnemonic, where both dialects check the same."""


def check_of(definition: OpDefinition, own: Mapping[str, Check]) -> Check | None:
    """The verifier of a definition's operation: the dialect's own, the shared one, or the shape
    rule.

    Operations of the reference without a verifier have none here, so that what it accepts is
    accepted.
    """
    named = own.get(definition.mnemonic) or SHARED_CHECKS.get(definition.mnemonic)
    if named is not None:
        return named
    if definition.family is Family.ORDERING:
        return check_ordering
    return (
        check_shape_rule
        if definition.extends_reference and definition.result_shape is not None
        else None
    )


# --- Layout checks --------------------------------------------------------------------------------
# Verifiers that ttir and ttnn share: layouts and memory.

TILE = 32
"""Extent of a tile in both dimensions."""


def layout_of(value: SSAValue) -> TensorLayoutAttr | None:
    """The `#tt.layout` or `#ttnn.ttnn_layout` of a tensor, None if it has none."""
    encoding: Attribute = tensor_type(value).encoding
    is_layout = encoding.name in ("tt.layout", "ttnn.ttnn_layout")
    return cast("TensorLayoutAttr", encoding) if is_layout else None


@contextmanager
def layout_errors() -> Generator[None]:
    """Refuse what the layout arithmetic cannot handle, with its own words."""
    try:
        yield
    except LayoutError as error:
        refuse(str(error))


def check_to_layout(op: Operation) -> None:
    """Change of layout: both tensors have one, and equal shapes.

    In 2026 tensors of neither layout may have other elements.
    """
    is_plain = [layout_of(value) is None for value in op.operands[:2]]
    if not (all(is_plain) and core_prefix() == TTCORE):
        if is_plain[0]:
            refuse("Input tensor type missing layout attribute")
        if is_plain[1]:
            refuse("Output tensor type missing layout attribute")
    if shape_of(op.operands[0]) != shape_of(op.operands[1]):
        refuse("Input and output shapes must be the same")


def check_alloc(op: Operation) -> None:
    """Allocation: size, memory space and address."""
    layout = layout_of(op.results[0])
    if layout is None:
        refuse("Result type missing layout attribute")
    if int_property(op, "size") == 0:
        refuse("Alloc size must be non-zero")
    space = cast("MemorySpaceAttr", op.properties["memory_space"]).value
    with layout_errors():
        layout_space = layout.memory_space
    if layout_space is not space:
        refuse("Input tensor layout memory space must match alloc memory space")
    address = int_property(op, "address")
    if space.is_system and address != 0:
        refuse(
            "Allocating from system memory space must have address set to 0, implicitly allocated "
            "by the runtime"
        )
    if space.is_device and address == 0:
        refuse(
            "Allocating from a device memory space must have address set to a non-zero value, "
            "device addresses are statically allocated"
        )


def check_to_memory_config(op: Operation) -> None:
    """Change of memory: both tensors have a layout, and the result's is one ttnn can make."""
    if layout_of(op.operands[0]) is None:
        refuse("Input tensor type missing layout attribute")
    layout = layout_of(op.results[0])
    if layout is None:
        refuse("Output tensor type missing layout attribute")
    with layout_errors():
        space, shard = layout.memory_space, layout.shard_shape
    spread = layout.memory_layout
    if space.is_system:
        if spread is not TensorMemoryLayout.NONE:
            refuse("System memory space only supports undef memory layout")
        return
    if spread is not TensorMemoryLayout.INTERLEAVED and not spread.is_sharded:
        refuse("Device memory space only supports interleaved or sharded memory layouts")
    late = layout.name == "ttnn.ttnn_layout"
    if space is MemorySpace.DEVICE_DRAM and late:
        if spread is TensorMemoryLayout.BLOCK_SHARDED:
            refuse("DRAM memory space doesn't support block sharded memory layout")
    elif space is MemorySpace.DEVICE_DRAM and spread is not TensorMemoryLayout.INTERLEAVED:
        refuse("Device DRAM memory space only supports interleaved memory layout")
    if spread.is_sharded:
        _check_sharding(spread, shard, late=late)


def _check_sharding(spread: TensorMemoryLayout, shard: tuple[int, ...], *, late: bool) -> None:
    if spread is not TensorMemoryLayout.BLOCK_SHARDED and not late:
        refuse("Currently only block sharding is supported for sharded memory layouts")
    if len(shard) != 2:
        refuse("Shard shape must be 2D")
    if any(extent % TILE for extent in shard):
        refuse(f"Shard shape must divide tile shape ({TILE}, {TILE}) evenly")
