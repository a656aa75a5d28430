"""Rules on ttir operations that are applied until none fits, and what they look at.

A rule gets an operation and a builder before it, and returns what stands for the results of the
operation, or None where it does not fit:

    def _double_negation(op: Operation, builder: Builder) -> SSAValue | None:
        before = made_by(op.operands[0], "neg")
        return None if before is None else before.operands[0]

    rewrite_values(module, {"neg": [_double_negation]})

New operations are in the spelling of the module, so that a rule serves all of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.definition.table_ops import LateOnlyOp, ValueFormOp, parameters_in
from ttmlir.dialects.ttir import ConstantOp, TTIRTableOp
from ttmlir.ir.builder import Builder, OpT, Spelling, use_style
from ttmlir.ir.constants import splat_number
from ttmlir.ir.rewriting import erase
from ttmlir.ir.tensor_types import element_type, is_plain_and_static, tensor_like, value_shape

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

Shape = tuple[int, ...]

Rule = Callable[[Operation, Builder], "SSAValue | Sequence[SSAValue] | None"]
"""What stands for the results of an operation; None if it stays."""

# --- Looking at operations ------------------------------------------------------------------------


def mnemonic_of(op: Operation) -> str:
    """The name of a ttir operation without its dialect; nothing for others."""
    dialect, _, mnemonic = op.name.partition(".")
    return mnemonic if dialect == "ttir" else ""


def inputs_of(op: Operation) -> Sequence[SSAValue]:
    """What an operation reads, without what it writes to."""
    return op.inputs if isinstance(op, TTIRTableOp) else op.operands


def made_by(value: SSAValue, *mnemonics: str) -> Operation | None:
    """The operation that makes a value if it is one of these."""
    owner = value.owner
    if isinstance(owner, Operation) and mnemonic_of(owner) in mnemonics:
        return owner
    return None


def only_user(value: SSAValue) -> Operation | None:
    """The operation that alone uses a value."""
    return next(iter(value.uses)).operation if value.has_one_use() else None


def parameters_of(op: Operation) -> dict[str, Any]:
    """The parameters as the form of the operation names them."""
    if isinstance(op, LateOnlyOp):
        return parameters_in(op.properties, op.LATE.parameters or ())
    if isinstance(op, ValueFormOp) and op.LATE is not None and op.is_late:
        late = op.LATE.parameters
        return parameters_in(op.properties, op.PARAMETERS if late is None else late)
    return cast("Any", op).parameters() if isinstance(op, TTIRTableOp) else {}


def rank_of(value: SSAValue) -> int:
    """The number of dimensions."""
    return len(value_shape(value))


def number_of(value: SSAValue) -> int | float | None:
    """The one number of all elements of a value; None if there is none."""
    owner = value.owner
    if isinstance(owner, Operation):
        match mnemonic_of(owner):
            case "full":
                attr = owner.properties["fill_value"]
                return cast("IntegerAttr | FloatAttr", attr).value.data
            case "zeros":
                return 0
            case "ones":
                return 1
            case "reshape" | "broadcast":
                return number_of(inputs_of(owner)[0])
            case "typecast":
                number = number_of(inputs_of(owner)[0])
                is_int = isinstance(element_type(value), IntegerType)
                return None if number is None or (is_int and number != int(number)) else number
            case _:
                pass
    return splat_number(value)


def is_number(value: SSAValue, number: float, tolerance: float = 0.0) -> bool:
    """True for a value all of whose elements are a number, or near it."""
    found = number_of(value)
    return found is not None and abs(found - number) <= tolerance * abs(number)


def either_way(op: Operation) -> Sequence[tuple[SSAValue, SSAValue]]:
    """The two inputs of an operation that takes them in any order, in both orders."""
    first, second = inputs_of(op)
    return ((first, second), (second, first))


def without(value: SSAValue, *mnemonics: str) -> SSAValue:
    """What a value was before it went through operations of these kinds."""
    while (maker := made_by(value, *mnemonics)) is not None:
        value = inputs_of(maker)[0]
    return value


def permute_late(builder: Builder, value: SSAValue, order: Sequence[int]) -> SSAValue:
    """The dimensions in another order, by `permute`; those of extent 1 move by a reshape."""
    extents = value_shape(value)
    shape = [extents[dim] for dim in order]
    moved = [dim for dim in order if extents[dim] != 1]
    if moved == sorted(moved):
        return builder.reshape(value, shape)
    return builder.create("permute", (value,), tensor_like(value, shape), permutation=tuple(order))


# --- Applying rules -------------------------------------------------------------------------------


def spelling_of(root: Operation) -> Spelling:
    """The spelling of the ttir operations in a module."""
    for op in root.walk():
        if isinstance(op, TTIRTableOp) and op.operands:
            return Spelling.EARLY if op.has_destination else Spelling.LATE
        if isinstance(op, LateOnlyOp):
            return Spelling.LATE
    return Spelling.EARLY


@contextmanager
def use_spelling_of(root: Operation) -> Generator[Spelling]:
    """Let builders make operations in the spelling of a module."""
    spelling = spelling_of(root)
    with use_style(spelling.style):
        yield spelling


class _Builder(Builder):
    """Creates what takes the place of an operation, and remembers it."""

    made: list[Operation]

    @classmethod
    def recording(cls, op: Operation) -> _Builder:
        """A builder before an operation."""
        builder = cls.before(op)
        builder.made = []
        return builder

    def insert(self, op: OpT) -> OpT:
        """Put an operation there, and return it."""
        self.made.append(op)
        return super().insert(op)


def rewrite_values(module: ModuleOp, rules: Mapping[str, Sequence[Rule]]) -> None:
    """Apply rules to the operations of their names until none fits, in the order of the text.

    What nobody uses any more vanishes.
    """
    with use_spelling_of(module):
        _Rewriting(rules).run(module)


class _Rewriting:
    """The operations that are still to be looked at."""

    def __init__(self, rules: Mapping[str, Sequence[Rule]]) -> None:
        self._rules = rules
        self._left: deque[Operation] = deque()
        self._waiting: set[Operation] = set()

    def run(self, module: ModuleOp) -> None:
        """Look at all operations, and again at those near a change."""
        for op in module.walk():
            self._look_at(op)
        while self._left:
            op = self._left.popleft()
            self._waiting.discard(op)
            if op.parent is None or self._remove_unused(op):
                continue
            self._apply(op)

    def _look_at(self, op: Operation) -> None:
        if op not in self._waiting and op.name.startswith("ttir."):
            self._waiting.add(op)
            self._left.append(op)

    def _apply(self, op: Operation) -> None:
        for rule in self._rules.get(mnemonic_of(op), ()):
            builder = _Builder.recording(op)
            found = rule(op, builder)
            if found is None:
                for each in reversed(builder.made):
                    erase(each)
                continue
            values = [found] if isinstance(found, SSAValue) else found
            for new in builder.made:
                self._look_at(new)
            for result, value in zip(op.results, values, strict=True):
                for use in result.uses:
                    self._look_at(use.operation)
                result.replace_all_uses_with(value)
                if isinstance(value.owner, Operation):
                    self._look_at(value.owner)
            self._erase(op)
            return

    def _remove_unused(self, op: Operation) -> bool:
        """Take an operation out whose results nobody uses."""
        is_ours = isinstance(op, ValueFormOp | LateOnlyOp | ConstantOp) or mnemonic_of(op) in _PURE
        if not is_ours or not op.results or any(result.first_use for result in op.results):
            return False
        self._erase(op)
        return True

    def _erase(self, op: Operation) -> None:
        makers = [value.owner for value in op.operands]
        erase(op)
        for maker in makers:
            if not isinstance(maker, Operation):
                continue
            for result in maker.results:
                for use in result.uses:
                    self._look_at(use.operation)
            if isinstance(maker, EmptyOp) and not any(each.first_use for each in maker.results):
                if maker.parent is not None:
                    erase(maker)
            else:
                self._look_at(maker)


_PURE = ("arange",)
"""Operations without operands that have no other class."""


def is_plain(op: Operation) -> bool:
    """True for operations on tensors of known extents, without layouts."""
    return all(map(is_plain_and_static, (*op.operands, *op.results)))
