"""The private parts of xDSL that the project needs: nothing else touches them.

xDSL has no public way to change the type of a value in place, to read the operands of an operation
without making a list, or to let a parser differ from its own in single steps. A new version of xDSL
may change these parts, and then this file.

Importing this module also replaces what compiling large modules spends most of its time in: making
operations, walking over them and verifying them. The replacements do the same with fewer calls.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import UNKNOWN_LOC, DenseIntOrFPElementsAttr
from xdsl.ir import (
    Attribute,
    Block,
    BlockOps,
    Data,
    IRNode,
    Operation,
    OpResult,
    ParametrizedAttribute,
    Region,
    SSAValue,
    SSAValues,
    Use,
)
from xdsl.irdl import OpDef
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import LocationAttr
    from xdsl.ir import Dialect
    from xdsl.parser import AttrParser
    from xdsl.utils.lexer import Position
    from xdsl.utils.mlir_lexer import MLIRToken


def retype(value: SSAValue, new_type: Attribute) -> None:
    """Give a value another type, in place.

    Replacing the value instead would rebuild the operand list of every user.
    """
    value._type = new_type


def operands_of(op: Operation) -> tuple[SSAValue, ...]:
    """The operands of an operation as they are stored."""
    return op._operands


def successors_of(op: Operation) -> tuple[Block, ...]:
    """The successors of an operation as they are stored."""
    return op._successors


def enter_dialect(context: Context, name: str) -> Dialect | None:
    """Mark a registered dialect as loaded, for the caller to load its parts; None if unknown."""
    factory = context._registered_dialects.get(name)
    if factory is None:
        return None
    dialect = factory()
    context._loaded_dialects[dialect.name] = dialect
    return dialect


def current_token(parser: AttrParser) -> MLIRToken:
    """The token that a parser reads next."""
    return parser._current_token


def resume_from(parser: AttrParser, position: Position) -> None:
    """Let a parser go on at another place of its text."""
    parser._resume_from(position)


_OVERRIDDEN = {
    "read_affine_map": "_parse_builtin_affine_map",
    "read_affine_set": "_parse_builtin_affine_set",
    "read_alias_definition": "_parse_alias_def",
    "read_block": "_parse_block",
    "read_complex_type": "_parse_complex_attrs",
    "read_dense": "_parse_builtin_dense_attr",
    "read_dense_array": "_parse_builtin_densearray_attr",
    "read_dense_resource": "_parse_builtin_dense_resource_attr",
    "read_extended_attribute": "_parse_extended_type_or_attribute",
    "read_file_metadata": "_parse_file_metadata_dictionary",
    "read_generic_operation": "_parse_generic_operation",
    "read_location": "_parse_location",
    "read_memref_type": "_parse_memref_attrs",
    "read_optional_block_arguments": "_parse_optional_block_arg_list",
    "read_optional_number_type": "_parse_optional_integer_or_float_type",
    "read_result_name": "_parse_op_result",
    "read_tensor_type": "_parse_tensor_attrs",
    "read_vector_type": "_parse_vector_attrs",
    "register_results": "_register_ssa_definition",
}
"""Steps of the parser that subclasses may do differently, and what xDSL calls them."""


class OpenParser(Parser):
    """xDSL's parser with its private steps under names that subclasses use and override."""

    current_token = Parser._current_token
    consume_token = Parser._consume_token
    parse_token = Parser._parse_token
    resume_from = Parser._resume_from
    parse_block_body = Parser._parse_block_body
    parse_dialect_symbol_body = Parser._parse_dialect_symbol_body
    parse_op_result_list = Parser._parse_op_result_list
    parse_optional_shape_delimiter = Parser._parse_optional_shape_delimiter
    scan_balanced = Parser._raw_scan_balanced

    read_affine_set = Parser._parse_builtin_affine_set
    read_memref_type = Parser._parse_memref_attrs
    read_optional_number_type = Parser._parse_optional_integer_or_float_type
    read_tensor_type = Parser._parse_tensor_attrs

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let xDSL take the steps that a subclass defines."""
        super().__init_subclass__(**kwargs)
        for name, private_name in _OVERRIDDEN.items():
            if name in cls.__dict__:
                setattr(cls, private_name, cls.__dict__[name])

    @property
    def dialect_stack(self) -> list[str]:
        """The dialects whose operations' names may be shortened, innermost last."""
        return self._parser_state.dialect_stack


class OpenPrinter(Printer):
    """xDSL's printer with its private steps under names that subclasses use and override."""

    @property
    def indentation(self) -> int:
        """How many levels new lines are indented."""
        return self._indent

    @indentation.setter
    def indentation(self, levels: int) -> None:
        self._indent = levels

    def print_new_line(self, indent: int | None = None) -> None:
        """End a line and indent the next."""
        super()._print_new_line(indent)

    def _print_new_line(self, indent: int | None = None, print_message: bool = True) -> None:
        self.print_new_line(indent)


# --- Faster steps of xDSL -------------------------------------------------------------------------

_walk_in_any_order = Operation.walk


def _init_operation(
    self: Operation,
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] | None = None,
    attributes: Mapping[str, Attribute] | None = None,
    location: LocationAttr | None = None,
    successors: Sequence[Block] = (),
    regions: Sequence[Region] = (),
) -> None:
    """`Operation.__init__`, for an operation that is not in use yet."""
    values = SSAValues(operands)
    uses = tuple([Use(self, index) for index in range(len(values))])
    for value, use in zip(values, uses, strict=True):
        value.add_use(use)
    self._operands = values
    self._operand_uses = uses
    self.results = SSAValues([OpResult(t, self, i) for i, t in enumerate(result_types)])
    self.properties = dict(properties or ())
    self.attributes = dict(attributes or ())
    self.location = UNKNOWN_LOC if location is None else location
    if successors:
        self.successors = successors
    self.regions = ()
    for region in regions:
        self.add_region(region)
    self.__post_init__()


def _operations_from(op: Operation | None) -> Generator[Operation]:
    """An operation and those after it; the one that is given last may be taken out meanwhile."""
    while op is not None:
        following = op._next_op
        yield op
        op = following


def _iterate_block(self: BlockOps) -> Iterator[Operation]:
    return _operations_from(self.block._first_op)


def _walk(
    self: Operation, *, reverse: bool = False, region_first: bool = False
) -> Iterator[Operation]:
    if reverse or region_first:
        return _walk_in_any_order(self, reverse=reverse, region_first=region_first)
    return _walk_from(self)


def _walk_from(op: Operation) -> Generator[Operation]:
    """An operation, then those inside; one without regions costs no generator of its own."""
    yield op
    for region in op.regions:
        for block in region.blocks:
            following = block._first_op
            while (child := following) is not None:
                following = child._next_op
                yield child
                if child.regions:
                    inside = _walk_from(child)
                    next(inside)
                    yield from inside


def _is_ancestor(self: Operation, op: IRNode) -> bool:
    if not self.regions:
        return self is op
    node: IRNode | None = op
    while node is not None and node is not self:
        node = node.parent_node
    return node is self


_item_or_slice: Any = vars(tuple)["__getitem__"]


def _item(self: SSAValues, idx: int | slice) -> SSAValue | SSAValues:
    found: SSAValue | tuple[SSAValue, ...] = _item_or_slice(self, idx)
    return SSAValues(found) if isinstance(found, tuple) else found


@cache
def _is_attribute(cls: type[Attribute]) -> bool:
    return issubclass(cls, (ParametrizedAttribute, Data))


def _check_new_attribute(self: Attribute) -> None:
    self._verify()
    if not _is_attribute(type(self)):
        raise TypeError("Attributes should only be Data or ParametrizedAttribute")


_verify_all = OpDef.verify
_MOST_VERIFIED = 10_000
_verified: set[tuple[object, ...]] = set()
"""Definitions, which live as long as the process, with types and attributes that fit."""


def _verify_definition(self: OpDef, op: Operation) -> None:
    """`OpDef.verify`; what depends on types and attributes alone is checked once for the same."""
    named = (*op.properties.items(), *op.attributes.items())
    if (
        op.regions
        or op._successors
        # What is known stays in memory, where large constants are not to stay with it.
        or any(isinstance(attribute, DenseIntOrFPElementsAttr) for _, attribute in named)
    ):
        _verify_all(self, op)
        return
    operands = tuple([value.type for value in op._operands])
    results = tuple([value.type for value in op.results])
    key = (id(self), operands, results, len(op.properties), named)
    if key in _verified:
        for trait in self.traits:
            trait.verify(op)
        return
    _verify_all(self, op)
    if len(_verified) >= _MOST_VERIFIED:
        _verified.clear()
    _verified.add(key)


def _verify_isolation(self: IsolatedFromAbove, op: Operation) -> None:
    """`IsolatedFromAbove.verify`, which need not climb from values of blocks that are known."""
    inside: set[Block] = set()
    regions = list(op.regions)
    while regions:
        for block in regions.pop().blocks:
            inside.add(block)
            for child in block.ops:
                for operand in child._operands:
                    owner = operand.owner
                    home = owner if isinstance(owner, Block) else owner.parent
                    if home not in inside and (not op.is_ancestor(owner) or owner is op):
                        raise VerifyException(
                            "Operation using value defined out of its "
                            f"IsolatedFromAbove parent: {child}"
                        )
                if child.regions and not child.has_trait(IsolatedFromAbove):
                    regions += child.regions


for _owner, _name, _faster in (
    (Operation, "__init__", _init_operation),
    (Operation, "walk", _walk),
    (Operation, "is_ancestor", _is_ancestor),
    (BlockOps, "__iter__", _iterate_block),
    (SSAValues, "__getitem__", _item),
    (Attribute, "__post_init__", _check_new_attribute),
    (OpDef, "verify", _verify_definition),
    (IsolatedFromAbove, "verify", _verify_isolation),
):
    setattr(_owner, _name, _faster)
