"""What the explorer was given to show: files, folders of dumps, compiled models.

A document is read when the explorer starts, so that mistakes are reported at once, and nothing else
is read later. Text in a dialect on the way to ttnn is compiled, for its own view and for overrides.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from ttmlir.errors import CompilationError, InputError
from ttmlir.explorer.graph import (
    INPUTS,
    RESULTS,
    Attributes,
    Collection,
    Edge,
    Graph,
    Node,
    build_program_graph,
    check_size,
    clean_name,
    describe_layout,
    describe_scope,
    describe_tensor,
    scope_of,
    unique_names,
)
from ttmlir.explorer.node_data import describe_estimate, describe_exchanges
from ttmlir.explorer.overrides import Effect, Overrides, compile_with, judge
from ttmlir.files import read_text, safe_file_name
from ttmlir.layout.system import BOARD_NAMES
from ttmlir.mlir.reporting import Source, listening
from ttmlir.program import list_cores
from ttmlir.runtime.binary import Binary, BinaryProgram
from ttmlir.runtime.loading import load_binary, read_binary
from ttmlir.runtime.metal_program import (
    CREATE,
    DEALLOCATE,
    READ,
    WRITE,
    Command,
    MetalBinary,
    MetalProgram,
    MetalTensor,
)
from ttmlir.runtime.residency import results_of
from ttmlir.runtime.tensor import Numerics

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.frontend.calls import CallableModel
    from ttmlir.runtime.signature import CallSignature

# --- Command graph --------------------------------------------------------------------------------
# Graphs of `.ttm` files: kernel launches and copies, in the order of the queue.

_LABELS = {WRITE: "write to device", READ: "read from device"}


def command_id(command: Command) -> str:
    """The name of the node of a command."""
    return f"command{command.index}"


def build_command_graph(program: MetalProgram, graph_id: str, *, notes: Attributes = ()) -> Graph:
    """The graph of a program of kernels."""
    commands = program.commands
    check_size(len(commands) + len(program.input_tensors) + len(program.output_tensors))
    makers: dict[int, Edge] = {}
    nodes: list[Node] = []

    def edges(tensors: Iterable[MetalTensor]) -> tuple[Edge, ...]:
        return tuple(makers[tensor.id] for tensor in tensors if tensor.id in makers)

    for number, tensor in enumerate(program.input_tensors):
        nodes.append(
            Node(
                id=f"input{number}",
                label=f"input {number}",
                layers=(INPUTS,),
                attributes=describe_layout(tensor.ref.desc),
                outputs=(describe_tensor(tensor.ref.desc),),
            )
        )
        makers[tensor.id] = Edge(nodes[-1].id)
    for command in commands:
        if command.kind in (CREATE, DEALLOCATE) or not command.tensors:
            continue
        written = _written(command)
        read = [tensor for tensor in command.tensors if tensor not in written]
        scope = scope_of(command.location)
        nodes.append(
            Node(
                id=command_id(command),
                label=_LABELS.get(command.kind, command.meaning),
                layers=scope.layers,
                attributes=(
                    ("command", command.kind.removesuffix("Command")),
                    *describe_scope(scope, command.location),
                    ("schedule", str(command.index)),
                    *_describe_kernels(command),
                    *(pair for tensor in written[:1] for pair in describe_layout(tensor.ref.desc)),
                ),
                inputs=edges(read),
                outputs=tuple(describe_tensor(tensor.ref.desc) for tensor in written),
            )
        )
        makers.update((each.id, Edge(nodes[-1].id, i)) for i, each in enumerate(written))
    for number, tensor in enumerate(program.output_tensors):
        nodes.append(
            Node(
                id=f"result{number}",
                label=f"result {number}",
                layers=(RESULTS,),
                attributes=describe_layout(tensor.ref.desc),
                inputs=edges((tensor,)),
            )
        )
    return Graph(id=graph_id, nodes=nodes, attributes=notes)


def _written(command: Command) -> list[MetalTensor]:
    """The tensors that a command writes: those its reference names, or else the last one."""
    if command.reference is not None and command.reference.outputs:
        numbers = dict.fromkeys(output.operand for output in command.reference.outputs)
        return [command.tensors[number] for number in numbers]
    return [command.tensors[-1]]


def _describe_kernels(command: Command) -> Attributes:
    description = command.description
    fidelity = () if command.fidelity is None else (("math_fidelity", command.fidelity.keyword),)
    if description is None:
        cores = {core for kernel in command.kernels for core in kernel.cores}
        count = len(command.kernels)
        buffers = max((len(kernel.circular_buffers) for kernel in command.kernels), default=0)
    else:
        cores = {core for kernel in description.kernels for core in list_cores(kernel.core_ranges)}
        count, buffers = len(description.kernels), len(description.circular_buffers)
    if not command.is_launch:
        return fidelity
    return (
        ("kernels", str(count)),
        ("cores", str(len(cores))),
        ("circular_buffers", str(buffers)),
        *fidelity,
    )


# --- Documents ------------------------------------------------------------------------------------

SUFFIXES = (".mlir", ".ttir", ".ttnn", ".ttm")
"""Files that are shown; those of other names are taken for text if they are named one by one."""
MAX_FILES = 200
"""Most files of a folder."""

_PIPELINES = {
    "ttir": "ttir-to-ttnn-backend-pipeline",
    "stablehlo": "stablehlo-to-ttnn-pipeline",
    "tosa": "tosa-to-ttnn-pipeline",
    "linalg": "linalg-to-ttnn-pipeline",
}
"""From each dialect to ttnn, with the same options."""


PartName = tuple[str, tuple[int, ...]]
"""An operation by its name, and the shape of what a device has of its result."""
_SYSTEM = re.compile(r"\bsystem[-_]desc[-_]path=(\"[^\"]*\"|\S*)")


@dataclass(frozen=True)
class Settings:
    """What a user chooses in the page."""

    board: str | None = None
    """A name; None is what the program was compiled for."""
    numerics: Numerics = Numerics.EXACT
    overrides: Overrides = field(default_factory=Overrides)


class Document(Protocol):
    """Something to show."""

    name: str
    """What the page calls it; different for all documents of a session."""
    settings: Settings

    @property
    def binary(self) -> Binary | None:
        """The program that is estimated and run; None if there is none."""
        ...

    @property
    def effects(self) -> Sequence[Effect]:
        """What became of the overrides."""
        ...

    def collections(self) -> list[Collection]:
        """The graphs, those of `binary` first."""
        ...

    def change(self, settings: Settings) -> None:
        """Take other settings; InputError where they are not possible."""
        ...


@dataclass
class BinaryDocument:
    """A `.ttnn` or `.ttm` file: it is what it is, so only board and numerics can be chosen."""

    name: str
    binary: Binary
    settings: Settings = field(default_factory=Settings)
    effects: Sequence[Effect] = ()

    def collections(self) -> list[Collection]:
        """One, of all programs of the file."""
        return [Collection("", build_binary_graphs(self.binary, self.settings.board))]

    def change(self, settings: Settings) -> None:
        """Take another board or numerics."""
        if settings.overrides:
            raise InputError(
                f"{self.name} is compiled already: open the .mlir file that it comes from, or "
                "the compiled model with ttmlir.explore, to override layouts"
            )
        self.settings = settings


@dataclass
class ModuleDocument:
    """A module, which is compiled to ttnn if there is a pipeline from its dialect."""

    name: str
    module: ModuleOp
    stage: str
    """The dialect of most operations."""
    options: str = ""
    """Of the pipeline, those of the overrides left out."""
    file_name: str = ""
    texts: dict[str, Source] = field(default_factory=dict[str, Source])
    settings: Settings = field(default_factory=Settings)
    binary: Binary | None = None
    effects: Sequence[Effect] = ()
    problem: str = ""
    """Why there is no program."""
    sources: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """The nodes of the program that each node of the source became, by their names."""
    signature: CallSignature | None = None
    """How the model is called, which says what stays on the device."""
    _plain: dict[str, Binary] = field(default_factory=dict[str, Binary])
    """The program without overrides, by board."""

    def __post_init__(self) -> None:
        """Compile what can be compiled."""
        self._compile()

    @cached_property
    def is_divided(self) -> bool:
        """True for a program of several devices."""
        from ttmlir.dialects.sdy import find_division

        return self.stage in ("stablehlo", "ttir") and find_division(self.module) is not None

    @property
    def pipeline(self) -> str | None:
        """The pipeline that makes the program; None if there is none from the dialect."""
        return _PIPELINES.get(self.stage)

    def collections(self) -> list[Collection]:
        """The compiled program, if there is one, and the module as it was given."""
        from ttmlir.explorer.graph import build_module_graphs

        notes: Attributes = (("compilation", self.problem),) if self.problem else ()
        source, parts = Collection(self.stage, ()), dict[PartName, str]()
        if self.is_divided:
            source, parts = self._divided_source(notes)
        if not source.graphs:
            source = Collection(self.stage, build_module_graphs(self.module, notes=notes))
        if self.binary is None:
            return [source]
        notes = tuple(
            (f"override {number + 1}", str(effect)) for number, effect in enumerate(self.effects)
        )
        board = self.settings.board
        graphs = build_binary_graphs(self.binary, board, notes, self.effects, parts)
        program = Collection("ttnn", graphs)
        self.sources = _find_sources(source, program)
        return [program] if self.stage == "ttnn" else [program, source]

    def _divided_source(self, notes: Attributes) -> tuple[Collection, Mapping[PartName, str]]:
        """The module with the shardings of all values, and those of the parts of devices."""
        from ttmlir.explorer.graph import build_module_graphs
        from ttmlir.explorer.shardings import divide, find_parts, spell_mesh, spell_sharding

        divided = divide(self.module)
        if divided is None:
            return Collection(self.stage, ()), {}
        notes = (("mesh", spell_mesh(divided)), *notes)
        graphs = build_module_graphs(divided, notes=notes, sharding=spell_sharding)
        return Collection(self.stage, graphs), find_parts(divided)

    def change(self, settings: Settings) -> None:
        """Compile with other settings."""
        if self.pipeline is None and settings.overrides:
            raise InputError(
                f"{self.name} is {self.stage}; layouts are chosen on the way from "
                f"{', '.join(_PIPELINES)} to ttnn"
            )
        self.settings = settings
        self._compile()

    def _compile(self) -> None:
        try:
            if self.stage == "ttnn":
                self.binary = self._write(self.module)
            elif self.pipeline is not None:
                self._compile_and_judge()
        except CompilationError as error:
            self.binary, self.effects = None, ()
            self.problem = error.diagnostics[0].message

    def _compile_and_judge(self) -> None:
        overrides = self.settings.overrides
        self.binary, refused = compile_with(overrides, self.compile_with_overrides)
        self.problem = ""
        if overrides:
            plain = self.compile_with_overrides(Overrides())
            self.effects = judge(overrides, plain.program(0), self.binary.program(0), refused)
        else:
            self.effects = ()

    def compile_with_overrides(self, overrides: Overrides) -> Binary:
        """The program with these overrides; DiagnosticError if the compiler refuses one."""
        from ttmlir.compiler import divide_options, spell_pipeline, transform
        from ttmlir.frontend.compiled import lower_model
        from ttmlir.mlir.attributes import cloned

        board = self.settings.board or ""
        if not overrides and board in self._plain:
            return self._plain[board]
        module = cloned(self.module)
        options = self.options_with(overrides)
        with listening():
            # What overrides did is reported by their effects.
            front, rest = divide_options(options, "ttnn")
            lower_model(module, self.stage, self.signature, "ttnn", options, front)
            transform(module, spell_pipeline("ttnn", rest))
        binary = self._write(module)
        if not overrides:
            self._plain[board] = binary
        return binary

    def options_with(self, overrides: Overrides) -> str:
        """The options of the pipeline, for the chosen board."""
        options = self.options
        board = self.settings.board
        if board is not None:
            # What was chosen here stands instead of what the model was compiled for.
            options = f"{_SYSTEM.sub('', options)} system-desc-path={board}"
        return " ".join(filter(None, (options.strip(), overrides.options)))

    def _write(self, module: ModuleOp) -> Binary:
        from ttmlir.compiler import write_ttnn

        signatures = {} if self.signature is None else {"": self.signature.to_table()}
        return read_binary(write_ttnn(module, signatures=signatures), self.name)


@dataclass
class FolderDocument:
    """The files of a folder, such as the dumps of passes: one collection for each graph level."""

    name: str
    documents: Sequence[Document]
    settings: Settings = field(default_factory=Settings)
    effects: Sequence[Effect] = ()

    @property
    def binary(self) -> Binary | None:
        """None: a folder has no one program."""
        return None

    def collections(self) -> list[Collection]:
        """Those of all files, in the order of their names."""
        found: list[Collection] = []
        for document in self.documents:
            for each in document.collections():
                label = f"{document.name}: {each.label}" if each.label else document.name
                found.append(replace(each, label=clean_name(label)))
        return found

    def change(self, settings: Settings) -> None:
        """Refuse: open the file itself."""
        raise InputError(f"{self.name} is a folder; open the file to change, alone")


def build_binary_graphs(
    binary: Binary,
    board: str | None,
    notes: Attributes = (),
    effects: Sequence[Effect] = (),
    parts: Mapping[PartName, str] = MappingProxyType({}),
) -> list[Graph]:
    """The graphs of a file's programs, and those of the functions that loops and branches call.

    `parts` say how tensors are divided over the devices of a mesh.
    """
    names = program_names(binary)
    if isinstance(binary, MetalBinary):
        programs = zip(binary.metal_programs, names, strict=True)
        return [build_command_graph(each, name, notes=notes) for each, name in programs]
    graphs = [
        build_program_graph(
            each,
            name,
            notes=(*describe_estimate(each, board), *notes),
            node_notes=_notes_of(each, board, () if each.index else effects, parts),
        )
        for each, name in zip(binary.programs, names, strict=True)
    ]
    called = unique_names([*names, *(function.name for function in binary.functions)])[len(names) :]
    pairs = zip(binary.functions, called, strict=True)
    return [*graphs, *(build_program_graph(function, name) for function, name in pairs)]


def _notes_of(
    program: BinaryProgram,
    board: str | None,
    effects: Sequence[Effect],
    parts: Mapping[PartName, str],
) -> dict[int, Attributes]:
    """What is said of single operations, by their index."""
    notes = describe_exchanges(program, board)
    for effect in effects:
        said = (("override", f"{effect.override} {effect.state.value}"), ("why", effect.reason))
        for index in effect.operations:
            notes[index] = said
    for operation in program.operations if parts else ():
        name = scope_of(operation.location).override_name
        for ref in results_of(operation)[:1]:
            if sharding := parts.get((name, ref.desc.shape)):
                known = notes.get(operation.index, ())
                notes[operation.index] = (*known, ("sharding", sharding))
    return notes


def program_names(binary: Binary) -> list[str]:
    """The names of the graphs of a file's programs."""
    return unique_names(program.name for program in binary.programs)


def _find_sources(source: Collection, program: Collection) -> dict[str, Sequence[str]]:
    """The nodes of the first program for each node of the source, by the names of both."""
    made: dict[str, list[str]] = {}
    for node in program.graphs[0].nodes:
        if name := dict(node.attributes).get("override_name"):
            made.setdefault(name, []).append(node.id)
    found: dict[str, Sequence[str]] = {}
    taken: set[str] = set()
    for graph in source.graphs:
        if graph.id != program.graphs[0].id:
            continue
        for node in graph.nodes:
            name = dict(node.attributes).get("override_name", "")
            # Of several nodes of one name, the first one stands for all.
            if name in made and name not in taken:
                taken.add(name)
                found[node.id] = made[name]
    return found


def read_module(text: str, file_name: str, name: str) -> ModuleDocument:
    """A document of MLIR text, compiled as `ttmlir.compile` does without options.

    Raises DiagnosticError for text that is refused.
    """
    from ttmlir.compiler import complete_options, options_for, parse

    module = parse(text, file_name=file_name)
    counts = Counter(op.name.partition(".")[0] for op in module.walk())
    known = ("ttnn", "ttmetal", "d2m", "ttkernel", *_PIPELINES)
    stage = next((each for each, _ in counts.most_common() if each in known), "ttir")
    return ModuleDocument(
        name,
        module,
        stage,
        options=(
            complete_options("ttnn", options_for(module, "ttnn", "")) if stage in _PIPELINES else ""
        ),
        file_name=file_name,
        texts={file_name: Source(text)},
    )


def document_of(model: CallableModel, name: str) -> Document:
    """A document of a model: of a compiled one its source, so that overrides are possible."""
    from ttmlir.compiler import complete_options
    from ttmlir.frontend.compiled import CompiledModel

    if not isinstance(model, CompiledModel) or model.target != "ttnn":
        suffix = ".ttm" if model.binary.is_metal else ".ttnn"
        return BinaryDocument(f"{name}{suffix}", model.binary)
    source, options = model.source, complete_options("ttnn", model.options)
    return ModuleDocument(
        name,
        source.module,
        source.stage,
        options=options,
        texts=dict(source.texts),
        signature=source.signature,
    )


def open_documents(paths: Sequence[str]) -> list[Document]:
    """The documents of files and folders, under names of their own.

    Raises InputError, DiagnosticError, and BinaryError for files that cannot be shown.
    """
    names = unique_names(Path(path).resolve().name for path in paths)
    return [_open(Path(path), name) for path, name in zip(paths, names, strict=True)]


def _open(path: Path, name: str) -> Document:
    if path.is_dir():
        return FolderDocument(name, _open_folder(path))
    if path.suffix in (".ttnn", ".ttm"):
        return BinaryDocument(name, load_binary(path))
    if path.suffix == ".ttsys":
        raise InputError(f"{path} describes a system; a program is a .mlir, .ttnn or .ttm file")
    return _open_text(path, name)


def _open_text(path: Path, name: str) -> Document:
    from ttmlir.compiler import read_source
    from ttmlir.errors import FileError

    try:
        return read_module(read_source(str(path)), str(path), name)
    except FileError as error:
        raise InputError(str(error)) from error


def _open_folder(folder: Path) -> list[Document]:
    """The files of a folder and those below it; links to places outside are not followed."""
    root = folder.resolve()
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in SUFFIXES and path.is_file() and path.resolve().is_relative_to(root)
    )
    if not found:
        raise InputError(f"{folder} has no files that are shown: {', '.join(SUFFIXES)}")
    if len(found) > MAX_FILES:
        raise InputError(
            f"{folder} has {len(found)} files to show; at most {MAX_FILES} are, so give a part"
        )
    return [_open(path, clean_name(str(path.relative_to(folder)))) for path in found]


# --- Overrides in files ---------------------------------------------------------------------------
# Overrides in files: what the panel saves, which `ttmlir-opt` takes as `@FILE`, and reading it.


_OVERRIDES = ("override-grid-sizes", "override-output-layout")
_BOARD_OPTION = "system-desc-path"


def overrides_file_name(document: Document) -> str:
    """`net.overrides` for the document `net.mlir`."""
    return safe_file_name(f"{Path(document.name).stem}.overrides")


def overrides_text(document: ModuleDocument) -> str:
    """The flag of `ttmlir-opt` that compiles the document with its overrides."""
    options = document.options_with(document.settings.overrides)
    return (
        f"--{document.pipeline}={shlex.quote(options)}\n" if options else f"--{document.pipeline}\n"
    )


def load_overrides(path: str, documents: Sequence[Document]) -> None:
    """Compile the one module among the documents with the overrides of a file.

    Raises InputError for a file that cannot be read or that says something else, and if there
    are several modules, or none.
    """
    modules = [
        document
        for document in documents
        if isinstance(document, ModuleDocument) and document.pipeline is not None
    ]
    if len(modules) != 1:
        raise InputError(
            f"{path}: overrides are for one module on its way to ttnn, and {len(modules)} are "
            "shown; open it alone"
        )
    [module] = modules
    try:
        overrides, board = _read(read_text(path), module)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except (InputError, ValueError) as error:
        raise InputError(f"{path}: {error}") from error
    module.change(replace(module.settings, overrides=overrides, board=board))


def _read(text: str, module: ModuleDocument) -> tuple[Overrides, str | None]:
    """The overrides and the board of a saved file; ValueError for other text."""
    flags = shlex.split(text, comments=True)
    pipeline = f"--{module.pipeline}"
    if len(flags) != 1 or flags[0].partition("=")[0] != pipeline:
        raise InputError(f"expected the flag {pipeline} with its overrides, and nothing else")
    overrides, board = Overrides(), None
    for option in shlex.split(flags[0].partition("=")[2]):
        name, _, value = option.partition("=")
        if name in _OVERRIDES:
            overrides = Overrides({**overrides.layouts, **Overrides.parse(option).layouts})
        elif name == _BOARD_OPTION and value in BOARD_NAMES:
            board = value
        elif option not in module.options.split():
            raise InputError(
                f"the option {name} cannot be chosen in the page; supported are "
                f"{', '.join(_OVERRIDES)}, and {_BOARD_OPTION} with the name of a board"
            )
    for name, override in overrides.layouts.items():
        # Names from a file are checked as those from the page are.
        overrides = overrides.with_layout(name, str(override))
    return overrides, board
