"""Operations of StableHLO that steer: loops, branches, calls, tuples and tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    TensorType,
    i1,
    i32,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import SYMBOL, FormatOp, number, parse_operands
from ttmlir.dialects.definition.ods import (
    Property,
    Signature,
    ValueGroup,
    classes_in,
    properties,
    refuse,
    text,
    values,
)
from ttmlir.dialects.stablehlo.constraints import (
    ANY_ATTR,
    ANY_OR_TOKEN,
    ANYTHING,
    CARRIED,
    DICTIONARY,
    FOREIGN,
    PREDICATE,
    SIGNLESS_32,
    TOKEN,
    TUPLE,
    TUPLE_INDEX,
    UNSIGNED_32,
    ranked,
    refuse_inferred,
    shape_of,
)
from ttmlir.dialects.stablehlo.form import (
    EACH,
    OPERANDS,
    RESULT,
    SAME,
    TUPLE_OF_OPERANDS,
    Form,
    Operands,
)
from ttmlir.dialects.stablehlo.operation import PURE, FormOp, StableHLOOp

# --- Control --------------------------------------------------------------------------------------
# What loops and branches require, in StableHLO's words.

_TRUTH = TensorType(i1, ())


def returned(region: Region) -> Sequence[Attribute]:
    """The types of the values that a region hands on."""
    last = region.block.last_op
    return () if last is None else last.operand_types


def _join(types: Sequence[Attribute]) -> str:
    return ", ".join(f"'{text(type)}'" for type in types)


def while_loop(op: Operation) -> None:
    """Both regions take the carried values, the body returns them."""
    carried = list(op.operand_types)
    for name, region in zip(("condition", "body"), op.regions, strict=True):
        arguments = [argument.type for argument in region.block.args]
        if arguments != carried:
            refuse(
                f"expect operands to be compatible with {name} block arguments but got "
                f"{_join(carried)} vs {_join(arguments)}"
            )
    condition, body = map(returned, op.regions)
    if len(condition) != 1:
        refuse(f"expect condition body returns a single value but got {len(condition)}")
    if condition[0] != _TRUTH:
        refuse(
            f"expect condition block return a zero-ranked tensor of i1 but got {_join(condition)}"
        )
    if list(body) != carried:
        refuse(
            f"expect operands to be compatible with body block return types but got "
            f"{_join(carried)} vs {_join(body)}"
        )
    if list(op.result_types) != carried:
        refuse_inferred(op, carried)


def branches(op: Operation) -> None:
    """The choice is one number; all regions take nothing and return the results."""
    rank = len(shape_of(op.operands[0].type))
    if rank:
        refuse(f"operand should be rank 0 tensor but got rank {rank}")
    if not op.regions:
        refuse("expect at least one branch")
    first = list(returned(op.regions[0]))
    for index, region in enumerate(op.regions):
        if region.block.args:
            refuse(f"branch {index} must have 0 arguments, but found {len(region.block.args)}")
        types = list(returned(region))
        if types != first:
            refuse(
                f"branch 0 and branch {index} have mismatched return types: {_join(first)} vs "
                f"{_join(types)}"
            )
    if list(op.result_types) != first:
        refuse_inferred(op, first)


# --- Control --------------------------------------------------------------------------------------

_CARRIED_RESULTS = (ValueGroup("results", CARRIED, variadic=True),)


class ReturnOp(FormatOp, StableHLOOp):
    """Ends a region and hands values on."""

    name = "stablehlo.return"
    FORMAT = "operands attr-dict (`:` type(operands)^)?"
    SIGNATURE: ClassVar = Signature((ValueGroup("results", ANYTHING, variadic=True),))
    traits = traits_def(IsTerminator(), Pure())


class WhileOp(StableHLOOp):
    """Repeats `body` on the carried values as long as `cond` is true."""

    name = "stablehlo.while"
    RULE: ClassVar = staticmethod(while_loop)
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("operand", CARRIED, variadic=True),), _CARRIED_RESULTS, regions=2
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("cond", "body")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `(%iterArg = %0) : types attributes {...} cond {...} do {...}`."""
        names: list[UnresolvedOperand] = []
        operands: list[UnresolvedOperand] = []

        def assignment() -> None:
            names.append(parser.parse_unresolved_operand())
            parser.parse_punctuation("=")
            operands.append(parser.parse_unresolved_operand())

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, assignment)
        types: Sequence[Attribute] = ()
        position = parser.pos
        if operands:
            parser.parse_punctuation(":")
            position = parser.pos
            types, _ = EACH.read(parser, len(operands))
        attributes: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("attributes") is not None:
            attributes = parser.parse_optional_dictionary_attr_dict()
        values = parser.resolve_operands(operands, types, position)
        arguments = [
            parser.Argument(name.span, type) for name, type in zip(names, types, strict=True)
        ]
        parser.parse_keyword("cond")
        condition = parser.parse_region(arguments)
        parser.parse_keyword("do")
        body = parser.parse_region(arguments)
        return cls.create(
            operands=values, result_types=types, attributes=attributes, regions=[condition, body]
        )

    def print(self, printer: Printer) -> None:
        """Write `(%iterArg = %0) : types attributes {...} cond {...} do {...}`."""
        condition, body = self.regions
        printer.print_string("(")
        pairs = list(zip(body.block.args, self.operands, strict=True))
        printer.print_list(pairs, lambda pair: _print_assignment(printer, *pair))
        printer.print_string(")")
        if self.operands:
            printer.print_string(" : ")
            EACH.write(printer, self)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string("\ncond ")
        printer.print_region(condition, print_entry_block_args=False)
        printer.print_string(" do ")
        printer.print_region(body, print_entry_block_args=False)


def _print_assignment(printer: Printer, argument: SSAValue, operand: SSAValue) -> None:
    printer.print_operand(argument)
    printer.print_string(" = ")
    printer.print_operand(operand)


class IfOp(StableHLOOp):
    """One of two regions."""

    name = "stablehlo.if"
    RULE: ClassVar = staticmethod(branches)
    SIGNATURE: ClassVar = Signature(values(pred=PREDICATE), _CARRIED_RESULTS, regions=2)
    REGIONS: ClassVar[tuple[str, ...]] = ("true_branch", "false_branch")


class CaseOp(StableHLOOp):
    """One of several regions; the last one if the index is out of range."""

    name = "stablehlo.case"
    RULE: ClassVar = staticmethod(branches)
    SIGNATURE: ClassVar = Signature(
        values(index=ranked(SIGNLESS_32)), _CARRIED_RESULTS, regions=None
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("branches",)


class CustomCallOp(FormatOp, StableHLOOp):
    """A call of code that the compiler is told only the name of."""

    name = "stablehlo.custom_call"
    SPELLINGS: ClassVar = {"call_target_name": SYMBOL}
    FORMAT = "$call_target_name `(` operands `)` attr-dict `:` functional-type(operands, results)"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("inputs", FOREIGN, variadic=True),),
        (ValueGroup("results", FOREIGN, variadic=True),),
        (
            Property("call_target_name", ods.STRING),
            Property("has_side_effect", ods.BOOL, optional=True),
            Property("backend_config", ANY_ATTR, optional=True),
            Property("api_version", ods.I32, optional=True),
            Property("called_computations", ods.ARRAY, optional=True),
            Property("operand_layouts", ods.ARRAY, optional=True),
            Property("result_layouts", ods.ARRAY, optional=True),
            Property("output_operand_aliases", ods.ARRAY, optional=True),
        ),
    )
    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {
        "has_side_effect": IntegerAttr(0, i1),
        "api_version": IntegerAttr(1, i32),
        "called_computations": ArrayAttr[Attribute]([]),
        "output_operand_aliases": ArrayAttr[Attribute]([]),
    }


class CompositeOp(FormatOp, StableHLOOp):
    """An operation of a library with a function that says what it means."""

    name = "stablehlo.composite"
    FORMAT = "$name operands attr-dict `:` functional-type(operands, results)"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("inputs", CARRIED, variadic=True),),
        _CARRIED_RESULTS,
        (
            Property("name", ods.STRING),
            Property("composite_attributes", DICTIONARY, optional=True),
            Property("decomposition", ods.FLAT_SYMBOL),
            Property("version", ods.I32, optional=True),
        ),
        regions=None,
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("composite_regions",)
    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {
        "composite_attributes": DictionaryAttr({}),
        "version": IntegerAttr(0, i32),
    }


class OptimizationBarrierOp(StableHLOOp):
    """The operands, which are all computed before any result is used."""

    name = "stablehlo.optimization_barrier"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("operand", ANY_OR_TOKEN, variadic=True),),
        (ValueGroup("result", ANY_OR_TOKEN, variadic=True),),
    )
    traits = PURE

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `{...} %a, %b : types`, or `{...}()`."""
        attributes = parser.parse_optional_attr_dict()
        if parser.parse_optional_punctuation("(") is not None:
            parser.parse_punctuation(")")
            return cls.create(attributes=attributes)
        operands = parse_operands(parser)
        parser.parse_punctuation(":")
        position = parser.pos
        types, _ = EACH.read(parser, len(operands))
        values = parser.resolve_operands(operands, types, position)
        return cls.create(operands=values, result_types=types, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write `{...} %a, %b : types`, or `{...}()`."""
        self.print_dict(printer)
        if not self.operands:
            printer.print_string("()")
            return
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_string(" : ")
        EACH.write(printer, self)


class TupleOp(FormOp):
    """The operands as one value."""

    name = "stablehlo.tuple"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("val", FOREIGN, variadic=True),), values(result=TUPLE)
    )
    FORM: ClassVar = Form((OPERANDS,), TUPLE_OF_OPERANDS)
    traits = PURE


class GetTupleElementOp(FormatOp, StableHLOOp):
    """One part of a tuple: `get_tuple_element %0[1]`."""

    name = "stablehlo.get_tuple_element"
    SPELLINGS: ClassVar = {"index": number(i32)}
    FORMAT = "$operand `[` $index `]` attr-dict `:` functional-type(operands, results)"
    SIGNATURE: ClassVar = Signature(
        values(operand=TUPLE), values(result=FOREIGN), properties(index=TUPLE_INDEX)
    )
    traits = PURE


class AfterAllOp(FormOp):
    """A token that all operands have to precede."""

    name = "stablehlo.after_all"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("inputs", TOKEN, variadic=True),), values(result=TOKEN)
    )
    FORM: ClassVar = Form((Operands(is_optional=True),), SAME)
    traits = PURE


class CreateTokenOp(FormOp):
    """A first token."""

    name = "stablehlo.create_token"
    SIGNATURE: ClassVar = Signature(results=values(output=TOKEN))
    FORM: ClassVar = Form((), RESULT)
    traits = PURE


class PartitionIdOp(FormOp):
    """The number of the partition that runs the program."""

    name = "stablehlo.partition_id"
    SIGNATURE: ClassVar = Signature(results=values(result=ranked(UNSIGNED_32)))
    FORM: ClassVar = Form((), RESULT)
    traits = PURE


class ReplicaIdOp(FormOp):
    """The number of the replica that runs the program."""

    name = "stablehlo.replica_id"
    SIGNATURE: ClassVar = Signature(results=values(result=ranked(UNSIGNED_32)))
    FORM: ClassVar = Form((), RESULT)
    traits = PURE


CONTROL = classes_in(globals(), Operation)
"""The operations of this module."""
