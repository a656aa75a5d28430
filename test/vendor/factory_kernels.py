"""Kernels of ttnn with the arguments of its factories, here and by tt-metal's own compiler.

    TT_METAL_LOG_KERNELS_COMPILE_COMMANDS=1 TT_METAL_CACHE=FOLDER/ ref ttnn mock SCRIPT > LOG
    PYTHONPATH=. python test/vendor/factory_kernels.py LOG ROOT
    PYTHONPATH=. python test/vendor/factory_kernels.py LOG ROOT --damaged 500

LOG holds the commands by which tt-metal compiled the kernels of some operations of ttnn, ROOT is
the folder of ttnn's package. Of each kernel the arguments, macros, circular buffers and names are
read from the command and from the headers that were generated beside it. The first form prints how
many kernels compile here, for each processor, and what is wrong with the others; the second one
changes a word of kernels that compile, and compares with what tt-metal's compiler says then.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.include_path import IncludePath
from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import Role
from ttmlir.optable.kernel.releases import Release
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.calls.fabric_api import FabricApi
from ttmlir.sim.execution.run import COMPUTE_APIS, build_facts_of_chip
from ttmlir.sim.kernels import compile_kernel
from ttmlir.sim.kernels.build import BindingNames, ScratchpadNames, TensorNames
from ttmlir.sim.machine.device import SimChip

PROCESSORS = {
    "brisc": Role.BRISC,
    "ncrisc": Role.NCRISC,
    "trisc0": Role.UNPACK,
    "trisc1": Role.MATH,
    "trisc2": Role.PACK,
}
FORMATS = {0: DataType.F32, 1: DataType.F16, 9: DataType.U16, 24: DataType.U32, 30: DataType.U8}
_OWN = re.compile(
    r"TENSIX_FIRMWARE|LOCAL_MEM_EN|PROCESSOR_INDEX|DST_SYNC_MODE|(UCK|COMPILE_FOR|ARCH|NOC)_\w+|KERNEL_BUILD|"
    r"FULL_KERNEL_NAME|\w*_BANKS|DISPATCH_MESSAGE_ADDR"
)
"""Macros of the build that are known here."""


@dataclass(frozen=True)
class Compilation:
    """A kernel that was compiled for a processor."""

    folder: Path
    processor: str
    command: str

    def read(self, name: str) -> str:
        """A generated file; empty if there is none."""
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    @property
    def kernel(self) -> str:
        """The file of the kernel; empty if it was given as text."""
        text = self.read("kernel_includes.hpp") or self.read("chlkc_math.cpp")
        return ["", *re.findall(r'#include "(/[^"]+)"', text)][-1]

    @property
    def entry(self) -> str:
        """A `kernel_main` that the build made of the signature of another function, if it did."""
        text = self.read("kernel_includes.hpp") or self.read("chlkc_math.cpp")
        found = re.search(r"^void kernel_main\(\) \{.*?^\}", text, re.DOTALL | re.MULTILINE)
        return "" if found is None else f"\n{found[0]}\n"


def find_compilations(log: Path) -> Iterator[Compilation]:
    """Those of kernels, not of firmware."""
    for line in log.read_text(errors="replace").splitlines():
        _, found, command = line.partition("g++ compile cmd: ")
        place = re.search(r"-o (\S+/kernels/\S+?/\d+)/(\w+)/", command)
        if found and "-DKERNEL_BUILD" in command and place and place[2] in PROCESSORS:
            yield Compilation(Path(place[1]), place[2], command.rpartition(" (build.cpp")[0])


def has_wide_registers(made: Compilation) -> bool:
    """Whether DST has 32 bits."""
    found = re.search(r"DST_ACCUM_MODE = (\w+)", made.read("chlkc_descriptors.h"))
    return found is not None and found[1] == "true"


def find_network(made: Compilation) -> int:
    """The network of a kernel for data movement."""
    found = re.search(r"-DNOC_INDEX=(\d)", made.command)
    return 0 if found is None else int(found[1])


def read_defines(made: Compilation) -> tuple[dict[str, str], list[int]]:
    """The macros of a kernel but for those of every build, and its compile-time arguments."""
    defines = {
        name: value or "1"
        for name, value in re.findall(r" -D(\w+)(?:=(.*?))?(?= -|$)", made.command)
    }
    defines |= dict(
        re.findall(r"#define (\w+(?:\([^)]*\))?) ?(.*)", made.read("defines_generated.h"))
    )
    positional = defines.pop("KERNEL_COMPILE_TIME_ARGS", "")
    own = {name: each for name, each in defines.items() if not _OWN.fullmatch(name)}
    return own, [int(each) for each in positional.split(",") if each]


def compile_here(made: Compilation, text: str, root: str) -> str:
    """What is wrong with the text of a kernel here; empty if nothing is."""
    role = PROCESSORS[made.processor]
    defines, positional = read_defines(made)
    named = re.findall(r'\{"(\w+)",\s*(\d+)\}', made.read("named_ct_arg_map_generated.h"))
    formats = re.search(
        r"unpack_src_format\[\d+\] = \{([\d,\s]*)\}", made.read("chlkc_descriptors.h")
    )
    numbers = [] if formats is None else [int(each) for each in formats[1].split(",")[:32]]
    buffers = {cb: FORMATS.get(x, DataType.BF16) for cb, x in enumerate(numbers) if x != 255}
    build = build_facts_of_chip(
        SimChip.of_board("p150"), buffers, role,
        settings=ComputeSettings(fp32_dest_acc_en=has_wide_registers(made)),
        noc_index=find_network(made),
    )  # fmt: skip
    try:
        compile_kernel(
            text + made.entry,
            made.kernel,
            role,
            api=COMPUTE_APIS.get(role, FabricApi),
            defines=defines,
            compile_time_args=positional,
            named_compile_time_args={name: int(value) for name, value in named},
            arch_macro="ARCH_BLACKHOLE",
            build=replace(build, names=read_names(made)),
            release=Release.LATE_2026,
            include_path=IncludePath.of_kernel(
                made.kernel, (root, f"{root}/ttnn", f"{root}/ttnn/cpp"), root
            ),
        )
    except CppSyntaxError as error:
        return error.message
    return ""


def read_names(made: Compilation) -> BindingNames:
    """What the factory gives names."""
    arguments = made.read("kernel_args_generated.h")
    listed = re.findall(r"experimental::(\w+)<[\w:]+> (\w+)\{(\w+?)u?\}", arguments)
    common = [name for kind, name, _ in listed if kind == "CrtaArg"]
    # Those without names come after the addresses of tensors and scratchpads.
    start = re.search(r"get_common_vararg\(.*\((\d+) \+ idx\)", arguments)
    common += [f"({each})" for each in range(len(common), int(start[1]) if start else 0)]
    bound = made.read("kernel_bindings_generated.h")
    tensors = re.findall(r"using (\w+)_t = \S*TensorBindingToken<(\d+)u, (\d+)u>", bound)
    return BindingNames(
        arguments=tuple(name for kind, name, _ in listed if kind == "RtaArg"),
        common_arguments=tuple(common),
        constants=tuple((name, int(x, 0)) for kind, name, x in listed if kind == "CtaVal"),
        circular_buffers=_numbers(r"DFBBindingToken<[^>]*> (\w+)\{(\d+)", bound),
        semaphores=_numbers(r"Semaphore\w*Token\w*(?:<[^>]*>)? (\w+)\{(\d+)", bound),
        tensor_lists=tuple(
            (name, tuple(re.findall(r"\w+", listed)))
            for name, listed in re.findall(r"auto (\w+) = std::make_tuple\((.*?)\)", bound)
        ),
        scratchpads=tuple(
            (name, ScratchpadNames(address=int(address), size=int(size)))
            for name, address, size in re.findall(
                r"ScratchpadBindingToken (\w+)\{(\d+)u, (\d+)u", bound
            )
        ),
        tensors=tuple(
            (name, TensorNames(layout=int(layout), address=int(address) // 4))  # in bytes there
            for name, layout, address in tensors
        ),
    )


def _numbers(pattern: str, text: str) -> tuple[tuple[str, int], ...]:
    return tuple((name, int(number)) for name, number in re.findall(pattern, text))


_WORD = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"]*"|[A-Za-z_]\w*|\d+u?|[;,()]', re.DOTALL)
_KEYWORDS = ("uint32_t", "constexpr", "const", "auto", "void", "return", "while", "break")


def damage(text: str, random: Random) -> str:
    """A kernel with another word behind its entry; the same text if none was found."""
    start = max(text.find("kernel_main"), 0)
    words = [each for each in _WORD.finditer(text) if each.start() > start]
    for _ in range(200):
        word, kind = random.choice(words), random.randrange(5)
        old, new = word[0], ""
        if kind == 0 and re.fullmatch(r"[a-z_]\w{3,}", old) and old not in _KEYWORDS:
            new = old[:-1]
        elif kind == 1 and old == "uint32_t":
            new = random.choice(("uint32", "void", "const uint32_t"))
        elif kind == 2 and re.fullmatch(r"\d+u?", old):
            new = random.choice(("x", "-1", '"s"', "99999"))
        elif kind == 3 and old == "(":
            new = "(0, "
        elif kind == 4 and old in ("constexpr", "auto"):
            new = "const" if old == "constexpr" else "uint32_t"
        elif kind == 4 and old in (";", ",", ")"):
            new = " "
        if new:
            return text[: word.start()] + new + text[word.end() :]
    return text


def compile_there(made: Compilation, text: str) -> str:
    """What is wrong with the text of a kernel for tt-metal's compiler; empty if nothing is."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "kernel"
        shutil.copytree(made.folder, folder, ignore=shutil.ignore_patterns("*.elf*", "*.o*"))
        changed = Path(work) / Path(made.kernel).name
        changed.write_text(text)
        for path in (*folder.glob("*.cpp"), *folder.glob("*.hpp")):
            path.write_text(path.read_text().replace(made.kernel, str(changed)))
        words = shlex.split(made.command.replace(str(made.folder), str(folder)))
        words[words.index("-o") + 1] = os.devnull
        if "-MF" in words:
            del words[words.index("-MF") : words.index("-MF") + 2]
        words = [each for each in words if each != "-MMD"]
        words += "-fsyntax-only", f"-I{Path(made.kernel).parent}"
        run = subprocess.run(
            words, capture_output=True, text=True, check=False, cwd=folder / made.processor
        )
        errors = [line for line in run.stderr.splitlines() if "error" in line]
        return "" if run.returncode == 0 else (errors or ["refused"])[0]


def compare_damaged(compilations: list[Compilation], root: str, count: int, seed: int) -> None:
    """Print where the compilers disagree, and how often they agree."""
    random = Random(seed)
    agreed = done = 0
    random.shuffle(compilations)
    for made in compilations * 5:
        text = Path(made.kernel).read_text()
        if done == count:
            break
        if made.processor in ("trisc0", "trisc2") or compile_here(made, text, root):
            continue
        changed = damage(text, random)
        here, there = compile_here(made, changed, root), compile_there(made, changed)
        done += 1
        agreed += bool(here) == bool(there)
        if bool(here) != bool(there):
            print(f"{Path(made.kernel).name}: here: {here or 'ok'}; there: {there or 'ok'}")
    print(f"{agreed} of {done} damaged kernels have the same verdict")


def main() -> int:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("root", help="the folder of ttnn's package")
    parser.add_argument("--damaged", type=int, default=0, help="compare so many damaged kernels")
    parser.add_argument("--seed", type=int, default=5, help="of the damage")
    options = parser.parse_args()
    compilations = [each for each in find_compilations(options.log) if each.kernel]
    if options.damaged:
        compare_damaged(compilations, options.root, options.damaged, options.seed)
        return 0
    causes = Counter[str]()
    for made in compilations:
        causes[compile_here(made, Path(made.kernel).read_text(), options.root)] += 1
    print(f"{causes.pop('', 0)} of {len(compilations)} kernels compile")
    for message, number in causes.most_common():
        print(f"{number:4} {message}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
