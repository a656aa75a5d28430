"""A C++ header that declares every call of the table, so that a compiler can check kernels.

Nothing is defined that a kernel could run: results that have to be constant are 1. Types and
enumerators are those of tt-metal; see the rows for the header that each call comes from there.
"""

from __future__ import annotations

from collections.abc import Iterator

from ttmlir.optable.kernel import CALLS, Form, KernelCall, Template, TemplateKind, ValueKind
from ttmlir.optable.kernel.enums import CONSTANTS, ENUMS, CppEnum

_START = """\
// Declarations of the calls that a kernel makes; generated from the table of kernel calls.
#pragma once
#include <cstddef>
#include <cstdint>

#define MAIN kernel_entry()
#define NAMESPACE kernel_thread
#define tt_l1_ptr
#define ALWI inline
#define FORCE_INLINE inline
#define UNPACK(x) x
#define MATH(x) x
#define PACK(x) x
#ifndef REDUCE_OP
#define REDUCE_OP PoolType::SUM
#endif
#ifndef REDUCE_DIM
#define REDUCE_DIM ReduceDim::REDUCE_ROW
#endif

// Where every chip has zeros in L1; the place and the size are its own.
constexpr uint32_t MEM_ZEROS_BASE = 1, MEM_ZEROS_SIZE = 1;
inline uint8_t noc_index;
template <typename T>
concept AddressGenerator = requires(const T& generator) { generator.get_noc_addr(0u); };
"""

_PRINTING = """\
struct ENDL {};
struct HEX {};
struct DEC {};
struct SETW { explicit SETW(int width); };
struct F32 { explicit F32(float value); };
struct BF16 { explicit BF16(uint16_t value); };
struct Printer {
  template <typename T>
  const Printer& operator<<(const T& value) const;
};
inline const Printer DPRINT;
#define DPRINT_UNPACK(x) x
#define DPRINT_MATH(x) x
#define DPRINT_PACK(x) x
#define DPRINT_DATA0(x) x
#define DPRINT_DATA1(x) x
"""

_TYPES = {
    ValueKind.CB: "uint32_t",
    ValueKind.I32: "uint32_t",
    ValueKind.NOC_ADDR: "uint64_t",
    ValueKind.ADDRESS: "uint32_t",
    ValueKind.SEMAPHORE: "uint32_t",
    ValueKind.L1_PTR: "volatile uint32_t*",
    ValueKind.DATA_FORMAT: "DataFormat",
    ValueKind.BOOL: "bool",
    ValueKind.F32: "float",
}
_CONCEPTS = {
    ValueKind.ADDR_GEN: "AddressGenerator",
    ValueKind.ACCESSOR: "AddressGenerator",
    ValueKind.ACCESSOR_ARGS: "typename",
}


def kernel_header() -> str:
    """The header's text."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _START
    for enum in ENUMS.values():
        yield from _enum(enum)
    yield ""
    for name, value in CONSTANTS.items():
        yield f"constexpr uint32_t {name} = {value};"
    yield ""
    yield _PRINTING
    for call in CALLS:
        yield from _declaration(call)


def _enum(enum: CppEnum) -> Iterator[str]:
    members = ", ".join(f"{name} = {number}" for name, number in enum.members.items())
    keyword = "enum class" if enum.scoped else "enum"
    text = f"{keyword} {enum.name} : {enum.type} {{ {members} }};"
    yield f"namespace {enum.namespace} {{ {text} }}" if enum.namespace else text
    # Device code finds these under the names of the host, too.
    if not enum.namespace:
        yield f"namespace {'tt' if enum.name == 'DataFormat' else 'ckernel'} {{"
        yield f"using ::{enum.name};"
        yield "}"


def _declaration(call: KernelCall) -> Iterator[str]:
    if not call.header:
        return
    match call.form:
        case Form.CALL:
            yield from _function(call)
        case Form.ELEMENT:
            yield f"inline uint8_t {call.cpp}[2];"
        case Form.AGGREGATE | Form.OBJECT:
            yield from _class(call)
        case Form.METHOD | Form.LOAD | Form.STORE | Form.CAST | Form.STREAM:
            return


def _template_type(template: Template) -> str:
    match template.kind:
        case TemplateKind.TYPE:
            return "typename"
        case TemplateKind.BOOL:
            return "bool"
        case TemplateKind.ENUM if not template.number:
            return template.enum
        case TemplateKind.ENUM | TemplateKind.INT:
            return "uint32_t"


def _template_line(call: KernelCall) -> Iterator[str]:
    """`template <...>`, with the types of operands that are deduced last."""
    templates = [
        f"{_template_type(t)} {t.name}" + (f" = {t.default}" if t.default else "")
        for t in call.templates
    ]
    deduced = [f"{_CONCEPTS[kind]} {name}_t" for name, kind in call.operands if kind in _CONCEPTS]
    if templates or deduced:
        yield f"template <{', '.join((*templates, *deduced))}>"


def _parameters(call: KernelCall) -> str:
    first = len(call.operands) - len(call.defaults)
    texts = [f"uint32_t {name}" for name in call.constants]
    for position, (name, kind) in enumerate(call.operands):
        type = f"const {name}_t&" if kind in _CONCEPTS else _TYPES[kind]
        default = f" = {call.defaults[position - first]}" if position >= first else ""
        texts.append(f"{type} {name}{default}")
    texts += [f"{option.type} {option.name} = {option.default}" for option in call.options]
    return ", ".join(texts)


def _result(call: KernelCall) -> str:
    if call.result is None:
        return "void"
    types = [t.name for t in call.templates if t.kind is TemplateKind.TYPE]
    return types[0] if types else _TYPES[call.result[1]]


def _function(call: KernelCall, *, member: bool = False) -> Iterator[str]:
    if not member:
        yield from _template_line(call)
    result = _result(call)
    end = " const" if member else ""
    body = f" {{ return static_cast<{result}>(1); }}" if call.constant else ";"
    start = "constexpr " if call.constant else ""
    yield f"{start}{result} {call.cpp}({_parameters(call)}){end}{body}"


def _methods(kind: ValueKind) -> Iterator[str]:
    """Declarations of the methods of an object, whose rows name it as the first operand."""
    for call in CALLS:
        if call.form is Form.METHOD and call.operands[0][1] is kind:
            others = KernelCall(
                mnemonic=call.mnemonic,
                summary=call.summary,
                operands=call.operands[1:],
                result=call.result,
                cpp=call.cpp,
                options=call.options,
                constant=call.constant,
            )
            yield from _function(others, member=True)


def _class(call: KernelCall) -> Iterator[str]:
    """The class of an object; that of an aggregate has its operands as members."""
    assert call.result is not None
    yield from _template_line(call)
    yield f"struct {call.cpp} {{"
    if call.form is Form.AGGREGATE:
        yield from (f"  {_TYPES[kind]} {name};" for name, kind in call.operands)
        # Address generators have the methods of tensor accessors that take a page.
        yield "  uint64_t get_noc_addr("
        yield "      uint32_t id, uint32_t offset = 0, uint8_t noc = noc_index) const;"
    else:
        start = "  constexpr" if call.constant else " "
        yield f"{start} {call.cpp}({_parameters(call)}){' {}' if call.constant else ';'}"
        yield from (f"  {line}" for line in _methods(call.result[1]))
    yield "};"
