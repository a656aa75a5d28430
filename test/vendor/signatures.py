"""The ttnn library's C++, as recorded from its binaries: whether calls fit, and headers to compile.

    python test/vendor/signatures.py PROGRAM.cpp...

compiles programs that ttmlir has written, without the library.
"""

from __future__ import annotations

import json
import lzma
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from ttmlir.dialects import emitc
from ttmlir.target.cpp.emitter import literal_text, type_text

RECORDED = Path(__file__).resolve().parent / "Inputs" / "cpp_signatures.json.xz"
COMPILER = shutil.which("g++")
HEADER = "ttnn-precompiled.hpp"
_NAME = re.compile(r"\b(?:tt|ttnn|ttsl)(?:::\w+)+(<)?")
_STRANGE = re.compile(r"[('{]|[A-Z]\w*::|\b(?!(?:std|tt|ttnn|ttsl)\b)(?<!:)\w+::")
_PYTHON_TYPES = {
    "bool": "bool",
    "int": "uint32_t",
    "str": "std::string",
    "None": "void",
    "collections.abc.Sequence[int]": "std::array<uint32_t, 3>",
    "ttnn._ttnn.activation.UnaryWithParam": "ttnn::operations::unary::BasicUnaryWithParam<float>",
    "ttnn._ttnn.multi_device.MeshDevice": (
        "std::shared_ptr<tt::tt_metal::distributed::MeshDevice>"
    ),
    "ttnn._ttnn.operations.sliding_window.Op2DSliceConfig.SliceTypeEnum": "SliceType",
    "ttnn._ttnn.tensor.CoreCoord": "tt::xy_pair",
    "ttnn._ttnn.tensor.Tensor": "ttnn::Tensor",
    **{
        f"ttnn._ttnn.tensor.{name}": f"tt::tt_metal::{name}"
        for name in ("CoreRangeSet", "DataType", "Layout", "MathFidelity", "TensorMemoryLayout")
    },
}
_START = """\
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>
struct bfloat16 {};
template <typename T> T given();
namespace tt {
struct xy_pair { xy_pair(std::size_t, std::size_t); };
}
namespace ttsl {
template <typename T, std::size_t N = 8> struct SmallVector : std::vector<T> {
  using std::vector<T>::vector;
};
template <typename T, typename Tag> struct StrongType { explicit StrongType(T); };
template <typename T> struct optional_reference {
  optional_reference(std::nullopt_t);
  template <typename U> optional_reference(const U &);
};
}
namespace tt::tt_metal {
struct Shape {
  explicit Shape(std::initializer_list<uint32_t> values) : extents(values) {}
  std::size_t rank() const { return extents.size(); }
  uint32_t operator[](int32_t place) const { return extents[place]; }
  std::vector<uint32_t> extents;
};
}
"""
_MIDDLE = """\
namespace ttnn::operations::unary {
template <typename... T> struct BasicUnaryWithParam {
  BasicUnaryWithParam(UnaryOpType);
  BasicUnaryWithParam(UnaryOpType, std::common_type_t<T...>);
  BasicUnaryWithParam(UnaryOpType, std::vector<std::common_type_t<T...>>);
};
using UnaryWithParam = BasicUnaryWithParam<float>;
using EltwiseUnaryWithParam = BasicUnaryWithParam<float, int, unsigned int>;
}
"""
_END = """\
namespace ttnn {
extern const tt::tt_metal::MemoryConfig DRAM_MEMORY_CONFIG, L1_MEMORY_CONFIG;
template <typename T> requires std::is_same_v<T, float> || std::is_same_v<T, int>
Tensor full(const tt::tt_metal::Shape &, T, const std::optional<tt::tt_metal::DataType> & = {},
    const std::optional<tt::tt_metal::Layout> & = {},
    std::optional<std::reference_wrapper<tt::tt_metal::distributed::MeshDevice>> = {},
    const std::optional<tt::tt_metal::MemoryConfig> & = {}, std::optional<Tensor> = {});
template <typename T>
Tensor slice(const Tensor &, const ttsl::SmallVector<T> &, const ttsl::SmallVector<T> &,
    const ttsl::SmallVector<T> &, const std::optional<tt::tt_metal::MemoryConfig> & = {},
    const std::optional<Tensor> & = {}, const std::optional<float> & = {},
    const std::optional<tt::tt_metal::CoreRangeSet> & = {});
}
"""
"""Templates that the library's headers define, so that its binaries have no symbols of them."""
_INLINE = {
    "tt::tt_metal::CoreRangeSet": ["CoreRangeSet();"],
    "tt::tt_metal::ShardSpec": [
        "ShardSpec(const CoreRangeSet &, const std::array<uint32_t, 2> &, ShardOrientation);"
    ],
    "tt::tt_metal::TensorLayout": [
        "TensorLayout(DataType, const PageConfig &, const MemoryConfig &);"
    ],
    "tt::tt_metal::Alignment": [],
    "tt::tt_metal::distributed::MeshComposerConfig": [
        "ttsl::SmallVector<int> dims; std::optional<MeshShape> mesh_shape_override{};"
    ],
    "tt::tt_metal::distributed::MeshMapperConfig": [
        "struct Replicate {}; struct Shard { int dim; };",
        "ttsl::SmallVector<std::variant<Replicate, Shard>> placements;",
        "std::optional<MeshShape> mesh_shape_override{};",
    ],
    "ttnn::distributed::MeshToTensor": [
        "static MeshToTensor create(const tt::tt_metal::distributed::MeshDevice &, "
        "const tt::tt_metal::distributed::MeshComposerConfig &);"
    ],
    "ttnn::distributed::TensorToMesh": [
        "static TensorToMesh create(const tt::tt_metal::distributed::MeshDevice &, "
        "const tt::tt_metal::distributed::MeshMapperConfig &);"
    ],
    "ttnn::Tensor": [
        "std::shared_ptr<struct Content> content;",
        "Tensor();",
        "tt::tt_metal::DataType dtype() const;",
        "tt::tt_metal::Layout layout() const;",
        "const tt::tt_metal::Shape &logical_shape() const;",
        "tt::tt_metal::distributed::MeshDevice *device() const;",
        "template <typename T> std::vector<T> to_vector() const;",
    ],
}
"""Members that headers define, or whose results no symbol tells."""


@cache
def recorded() -> dict[str, Any]:
    """What `record_signatures.py` has written."""
    return json.loads(lzma.decompress(RECORDED.read_bytes()))


# --- Headers --------------------------------------------------------------------------------------


def write_headers(folder: Path) -> None:
    """Declare the library's functions, and put empty files where its other headers are."""
    own = files("ttmlir.target.cpp").joinpath(HEADER).read_text(encoding="utf-8")
    (folder / HEADER).write_text(own, encoding="utf-8")
    for path in re.findall(r'^#include [<"](\w[\w-]*/.+)[>"]$', own, re.MULTILINE):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#pragma once\n", encoding="utf-8")
    (folder / "ttnn" / "types.hpp").write_text("\n".join(_declarations()), encoding="utf-8")
    core = folder / "ttnn" / "core.hpp"
    core.write_text('#pragma once\n#include "ttnn/types.hpp"\n', encoding="utf-8")


def _declarations() -> Iterator[str]:
    known = recorded()
    overloads = {
        name: [each for each in listed if _is_plain(each[1:])]
        for name, (_, *listed) in known["functions"].items()
    }
    texts = [text for listed in overloads.values() for each in listed for text in each[1:]]
    texts += [
        text for listed in (*known["constructors"].values(), *known["methods"].values())
        for types in listed for text in types
    ]  # fmt: skip
    own = {
        *known["enums"], *known["structures"], *_INLINE, "tt::xy_pair", "tt::tt_metal::Shape",
    }  # fmt: skip
    names = {match[0] for text in texts for match in _NAME.finditer(text) if match[1] is None}
    yield _START
    for name, members in known["enums"].items():
        yield _within(name, f"enum class @ {{ {', '.join(members)} }};")
    constructed = {name.rpartition("::")[0]: each for name, each in known["constructors"].items()}
    classes = sorted({*names, *constructed, *_INLINE} - own | {*_INLINE, *constructed})
    for name in (*classes, *known["structures"]):
        yield _within(name, "struct @;")
    yield _MIDDLE
    for name in _in_order(classes):
        yield _within(name, f"struct @ {{ {' '.join(_members(name, constructed))} }};")
    for name, fields in known["structures"].items():
        yield _structure(name, fields)
    for name, (gives, *_) in known["functions"].items():
        for required, *types in overloads[name]:
            yield _function(name, gives, required, types)
    yield _END


def _is_plain(types: Sequence[str]) -> bool:
    """Whether types are those of values: none of a member of a class, or of a function."""
    return not any(_STRANGE.search(each) for each in types)


def _within(name: str, form: str) -> str:
    """A declaration in the namespace of a name, which stands for `@`."""
    space, _, short = name.rpartition("::")
    return f"namespace {space} {{ {form.replace('@', short)} }}"


def _in_order(classes: Iterable[str]) -> list[str]:
    """Classes that others hold in a container first."""
    last = ("TensorSpec", "MeshComposerConfig", "MeshMapperConfig")
    return sorted(classes, key=lambda name: (name.endswith(last), "ShardSpec" not in name))


def _members(name: str, constructed: Mapping[str, Sequence[Sequence[str]]]) -> Iterator[str]:
    short = name.rpartition("::")[2]
    listed = constructed.get(name, ())
    for types in listed:
        if types not in ([f"{name}&&"], [f"{name} const&"]):
            yield f"{short}({_parameters(types, listed)});"
    yield from _INLINE.get(name, ())
    if name == "ttnn::Tensor":
        for method, listed in recorded()["methods"].items():
            if method.startswith("ttnn::Tensor::from_vector"):
                for first, second, *rest in listed:
                    others = ", ".join(f"{each} = {{}}" for each in rest)
                    number = re.findall(r"<(.*)>$", method)[0]
                    yield f"static Tensor from_vector_{len(number)}({first}, {second}, {others});"
        yield (
            "template <typename T> static Tensor from_vector(std::vector<T> &&, "
            "const tt::tt_metal::TensorSpec &);"
        )


def _parameters(types: Sequence[str], overloads: Sequence[Sequence[str]]) -> str:
    """Those of a constructor; a last one that is optional may be left out."""
    is_optional = bool(types) and types[-1].startswith("std::optional<")
    form = "{} = {{}}" if is_optional and types[:-1] not in overloads else "{}"
    return ", ".join([*types[:-1], *map(form.format, types[-1:])])


def _structure(name: str, fields: Sequence[Sequence[str]]) -> str:
    known = [(field, _type(kind)) for field, kind in fields]
    lines = [f"{kind} {field}{_initial(kind)};" for field, kind in known if "." not in kind]
    if name.endswith("Op2DSliceConfig"):
        lines.insert(0, "enum class SliceType { L1_FULL, DRAM_HEIGHT, DRAM_WIDTH };")
    return _within(name, f"struct @ {{ {' '.join(lines)} }};")


def _type(python: str) -> str:
    """A type of Python in C++."""
    parts = _split(python, " | ")
    if len(parts) > 1:
        others = [_type(each) for each in parts if each != "None"]
        inner = others[0] if len(others) == 1 else f"std::variant<{', '.join(others)}>"
        return f"std::optional<{inner}>" if "None" in parts else inner
    for kind, form in (("list", "std::vector<{}>"), ("tuple", "std::tuple<{}>")):
        if python.startswith(f"{kind}["):
            return form.format(", ".join(map(_type, _split(python[len(kind) + 1 : -1], ", "))))
    return _PYTHON_TYPES.get(python, python)


def _split(text: str, between: str) -> list[str]:
    """The parts that stand outside of brackets."""
    parts, depth = [""], 0
    for part in re.split(rf"(\[|\]|{re.escape(between)})", text):
        depth += (part == "[") - (part == "]")
        if part == between and depth == 0:
            parts.append("")
        else:
            parts[-1] += part
    return parts


def _initial(kind: str) -> str:
    return "{0, 0}" if kind == "tt::xy_pair" else "{}"


def _function(name: str, gives: str, required: int, types: Sequence[str]) -> str:
    base, _, template = name.partition("<")
    space, _, short = base.rpartition("::")
    result = _type(gives)
    if "." in result or result in ("dict", "object"):
        return ""
    parameters = ", ".join(
        each if number < required else f"{each} = given<{each}>()"
        for number, each in enumerate(types)
    )
    head = f"template <{_template_of(template)}> " if template else ""
    return f"namespace {space} {{ {head}{result} {short}({parameters}); }}"


def _template_of(arguments: str) -> str:
    return "typename T, std::size_t N" if "," in arguments else "typename T"


# --- Calls ----------------------------------------------------------------------------------------


def misfits(module: ModuleOp) -> list[str]:
    """What calls of the library in a module of emitc give it that it does not take.

    A compiler knows more; this needs none.
    """
    found: list[str] = []
    for op in module.walk():
        callee = op.properties["callee"] if isinstance(op, emitc.CallOpaqueOp) else None
        if isinstance(callee, StringAttr) and callee.data.startswith("ttnn::"):
            overloads, given = _overloads(callee.data), _given(op)
            if overloads is not None and not any(_fits(each, given) for each in overloads):
                found.append(f"{callee.data}({', '.join(given)}) is none of {overloads}")
    return found


@cache
def _overloads(callee: str) -> list[list[Any]] | None:
    """The required count and the types of each; none of what headers define."""
    if callee in ("ttnn::full", "ttnn::DeviceGetter::getInstance"):
        return None
    base = callee.partition("<")[0]
    short = base.rpartition("::")[2]
    own = files("ttmlir.target.cpp").joinpath(HEADER).read_text(encoding="utf-8")
    exported = re.findall(rf"^using ((?:\w+::)+{short});$", own, re.MULTILINE)
    names = {base, *(f"ttnn::{each}" for each in exported)}
    return [
        each
        for name, (_, *listed) in recorded()["functions"].items()
        if name.partition("<")[0] in names
        for each in listed
    ]


def _given(op: Operation) -> list[str]:
    """The arguments: types of values in angle brackets, and texts."""
    types = [f"<{type_text(each.type)}>" for each in op.operands]
    args = op.properties.get("args")
    if not isinstance(args, ArrayAttr):
        return types
    return [
        types[each.value.data]
        if isinstance(each, IntegerAttr) and isinstance(each.type, IndexType)
        else literal_text(each)
        for each in args
    ]


def _fits(overload: Sequence[Any], given: Sequence[str]) -> bool:
    required, *types = overload
    return required <= len(given) <= len(types) and all(map(_takes, types, given))


def _takes(type_: str, given: str) -> bool:
    """Whether a parameter may get an argument."""
    if given in ("std::nullopt", "{}"):
        return type_.startswith("std::optional<" if given == "std::nullopt" else "std::span<")
    if given.startswith("<"):
        known = given[1:-1].replace("&", "").replace("ttnn::MeshDevice", "MeshDevice").strip()
        return known in type_ and (known != "MeshDevice" or "MeshDevice*" not in type_)
    if given in ("true", "false"):
        return re.search(r"\bbool\b", type_) is not None
    if given.startswith('"'):
        return "std::string" in type_
    if re.fullmatch(r"-?[\d.]+(e[+-]\d+)?f|-?INFINITY|NAN", given):
        return "float" in type_
    if re.fullmatch(r"-?\d+|INT32_MIN", given):
        return re.search(r"\b(int|unsigned|long|char)\b", type_) is not None
    name = re.split(r"[<({]", given)[0]
    parts = name.split("::")
    made = parts[-2] if given == name else parts[-1]
    forms = {"vector": ("std::span<", "std::vector<"), "UnaryWithParam": ("BasicUnaryWithParam",)}
    forms["SmallVector"] = ("SmallVector<", "std::span<")
    return any(form in type_ for form in forms.get(made, (made,)))


# --- Definitions ----------------------------------------------------------------------------------


def definitions(counts: Mapping[str, int]) -> str:
    """Functions of the library that pass their first arguments to those of namespace `host`.

    `counts` has their names, and how many arguments those take.
    """
    lines: list[str] = []
    for name, count in counts.items():
        _, *overloads = recorded()["functions"][name]
        space, _, short = name.rpartition("::")
        for _, *types in overloads:
            is_value = types[0].startswith(("ttnn::Tensor", "std::vector", "tt::"))
            is_short = len(types) == 3 and types[-1] == "bool"
            others = ("tt::tt_metal::Shape", "tt::tt_metal::DataType")
            if (
                not is_value
                or is_short
                or (types[1].startswith(others) and _is_other(short, types))
            ):
                continue
            parameters = ", ".join(f"{each} p{number}" for number, each in enumerate(types))
            passed = ", ".join(f"p{number}" for number in range(count))
            lines.append(
                f"namespace {space} {{ Tensor {short}({parameters}) "
                f"{{ return host::{short}({passed}); }} }}"
            )
    return "\n".join(lines)


def _is_other(name: str, types: Sequence[str]) -> bool:
    """Whether an overload takes what calls here do not give."""
    return name in ("repeat", "reshape") or types[2] == "tt::tt_metal::DataType const&"


# --- Compiling ------------------------------------------------------------------------------------


def compile_programs(programs: Mapping[str, str], folder: Path) -> str:
    """What the compiler says of programs, each of which includes the header in its first line."""
    write_headers(folder)
    lines = [f'#include "{HEADER}"']
    for number, (name, text) in enumerate(programs.items()):
        before, _, after = text.partition(f'#include "{HEADER}"')
        lines += [f"namespace program_{number} {{", f'#line 1 "{name}"', before + after, "}"]
    (folder / "programs.cpp").write_text("\n".join(lines), encoding="utf-8")
    assert COMPILER is not None
    command = [COMPILER, "-std=c++20", "-fsyntax-only", "-I.", "programs.cpp"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr


def main(paths: Sequence[str]) -> int:
    """Compile programs, and print what the compiler says."""
    with TemporaryDirectory() as folder:
        texts = {path: Path(path).read_text(encoding="utf-8") for path in paths}
        said = compile_programs(texts, Path(folder))
    print(said, end="")
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
