"""Operation classes made from the rows of the operation table.

A dialect declares one abstract class per family of operations; `OpClasses` makes a subclass for
each row, with the row as `ROW`. Patterns match the family and test the row:

    case ttir.UnaryOp(ROW=row): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Generic, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import ODSOperation, Property, Signature, ValueGroup
from ttmlir.dialects.definition.row_docs import describe
from ttmlir.optable.row import Kind, Parameter, Row

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
}

# The values come from `ParameterValue`, whose alternative is fixed by the kind.
_TO_ATTR: dict[Kind, Callable[[Any], Attribute]] = {
    Kind.SI32: lambda value: IntegerAttr(value, _SI32),
    Kind.I32: lambda value: IntegerAttr(value, i32),
    Kind.I64: lambda value: IntegerAttr(value, i64),
    Kind.SI64: lambda value: IntegerAttr(value, _SI64),
    Kind.F32: lambda value: FloatAttr(value, f32),
    Kind.BOOL: lambda value: IntegerAttr(int(value), i1),
    Kind.I32_ARRAY: lambda value: ArrayAttr(IntegerAttr(item, i32) for item in value),
    Kind.I64_ARRAY: lambda value: ArrayAttr(IntegerAttr(item, i64) for item in value),
    Kind.DENSE_I32: lambda value: DenseArrayBase.from_list(i32, value),
    Kind.DENSE_I64: lambda value: DenseArrayBase.from_list(i64, value),
    Kind.DENSE_BOOL: lambda value: DenseArrayBase.from_list(i1, [int(item) for item in value]),
    Kind.STRING: StringAttr,
    Kind.ELEMENTS: lambda value: value,
}


def parameter_value(attr: Attribute, kind: Kind) -> ParameterValue:
    """The Python value of a parameter's attribute."""
    return _FROM_ATTR[kind](attr)


def parameter_attr(value: ParameterValue, kind: Kind) -> Attribute:
    """The attribute that carries a parameter's Python value."""
    return _TO_ATTR[kind](value)


def properties_of(parameters: Iterable[Parameter]) -> tuple[Property, ...]:
    """The properties that carry these parameters."""
    return tuple(Property(p.name, _CONSTRAINTS[p.kind], p.optional) for p in parameters)


class RowOperation(ODSOperation):
    """An operation that has a row in the operation table."""

    ROW: ClassVar[Row]
    PARAMETERS: ClassVar[tuple[Parameter, ...]] = ()
    """The row's parameters in this dialect."""
    CHECK: ClassVar[Callable[[Operation], None] | None] = None
    """The verifier of what only this operation requires."""

    def verify_op(self) -> None:
        """Run the operation's own verifier."""
        if (check := type(self).CHECK) is not None:
            check(self)

    def parameters(self) -> dict[str, ParameterValue]:
        """The operation's parameters as Python values; absent optional ones are left out."""
        properties = self.properties
        return {
            p.name: parameter_value(properties[p.name], p.kind)
            for p in self.PARAMETERS
            if p.name in properties
        }

    @classmethod
    def parameter_properties(cls, values: Mapping[str, ParameterValue]) -> dict[str, Attribute]:
        """Properties for the parameters named in `values`; KeyError for an unknown name.

        ValueError for a number that an attribute has no room for.
        """
        kinds = {p.name: p.kind for p in cls.PARAMETERS}
        for name, value in values.items():
            cls._check_width(name, value, _BITS.get(kinds[name], 0))
        return {name: parameter_attr(value, kinds[name]) for name, value in values.items()}

    @classmethod
    def _check_width(cls, name: str, value: ParameterValue, bits: int) -> None:
        if not bits:
            return
        limit = 1 << (bits - 1)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, int) and not -limit <= number < limit:
                raise ValueError(
                    f"'{cls.name}' has no room for {number}: its parameter '{name}' takes numbers "
                    f"of {bits} bits"
                )


def operand_values(row: Row) -> tuple[ValueGroup, ...]:
    """The operands of an operation other than its destination."""
    if row.family.is_elementwise:
        return (ValueGroup("inputs", variadic=True),)
    return tuple(
        ValueGroup(operand.name, variadic=operand.variadic, optional=operand.optional)
        for operand in row.operands
    )


def destination_signature(
    row: Row, properties: tuple[Property, ...], *, trailing: tuple[ValueGroup, ...] = ()
) -> Signature:
    """The signature of an operation in destination-passing style."""
    many = row.family.is_elementwise or len(row.results) > 1
    init = ValueGroup("outputs" if many else "output", variadic=many)
    return Signature(
        operands=(*operand_values(row), init, *trailing),
        results=(ValueGroup("results" if many else "result", variadic=many),),
        properties=properties,
        init=init.name,
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


class OpClasses(Generic[OpT]):
    """The operation classes of a dialect by mnemonic and by class name, in order of declaration."""

    def __init__(self, dialect: str, explicit: Iterable[type[OpT]]) -> None:
        """Start with the classes that are written out."""
        self.dialect = dialect
        self._by_mnemonic: dict[str, type[OpT]] = {}
        self._by_class_name: dict[str, type[OpT]] = {}
        for cls in explicit:
            self._add(cls.name.removeprefix(f"{dialect}."), cls)

    def _add(self, mnemonic: str, cls: type[OpT]) -> None:
        assert mnemonic not in self._by_mnemonic, f"{self.dialect}.{mnemonic} is declared twice"
        self._by_mnemonic[mnemonic] = cls
        self._by_class_name[cls.__name__] = cls

    def add_row(
        self,
        row: Row,
        bases: tuple[type[OpT], ...],
        *,
        parameters: tuple[Parameter, ...],
        signature: Signature,
        check: Callable[[Operation], None] | None,
        module: str,
    ) -> None:
        """Make the class of a row, in the name of a module."""
        name = f"{self.dialect}.{row.mnemonic}"
        namespace: dict[str, object] = {
            "name": name,
            "ROW": row,
            "PARAMETERS": parameters,
            "SIGNATURE": signature,
            "CHECK": check and staticmethod(check),
            "__doc__": describe(name, row, parameters, signature, check),
            "__module__": module,
        }
        cls = cast("type[OpT]", type(class_name(row.mnemonic), bases, namespace))
        self._add(row.mnemonic, cls)

    def __iter__(self) -> Iterator[type[OpT]]:
        """All classes in order of declaration."""
        return iter(self._by_mnemonic.values())

    def __contains__(self, mnemonic: str) -> bool:
        """True if the dialect has this operation."""
        return mnemonic in self._by_mnemonic

    def by_mnemonic(self, mnemonic: str) -> type[OpT]:
        """The class of an operation; KeyError with the full name if there is none."""
        if mnemonic not in self._by_mnemonic:
            raise KeyError(f"{self.dialect}.{mnemonic}")
        return self._by_mnemonic[mnemonic]

    def by_class_name(self, name: str) -> type[OpT]:
        """The class with this Python name; AttributeError if there is none."""
        if name not in self._by_class_name:
            raise AttributeError(f"dialect '{self.dialect}' has no operation class '{name}'")
        return self._by_class_name[name]
