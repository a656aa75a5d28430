"""Kernels of a program: which function, on which cores, with which arguments and settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.syntax import (
    expect,
    parse_keyword,
    parse_nested,
    parse_unsigned,
)
from ttmlir.dialects.ttmetal.dispatch import Area, CoreRangeAttr
from ttmlir.layout.enums import KeywordEnum, MathFidelity, NocIndex

_SYMBOL = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)
_CPP = "::mlir::tt::ttmetal::"


class KernelArgKind(KeywordEnum):
    """What a word that a kernel gets is."""

    CB_PORT = 0, "cb_port"
    """The number of a circular buffer, by the operand that it belongs to."""
    BUFFER_ADDRESS = 1, "buffer_address"
    """The address of an operand's buffer."""
    SEMAPHORE = 2, "semaphore"
    """The number of a semaphore."""


class UnpackToDestMode(KeywordEnum):
    """How the tiles of a circular buffer get to DST."""

    DEFAULT = 0, "default"
    FP32 = 1, "fp32"
    """With all bits of 32-bit numbers."""


@dataclass(frozen=True)
class KernelArg:
    """One argument."""

    kind: KernelArgKind
    operand_index: int


@dataclass(frozen=True)
class KernelArgs:
    """The arguments of a kernel: those that it is compiled with, and those of each run."""

    ct_args: tuple[KernelArg, ...] = ()
    rt_args: tuple[KernelArg, ...] = ()


@dataclass(frozen=True)
class NocKernel:
    """A kernel that moves data."""

    symbol: str
    cores: Area
    args: KernelArgs
    noc: NocIndex


@dataclass(frozen=True)
class ComputeKernel:
    """A kernel that computes."""

    symbol: str
    cores: Area
    args: KernelArgs
    math_fidelity: MathFidelity = MathFidelity.HIFI4
    fp32_dest_acc_en: bool = False
    dst_full_sync_en: bool = False
    unpack_to_dest_modes: tuple[UnpackToDestMode, ...] = (UnpackToDestMode.DEFAULT,)
    math_approx_mode: bool = False


@irdl_attr_definition
class KernelArgAttr(Data[KernelArg]):
    """An argument of a kernel: `#ttmetal.kernel_arg<cb_port[0]>`."""

    name = "ttmetal.kernel_arg"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> KernelArg:
        """Read `<kind[number]>`."""
        expect(parser, "<")
        kind = parse_keyword(parser, KernelArgKind, f"{_CPP}KernelArgType")
        expect(parser, "[")
        index = parse_unsigned(parser)
        expect(parser, "]")
        expect(parser, ">")
        return KernelArg(kind, index)

    def print_parameter(self, printer: Printer) -> None:
        """Write `<kind[number]>`."""
        printer.print_string(f"<{self.data.kind.keyword}[{self.data.operand_index}]>")


@irdl_attr_definition
class KernelArgsAttr(Data[KernelArgs]):
    """The arguments of a kernel: `#ttmetal.kernel_args<ct_args = [<cb_port[0]>]>`."""

    name = "ttmetal.kernel_args"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> KernelArgs:
        """Read `<ct_args = [...], rt_args = [...]>`, each of which may be left out."""
        lists: dict[str, tuple[KernelArg, ...]] = {}
        expect(parser, "<")
        for name in ("ct_args", "rt_args"):
            if parser.parse_optional_keyword(name) is not None:
                expect(parser, "=")
                found = parser.parse_comma_separated_list(
                    parser.Delimiter.SQUARE, lambda: parse_nested(parser, KernelArgAttr).data
                )
                lists[name] = tuple(found)
                parser.parse_optional_punctuation(",")
        expect(parser, ">")
        return KernelArgs(**lists)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        separator = "<"
        for name, args in (("ct_args", self.data.ct_args), ("rt_args", self.data.rt_args)):
            if args:
                texts = ", ".join(f"<{arg.kind.keyword}[{arg.operand_index}]>" for arg in args)
                printer.print_string(f"{separator}{name} = [{texts}]")
                separator = ", "
        printer.print_string("<>" if separator == "<" else ">")


def _parse_kernel(parser: AttrParser) -> tuple[str, Area, KernelArgs]:
    expect(parser, "<")
    symbol = parser.parse_symbol_name().data
    expect(parser, ",")
    cores = parse_nested(parser, CoreRangeAttr).data
    expect(parser, ",")
    args = parse_nested(parser, KernelArgsAttr).data
    expect(parser, ",")
    return symbol, cores, args


def _print_kernel(printer: Printer, kernel: NocKernel | ComputeKernel) -> None:
    printer.print_string("<@")
    if _SYMBOL.fullmatch(kernel.symbol):
        printer.print_string(kernel.symbol)
    else:
        printer.print_string_literal(kernel.symbol)
    for attr in (CoreRangeAttr(kernel.cores), KernelArgsAttr(kernel.args)):
        printer.print_string(", ")
        printer.print_attribute(attr)


@irdl_attr_definition
class NocConfigAttr(Data[NocKernel]):
    """A kernel that moves data: `#ttmetal.noc_config<@k, #ttmetal.core_range<..>, args, noc0>`."""

    name = "ttmetal.noc_config"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> NocKernel:
        """Read `<@kernel, cores, arguments, network>`."""
        kernel = _parse_kernel(parser)
        noc = parse_keyword(parser, NocIndex, f"{_CPP}NocIndex")
        expect(parser, ">")
        return NocKernel(*kernel, noc)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        _print_kernel(printer, self.data)
        printer.print_string(f", {self.data.noc.keyword}>")


@irdl_attr_definition
class ComputeConfigAttr(Data[ComputeKernel]):
    """A kernel that computes.

        #ttmetal.compute_config<@k, #ttmetal.core_range<0x0, 8x8>, #ttmetal.kernel_args<..>,
            hifi4, false, false, [default]>

    After the fidelity of products: whether DST holds 32-bit numbers, whether math and packer wait
    for each other, whether functions are coarse ones (left out if not), and how each circular
    buffer is unpacked.
    """

    name = "ttmetal.compute_config"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ComputeKernel:
        """Read `<@kernel, cores, arguments, fidelity, flag, flag, flag?, [modes]>`."""
        kernel = _parse_kernel(parser)
        fidelity = parse_keyword(parser, MathFidelity, f"{_CPP}MathFidelity")
        flags: list[bool] = []
        for _ in range(2):
            expect(parser, ",")
            flags.append(parser.parse_boolean())
        expect(parser, ",")
        is_approximate = parser.parse_optional_boolean()
        if is_approximate is not None:
            expect(parser, ",")
        modes = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE,
            lambda: parse_keyword(parser, UnpackToDestMode, f"{_CPP}UnpackToDestMode"),
        )
        expect(parser, ">")
        return ComputeKernel(
            *kernel, fidelity, flags[0], flags[1], tuple(modes), bool(is_approximate)
        )

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        kernel = self.data
        _print_kernel(printer, kernel)
        flags = [kernel.fp32_dest_acc_en, kernel.dst_full_sync_en]
        if kernel.math_approx_mode:
            flags.append(True)
        printer.print_string(
            f", {kernel.math_fidelity.keyword}, {', '.join(str(flag).lower() for flag in flags)}, "
            f"[{_keywords(kernel.unpack_to_dest_modes)}]>"
        )


def _keywords(modes: Sequence[UnpackToDestMode]) -> str:
    return ", ".join(mode.keyword for mode in modes)
