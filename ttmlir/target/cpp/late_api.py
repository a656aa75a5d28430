"""Kernels of emitc in the words of tt-metal 0.81, which are not those of July 2026.

What convert-ttkernel-to-emitc makes is in the API that tt-lang 1.1.1 writes. Since then preparing a
call configures no processor any more, circular buffers are not experimental, and texts are printed
by a format; `kernel_api` has the table of calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import cast

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.cpp.tree import FunctionCall, Integer, Name
from ttmlir.dialects.emitc import CallOpaqueOp, EmitC_OpaqueAttr, LiteralOp, VerbatimOp
from ttmlir.layout.enums import ThreadType
from ttmlir.optable.kernel import CALLS
from ttmlir.target.cpp.emitter import elements_of, text_of
from ttmlir.target.cpp.kernel_api import calls_of_2026, headers_of_2026

_HEADERS: Mapping[ThreadType, tuple[str, ...]] = {
    ThreadType.NOC: ("api/dataflow/dataflow_api.h",),
    ThreadType.TENSIX: ("api/compute/common.h", "api/compute/compute_kernel_api.h"),
    ThreadType.ETHERNET: ("api/dataflow/dataflow_api.h",),
}
"""Headers that every kernel of a thread type includes."""
_COVERED: Mapping[ThreadType, tuple[str, ...]] = {
    ThreadType.NOC: ("api/compute/cb_api.h",),
    ThreadType.TENSIX: ("api/dataflow/dataflow_api.h",),
    ThreadType.ETHERNET: ("api/compute/cb_api.h",),
}
"""Headers of calls that the former declare as well."""

_TEXTS = {
    "PageMapping ": "auto ",
    "experimental::CircularBuffer ": "CircularBuffer ",
    "PACK((llk_pack_reconfig_l1_acc({})));": "pack_reconfig_l1_acc({});",
}
"""Beginnings of texts, and what stands there instead."""
_HEADERS_OF_TEXTS = {
    "CircularBuffer ": "api/dataflow/circular_buffer.h",
    "DEVICE_PRINT(": "api/debug/device_print.h",
    "pack_reconfig_l1_acc": "api/compute/pack.h",
}


def use_installed_api(function: FuncOp, thread: ThreadType) -> list[str]:
    """Rewrite what a kernel calls; gives the headers that declare it."""
    headers = [*_HEADERS[thread]]
    for op in [*function.walk()]:
        if isinstance(op, CallOpaqueOp):
            headers += _rewrite_call(op)
        elif isinstance(op, VerbatimOp):
            headers += _rewrite_text(op)
    return [each for each in dict.fromkeys(headers) if each not in _COVERED[thread]]


def _rewrite_call(op: CallOpaqueOp) -> Iterator[str]:
    callee = text_of(op, "callee")
    if callee == "ttmlir::dprint":
        yield _rewrite_print(op)
        return
    header = _headers().get(callee)
    if header is None:
        return
    given = cast("Sequence[Attribute]", elements_of(op, "template_args") or ())
    call = FunctionCall(
        Name(callee),
        tuple(Integer(str(index)) for index in range(len(op.operands))),
        tuple(Name(_text(each)) for each in given),
    )
    calls = [*calls_of_2026(call)]
    yield from headers_of_2026(header, calls)
    for each in calls:
        operands = [op.operands[int(cast("Integer", which).text)] for which in each.arguments]
        arguments = [cast("Name", which).text for which in each.template_arguments]
        if each.callee == call.callee and arguments and given:
            arguments = [*map(_text, given)]
        _insert(op, cast("Name", each.callee).text, operands, arguments, each is calls[-1])
    block = op.parent
    assert block is not None, "a call stands in a function"
    block.erase_op(op)


def _insert(
    op: CallOpaqueOp,
    callee: str,
    operands: Sequence[SSAValue],
    template_arguments: Sequence[str],
    is_last: bool,
) -> None:
    """A call before another, whose results the last one gives."""
    block = op.parent
    assert block is not None, "a call stands in a function"
    new = CallOpaqueOp.make(
        callee,
        operands,
        [each.type for each in op.results] if is_last else [],
        template_args=[*map(_opaque, template_arguments)] or None,
        location=op.location,
    )
    block.insert_op_before(new, op)
    for old, result in zip(op.results, new.results, strict=False):
        old.replace_all_uses_with(result)


def _opaque(text: str) -> EmitC_OpaqueAttr:
    return EmitC_OpaqueAttr(StringAttr(text))


def _text(attr: Attribute) -> str:
    return attr.value.data if isinstance(attr, EmitC_OpaqueAttr) else str(attr)


def _rewrite_print(op: CallOpaqueOp) -> str:
    """One text with places for the values."""
    pieces: list[str] = []
    values: list[SSAValue] = []
    for operand in op.operands:
        owner = operand.owner
        if isinstance(owner, LiteralOp) and text_of(owner, "value").startswith('"'):
            pieces.append(text_of(owner, "value")[1:-1].replace("{", "{{").replace("}", "}}"))
        else:
            pieces.append("{}")
            values.append(_printed(operand))
    # What is a place for a value in the text that is printed is none in the text of the kernel.
    text = "".join(pieces)
    text = text.replace("{", "{{") if values else text
    places = "".join(", {}" for _ in values)
    new = VerbatimOp.make(f'DEVICE_PRINT("{text}"{places});', values, location=op.location)
    block = op.parent
    assert block is not None, "a call stands in a function"
    block.insert_op_before(new, op)
    printers = [operand.owner for operand in op.operands if operand not in values]
    block.erase_op(op)
    for each in printers:
        if not isinstance(each, Operation) or each.parent is None:
            continue
        if not any(result.uses for result in each.results):
            each.parent.erase_op(each)
    return _HEADERS_OF_TEXTS["DEVICE_PRINT("]


def _printed(value: SSAValue) -> SSAValue:
    """The number of a circular buffer for the buffer."""
    owner = value.owner
    if isinstance(owner, CallOpaqueOp) and text_of(owner, "callee") == "ttmlir::CBPrinter":
        return owner.operands[0]
    return value


def _rewrite_text(op: VerbatimOp) -> Iterator[str]:
    text = text_of(op, "value")
    for begin, late in _TEXTS.items():
        if text.startswith(begin):
            text = late + text.removeprefix(begin)
            op.properties["value"] = StringAttr(text)
    for begin, header in _HEADERS_OF_TEXTS.items():
        if text.startswith(begin):
            yield header
    for name, header in _headers().items():
        if f" {name}(" in text:
            yield from headers_of_2026(header, ())


@cache
def _headers() -> Mapping[str, str]:
    """The headers of 2024 of calls."""
    return {call.cpp: call.header for call in CALLS if call.header}
