"""Several functions in one file, which share their weights and their state.

    llama = ttmlir.compile_programs(
        {
            "prefill": ttmlir.Example(model.prefill, tokens),
            "decode": ttmlir.Example(model.decode, token, position),
        }
    )
    logits = llama.prefill(tokens)
    logits = llama.decode(token, position)
    llama.save("llama.ttnn")

Equal constants are in the file once, and on the device once. Buffers of a torch module that one of
the functions changes, such as a cache of keys and values, are state that all of them see.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ttmlir.compiler import transform
from ttmlir.files import write_file
from ttmlir.frontend.calls.calling import CallableModel, NumericsName
from ttmlir.frontend.compiled import TO_TTIR, ImportedModel, options_for_board
from ttmlir.frontend.errors import in_terms_of_the_user
from ttmlir.frontend.targets import TargetName, find_target
from ttmlir.ir.constants import own_constants
from ttmlir.ir.symbols import symbol_visibility
from ttmlir.mlir.attributes.resources import cloned
from ttmlir.mlir.printing.module import print_module
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.loading import read_binary
from ttmlir.terminal import show_wait

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.runtime.binary import Binary


class Example:
    """A model with examples of its arguments: one of the programs of `compile_programs`."""

    def __init__(self, model: Any, *args: Any, **kwargs: Any) -> None:
        """A model as `ttmlir.compile` takes it; `kwargs` are its arguments by name."""
        self.model = model
        self.args = args
        self.kwargs = kwargs


def check_examples(examples: Any) -> None:
    """Refuse what is no mapping of names to examples, and names that programs cannot have."""
    form = '{"main": ttmlir.Example(model, *args)}'
    if not isinstance(examples, Mapping):
        raise TypeError(f"programs are given by names: {form}; got a {type(examples).__name__}")
    if not examples:
        raise ValueError(f"programs are given by names: {form}; got none")
    for name, example in cast("Mapping[Any, Any]", examples).items():
        if not isinstance(example, Example):
            raise TypeError(
                f"program {name!r} is a {type(example).__name__}; give it as "
                "ttmlir.Example(model, *args)"
            )
        is_attribute = isinstance(name, str) and name.isidentifier() and not name.startswith("_")
        if not is_attribute:
            raise ValueError(
                f"a program cannot have the name {name!r}: names are those of attributes, "
                "identifiers that begin with a letter"
            )
        if hasattr(CompiledPrograms, name) or name == "name":
            raise ValueError(
                f"a program cannot have the name '{name}': an attribute of all programs has it"
            )


class Program(CallableModel):
    """One of several programs of a file, called as the function that it was compiled from."""

    REMEDY_FOR_OTHER_ARGUMENTS = "compile again with arguments of these shapes and types"

    def __init__(
        self,
        binary: Binary,
        data: bytes,
        imported: ImportedModel,
        index: int,
        numerics: NumericsName,
    ) -> None:
        """The program with this number of a file."""
        self._imported = imported
        super().__init__(data, imported, file_name=binary.source, program=index, numerics=numerics)
        self.binary = binary

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """What the framework itself computes for a call."""
        if self._imported.reference is None:
            raise InputError(f"'{self.name}' was compiled from text, which no framework runs")
        return self._imported.reference(*args, **kwargs)


class CompiledPrograms(Mapping[str, Program]):
    """Programs of one file by their names; each is an attribute, too."""

    def __init__(
        self,
        imported: Mapping[str, ImportedModel],
        *,
        numerics: NumericsName = "exact",
        target: TargetName = "ttnn",
        options: str = "",
        board: str | os.PathLike[str] | None = None,
    ) -> None:
        """Lower models of one framework together; CompilationError for what is not supported."""
        self._target = find_target(target)
        self._models = dict(imported)
        self.name = next(iter(imported.values())).name
        """Of the file: that of the first model."""
        with show_wait(f"compiling {self.name}"):
            self._ttir = _join({name: _to_ttir(each) for name, each in imported.items()})
            self._lowered = cloned(self._ttir)
            with self._in_terms_of_the_user():
                self._target.lower(self._lowered, options_for_board(board, options))
                signatures = {name: each.signature for name, each in imported.items()}
                self._bytes = self._target.write(self._lowered, signatures)
        for module in (*(each.module for each in imported.values()), self._ttir, self._lowered):
            own_constants(module)
        binary = read_binary(self._bytes, f"{self.name}{self._target.suffix}")
        self._programs = {
            name: Program(binary, self._bytes, each, index, numerics)
            for index, (name, each) in enumerate(imported.items())
        }

    def _in_terms_of_the_user(self) -> AbstractContextManager[None]:
        models = self._models.values()
        texts = {name: text for each in models for name, text in each.texts.items()}
        first_column = next(iter(models)).first_column
        return in_terms_of_the_user(self.name, texts, first_column=first_column)

    def __getitem__(self, name: str) -> Program:
        """A program by its name."""
        return self._programs[name]

    def __getattr__(self, name: str) -> Program:
        """A program by its name."""
        programs: dict[str, Program] = self.__dict__.get("_programs", {})
        if name not in programs:
            raise AttributeError(
                f"there is no program '{name}'; the programs are {', '.join(programs)}"
            )
        return programs[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the programs, in the order of the file."""
        return iter(self._programs)

    def __len__(self) -> int:
        """The number of programs."""
        return len(self._programs)

    def __repr__(self) -> str:
        """The programs and the size of the file."""
        names = ", ".join(self._programs)
        return f"{type(self).__name__}({names}: {len(self._bytes):,} bytes)"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What there is to know about the models, such as numbers that the device keeps shorter."""
        return tuple(
            dict.fromkeys(text for each in self._models.values() for text in each.warnings)
        )

    def to_bytes(self) -> bytes:
        """The `.ttnn` or `.ttm` file."""
        return bytes(self._bytes)

    def save(self, path: str | Path) -> Path:
        """Write the file; `ttmlir.load(path, program=1)` gives one of its programs back."""
        write_file(path, self._bytes)
        return Path(path)

    def text(self, stage: str = "ttir", *, elide_above: int | None = None) -> str:
        """All programs in ttir, in the target's dialect, or in C++.

        Constants of more than `elide_above` elements are left out.
        """
        stages = ("ttir", self._target.dialect, "cpp")
        if stage not in stages:
            raise ValueError(f"the stages of programs are {', '.join(stages)}, not '{stage}'")
        if stage == "cpp":
            return self._target.write_cpp(self._lowered, elide_above)
        module = self._ttir if stage == "ttir" else self._lowered
        return print_module(module, elide_larger_than=elide_above)


def _to_ttir(imported: ImportedModel) -> ModuleOp:
    module = cloned(imported.module)
    with in_terms_of_the_user(imported.name, imported.texts, first_column=imported.first_column):
        transform(module, TO_TTIR[imported.stage])
    return module


def _join(modules: Mapping[str, ModuleOp]) -> ModuleOp:
    """One module of the functions of several, which are called as the modules are named."""
    from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
    from xdsl.dialects.func import CallOp, FuncOp

    joined = ModuleOp([])
    for name, module in modules.items():
        functions = [op for op in module.ops if isinstance(op, FuncOp)]
        names = {
            each.sym_name.data: name
            if symbol_visibility(each) == "public"
            else f"{name}.{each.sym_name.data}"
            for each in functions
        }
        for op in module.walk():
            if isinstance(op, CallOp):
                op.callee = SymbolRefAttr(names[op.callee.string_value()])
        for function in functions:
            function.detach()
            function.sym_name = StringAttr(names[function.sym_name.data])
            joined.body.block.add_op(function)
    return joined
