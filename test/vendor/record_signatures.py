"""Record the signatures of the ttnn library's functions in C++, as its binaries have them.

    python test/vendor/record_signatures.py test/vendor/Inputs/cpp_signatures.json.xz

Runs in a Python that has the library, with `nm` and `c++filt`. The symbols say the types of
parameters and constructors; Python's own signatures say which parameters may be left out, what
enumerators there are, and the fields of configurations, whose order the binaries know, too.
`signatures.py` reads the file.
"""

from __future__ import annotations

import enum
import importlib.metadata
import json
import lzma
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import ttnn

ROOT = Path(ttnn.__file__).parent
SPACES = (
    "ttnn ttnn::transformer ttnn::experimental ttnn::distributed ttnn::operations::core "
    "ttnn::operations::matmul ttnn::operations::pool ttnn::operations::upsample "
    "ttnn::operations::conv::conv2d ttnn::operations::experimental::conv3d"
).split()
CLASSES = (
    "tt::tt_metal::MemoryConfig tt::tt_metal::CoreRange tt::tt_metal::CoreRangeSet "
    "tt::tt_metal::PageConfig tt::tt_metal::TensorLayout tt::tt_metal::TensorSpec "
    "tt::tt_metal::distributed::MeshShape"
).split()
METHODS = (
    "ttnn::Tensor::from_vector ttnn::Tensor::to_vector ttnn::Tensor::item "
    "tt::tt_metal::distributed::MeshDevice::close"
).split()
ENUMS = {
    "tt::tt_metal": "BufferType DataType Layout MathFidelity ShardOrientation TensorMemoryLayout",
    "tt::tt_fabric": "Topology",
    "ttnn": "TileReshapeMapMode",
    "ttnn::prim": "EmbeddingsType",
    "ttnn::operations::unary": "GeluVariant SigmoidMode UnaryOpType",
}
CONFIGURATIONS = {
    "ttnn": "ComputeKernelConfig",
    "ttnn::prim": "Conv2dConfig",
    "ttnn::experimental::prim": "Conv3dConfig",
    "ttnn::operations::matmul": (
        "MatmulMultiCoreReuseMultiCast1DProgramConfig MatmulMultiCoreReuseMultiCastProgramConfig "
        "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig MatmulMultiCoreReuseProgramConfig"
    ),
    "ttnn::operations::op_slicing": "Op2DSliceConfig",
    "ttnn::operations::transformer": "SDPAProgramConfig",
}
OTHERWISE = {"ComputeKernelConfig": "WormholeComputeKernelConfig"}
"""What Python calls a configuration."""


def main(path: Path) -> int:
    """Write the file."""
    symbols = [*demangle("build/lib/_ttnncpp.so"), *demangle("build/lib/libtt_metal.so")]
    known = {
        "version": importlib.metadata.version("ttnn"),
        "functions": functions(symbols),
        "methods": signatures(symbols, METHODS),
        "constructors": signatures(
            symbols, [f"{name}::{name.rpartition('::')[2]}" for name in CLASSES]
        ),
        "enums": enumerators(),
        "structures": structures(),
    }
    text = json.dumps(known, indent=0, sort_keys=True)
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(path, len(known["functions"]), "functions")
    return 0


def demangle(library: str) -> Iterator[str]:
    """The names of what a library defines, with parameters."""
    listed = _run(["nm", "-D", "--defined-only", str(ROOT / library)], "")
    names = [line.split()[2] for line in listed.splitlines() if line.split()[1] in "TWVu"]
    return iter(_run(["c++filt"], "\n".join(names)).splitlines())


def _run(command: list[str], given: str) -> str:
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


def signatures(symbols: list[str], names: list[str]) -> dict[str, list[list[str]]]:
    """The types of the parameters of each overload; `name<...>` of instances of templates."""
    wanted, found = set(names), dict[str, list[list[str]]]()
    for symbol in symbols:
        match = re.match(r"(?:(?:void|\S.*>|[\w:]+) )??([\w:]+)(<[^()]*>)?\(", symbol)
        if match is None or match[1] not in wanted:
            continue
        types = split(symbol[match.end() : symbol.rindex(")")])
        overloads = found.setdefault(match[1] + (match[2] or ""), [])
        if types not in overloads:
            overloads.append(types)
    return found


def split(text: str) -> list[str]:
    """The parts between the commas outside of brackets, in shorter words."""
    for long, short in (
        (
            "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
            "std::string",
        ),
        (", 18446744073709551615ul>", ">"),
    ):
        text = text.replace(long, short)
    text = re.sub(r"(std::vector<([\w: ]+)), std::allocator<\2> >", r"\1>", text)
    parts, depth, last = list[str](), 0, ""
    for letter in text:
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            parts.append(last.strip())
            last = ""
        else:
            last += letter
    return [*parts, last.strip()] if last.strip() else parts


def functions(symbols: list[str]) -> dict[str, Any]:
    """Overloads of each function: how many parameters have to be given, and the types of all.

    In front stands what Python says that the function gives.
    """
    pattern = re.compile(r"(?:^|[\w>&] )((?:" + "|".join(SPACES) + r")::[a-z]\w*)(?:<[^()]*>)?\(")
    names = {match[1] for symbol in symbols if (match := pattern.search(symbol))}
    python = dict[str, list[str]]()
    for name, texts in _python_signatures(ttnn._ttnn, set()):
        python.setdefault(name, []).extend(texts)
    found = dict[str, Any]()
    for name, overloads in signatures(symbols, sorted(names)).items():
        texts = python.get(name.partition("<")[0].rpartition("::")[2], [])
        gives = texts[0].rpartition(" -> ")[2] if texts else "ttnn._ttnn.tensor.Tensor"
        defaults = [_are_required(text) for text in texts]
        found[name] = [gives, *([_required(types, defaults), *types] for types in overloads)]
    return found


def _required(types: list[str], python: list[list[bool]]) -> int:
    """How many parameters have no default."""
    known = [sum(each) for each in python if len(each) == len(types)]
    if known:
        return max(known)
    optional = [index for index, each in enumerate(types) if each.startswith("std::optional<")]
    return optional[0] if optional else len(types)


def _are_required(text: str) -> list[bool]:
    """For each parameter whether it has no default."""
    inside = text[text.index("(") + 1 : text.rindex(") ->")].replace("[", "<").replace("]", ">")
    return ["= " not in each for each in split(inside) if each not in ("self", "*", "/")]


def _python_signatures(module: ModuleType, seen: set[str]) -> Iterator[tuple[str, list[str]]]:
    """The signatures of the overloads of each function of the binding."""
    seen.add(module.__name__)
    for name in dir(module):
        each = getattr(module, name)
        if isinstance(each, ModuleType):
            inner = each.__name__
            if inner.startswith("ttnn._ttnn") and "quasar" not in inner and inner not in seen:
                yield from _python_signatures(each, seen)
        elif not isinstance(each, type):
            call = getattr(type(each), "__call__", None)  # noqa: B004 - its signature
            listed = getattr(each, "__nb_signature__", getattr(call, "__nb_signature__", ()))
            if listed:
                yield name, [text for text, *_ in listed]


def enumerators() -> dict[str, list[str]]:
    """Those of the enumerations that calls name."""
    by_name = {each.__name__: each for each in _enums(ttnn._ttnn, set())}
    return {
        f"{space}::{name}": [*by_name[name].__members__]
        for space, names in ENUMS.items()
        for name in names.split()
    }


def _enums(module: ModuleType, seen: set[str]) -> Iterator[type[enum.Enum]]:
    seen.add(module.__name__)
    for name in dir(module):
        each = getattr(module, name)
        if isinstance(each, type) and issubclass(each, enum.Enum):
            if "quasar" not in each.__module__:
                yield each
        elif isinstance(each, ModuleType) and each.__name__ not in seen:
            if each.__name__.startswith("ttnn._ttnn"):
                yield from _enums(each, seen)


def structures() -> dict[str, list[list[str]]]:
    """Names and Python's types of the fields of configurations."""
    return {
        f"{space}::{name}": _fields(_python_class(OTHERWISE.get(name, name)))
        for space, names in CONFIGURATIONS.items()
        for name in names.split()
    }


def _python_class(name: str) -> Any:
    return getattr(ttnn, name, None) or getattr(ttnn.experimental, name)


def _fields(python: Any) -> list[list[str]]:
    for text, *_ in python.__init__.__nb_signature__:
        inside = text[text.index("(") + 1 : text.rindex(") ->")]
        named = [each for each in split(inside) if ":" in each]
        if named:
            pairs = (each.partition(" = ")[0].partition(": ") for each in named)
            return [[name, kind] for name, _, kind in pairs]
    shown = repr(python())
    return [[name, "int"] for name in re.findall(r"(\w+)=", shown)]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
