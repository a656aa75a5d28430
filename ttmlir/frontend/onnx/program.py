"""Graphs of ONNX as functions in the ttir dialect.

The function takes what a call passes, in the order of the graph's inputs: tensors, and the tensors
in sequences. Weights are constants, or with `weights="arguments"` its first arguments. Graphs of
loops and branches that cannot be resolved while compiling become private functions.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import (
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Region, SSAValue

from ttmlir.arrays.array import Array, Scalar, Shape, concatenate
from ttmlir.arrays.carriers import NumPyCarrier, array_of, host_dtype
from ttmlir.errors import ArgumentError
from ttmlir.frontend.body import BodyBuilder, BodyCarrier
from ttmlir.frontend.onnx.call import Call, NumbersNeededError, RefusedError
from ttmlir.frontend.onnx.elements import (
    DTYPES,
    Bounded,
    Tensor,
    Value,
    onnx_package,
    read_sparse_tensor,
    read_tensor,
    require_memory,
)
from ttmlir.frontend.onnx.graphs import Body, GraphCall, Scope, leaves, names_in
from ttmlir.frontend.onnx.reading import OPERATORS, Model, one_line
from ttmlir.frontend.onnx.rules import INPUTS, RULES
from ttmlir.frontend.onnx.rules.bounded import apply
from ttmlir.frontend.onnx.support import instead_of, near
from ttmlir.ir.tensor_types import element_of
from ttmlir.limits import MAX_CALL_DEPTH, MAX_COPIES
from ttmlir.mlir.attributes import LARGE, ElementsType, large_elements_attr
from ttmlir.mlir.large_bytes import LargeBytes
from ttmlir.mlir.reporting import Diagnostic, DiagnosticError, name_location
from ttmlir.optable.op_definition import OpDefinition

Weights = Literal["constants", "arguments"]

FUNCTION = "main"
"""Name of the function that a graph becomes."""


class _Numbers(NumPyCarrier):
    """Known numbers; those that would take more memory than a run may are refused."""

    def create(
        self,
        definition: OpDefinition,
        operands: Sequence[Array | Scalar],
        shape: Shape,
        dtype: str,
        parameters: dict[str, Any],
    ) -> Any:
        """What the definition's reference function computes."""
        require_memory(shape, dtype, "a result")
        return super().create(definition, operands, shape, dtype, parameters)


_NUMBERS = _Numbers()


def known(numbers: Any, name: str) -> Tensor:
    """A tensor whose numbers are known, of an element type by ONNX's name."""
    return Tensor(Array(_NUMBERS, numbers, numbers.shape, DTYPES[name]), name)


class OnnxBody(BodyBuilder):
    """The body of a function, whose constants are named as the model's weights."""

    def __init__(self, block: Block, weights: Mapping[int, str]) -> None:
        """Build in an empty block; `weights` are names by the identities of numbers."""
        super().__init__(block)
        self.carrier = _OnnxCarrier(self, weights)


class _OnnxCarrier(BodyCarrier):
    """Arrays of a body; many numbers stay where they are until the model has been compiled."""

    def __init__(self, build: BodyBuilder, weights: Mapping[int, str]) -> None:
        super().__init__(build)
        self._weights = weights

    def constant(self, numbers: Any, dtype: str) -> SSAValue:
        """A constant, at the name of the weight that it is."""
        outer = self.build.location
        if (name := self._weights.get(id(numbers))) is not None:
            self.build.location = name_location(name)
        kept = np.ascontiguousarray(numbers, host_dtype(dtype))
        if kept.nbytes < LARGE or dtype == "i1" or (kept == kept.flat[0]).all():
            value = super().constant(kept.reshape(numbers.shape), dtype)
        else:
            type_ = cast("ElementsType", TensorType(element_of(dtype), numbers.shape))
            bits = kept.view(f"u{kept.itemsize}")
            value = self.build.create_constant(
                large_elements_attr(type_, LargeBytes.borrow(bits)), type_
            )
        self.build.location = outer
        return value

    # Loops of `composites.linear_algebra`, which are written out.

    def repeat(
        self,
        count: int,
        step: Callable[..., Sequence[Array]],
        state: Sequence[Array],
        goes_on: Callable[..., Array] | None,
    ) -> list[SSAValue]:
        """The state after `count` steps."""
        assert goes_on is None, "loops that data end are no steps written out"
        for number in range(count):
            state = step(array_of(number, "i32"), *state)
        return [self._body.value_of(each) for each in state]

    def take(self, array: Array, dim: int, place: Array) -> SSAValue:
        """The part at a known place."""
        at = int(place.value)
        return self._body.value_of(array.cut(dim, at, at + 1))

    def put(self, array: Array, dim: int, place: Array, part: Array) -> SSAValue:
        """The array with another part at a known place."""
        at = int(place.value)
        parts = [array.cut(dim, 0, at), part, array.cut(dim, at + 1, array.shape[dim])]
        return self._body.value_of(concatenate(parts, dim))


@dataclass
class ImportedGraph:
    """A module in the ttir dialect, and what its function takes and returns."""

    module: ModuleOp
    weights: list[tuple[str, Any]]
    """Names and numbers of the first arguments."""
    results: list[tuple[str, Value]]
    """Names and values of the graph's outputs."""
    parameters: list[tuple[str, Any]]
    """Names and numbers of all weights."""
    warnings: Sequence[str] = ()
    """What the caller has to know."""


class Importer:
    """One walk over a model."""

    def __init__(
        self,
        model: Model,
        inputs: Mapping[str, Any],
        *,
        weights: Weights = "constants",
    ) -> None:
        """`inputs` are, by the names of the graph's inputs, types of tensors as `(type, shape)`,
        lists of them, None, or arrays of NumPy whose numbers the program is compiled for."""
        self.model = model
        self._inputs = inputs
        self._weights_are: Weights = weights
        self._names: dict[int, str] = {}
        """Of weights, by the identities of their numbers."""
        self._block = Block()
        self._build = OnnxBody(self._block, self._names)
        self._arguments: dict[SSAValue, str] = {}
        self.functions: list[FuncOp] = []
        self._warnings: list[str] = []
        self._own = {
            (_domain(each.domain), each.name, getattr(each, "overload", "")): each
            for each in model.proto.functions
        }
        self._walked = 0
        self._most = MAX_COPIES + len(model.proto.graph.node)

    def run(self) -> ImportedGraph:
        """The module."""
        graph = self.model.proto.graph
        scope = Scope({}, self.model.opsets)
        parameters, weights = self._place_weights(graph, scope)
        for name, given in self._inputs.items():
            if name not in scope.values:
                scope.values[name] = self._place_input(name, given)
        results = self._walk_graph(graph, scope, self._build)
        named = [(each.name, value) for each, value in zip(graph.output, results, strict=True)]
        if all(None not in (_declared_shape(each) or [None]) for each in graph.input):
            # Else callers decide about shapes, and what the file says may be of other ones.
            for each, value in zip(graph.output, results, strict=True):
                self._check_declared(graph, each, value)
        self._build.location = name_location(FUNCTION)
        values = [self._build.value_of(each.array) for each in leaves(results)]
        self._build.finish(values)
        types = [argument.type for argument in self._block.args], [value.type for value in values]
        function = FuncOp(FUNCTION, FunctionType.from_lists(*types), Region(self._block))
        module = ModuleOp([function, *self.functions])
        return ImportedGraph(module, weights, named, parameters, self._warnings)

    def numbers_needed(self, error: NumbersNeededError) -> list[str] | None:
        """The names of the graph's inputs whose numbers are needed; None if there are others."""
        names = [self._arguments.get(each, "") for each in error.arguments]
        return names if all(names) else None

    # -- arguments -----------------------------------------------------------------------------

    def _place_weights(
        self, graph: Any, scope: Scope
    ) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
        """Give initializers their values; all of them, and those that are arguments."""
        all_: list[tuple[str, Any]] = []
        passed: list[tuple[str, Any]] = []
        for name, numbers, type_ in self._initializers(graph):
            if name in self._inputs:
                continue
            tensor = known(numbers, type_)
            all_.append((name, numbers))
            self._names[id(numbers)] = name
            is_passed = self._weights_are == "arguments" and tensor.array.is_real
            if is_passed and numbers.size > 1:
                passed.append((name, numbers))
                tensor = self._argument(name, type_, numbers.shape)
            scope.values[name] = tensor
        return all_, passed

    def _initializers(self, graph: Any) -> Iterator[tuple[str, Any, str]]:
        tensors = [(each.name, each, read_tensor) for each in graph.initializer]
        tensors += [
            (each.values.name, each, read_sparse_tensor) for each in graph.sparse_initializer
        ]
        names = Counter(name for name, _, _ in tensors)
        for name, proto, read in tensors:
            if names[name] > 1:
                raise self.model.refuse(f"two initializers have the name '{name}'")
            try:
                numbers, type_ = read(proto, self.model.folder)
            except ArgumentError as error:
                if _is_needed(graph, name):
                    raise self.model.refuse(f"the initializer '{name}': {error}") from error
                continue
            yield name, numbers, type_

    def _place_input(self, name: str, given: Any) -> Value:
        if given is None:
            return None
        if isinstance(given, list):
            items = enumerate(cast("list[Any]", given))
            return [self._place_input(f"{name}[{number}]", each) for number, each in items]
        type_, what = given
        if isinstance(what, np.ndarray):
            return known(what, type_)
        return self._argument(name, type_, what)

    def _argument(self, name: str, type_: str, shape: Sequence[int]) -> Tensor:
        tensor_type = TensorType(element_of(DTYPES[type_]), shape)
        argument = self._block.insert_arg(tensor_type, len(self._block.args))
        argument.location = name_location(name)
        if BlockArgument.is_valid_name(name):
            argument.name_hint = name
        self._arguments[argument] = name
        return Tensor(self._build.array(argument), type_)

    # -- graphs --------------------------------------------------------------------------------

    def walk_body(
        self,
        body: Body,
        arguments: Sequence[Value],
        build: BodyBuilder,
        path: str,
        around: Mapping[str, Value],
    ) -> list[Value]:
        """The results of a graph that a node has."""
        graph, outer = body.graph, body.scope
        if len(arguments) != len(graph.input):
            raise RefusedError(
                f"its graph takes {len(graph.input)} values, and gets {len(arguments)}"
            )
        given = {**around, **dict(zip(body.inputs, arguments, strict=True))}
        values: MutableMapping[str, Value] = ChainMap(given, cast("Any", outer.values))
        scope = replace(outer, values=values, path=path, depth=outer.depth + 1)
        for name, numbers, type_ in self._initializers(graph):
            values[name] = known(numbers, type_)
        return self._walk_graph(graph, scope, build)

    def _check_declared(self, graph: Any, info: Any, value: Value) -> None:
        """Warn of a result whose shape is another one than the graph says, as files often have."""
        declared = _declared_shape(info)
        node = _maker(graph, info.name)
        if declared is None or node is None or not isinstance(value, Tensor):
            return
        shape = value.array.shape
        if len(shape) != len(declared) or any(
            extent not in (None, own) for extent, own in zip(declared, shape, strict=True)
        ):
            said = ", ".join("?" if each is None else str(each) for each in declared)
            self._warnings.append(
                f"node '{_label(node)}' ({node.op_type}): its result has the shape {list(shape)}, "
                f"though the graph says that it is [{said}]"
            )

    def _walk_graph(self, graph: Any, scope: Scope, build: BodyBuilder) -> list[Value]:
        names = [each.name for each in graph.output]
        self._walk(graph.node, names, scope, build)
        for name in names:
            if name not in scope.values:
                raise self.model.refuse(f"no node gives the result '{name}'")
        return [scope.values[name] for name in names]

    def _walk(
        self, nodes: Sequence[Any], results: Iterable[str], scope: Scope, build: BodyBuilder
    ) -> None:
        """Add what nodes compute, as far as somebody uses it."""
        if scope.depth > MAX_CALL_DEPTH:
            raise self.model.refuse(
                f"graphs and functions are nested more than {MAX_CALL_DEPTH} deep"
            )
        given = Counter(name for node in nodes for name in node.output if name)
        if given and given.most_common(1)[0][1] > 1:
            raise self.model.refuse(f"two nodes give the result '{given.most_common(1)[0][0]}'")
        for node, used in _needed(nodes, results):
            self._walked += 1
            if self._walked > self._most:
                raise self.model.refuse(
                    f"its functions and loops have more than {MAX_COPIES} nodes when they are "
                    "written out"
                )
            path = scope.path + _label(node)
            build.location = name_location(path)
            with self._about(node, path):
                found = self._call(node, used, path, scope, build)
            for name, value in zip(node.output, found, strict=False):
                if name:
                    scope.values[name] = value

    @contextmanager
    def _about(self, node: Any, path: str) -> Generator[None]:
        """Let refusals inside be about a node."""
        try:
            yield
        except (RefusedError, ArgumentError, ArithmeticError, ValueError) as error:
            message = str(error) or type(error).__name__
            raise DiagnosticError(self._diagnostic(node, path, message)) from error
        except NumbersNeededError as error:
            if self.numbers_needed(error) is None:
                raise DiagnosticError(self._diagnostic(node, path, str(error))) from error
            error.diagnostic = error.diagnostic or self._diagnostic(node, path, str(error))
            raise

    def _diagnostic(self, node: Any, path: str, message: str) -> Diagnostic:
        gives = ", ".join(f"'{name}'" for name in node.output if name) or "nothing"
        operator = f"{node.domain}.{node.op_type}" if _domain(node.domain) else node.op_type
        text = one_line(f"node '{path}' ({operator}), which gives {gives}: {message}")
        return Diagnostic("error", name_location(path), text, file=self.model.file)

    # -- nodes ---------------------------------------------------------------------------------

    def _call(
        self, node: Any, used: Sequence[str], path: str, scope: Scope, build: BodyBuilder
    ) -> list[Value]:
        inputs = [self._input(name, scope) for name in node.input]
        domain = _domain(node.domain)
        own = self._own.get((domain, node.op_type, getattr(node, "overload", "")))
        attributes = self._attributes(node, scope)
        if own is not None:
            return self._call_function(own, inputs, attributes, used, path, scope, build)
        schema = self._schema(node, domain, scope)
        rule = RULES.get((domain, node.op_type))
        if rule is not None:
            call = self._read_call(node, schema, inputs, attributes, used, path, build)
            return self._results(call, schema, apply(call, rule))
        if (reason := instead_of(domain, node.op_type)) is not None:
            raise RefusedError(reason)
        function = self._standard_function(node, schema, inputs, scope)
        if schema is None or function is None:
            raise RefusedError(near(domain, node.op_type))
        for name, each in schema.attributes.items():
            if name not in attributes and each.default_value.name:
                attributes[name] = self._attribute(each.default_value, scope)
        return self._call_function(function, inputs, attributes, used, path, scope, build)

    def _input(self, name: str, scope: Scope) -> Value:
        if not name:
            return None
        if name not in scope.values:
            raise RefusedError(
                f"its input '{name}' is none of the graph's inputs and initializers, and no node "
                "before this one gives it"
            )
        return scope.values[name]

    def _attributes(self, node: Any, scope: Scope) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for each in node.attribute:
            if each.ref_attr_name:
                if each.ref_attr_name in scope.attributes:
                    found[each.name] = scope.attributes[each.ref_attr_name]
            else:
                found[each.name] = self._attribute(each, scope)
        return found

    def _attribute(self, proto: Any, scope: Scope) -> Any:
        """An attribute as a value of Python: tensors are `Tensor`s, graphs are bodies."""
        kinds = onnx_package().AttributeProto
        match proto.type:
            case kinds.TENSOR:
                return known(*read_tensor(proto.t, self.model.folder))
            case kinds.SPARSE_TENSOR:
                return known(*read_sparse_tensor(proto.sparse_tensor, self.model.folder))
            case kinds.GRAPH:
                return Body(proto.g, scope)
            case _:
                return _plain_attribute(proto)

    def _schema(self, node: Any, domain: str, scope: Scope) -> Any:
        """What the standard says of an operator in the version that the model asks for."""
        defs = onnx_package().defs
        version = scope.opsets.get(domain)
        if version is None:
            raise RefusedError(f"the model imports no operator set of the domain '{domain}'")
        try:
            schema = defs.get_schema(node.op_type, min(version, _MOST_VERSION), domain)
        except defs.SchemaError:
            return None
        if schema.deprecated:
            raise RefusedError(f"version {version} of the operator set has it no longer")
        return schema

    def _read_call(
        self,
        node: Any,
        schema: Any,
        inputs: list[Value],
        attributes: dict[str, Any],
        used: Sequence[str],
        path: str,
        build: BodyBuilder,
    ) -> Call:
        if schema is None:
            names = INPUTS.get((_domain(node.domain), node.op_type))
            if names is None:
                raise RefusedError(
                    "the version of the operator set that the model asks for does not have it"
                )
            named = _listed_inputs(names, inputs)
            return self._make_call(node, 1, named, attributes, used, path, build)
        named = _named_inputs(schema, inputs)
        _check_types(schema, named)
        _check_attributes(node, schema)
        for name, each in schema.attributes.items():
            if name in attributes:
                continue
            if each.required:
                raise RefusedError(f"the attribute '{name}' is missing")
            if each.default_value.name:
                attributes[name] = self._attribute(each.default_value, Scope({}, {}))
        return self._make_call(node, schema.since_version, named, attributes, used, path, build)

    def _make_call(
        self,
        node: Any,
        version: int,
        inputs: Mapping[str, Any],
        attributes: Mapping[str, Any],
        used: Sequence[str],
        path: str,
        build: BodyBuilder,
    ) -> Call:
        return GraphCall(
            node.op_type,
            version,
            inputs,
            attributes,
            build,
            used,
            self.functions,
            lambda block: OnnxBody(block, self._names),
            self._warnings,
            self,
            path,
        )

    def _results(self, call: Call, schema: Any, found: Any) -> list[Value]:
        """What a rule gives, as values of the types that the schema says."""
        listed = [*cast("tuple[Any, ...]", found)] if isinstance(found, tuple) else [found]
        names: list[str | None] = [None] * len(listed)
        if schema is not None:
            fixed = {
                each.type_param_str: each.allowed_type_strs for each in schema.type_constraints
            }
            for number, formal in enumerate(schema.outputs):
                if formal.option == _option("Variadic"):
                    names[number:] = [_result_type(call, schema, formal, fixed)] * len(
                        listed[number:]
                    )
                elif number < len(names):
                    names[number] = _result_type(call, schema, formal, fixed)
        return [_as_value(each, name) for each, name in zip(listed, names, strict=True)]

    # -- functions -----------------------------------------------------------------------------

    def _standard_function(
        self, node: Any, schema: Any, inputs: Sequence[Value], scope: Scope
    ) -> Any:
        """The body that the standard gives an operator; None if it gives none."""
        if schema is None:
            return None
        onnx = onnx_package()
        version = scope.opsets.get("", onnx.defs.onnx_opset_version())

        def newest(versions: Sequence[int]) -> int | None:
            return max((each for each in versions if each <= version), default=None)

        if (found := newest(schema.function_opset_versions)) is not None:
            function = onnx.FunctionProto()
            function.ParseFromString(schema.get_function_with_opset_version(found))
            return function
        if (found := newest(schema.context_dependent_function_opset_versions)) is None:
            return None
        types = [_type_proto(each).SerializeToString() for each in inputs]
        text = schema.get_context_dependent_function_with_opset_version(
            found, self._resolved(node, scope).SerializeToString(), types
        )
        if not text:
            return None
        function = onnx.FunctionProto()
        function.ParseFromString(text)
        return function

    def _resolved(self, node: Any, scope: Scope) -> Any:
        """A node of a function with the attributes that its call has."""
        if not any(each.ref_attr_name for each in node.attribute):
            return node
        onnx = onnx_package()
        found = onnx.NodeProto()
        found.CopyFrom(node)
        found.ClearField("attribute")
        for name, value in self._attributes(node, scope).items():
            if not isinstance(value, Tensor | Body):
                found.attribute.append(onnx.helper.make_attribute(name, value))
        return found

    def _call_function(
        self,
        function: Any,
        inputs: list[Value],
        attributes: Mapping[str, Any],
        used: Sequence[str],
        path: str,
        scope: Scope,
        build: BodyBuilder,
    ) -> list[Value]:
        """The results of a function for inputs."""
        if len(inputs) > len(function.input):
            raise RefusedError(
                f"its function takes {len(function.input)} inputs, and gets {len(inputs)}"
            )
        given: dict[str, Value] = dict.fromkeys(function.input)
        given.update(zip(function.input, inputs, strict=False))
        defaults = {each.name: self._attribute(each, scope) for each in function.attribute_proto}
        opsets = {_domain(each.domain): each.version for each in function.opset_import}
        inner = Scope(
            given,
            {**scope.opsets, **opsets},
            f"{path}/",
            {**defaults, **attributes},
            scope.depth + 1,
        )
        names = [name for name, is_used in zip(function.output, used, strict=False) if is_used]
        self._walk(function.node, names, inner, build)
        for name in names:
            if name not in given:
                raise RefusedError(f"no node of its function gives '{name}'")
        return [given.get(name) for name in function.output]


_MOST_VERSION = (1 << 31) - 1


def _plain_attribute(proto: Any) -> Any:
    """An attribute that is a number, a text, or a list of them."""
    kinds = onnx_package().AttributeProto
    readers: dict[Any, Callable[[], Any]] = {
        kinds.FLOAT: lambda: proto.f,
        kinds.INT: lambda: proto.i,
        kinds.STRING: lambda: proto.s.decode("utf-8", "replace"),
        kinds.FLOATS: lambda: list(proto.floats),
        kinds.INTS: lambda: list(proto.ints),
        kinds.STRINGS: lambda: [each.decode("utf-8", "replace") for each in proto.strings],
        kinds.TYPE_PROTO: lambda: proto.tp,
    }
    if proto.type not in readers:
        raise RefusedError(f"the attribute '{proto.name}' has a kind that is not supported")
    return readers[proto.type]()


def _check_types(schema: Any, named: Mapping[str, Any]) -> None:
    """Refuse tensors of several types where the standard has one, and of a kind that it has not."""
    allowed = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
    first: dict[str, tuple[str, str]] = {}
    for formal in schema.inputs:
        given = named.get(formal.name)
        if formal.type_str not in allowed or not formal.is_homogeneous:
            continue
        is_many = formal.option == _option("Variadic")
        for tensor in cast("list[Any]", given) if is_many else [given]:
            if not isinstance(tensor, Tensor | Bounded):
                continue
            other, type_ = first.setdefault(formal.type_str, (formal.name, tensor.type))
            if tensor.type != type_:
                raise RefusedError(
                    f"the input '{formal.name}' is {tensor.type}, and '{other}' {type_}; they have "
                    "to be of one type: put a Cast in front of one of them"
                )
            kinds = {_kind_of(each) for each in allowed[formal.type_str]}
            if _kind_of(f"tensor({tensor.type.lower()})") not in kinds:
                names = ", ".join(sorted(map(_short_type, allowed[formal.type_str])))
                raise RefusedError(
                    f"the input '{formal.name}' is {tensor.type}; types that it may have are "
                    f"{names}: put a Cast in front of it"
                )


def _short_type(name: str) -> str:
    return name.removeprefix("tensor(").removesuffix(")").upper()


def _kind_of(name: str) -> str:
    """Of a type by its name in a schema: whole numbers, others, truths, or no tensor's."""
    if not name.startswith("tensor("):
        return name
    name = _short_type(name)
    return "whole" if "INT" in name else "truth" if name == "BOOL" else "real"


def _check_attributes(node: Any, schema: Any) -> None:
    """Refuse attributes that the schema has not, or that are of another kind there."""
    kinds = onnx_package().AttributeProto.AttributeType
    for each in node.attribute:
        known_one = schema.attributes.get(each.name)
        if known_one is None:
            if each.name.startswith("__"):  # notes of exporters, which ONNX's checker takes, too
                continue
            names = ", ".join(sorted(schema.attributes)) or "none"
            raise RefusedError(
                f"there is no attribute '{each.name}' in version {schema.since_version} of the "
                f"operator; there are: {names}"
            )
        kind = kinds.Name(each.type)
        if kind != known_one.type.name:
            raise RefusedError(
                f"the attribute '{each.name}' is {kind}; it has to be {known_one.type.name}"
            )


def _listed_inputs(names: Sequence[str], inputs: list[Value]) -> dict[str, Any]:
    """Inputs by the names of an operator without a schema."""
    named: dict[str, Any] = dict(zip(names, inputs, strict=False))
    if names[-1].endswith("*"):
        named[names[-1][:-1]] = inputs[len(names) - 1 :]
    elif len(inputs) > len(names):
        raise RefusedError(f"it has {len(inputs)} inputs; there are {', '.join(names)}")
    return named


def _named_inputs(schema: Any, inputs: Sequence[Value]) -> dict[str, Any]:
    """Inputs by the names of a schema."""
    if not schema.min_input <= len(inputs) <= schema.max_input:
        raise RefusedError(
            f"it has {len(inputs)} inputs; there are {schema.min_input} to {schema.max_input}"
        )
    named: dict[str, Any] = {}
    for number, formal in enumerate(schema.inputs):
        if formal.option == _option("Variadic"):
            named[formal.name] = inputs[number:]
        elif number < len(inputs):
            named[formal.name] = inputs[number]
            is_needed = formal.option == _option("Single") and "optional(" not in str(formal.types)
            if inputs[number] is None and is_needed:
                raise RefusedError(f"the input '{formal.name}' is missing")
    return named


def _option(name: str) -> Any:
    return getattr(onnx_package().defs.OpSchema.FormalParameterOption, name)


def _domain(name: str) -> str:
    return "" if name in OPERATORS else name


def _label(node: Any) -> str:
    """What messages and locations call a node: its name, or the first of its results."""
    name = node.name or next((each for each in node.output if each), node.op_type)
    return name.strip("/") or node.op_type


def _is_needed(graph: Any, name: str) -> bool:
    """Whether results of a graph depend on what has a name."""
    results = [each.name for each in graph.output]
    needed = (each for node, _ in _needed(graph.node, results) for each in names_in(node))
    return name in results or name in needed


def _maker(graph: Any, name: str) -> Any:
    """The node that gives what has a name; None if none does."""
    return next((each for each in graph.node if name in each.output), None)


def _declared_shape(info: Any) -> list[int | None] | None:
    """What a graph says of a tensor's shape, with None for open extents; None if nothing."""
    tensor = info.type.tensor_type
    if not tensor.HasField("shape"):
        return None
    return [each.dim_value if each.HasField("dim_value") else None for each in tensor.shape.dim]


def _needed(nodes: Sequence[Any], results: Iterable[str]) -> list[tuple[Any, list[str]]]:
    """The nodes that results depend on, in their order, with those of their outputs that count."""
    needed = set(results)
    found: list[tuple[Any, list[str]]] = []
    for node in reversed(nodes):
        used = [name if name in needed else "" for name in node.output]
        if any(used):
            found.append((node, used))
            needed.update(names_in(node))
    return found[::-1]


def _result_type(call: Call, schema: Any, formal: Any, fixed: Mapping[str, Any]) -> str | None:
    """The element type of a result by ONNX's name, if inputs or the schema decide it."""
    names = fixed.get(formal.type_str, [formal.type_str])
    for given in schema.inputs:
        if given.type_str == formal.type_str:
            value = call.inputs.get(given.name)
            if isinstance(value, list):
                value = next((each for each in value if isinstance(each, Tensor | Bounded)), None)
            if isinstance(value, Tensor | Bounded):
                return value.type
    if len(names) == 1:
        text = str(next(iter(names))).removeprefix("tensor(").removesuffix(")")
        return text.upper() if text.upper() in DTYPES else None
    return None


def _as_value(found: Any, name: str | None) -> Value:
    if isinstance(found, Array):
        if name is None:
            return Tensor.of(found)
        return Tensor(found.cast(DTYPES[name]), name)
    if isinstance(found, Bounded) and not found.type:
        if name is None:
            return replace(found, type=Tensor.of(found.array).type)
        return replace(found, array=found.array.cast(DTYPES[name]), type=name)
    return found


def _type_proto(value: Value) -> Any:
    """What ONNX calls the type of a value."""
    onnx = onnx_package()
    if value is None:
        return onnx.TypeProto()
    if isinstance(value, list):
        inner = _type_proto(value[0]) if value else onnx.helper.make_tensor_type_proto(1, None)
        return onnx.helper.make_sequence_type_proto(inner)
    number = onnx.TensorProto.DataType.Value(value.type)
    shape: list[int | None] = [*value.array.shape]
    if isinstance(value, Bounded):
        shape = [None if dim in value.sizes else n for dim, n in enumerate(shape)]
    return onnx.helper.make_tensor_type_proto(number, shape)
