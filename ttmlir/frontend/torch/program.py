"""Exported torch programs as functions in the ttir dialect.

The function takes what the program cannot know before: the parameters and buffers if they are to
be arguments, those that the program changes, and the tensors that the user passes. It returns the
new values of what it changes, then the user's results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, Protocol, TypeGuard, cast

from xdsl.dialects.builtin import Float32Type, FunctionType, IntegerType, ModuleOp, TensorType, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.compiler import transform
from ttmlir.dialects import ttir
from ttmlir.dialects.ttcore import MeshesAttr
from ttmlir.frontend.complex_pairs import ComplexPlaces
from ttmlir.frontend.control import add_function, choose, read_row, write_row
from ttmlir.frontend.torch.building import BodyBuilder
from ttmlir.frontend.torch.call import Known, Number, TorchCall
from ttmlir.frontend.torch.data.values import compute
from ttmlir.frontend.torch.elements import (
    SUPPORTED_DTYPES,
    dtype_name,
    element_of,
    is_symbolic,
    is_tensor,
    leaves,
    static_shape,
    tensor_type,
    torch_package,
)
from ttmlir.frontend.torch.exporting import decompose
from ttmlir.frontend.torch.locations import location_of, refuse_node
from ttmlir.frontend.torch.rules import RULES, rule_for_complex, rule_of
from ttmlir.frontend.torch.rules.collectives import JOINED, is_between_devices
from ttmlir.frontend.torch.support import (
    RESHAPED_IN_PLACE,
    instead_of,
    near,
    near_of_complex,
)
from ttmlir.ir.tensor_types import is_complex, value_shape
from ttmlir.mlir.reporting import LocatedError, name_location
from ttmlir.passes.control_flow.flattening import MAX_CHOSEN_OPERATIONS
from ttmlir.passes.stablehlo.mesh_borders import arranged

# --- Control --------------------------------------------------------------------------------------
# Control flow of torch: `torch.cond`, and the loops `while_loop`, `scan` and `map`.
#
# Bodies become private functions, which `ttir.while` and `ttir.case` call. Of small branches, both
# are computed. What is known while compiling, such as weights, stays a constant of each body.

Body = Callable[[BodyBuilder, Sequence[Any]], Sequence[SSAValue]]
"""Adds what a function computes of its arguments."""


class Walker(Protocol):
    """What reads the operations of a graph."""

    def walk(self, graph: Any, arguments: Sequence[Any], build: BodyBuilder) -> list[Any]:
        """The results of a graph of torch, whose operations are added to a body."""
        ...


@dataclass
class ControlFlow:
    """Makes functions of graphs that are called by others."""

    walker: Walker
    functions: list[FuncOp] = field(default_factory=list[FuncOp])

    def call(self, node: Any, arguments: Sequence[Any], build: BodyBuilder) -> list[SSAValue]:
        """The results of an operation of `OPERATIONS` with its resolved arguments."""
        return OPERATIONS[node.target.name()](self, arguments, build)

    def cond(self, arguments: Sequence[Any], build: BodyBuilder) -> list[SSAValue]:
        """`cond(predicate, on_true, on_false, operands)`."""
        predicate, on_true, on_false, operands = arguments
        if isinstance(predicate, Known):
            predicate = bool(predicate.tensor)
        if not _is_value(predicate):
            return self._inline(on_true if predicate else on_false, operands, build)
        if _size(on_true) + _size(on_false) <= MAX_CHOSEN_OPERATIONS:
            pairs = zip(
                *(self._inline(g, operands, build) for g in (on_true, on_false)), strict=True
            )
            return [choose(build, predicate, *pair) for pair in pairs]
        given = _Given(operands, build)
        branches = [
            self._function("branch", self._calls(graph, given), given.values, build)
            for graph in (on_false, on_true)
        ]
        results = branches[0].function_type.outputs.data
        names = [branch.sym_name.data for branch in branches]
        case = ttir.CaseOp.make(predicate, given.values, results, names, location=build.location)
        return list(build.insert(case).results)

    def while_loop(self, arguments: Sequence[Any], build: BodyBuilder) -> list[SSAValue]:
        """`while_loop(condition, body, carried, others)`."""
        condition, body, carried, others = arguments
        given = _Given([*_values(carried, build), *others], build)
        functions = [
            self._function(kind, self._calls(graph, given), given.values, build)
            for kind, graph in (("body", body), ("condition", condition))
        ]
        loop = ttir.WhileOp.make(
            given.values,
            functions[0].function_type.outputs.data,
            functions[0].sym_name.data,
            condition=functions[1].sym_name.data,
            location=build.location,
        )
        return list(build.insert(loop).results)

    def scan(self, arguments: Sequence[Any], build: BodyBuilder) -> list[SSAValue]:
        """`scan(combine, carried, rows, others)`: rows are those of the first dimension."""
        combine, carried, rows, others = arguments
        return self._over_rows(combine, carried, rows, others, build)

    def map(self, arguments: Sequence[Any], build: BodyBuilder) -> list[SSAValue]:
        """`map(function, rows, others)`."""
        function, rows, others = arguments
        return self._over_rows(function, [], rows, others, build)

    def _over_rows(
        self,
        graph: Any,
        carried: Sequence[Any],
        rows: Sequence[Any],
        others: Sequence[Any],
        build: BodyBuilder,
    ) -> list[SSAValue]:
        """A counted loop over rows: what is carried at its end, then the stacked results."""
        first, stacked = _values(carried, build), _values(rows, build)
        [length] = {value_shape(value)[0] for value in stacked}
        given = _Given(others, build)
        counter = build.create_splat(0, TensorType(i32, ()))
        types = _result_types(graph)[len(first) :]
        stacks = [
            build.create_splat(0, TensorType(type_.element_type, (length, *type_.get_shape())))
            for type_ in types
        ]
        count = 1 + len(first) + len(stacks)
        operands = [counter, *first, *stacks, *stacked, *given.values]

        def iterate(inner: BodyBuilder, arguments: Sequence[Any]) -> Sequence[SSAValue]:
            number, state = arguments[0], arguments[1 : 1 + len(first)]
            sources = arguments[count : count + len(stacked)]
            found = [read_row(inner, source, number) for source in sources]
            passed = [*state, *found, *given.restore(arguments[count + len(stacked) :])]
            results = self._inline(graph, passed, inner)
            written = [
                write_row(inner, stack, result, number)
                for stack, result in zip(
                    arguments[1 + len(first) : count], results[len(first) :], strict=True
                )
            ]
            one = inner.create_splat(1, TensorType(i32, ()))
            return [inner.compute("add", number, one), *results[: len(first)], *written]

        body = self._function("body", iterate, operands, build)
        loop = ttir.WhileOp.make(
            operands,
            body.function_type.outputs.data,
            body.sym_name.data,
            trip_count=length,
            location=build.location,
        )
        results: list[SSAValue] = [*build.insert(loop).results]
        return results[1:]

    # -- functions -----------------------------------------------------------------------------

    def _calls(self, graph: Any, given: _Given) -> Body:
        return lambda build, arguments: self._inline(graph, given.restore(arguments), build)

    def _inline(self, graph: Any, arguments: Sequence[Any], build: BodyBuilder) -> list[SSAValue]:
        return _values(self.walker.walk(graph, arguments, build), build)

    def _function(
        self, kind: str, body: Body, operands: Sequence[SSAValue], build: BodyBuilder
    ) -> FuncOp:
        """A private function of the operands."""
        types = [value.type for value in operands]
        return add_function(self.functions, kind, types, BodyBuilder, body, build.location)


class _Given:
    """Arguments of a graph, of which those that are not known are passed to a function."""

    def __init__(self, arguments: Sequence[Any], build: BodyBuilder) -> None:
        """Divide the arguments; numbers that the program computes are made."""
        self._arguments = [
            each.create(build) if isinstance(each, Number) else each for each in arguments
        ]
        self.values: list[SSAValue] = [each for each in self._arguments if _is_value(each)]

    def restore(self, passed: Sequence[Any]) -> list[Any]:
        """All arguments, with the values that are passed in their places.

        What is known becomes a constant of each function.
        """
        rest = iter(passed)
        return [
            next(rest)
            if _is_value(each)
            else Known(each.tensor)
            if isinstance(each, Known)
            else each
            for each in self._arguments
        ]


def _is_value(argument: Any) -> TypeGuard[SSAValue]:
    return isinstance(argument, SSAValue)


def _values(given: Sequence[Any], build: BodyBuilder) -> list[SSAValue]:
    return [value.create(build) if isinstance(value, Known) else value for value in given]


def _result_types(graph: Any) -> list[TensorType[Attribute]]:
    """The types of what a graph returns."""
    [output] = (node for node in graph.graph.nodes if node.op == "output")
    return [tensor_type(each.meta["val"]) for each in output.args[0]]


def _size(graph: Any) -> int:
    """The operations of a graph; one that calls others is never small."""
    nodes = list(graph.graph.nodes)
    if any(
        node.op == "get_attr" and hasattr(getattr(graph, node.target), "graph") for node in nodes
    ):
        return MAX_CHOSEN_OPERATIONS + 1
    return sum(node.op == "call_function" for node in nodes)


OPERATIONS: Mapping[str, Callable[[ControlFlow, Sequence[Any], BodyBuilder], list[SSAValue]]] = {
    "cond": ControlFlow.cond,
    "map_impl": ControlFlow.map,
    "scan": ControlFlow.scan,
    "while_loop": ControlFlow.while_loop,
}
"""Control flow by torch's names."""


# --- Numbers --------------------------------------------------------------------------------------
# Numbers that torch reads out of tensors while it traces: `x.item()`, and `i` in `x[i]`.
#
# They are places in tensors, or results. torch also checks the bounds of places; the checks are
# left out, since the operations at these places keep within the tensor.

_I64 = IntegerType(64)
_F32 = Float32Type()
_ARITHMETIC = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "div",
    "neg": "neg",
    "abs": "abs",
}


def number_of(node: Any, arguments: Sequence[Any]) -> Number:
    """The number that a node computes; what cannot be computed is refused where it is used."""
    name = str(getattr(node.target, "__name__", node.target))
    is_real = isinstance(node.meta.get("val"), torch_package().SymFloat)
    element: Attribute = _F32 if is_real else _I64
    if name.startswith("_local_scalar_dense"):
        return Number(lambda build: build.cast(_tensor(build, arguments[0], element), element))
    if name in _ARITHMETIC:
        return Number(
            lambda build: build.compute(
                _ARITHMETIC[name],
                *(build.cast(_tensor(build, each, element), element) for each in arguments),
            )
        )

    def refused(build: BodyBuilder) -> SSAValue:
        refuse_node(
            node,
            "of numbers that are computed from the numbers in tensors, as x.sum().item(), "
            f"supported are {', '.join(_ARITHMETIC)}; compute with the tensor instead",
        )

    return Number(refused)


def _tensor(build: BodyBuilder, argument: Any, element: Attribute) -> SSAValue:
    if isinstance(argument, int | float):
        return build.create_number_of_rank(argument, element, 0)
    return argument.create(build) if isinstance(argument, (Known, Number)) else argument


# --- Program --------------------------------------------------------------------------------------

Weights = Literal["constants", "arguments"]

FUNCTION = "main"
"""Name of the function that a program becomes."""


@dataclass
class ImportedProgram:
    """A module in the ttir dialect, and how its function is called."""

    module: ModuleOp
    weights: list[tuple[str, Any]]
    """Names and tensors of the parameters and buffers that are the first arguments."""
    state: list[tuple[str, Any]]
    """Names and first values of the buffers that follow as arguments; their new values are the
    first results."""
    inputs: list[tuple[str, Any]]
    """What the user passes, flattened: the name, and a fake tensor or the one value allowed."""
    outputs: list[Any]
    """What the program returns, flattened: a fake tensor, a number that torch does not know, or
    the value itself if it is neither."""
    changed: list[int]
    """The tensors that the user passes and the program changes, by their number; their new values
    are results after those of the state."""
    complex_places: ComplexPlaces
    """Which arguments and results, as torch sees them, are pairs of the function's."""


def import_program(exported: Any, *, weights: Weights = "constants") -> ImportedProgram:
    """The ttir function of a `torch.export.ExportedProgram`.

    Parameters and buffers become constants of the module, or with `weights="arguments"` its first
    arguments. Raises `DiagnosticError` at the user's own line for what cannot be expressed.
    """
    return import_decomposed(decompose(exported), weights=weights)


def import_decomposed(
    exported: Any,
    *,
    weights: Weights = "constants",
    input_names: Sequence[str] = (),
    changing: Collection[int] = (),
) -> ImportedProgram:
    """The same for what `decompose` gives.

    `input_names` are the user's names of the tensors that are passed. `changing` are the identities
    of buffers that other programs change: they are arguments, too.
    """
    return _Importer(exported, weights, input_names, changing).run()


def changed_buffers(exported: Any) -> list[Any]:
    """The buffers and parameters that a decomposed program changes."""
    signature = exported.graph_signature
    names = (*signature.buffers_to_mutate.values(), *signature.parameters_to_mutate.values())
    return [exported.state_dict.get(name, exported.constants.get(name)) for name in names]


def is_computed(meta: Any) -> bool:
    """True for what torch says of a tensor or of a number that it does not know."""
    return is_tensor(meta) or is_symbolic(meta)


_Named = list[tuple[str, Any]]


@dataclass
class _Inputs:
    """What the function takes, and where each comes from."""

    weights: _Named = field(default_factory=_Named)
    state: _Named = field(default_factory=_Named)
    inputs: _Named = field(default_factory=_Named)


class _Importer:
    """One walk over a graph."""

    def __init__(
        self,
        exported: Any,
        weights: Weights,
        input_names: Sequence[str],
        changing: Collection[int],
    ) -> None:
        self._exported = exported
        self._changing = changing
        self._input_names = list(input_names)
        self._signature = exported.graph_signature
        self._weights: Weights = weights
        self._values: dict[Any, Any] = {}
        self._block = Block()
        self._known: dict[int, Known] = {}
        self._control = ControlFlow(self)
        self._user_inputs: dict[str, Any] = {}  # Their shapes, by name.

    def run(self) -> ImportedProgram:
        placeholders = [n for n in self._exported.graph.nodes if n.op == "placeholder"]
        specs = dict(zip(placeholders, self._signature.input_specs, strict=True))
        for node in placeholders:
            self._check_node(node)
        found = self._place_inputs(specs)
        build = BodyBuilder(self._block)
        results = self._add_operations(self._exported.graph_module, build)
        changed, outputs = self._finish(build, [name for name, _ in found.state], results)
        module = self._module()
        return ImportedProgram(
            module,
            weights=found.weights,
            state=found.state,
            inputs=found.inputs,
            outputs=outputs,
            changed=[[*self._user_inputs].index(name) for name in changed],
            complex_places=self._complex_places,
        )

    def walk(self, graph: Any, arguments: Sequence[Any], build: BodyBuilder) -> list[Any]:
        """The results of a graph that another one calls, whose operations are added to a body."""
        outer, location, self._values = self._values, build.location, {}
        placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
        self._values.update(zip(placeholders, arguments, strict=True))
        results = self._add_operations(graph, build)
        listed: Sequence[Any] = results if isinstance(results, list | tuple) else [results]
        values = [self._resolved(each) for each in listed]
        self._values, build.location = outer, location
        return values

    def _add_operations(self, module: Any, build: BodyBuilder) -> Sequence[Any]:
        """Add the operations of a graph to a body; what the graph returns."""
        results: Sequence[Any] = ()
        for node in module.graph.nodes:
            if node.op == "call_function":
                self._check_node(node)
                build.location = location_of(node)
                self._values[node] = self._call(node, build)
            elif node.op == "output":
                results = node.args[0]
            elif node.op == "get_attr":
                found: Any = getattr(module, node.target)
                self._values[node] = Known(found) if is_tensor(found) else found
        return results

    # -- arguments -----------------------------------------------------------------------------

    def _place_inputs(self, specs: Mapping[Any, Any]) -> _Inputs:
        """Give every placeholder a value; weights are the first arguments, state the next."""
        changed = {
            *self._signature.buffers_to_mutate.values(),
            *self._signature.parameters_to_mutate.values(),
        }
        found = _Inputs()
        for node, spec in specs.items():
            if _is_weight(spec) and spec.target not in changed:
                self._place_weight(node, spec, found)
        for node, spec in specs.items():
            if _is_weight(spec) and spec.target in changed:
                found.state.append((spec.target, self._tensor(spec)))
                self._argument(node, spec.target)
        for node, spec in specs.items():
            if not _is_weight(spec):
                self._place_input(node, spec, found)
        return found

    def _place_weight(self, node: Any, spec: Any, found: _Inputs) -> None:
        tensor = self._tensor(spec)
        is_constant = self._weights == "constants" or spec.kind.name == "CONSTANT_TENSOR"
        if is_constant and id(tensor) not in self._changing:
            # Modules may share a parameter, which is one constant then.
            self._values[node] = self._known.setdefault(id(tensor), Known(tensor))
        elif node.users:
            found.weights.append((spec.target, tensor))
            self._argument(node, spec.target)

    def _place_input(self, node: Any, spec: Any, found: _Inputs) -> None:
        if spec.kind.name == "TOKEN":
            # torch keeps checks of results, as those of torch.linalg, in order by it.
            self._values[node] = None
            return
        if spec.kind.name != "USER_INPUT":
            self._refuse(node, f"inputs of the kind {spec.kind.name} are not supported")
        meta = node.meta.get("val")
        if not is_tensor(meta):
            found.inputs.append((node.name, meta))
            self._values[node] = meta
            return
        number = len(self._user_inputs)
        name = self._input_names[number] if self._input_names else node.name
        found.inputs.append((name, meta))
        self._user_inputs[node.name] = meta.shape
        self._argument(node, name)

    def _tensor(self, spec: Any) -> Any:
        if spec.kind.name == "CONSTANT_TENSOR" or spec.target not in self._exported.state_dict:
            return self._exported.constants[spec.target]
        return self._exported.state_dict[spec.target]

    def _argument(self, node: Any, name: str) -> None:
        argument = self._block.insert_arg(tensor_type(node.meta["val"]), len(self._block.args))
        argument.location = name_location(name)
        self._values[node] = argument

    # -- operations ----------------------------------------------------------------------------

    def _call(self, node: Any, build: BodyBuilder) -> Any:
        if getattr(node.target, "__name__", "") == "getitem":
            return self._item(node)
        if _is_assertion(node):
            return None
        if not is_tensor(node.meta.get("val")) and is_symbolic(node.meta.get("val")):
            return number_of(node, self._resolved(node.args))
        if not hasattr(node.target, "_schema"):
            return self._call_control(node, build)
        arguments = self._arguments(node)
        if (known := compute(node, arguments)) is not None:
            return known
        name = str(node.target)
        has_complex = _has_complex(node)
        rule = rule_for_complex(name) if has_complex else rule_of(name)
        if rule is None:
            reason = near_of_complex(name) if has_complex else near(name, RULES)
            if name.startswith(("_c10d_functional", "c10d", "_dtensor")):
                reason = (
                    "devices exchange something here, and nothing says which there are; give the "
                    "mesh, in a block of ttmlir.virtual_devices: mesh=init_device_mesh(...)"
                )
            self._refuse(node, reason)
        computed = [name for name, each in arguments.items() if isinstance(each, Number)]
        try:
            return rule(TorchCall(node, arguments, build))
        except (AttributeError, TypeError, ValueError):
            if not computed:
                raise
        self._refuse(
            node,
            f"'{computed[0]}' has to be a number of Python's, not one that the program computes; "
            "compute with the tensor itself, without item()",
        )

    def _call_control(self, node: Any, build: BodyBuilder) -> Any:
        """The results of an operation that calls graphs."""
        name = node.target.name() if hasattr(node.target, "name") else str(node.target)
        if name == "with_effects" and str(node.args[1]).startswith("aten._linalg_check_errors"):
            # A factor that does not exist is NaN; the token that keeps checks in order is nothing.
            return (lambda: None,)
        if name not in OPERATIONS:
            self._refuse(
                node,
                f"control flow by '{name}' is not supported; supported are {', '.join(OPERATIONS)},"
                " and torch.where(condition, a, b), which chooses between results",
            )
        return self._control.call(node, [self._resolved(each) for each in node.args], build)

    def _arguments(self, node: Any) -> dict[str, Any]:
        """The arguments of a call by the names of its schema."""
        arguments: dict[str, Any] = {}
        for position, argument in enumerate(node.target._schema.arguments):
            if position < len(node.args):
                given = node.args[position]
            elif argument.name in node.kwargs:
                given = node.kwargs[argument.name]
            else:
                given = argument.default_value if argument.has_default_value() else None
            arguments[argument.name] = self._resolved(given)
        return arguments

    def _resolved(self, argument: Any) -> Any:
        if isinstance(argument, (list, tuple)):
            return [self._resolved(item) for item in cast("list[Any]", argument)]
        if not hasattr(argument, "op"):
            return argument
        value = self._values[argument]
        # torch knows some numbers that the program computes.
        meta = argument.meta.get("val")
        return meta if isinstance(value, Number) and isinstance(meta, int) else value

    def _item(self, node: Any) -> Any:
        source, number = node.args
        value = self._values[source][number]
        if not node.users:
            return None
        if callable(value):
            return value()
        if value is None:
            self._refuse(
                node,
                f"result {number} of '{source.target}' is not supported, only the others are",
            )
        return value

    # -- results -------------------------------------------------------------------------------

    def _finish(
        self, build: BodyBuilder, state: Sequence[str], results: Sequence[Any]
    ) -> tuple[list[str], list[Any]]:
        """End the function; the inputs that it changes, and what it returns.

        New values of the `state` come first, in its order.
        """
        kept: dict[str, SSAValue] = {}
        values: list[SSAValue] = []
        outputs: list[Any] = []
        changed: list[str] = []
        for node, spec in zip(results, self._signature.output_specs, strict=True):
            match spec.kind.name:
                case "USER_INPUT_MUTATION":
                    changed.append(spec.target)
                    if node.meta["val"].shape != self._user_inputs[spec.target]:
                        self._refuse(node, RESHAPED_IN_PLACE)
                case "TOKEN":
                    continue
                case "BUFFER_MUTATION" | "PARAMETER_MUTATION" | "USER_OUTPUT":
                    pass
                case kind:
                    self._refuse(node, f"results of the kind {kind} are not supported")
            meta = node.meta.get("val") if hasattr(node, "op") else None
            if is_computed(meta):
                value = self._values[node]
                is_made = isinstance(value, (Known, Number))
                value = value.create(build) if is_made else value
                if spec.kind.name in ("BUFFER_MUTATION", "PARAMETER_MUTATION"):
                    kept[spec.target] = value
                else:
                    values.append(value)
            if spec.kind.name == "USER_OUTPUT":
                outputs.append(meta if is_computed(meta) else self._resolved(node))
        build.finish([*(kept[name] for name in state), *values])
        return changed, outputs

    def _module(self) -> ModuleOp:
        arguments = [argument.type for argument in self._block.args]
        last = self._block.last_op
        assert last is not None
        results = [operand.type for operand in last.operands]
        function = FuncOp(
            FUNCTION, FunctionType.from_lists(arguments, results), Region(self._block)
        )
        module = ModuleOp([function, *self._control.functions])
        self._complex_places = ComplexPlaces.of(function)
        self._say_mesh(module)
        lowered = next(filter(_needs_lowering, module.walk()), None)
        if lowered is not None and "ttcore.meshes" in module.attributes:
            raise LocatedError(
                lowered.location,
                "complex numbers and decompositions of matrices are not supported in programs of "
                "several devices; compute them before, and give the result as an argument",
            )
        if lowered is not None:
            # Algorithms that several frontends share are written in it.
            transform(module, "stablehlo-to-ttir-pipeline{spelling=2024}")
        return module

    def _say_mesh(self, module: ModuleOp) -> None:
        """Say the devices of a program of several, which joins what it returns."""
        for node in self._exported.graph.nodes:
            if str(node.target) == JOINED:
                meshes = arranged("mesh", tuple(node.args[2]))
                module.attributes["ttcore.meshes"] = MeshesAttr(tuple(meshes))
                return

    # -- refusals ------------------------------------------------------------------------------

    def _check_node(self, node: Any) -> None:
        """Refuse shapes and element types that tensors cannot have."""
        for meta in leaves(node.meta.get("val")):
            if not is_tensor(meta):
                continue
            reason = ""
            if static_shape(meta) is None:
                reason = _unknown_shape(meta.shape)
            elif element_of(meta.dtype) is None:
                reason = (
                    f"tensors of {dtype_name(meta.dtype)} are not supported; dtypes are "
                    f"{SUPPORTED_DTYPES}"
                )
            if reason:
                self._refuse(node, instead_of(str(node.target)) or reason)

    def _refuse(self, node: Any, reason: str) -> NoReturn:
        refuse_node(node, reason)


def _unknown_shape(shape: Sequence[Any]) -> str:
    text = "x".join(map(str, shape))
    # torch calls extents that come from the numbers in tensors u0, u1 ..., those of inputs s0 ...
    if any(str(extent).startswith("u") for extent in shape):
        return (
            f"the shape {text} depends on the numbers in a tensor, as those of x[mask] and "
            "nonzero do; torch.where(mask, x, other) keeps the shape"
        )
    return (
        f"the shape {text} is not known; give examples of the arguments: "
        "ttmlir.compile(exported, x), or export without dynamic_shapes"
    )


def _needs_lowering(op: Operation) -> bool:
    """True for operations of StableHLO of one device, and for those on complex numbers."""
    if op.name.startswith("stablehlo."):
        return not is_between_devices(op)
    return any(is_complex(value.type) for value in (*op.operands, *op.results))


def _has_complex(node: Any) -> bool:
    """True for a call that takes or gives complex numbers."""
    inputs = [each.meta.get("val") for each in node.all_input_nodes]
    given = [*leaves(list(node.args)), *node.kwargs.values()]
    tensors = [each for each in (*leaves(inputs), *leaves(node.meta.get("val"))) if is_tensor(each)]
    return any(isinstance(each, complex) for each in given) or any(
        each.is_complex() for each in tensors
    )


def _is_weight(spec: Any) -> bool:
    return spec.kind.name in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR")


def _is_assertion(node: Any) -> bool:
    """True for checks that torch inserts, which have no results."""
    name = str(node.target)
    return name.startswith(("aten._assert", "aten.sym_constrain")) or "_assert" in name
