"""The frontend for JAX: functions, jitted functions and what JAX makes of them.

    imported = import_model(function, (x, w), {})

The program is the StableHLO that `jax.jit(function).lower(...)` gives, with the Python frames of
every operation as locations. Large constants do not pass through its text: there they are elided,
and their bytes are moved from JAX's module into ours.
"""

from __future__ import annotations

import inspect
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr

from ttmlir.compiler import parse, transform
from ttmlir.errors import ArgumentTypeError
from ttmlir.files import PACKAGE_FOLDER
from ttmlir.frontend.calls import (
    OPENER,
    CallArguments,
    CallLayout,
    Ignored,
    Layout,
    Number,
    array_of_number,
    as_array,
    is_key,
    jax_array_of,
    read_call,
    read_layout,
)
from ttmlir.frontend.compiled import ImportedModel, narrow
from ttmlir.frontend.complex_pairs import split_model
from ttmlir.frontend.errors import CALLED, in_terms_of_the_user, is_installed, is_of_library
from ttmlir.mlir.attributes import LARGE, elements_attr
from ttmlir.mlir.reporting import Diagnostic, LocatedError, Source, file_location, note
from ttmlir.passes.stablehlo.linear_algebra.stablehlo_expand_linear_algebra import is_expanded_call
from ttmlir.passes.stablehlo.structure.stablehlo_flatten_tuple import StableHLOFlattenTuplePass
from ttmlir.runtime.signature import CallSignature
from ttmlir.runtime.tensor import Array

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp


# --- Jax constants --------------------------------------------------------------------------------
# Large arrays that functions of JAX close over, without the copy that JAX makes of each.
#
# JAX writes constants into its IR when it lowers a function. So a function with large ones is
# traced again with these as its first arguments, which become constants of our module afterwards:
# of the bytes that JAX's arrays hold.

WORTH_TRACING = 8 << 20
"""Bytes of large constants from which on a function is traced twice."""


@dataclass(frozen=True, kw_only=True)
class Hoisted:
    """A function whose first arguments are what another one closes over."""

    traced: Any
    """The function in JAX's form."""
    constants: Sequence[Array]
    """The first arguments, in the memory of JAX's arrays."""
    input_names: Sequence[str]
    """What JAX calls the other arguments."""


def hoist_constants(jax: Any, traced: Any, *, keep_unused: bool) -> Hoisted | None:
    """A traced function with its large constants as arguments.

    None if there are too few of them, or if this version of JAX does not name arguments.
    """
    core: Any = import_module("jax.extend.core")
    closed = traced.jaxpr
    known = getattr(getattr(closed.jaxpr, "debug_info", None), "arg_names", None)
    indices = [index for index, each in enumerate(closed.consts) if _is_large(jax, each)]
    arrays = [np.asarray(closed.consts[index]) for index in indices]
    if known is None or sum(array.nbytes for array in arrays) < WORTH_TRACING:
        return None
    if len(known) != len(closed.in_avals):
        return None

    out_tree = jax.tree_util.tree_structure(traced.out_info)

    def run(constants: Sequence[Any], *arguments: Any) -> Any:
        values = list(closed.consts)
        for index, constant in zip(indices, constants, strict=True):
            values[index] = constant
        results = core.jaxpr_as_fun(core.ClosedJaxpr(closed.jaxpr, values))(*arguments)
        return jax.tree_util.tree_unflatten(out_tree, results)

    run.__name__ = run.__qualname__ = traced.fun_name
    shape = jax.ShapeDtypeStruct
    examples = [
        shape(each.shape, each.dtype, weak_type=getattr(each, "weak_type", False))
        for each in closed.in_avals
    ]
    constants = [shape(array.shape, array.dtype) for array in arrays]
    return Hoisted(
        traced=jax.jit(run, keep_unused=keep_unused).trace(constants, *examples),
        constants=arrays,
        input_names=[name or f"argument {number}" for number, name in enumerate(known)],
    )


def _is_large(jax: Any, value: Any) -> bool:
    """True for many whole bytes of numbers in one piece, which nobody distributes."""
    if isinstance(value, jax.Array) and not (
        value.is_fully_addressable and len(value.devices()) == 1
    ):
        return False
    dtype = getattr(value, "dtype", None)
    if not isinstance(dtype, np.dtype) or getattr(value, "nbytes", 0) < LARGE:
        return False
    is_number = dtype.kind in "fiu" or dtype.name == "bfloat16"
    return is_number and np.asarray(value).flags.c_contiguous


def bind_constants(function: FuncOp, constants: Sequence[Array]) -> None:
    """Make constants of the first arguments of a function."""
    from xdsl.dialects.builtin import ArrayAttr, FunctionType
    from xdsl.rewriter import InsertPoint, Rewriter

    from ttmlir.dialects.stablehlo.creation import ConstantOp

    block = function.body.block
    count = len(constants)
    for array, argument in reversed(list(zip(constants, block.args[:count], strict=True))):
        type: Any = argument.type
        data = array.reshape(-1).view(np.uint8).data
        value = elements_attr(type, data)
        constant = ConstantOp.create(result_types=[type], properties={"value": value})
        # Where it is used first is a line of the user's.
        constant.location = next((use.operation.location for use in argument.uses), UNKNOWN_LOC)
        Rewriter.insert_op(constant, InsertPoint.at_start(block))
        argument.replace_all_uses_with(constant.results[0])
        block.erase_arg(argument)
    type = function.function_type
    inputs, outputs = type.inputs.data[count:], type.outputs.data
    function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
    if function.arg_attrs is not None:
        function.properties["arg_attrs"] = ArrayAttr(function.arg_attrs.data[count:])


# --- Jax tracing ----------------------------------------------------------------------------------
# What JAX cannot trace, because it depends on the numbers in an array, and what to write instead.
#
# JAX's own messages speak of tracers, and of `jit` decorators that a model may not have.

_SHAPE = (
    "a shape depends on the numbers in an array; size= fixes that of jnp.nonzero, jnp.unique, "
    "jnp.argwhere and jnp.where(mask), total_repeat_length= that of jnp.repeat, and "
    "jnp.where(mask, x, other) keeps the shape"
)
_SLICE = (
    "the bounds of a slice depend on the numbers in an array; jax.lax.dynamic_slice takes a part "
    "of a known size at any index"
)
_NUMBER = (
    "Python takes a number out of an array; compute with the array, or make the argument a static "
    "one by functools.partial"
)
_REASONS = (
    (
        "TracerBoolConversionError",
        "Python decides by the numbers in an array; jnp.where(condition, a, b) chooses between "
        "arrays, jax.lax.cond(condition, f, g, *args) between functions, and jax.lax.while_loop "
        "repeats one; functools.partial makes an argument a constant",
    ),
    (
        "TracerArrayConversionError",
        "NumPy computes with an array of JAX, or Python indexes with one; jax.numpy has NumPy's "
        "functions, and jnp.asarray(list)[i] takes an element",
    ),
    (
        "TracerIntegerConversionError",
        "Python indexes or counts with a number in an array; jnp.asarray(list)[i] takes an "
        "element, jax.lax.fori_loop repeats a function",
    ),
    ("NonConcreteBooleanIndexError", _SHAPE),
)
"""Why by the names of JAX's errors, the special ones first."""
_STATE_ERROR = "TraceContextError"
"""The error of flax.nnx about variables that a traced function changes."""
_STATE = (
    "the function changes a variable of a module that was made outside of it; pass the module "
    "itself to ttmlir.compile, or call a copy that the function makes: nnx.clone(model)(x)"
)
_NAMES_OF_SHAPES = ("nonzero", "unique", "where", "repeat", "arange", "argwhere", "bincount")
"""Functions of JAX whose results have shapes that depend on numbers."""
_BY_MESSAGE = (
    ("Shapes must be 1D sequences of concrete values", _SHAPE),
    ("Slice entries must be static integers", _SLICE),
)
"""Why by what JAX says in errors of Python's own kinds."""


@contextmanager
def tracing(name: str) -> Generator[None]:
    """Errors of JAX about unknown numbers become refusals at the user's line."""
    with in_terms_of_the_user(name):
        try:
            yield
        except Exception as error:
            reason = _reason_of(error)
            if reason is None:
                raise
            location, notes = _locations_of(error)
            raise LocatedError(location, f"JAX cannot trace this: {reason}", notes) from error


def _reason_of(error: Exception) -> str | None:
    """Why a model cannot be traced, and what to write; None for an error of another kind."""
    errors: Any = import_module("jax.errors")
    for name, reason in _REASONS:
        if isinstance(error, getattr(errors, name)):
            return reason
    if isinstance(error, errors.ConcretizationTypeError):
        functions = {frame.name.lstrip("_") for frame in _frames_of(error)}
        return _SHAPE if functions & set(_NAMES_OF_SHAPES) else _NUMBER
    if type(error).__name__ == _STATE_ERROR:
        return _STATE
    text = str(error)
    return next((reason for start, reason in _BY_MESSAGE if text.startswith(start)), None)


def _frames_of(error: Exception) -> list[traceback.FrameSummary]:
    return list(traceback.extract_tb(error.__traceback__))


def _locations_of(error: Exception) -> tuple[LocationAttr, Sequence[Diagnostic]]:
    """The innermost line of a model, and a note at the user's own if that is a library's."""
    frames = [
        frame
        for frame in (*traceback.extract_stack(), *_frames_of(error))
        if frame.lineno is not None
    ]
    own = [frame for frame in frames if _is_the_users(frame.filename)]
    if type(error).__name__ == _STATE_ERROR:
        return _location_of(own), ()
    models = [frame for frame in frames if frame in own or is_of_library(frame.filename)]
    if not own or models[-1] is own[-1]:
        return _location_of(models), ()
    return _location_of(models), [note(_location_of(own), CALLED)]


def _is_the_users(file: str) -> bool:
    return not is_installed(file) and not file.startswith((PACKAGE_FOLDER, "<frozen "))


def _location_of(frames: Sequence[traceback.FrameSummary]) -> LocationAttr:
    if not frames:
        return UNKNOWN_LOC
    last = frames[-1]
    return file_location(last.filename, last.lineno or 1, (last.colno or 0) + 1)


# --- Jax ------------------------------------------------------------------------------------------

TEXT_LIMIT = 100
"""Constants of more elements do not pass through text; MLIR writes them as hexadecimal digits."""

FIRST_COLUMN = 0
"""The first column of a line in JAX's locations, which are Python's."""


def import_model(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ImportedModel:
    """A model from a function and examples of its arguments, or from a stage of JAX's own.

    Examples are arrays, numbers, `jax.ShapeDtypeStruct`s and trees of them. A call passes the
    arguments that are not static. `Traced`, `Lowered` and `Exported` objects know their arguments.
    """
    jax: Any = import_module("jax")
    export: Any = import_module("jax.export")
    _leave_out_own_frames()
    stages: tuple[Any, ...] = (jax.stages.Traced, jax.stages.Lowered, export.Exported)
    if isinstance(model, stages) and (args or kwargs):
        raise ArgumentTypeError(
            f"a {type(model).__name__} object of JAX knows its arguments: ttmlir.compile takes no "
            "examples with it"
        )
    if isinstance(model, jax.stages.Compiled):
        raise ArgumentTypeError(
            "a Compiled object of JAX holds machine code; ttmlir.compile takes the function, or "
            "what its .lower(...) returns"
        )
    if isinstance(model, export.Exported):
        return _import(jax, _of_exported(model))
    if isinstance(model, jax.stages.Lowered):
        return _import(jax, _of_lowered(model, lambda: model.compile()))
    if isinstance(model, jax.stages.Traced):
        return _import(jax, _of_lowered(_lower(model), lambda: model.lower().compile()))
    return _import_callable(jax, model, args, kwargs)


def _import_callable(
    jax: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> ImportedModel:
    if _is_jit_of_flax(model):
        return _import_changing(jax, model, args, kwargs)
    traced = None
    function: Any = model
    owner: tuple[Any, ...] = ()
    if isinstance(model, MethodType):
        # It has the attributes of its function, whose `trace` takes the object, too. That is
        # static unless JAX finds arrays in it.
        function, owner = model.__func__, (model.__self__,)
    is_jitted = isinstance(function, jax.stages.Wrapped) and jax.tree_util.all_leaves(owner)
    if is_jitted:
        _refuse_other_jit(function)
        with tracing(_name_of(model)):
            traced = function.trace(*owner, *args, **kwargs)
    elif isinstance(model, FunctionType) and _is_native(jax, (args, kwargs)):
        # A function that JAX knows already is not traced again. Results that JAX does not know are
        # an error of its own.
        with suppress(TypeError), tracing(_name_of(model)):
            traced = jax.jit(model, keep_unused=True).trace(*args, **kwargs)
    if traced is None:
        return _import_function(jax, model, (args, kwargs))
    program = _of_traced(jax, traced, keep_unused=not is_jitted)
    return _import(jax, program, model, (args, kwargs))


def _refuse_other_jit(model: Any) -> None:
    """TypeError for what the `jit` of another library returns, such as that of flax's nnx."""
    package = type(model).__module__.partition(".")[0]
    if package not in ("jax", "jaxlib"):
        name = _name_of(model)
        raise ArgumentTypeError(
            f"ttmlir.compile cannot compile '{name}', an object of {package} whose calls may "
            "change modules in place; it takes the function without this decorator, which the "
            "attribute __wrapped__ holds. Let the function return the modules that it changes, "
            "such as model, optimizer, loss, and pass those to the next call"
        )


def _is_jit_of_flax(model: Any) -> bool:
    """True for what `nnx.jit` returns."""
    return hasattr(model, "__wrapped__") and type(model).__module__.startswith("flax.nnx.")


def _import_changing(
    jax: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> ImportedModel:
    """What `nnx.jit` returns: a call changes the modules among its arguments as flax does.

    The program takes the variables of all modules before the other arguments, and returns the
    result and the variables that change.
    """
    nnx: Any = import_module("flax.nnx")
    function, name = model.__wrapped__, _name_of(model)
    parameters = list(inspect.signature(function).parameters)
    changed: list[int] = []

    def split(
        args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[dict[str, Any], CallArguments]:
        return _split_modules(nnx, parameters, args, kwargs)

    is_given = [key in split(args, kwargs)[0] for key in parameters[: len(args)]]
    look, state = nnx.split(split(args, kwargs)[0])
    tree = jax.tree.structure(state)

    def run(modules: Any, *args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
        before = jax.tree.leaves(modules)
        inner = nnx.merge(look, jax.tree.unflatten(tree, before))
        left = iter(args)
        numbered = [
            inner[key] if found else next(left)
            for key, found in zip(parameters, is_given, strict=False)
        ]
        kwargs |= {
            key: each for key, each in inner.items() if key not in parameters[: len(numbered)]
        }
        result = function(*numbered, *left, **kwargs)
        after = jax.tree.leaves(nnx.state(inner))
        if len(before) != len(after):
            raise ArgumentTypeError(
                f"'{name}' gives a module variables that it did not have; call it once before "
                "ttmlir.compile, so that the module has them"
            )
        pairs = zip(before, after, strict=True)
        changed[:] = [number for number, (old, new) in enumerate(pairs) if old is not new]
        return result, [after[number] for number in changed]

    def program_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallArguments:
        modules, (others, named) = split(args, kwargs)
        return (nnx.to_pure_dict(nnx.state(modules)), *others), named

    def write_back(args: tuple[Any, ...], kwargs: dict[str, Any], found: Any) -> Any:
        result, values = found
        modules, _ = split(args, kwargs)
        leaves, tree = jax.tree.flatten(nnx.state(modules))
        for number, value in zip(changed, values, strict=True):
            leaves[number] = value
        nnx.update(modules, jax.tree.unflatten(tree, leaves))
        return result

    run.__name__ = run.__qualname__ = name
    imported = _import_function(jax, run, program_arguments(args, kwargs))
    reference = cast("Any", imported.reference)

    def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return imported.flatten(*program_arguments(args, kwargs))

    def reference_of(*args: Any, **kwargs: Any) -> Any:
        given, named = program_arguments(args, kwargs)
        return reference(*given, **named)

    return replace(
        imported,
        flatten=flatten,
        reference=reference_of,
        write_back=write_back,
    )


def _split_modules(
    nnx: Any, parameters: Sequence[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[dict[str, Any], CallArguments]:
    """The arguments that are modules, or have some, by their names; and the others."""

    def is_module(value: Any) -> bool:
        return isinstance(value, (nnx.Pytree, nnx.Variable))

    def has_modules(value: Any) -> bool:
        return any(map(is_module, tree_leaves(value, is_leaf=is_module)))

    tree_leaves: Any = import_module("jax").tree.leaves
    known = [*parameters[: len(args)], *map(str, range(len(parameters), len(args)))]
    numbered = dict(zip(known, args, strict=True))
    modules = {key: each for key, each in (numbered | kwargs).items() if has_modules(each)}
    others = (each for key, each in numbered.items() if key not in modules)
    named = {key: each for key, each in kwargs.items() if key not in modules}
    return modules, (tuple(others), named)


def _is_native(jax: Any, arguments: CallArguments) -> bool:
    """True if all leaves that JAX finds in arguments are arrays or numbers.

    Truth values may be those of modules of equinox, which are no arguments.
    """
    leaves = jax.tree_util.tree_leaves(arguments)
    if "equinox" in sys.modules and any(type(leaf) is bool for leaf in leaves):
        return False
    return all(map(OPENER.is_leaf, leaves))


def _lower(traced: Any) -> Any:
    with warnings.catch_warnings():
        # Nothing is donated here: every call computes with arrays of its own.
        warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
        # JAX lowers for the CPU, where kernels are calls of Python.
        if _has_kernels(traced):
            return traced.lower(lowering_platforms=("tt",))
        return _without_lapack(traced, _lower_for_cpu(traced))


def _lower_for_cpu(traced: Any) -> Any:
    try:
        return traced.lower()
    except ValueError as error:
        # An abstract mesh has no devices that would say what to lower for.
        if "AbstractMesh" not in str(error):
            raise
        return traced.lower(lowering_platforms=("cpu",))


def _import_function(jax: Any, model: Any, arguments: CallArguments) -> ImportedModel:
    """A function of arrays in containers of any kind; JAX sees the arrays alone."""
    name = _name_of(model)
    call, leaves = read_call(name, model, arguments, OPENER)
    found: list[Layout] = []

    def run(*arrays: Any) -> tuple[Any, ...]:
        args, kwargs = call.unflatten(arrays)
        layout, results = read_layout(_copied(model)(*args, **kwargs), OPENER)
        found.append(layout)
        return tuple(results)

    run.__name__ = run.__qualname__ = name
    with tracing(name):
        traced = jax.jit(run, keep_unused=True).trace(*leaves)
    results = found[-1]
    program = _of_traced(jax, traced, keep_unused=True)
    return _make_model(jax, name, program, call, results, is_flat=True)


def _copied(model: Any) -> Any:
    """A copy of a module of flax.nnx, whose variables a trace may change; others as they are.

    Random numbers of modules are variables that count.
    """
    nnx: Any = sys.modules.get("flax.nnx")
    return nnx.clone(model) if nnx is not None and isinstance(model, nnx.Module) else model


def _name_of(model: Any) -> str:
    """The name of a function; of an object that is called, that of its class."""
    while isinstance(model, partial):
        model = cast("Any", model).func
    name = getattr(model, "__name__", type(model).__name__)
    return re.sub(r"\W+", "_", name).strip("_") or "main"


@cache
def _leave_out_own_frames() -> None:
    """Let JAX's locations name the user's frames alone.

    Files then depend on no folder of ours, nor on what Python starts a script with (`-m`).
    """
    source_info: Any = import_module("jax.extend.source_info_util")
    source_info.register_exclusion(PACKAGE_FOLDER)
    source_info.register_exclusion("<frozen ")


def _without_lapack(traced: Any, lowered: Any) -> Any:
    """What JAX has lowered if its calls of LAPACK have algorithms here, else for no platform.

    There JAX does not call LAPACK, but some operations have no lowering; their calls are refused
    later, by name.
    """
    module = lowered.compiler_ir("stablehlo").operation
    text = module.get_asm(large_elements_limit=TEXT_LIMIT)
    if all(map(is_expanded_call, _LAPACK.findall(text))):
        return lowered
    try:
        return traced.lower(lowering_platforms=("tt",))
    except NotImplementedError:
        return lowered


_LAPACK = re.compile(r"@((?:lapack|blas|cpu)_\w+)")
"""A call of the libraries of linear algebra and of sparse matrices that CPUs have."""


def _has_kernels(traced: Any) -> bool:
    """True if a function calls kernels of `ttmlir.bridge`."""
    if "ttmlir.bridge.jax_kernel" not in sys.modules:
        return False
    pending: list[Any] = [traced.jaxpr]
    while pending:
        value = pending.pop()
        if isinstance(value, list | tuple):
            pending.extend(cast("Sequence[Any]", value))
        elif hasattr(value, "jaxpr"):
            pending.append(value.jaxpr)
        elif hasattr(value, "eqns"):
            if any(equation.primitive.name == "tt_kernel" for equation in value.eqns):
                return True
            pending.extend(each for equation in value.eqns for each in equation.params.values())
    return False


@dataclass(frozen=True, kw_only=True)
class _Program:
    """What the frontend needs of a program, whichever of JAX's objects it comes as."""

    name: str
    module: Any
    """The StableHLO, in JAX's own IR."""
    inputs: Sequence[Any]
    """Shapes and types of all arguments, with `shape` and `dtype`."""
    kept: Sequence[int]
    """The arguments that the module's function takes; JAX drops those without effect."""
    in_tree: Any
    outputs: Sequence[Any]
    out_tree: Any
    executable: Callable[[], Any]
    """Makes the function that JAX runs."""
    constants: Sequence[Array] = ()
    """The values of the first arguments of the module's function, which nobody passes."""
    names: Sequence[str] | None = None
    """What JAX calls the other arguments, if the module does not say it."""


def _of_traced(jax: Any, traced: Any, *, keep_unused: bool) -> _Program:
    """The program of a traced function, whose large constants JAX does not copy."""

    def executable() -> Any:
        return traced.lower().compile()

    hoisted = hoist_constants(jax, traced, keep_unused=keep_unused)
    if hoisted is None:
        return _of_lowered(_lower(traced), executable)
    program = _of_lowered(_lower(hoisted.traced), executable)
    count = len(hoisted.constants)
    kept = [index - count for index in program.kept if index >= count]
    return replace(
        program,
        inputs=program.inputs[count:],
        kept=kept,
        in_tree=jax.tree_util.tree_structure(traced.args_info),
        outputs=jax.tree_util.tree_leaves(traced.out_info),
        out_tree=jax.tree_util.tree_structure(traced.out_info),
        constants=[hoisted.constants[index] for index in program.kept if index < count],
        names=[hoisted.input_names[index] for index in kept],
    )


def _of_lowered(lowered: Any, executable: Callable[[], Any]) -> _Program:
    jax: Any = import_module("jax")
    module = lowered.compiler_ir("stablehlo")
    inputs = jax.tree_util.tree_leaves(lowered.args_info)
    return _Program(
        name=_attribute_text(module, "sym_name").removeprefix("jit_"),
        module=module,
        inputs=inputs,
        kept=_kept_of(lowered, len(inputs)),
        in_tree=lowered.in_tree,
        outputs=jax.tree_util.tree_leaves(lowered.out_info),
        out_tree=lowered.out_tree,
        executable=executable,
    )


def _kept_of(lowered: Any, count: int) -> Sequence[int]:
    """The arguments that were kept; JAX says it nowhere but inside of what it lowered."""
    inner: Any = getattr(lowered, "_lowering", None)
    kept: Any = getattr(inner, "compile_args", {}).get("kept_var_idx")
    return range(count) if kept is None else sorted(kept)


def _of_exported(exported: Any) -> _Program:
    unknown = [
        each for each in exported.in_avals if not all(isinstance(n, int) for n in each.shape)
    ]
    if unknown:
        raise ArgumentTypeError(
            f"'{exported.fun_name}' takes arrays of any size ({', '.join(map(str, unknown))}); "
            "ttmlir.compile(exported.call, x) compiles it for the shapes of x"
        )
    ir: Any = import_module("jaxlib.mlir.ir")
    mlir: Any = import_module("jax.interpreters.mlir")
    with mlir.make_ir_context():
        module = ir.Module.parse(exported.mlir_module())
    # A program for several platforms takes the number of one before its other arguments.
    names: Sequence[str] = exported.platforms
    platform = next((names.index(name) for name in ("tt", "cpu") if name in names), 0)
    return _Program(
        name=exported.fun_name,
        module=module,
        inputs=exported.in_avals,
        kept=exported.module_kept_var_idx,
        in_tree=exported.in_tree,
        outputs=exported.out_avals,
        out_tree=exported.out_tree,
        executable=lambda: exported.call,
        constants=[np.asarray(platform, np.int32)] if len(names) > 1 else (),
    )


def _import(
    jax: Any,
    program: _Program,
    function: Any = None,
    examples: CallArguments | None = None,
) -> ImportedModel:
    """A program that knows the containers of its arguments.

    `function` gives the names of parameters and `examples` what is named in messages; arguments
    that are static for JAX are not passed in calls.
    """
    name = re.sub(r"\W+", "_", program.name).strip("_") or "main"
    kept = set(program.kept)
    marks = [each if index in kept else Ignored(each) for index, each in enumerate(program.inputs)]
    args, kwargs = jax.tree_util.tree_unflatten(program.in_tree, marks)
    if examples is None or (len(args), set(kwargs)) != (len(examples[0]), set(examples[1])):
        # Without the static ones the positions of arguments are others than those of parameters.
        function = None
    call, _ = read_call(name, function, (args, kwargs), OPENER)
    results = jax.tree_util.tree_unflatten(program.out_tree, program.outputs)
    return _make_model(jax, name, program, call, read_layout(results, OPENER)[0], is_flat=False)


def _make_model(
    jax: Any, name: str, program: _Program, call: CallLayout, results: Layout, *, is_flat: bool
) -> ImportedModel:
    """The model of a program; JAX calls a flat one with the arrays in a row."""
    module = _read(program.module, name)
    bind_constants(_main(module), program.constants)
    names = call.leaf_names if is_flat else program.names or _argument_names(module)
    _name_arguments(module, names)
    executables: list[Any] = []
    inputs = [program.inputs[index] for index in program.kept]

    def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array]:
        leaves = call.flatten(args, kwargs)
        whats = [f"'{name}': {each}" for each in names]
        return [_array(jax, *each) for each in zip(leaves, inputs, whats, strict=True)]

    def unflatten(arrays: Sequence[Array]) -> Any:
        leaves = zip(arrays, program.outputs, strict=True)
        return results.unflatten(_jax_array(jax, array, output) for array, output in leaves)

    def flatten_results(value: Any) -> list[Array]:
        leaves = zip(results.flatten(value, "results"), program.outputs, strict=True)
        return [_array(jax, leaf, output, "a result") for leaf, output in leaves]

    def reference(*args: Any, **kwargs: Any) -> Any:
        if not executables:
            executables.append(program.executable())
        if not is_flat:
            return executables[0](*args, **kwargs)
        return results.unflatten(iter(executables[0](*call.flatten(args, kwargs))))

    signature = CallSignature(
        name=name,
        input_names=tuple(names),
        framework="jax",
        arguments=call.structure,
        results=results.structure,
    )
    imported = ImportedModel(
        name=name,
        signature=signature,
        module=module,
        warnings=narrow(module),
        stage="stablehlo",
        first_column=FIRST_COLUMN,
        input_names=names,
        flatten=flatten,
        unflatten=unflatten,
        reference=reference,
        flatten_results=flatten_results,
    )
    return split_model(imported, _main(module))


def _array(jax: Any, leaf: Any, expected: Any, what: str) -> Array:
    """A leaf as an array; numbers of Python and of wider types become what JAX makes of them."""
    if isinstance(leaf, Number):
        return array_of_number(leaf, np.dtype(expected.dtype), what)
    array = np.asarray(as_array(leaf, what))
    if array.dtype != expected.dtype == jax.dtypes.canonicalize_dtype(array.dtype):
        return array.astype(expected.dtype)
    return array


def _jax_array(jax: Any, array: Array, expected: Any) -> Any:
    if is_key(expected.dtype):
        return jax.random.wrap_key_data(array, impl=expected.dtype._impl.name)
    if array.dtype != expected.dtype:
        # Numbers of few bits come in wider types.
        array = array.astype(expected.dtype)
    return jax_array_of(array)


def _read(module: Any, name: str) -> ModuleOp:
    """Our module for one of JAX's, large constants moved past the text."""
    from xdsl.dialects.builtin import DenseResourceAttr

    text: str = module.operation.get_asm(
        large_elements_limit=TEXT_LIMIT, enable_debug_info=True, print_generic_op_form=True
    )
    file_name = f"<stablehlo of {name}>"
    texts = {file_name: Source(text)}
    with in_terms_of_the_user(name, texts, first_column=FIRST_COLUMN):
        ours = parse(text, file_name=file_name)
        if "!stablehlo.token" in text:
            # Functions that print in order take and give tokens, which no caller has.
            transform(ours, StableHLOFlattenTuplePass.name)
    elided = (
        op
        for op in ours.walk()
        if op.name == "stablehlo.constant"
        and isinstance(op.properties.get("value"), DenseResourceAttr)
    )
    for op, data in zip(elided, _large_constants(module), strict=True):
        (result,) = op.results
        type: Any = result.type
        op.properties["value"] = elements_attr(type, data)
    return ours


def _large_constants(module: Any) -> Iterator[bytes | memoryview]:
    """The constants that `TEXT_LIMIT` keeps out of the text, in the order of the text."""
    for op in _operations(module.operation):
        if op.operation.name == "stablehlo.constant":
            data = _large_constant(op.operation)
            if data is not None:
                yield data


def _operations(op: Any) -> Iterator[Any]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner
                yield from _operations(inner.operation)


def _large_constant(op: Any) -> bytes | memoryview | None:
    """The elements of a constant operation; None for few or equal ones. No copy is made of many."""
    try:
        value = op.attributes["value"]
        if value.is_splat or len(value) <= TEXT_LIMIT:
            return None
        array = np.asarray(value)
        if array.nbytes < LARGE or not array.flags.c_contiguous:
            return array.tobytes()
        return array.reshape(-1).view(np.uint8).data
    except TypeError:
        # JAX's IR shows some types, such as bf16, as text only.
        digits = re.search(r'dense<"0x([0-9A-F]*)">', op.get_asm())
        return None if digits is None else bytes.fromhex(digits[1])


def _attribute_text(module: Any, name: str) -> str:
    attribute: Any = module.operation.attributes[name]
    return str(attribute.value)


def _main(module: ModuleOp) -> FuncOp:
    from xdsl.dialects.func import FuncOp

    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


def _argument_names(module: ModuleOp) -> list[str]:
    """What JAX calls the arguments, such as `params['w']`."""
    from ttmlir.mlir.reporting import name_of

    arguments = _main(module).body.block.args
    return [name_of(arg.location) or f"argument {i}" for i, arg in enumerate(arguments)]


def _name_arguments(module: ModuleOp, names: Sequence[str]) -> None:
    """Give arguments the user's names as locations."""
    from ttmlir.mlir.reporting import name_location

    for argument, name in zip(_main(module).body.block.args, names, strict=True):
        argument.location = name_location(name)
