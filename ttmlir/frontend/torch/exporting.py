"""From a torch module or function to an exported program of few ATen operations."""

from __future__ import annotations

import inspect
import logging
import os
import re
import traceback
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from threading import RLock
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr

from ttmlir.errors import Error
from ttmlir.frontend.calls import CallLayout, Layout, read_call, read_layout
from ttmlir.frontend.torch.containers import OPENER
from ttmlir.frontend.torch.data.bounding import create_bounded, has_unknown_sizes
from ttmlir.frontend.torch.data.values import KnownValues
from ttmlir.frontend.torch.data.watching import watch
from ttmlir.frontend.torch.decompositions import own_decompositions
from ttmlir.frontend.torch.decompositions.flexible_attention import (
    flexible_attention_written_out,
)
from ttmlir.frontend.torch.decompositions.preparing import preparations_kept
from ttmlir.frontend.torch.decompositions.untraceable import replace_methods
from ttmlir.frontend.torch.distributed.exchanges import FROM_OUTSIDE
from ttmlir.frontend.torch.distributed.placing import (
    Devices,
    find_devices,
    whole_of,
    whole_weights,
)
from ttmlir.frontend.torch.elements import (
    is_symbolic,
    is_tensor,
    torch_package,
    without_modes,
)
from ttmlir.frontend.torch.locations import (
    location_of_error,
    location_of_here,
    location_of_trace,
    user_frames_kept,
)
from ttmlir.frontend.torch.random.seeding import SEED, create_seeded, generators_in, is_random
from ttmlir.frontend.torch.replacing import attributes_replaced, own_attributes
from ttmlir.frontend.torch.rules import RULES, rule_of
from ttmlir.frontend.torch.support import (
    EAGER_QUANTIZATION,
    NESTED,
    RESHAPED_IN_PLACE,
    SPARSE,
    near,
)
from ttmlir.frontend.torch.training.gradients import (
    GradientsAsked,
    gradients_refused,
    lower_gradients,
    move_to_forwards,
    plain_gradients,
    take_hooks,
)
from ttmlir.frontend.torch.training.holding import take_names
from ttmlir.mlir.reporting import DiagnosticError, LocatedError

_OWN_LOCK = RLock()


@cache
def _changing_torch() -> Any:
    """The lock that is held while functions of torch are replaced: one thread exports at a time.

    Two that replace one by turns would leave a replacement in torch. It is the one that torch's own
    compilation holds, from which programs are exported and which exporting may start.
    """
    dynamo: Any = import_module("torch._dynamo.convert_frame")
    # Other versions of torch may not have it.
    return getattr(dynamo, "compile_lock", _OWN_LOCK)


# --- Conversions ----------------------------------------------------------------------------------
# Modules that convert themselves while they are traced: `self.router.to(torch.float32)`.
#
# torch cannot replace parameters then, and tries to even where all have the type already. Mixtures
# of experts do that to be sure of the type of their scores.


def idle_conversions_skipped() -> AbstractContextManager[None]:
    """Let `Module.to` return the module, while the context lasts, where it would change nothing."""
    torch = torch_package()
    convert: Any = torch.nn.Module.to

    def to(module: Any, *args: Any, **kwargs: Any) -> Any:
        return module if _is_idle(module, args, kwargs) else convert(module, *args, **kwargs)

    return attributes_replaced(torch.nn.Module, {"to": to})


def _is_idle(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    device, dtype, _, memory_format = torch_package()._C._nn._parse_to(*args, **kwargs)
    if memory_format is not None:
        return False
    return all(
        (device is None or tensor.device == device)
        and (dtype is None or tensor.dtype == dtype or not tensor.is_floating_point())
        for tensor in (*module.parameters(), *module.buffers())
    )


# --- Quiet ----------------------------------------------------------------------------------------
# Tracing without torch's own reports: what fails is reported in one message, at the user's line.


@contextmanager
def quiet() -> Generator[None]:
    """Keep back logs and dumps of graphs; all of them if TORCH_LOGS asks for none."""
    if os.environ.get("TORCH_LOGS"):
        yield
        return
    trace: Any = import_module("torch.export._trace")
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        # What was traced before an error goes to the terminal by this name.
        with attributes_replaced(trace, {"print": _print_nothing}):
            yield
    finally:
        logging.disable(before)


@contextmanager
def code_written_when_called() -> Generator[None]:
    """Let torch write the code of a graph that it makes when it is called, which few are."""
    lazy: Any = import_module("torch.fx._lazy_graph_module")
    # Other versions of torch may not have it; they take longer.
    use = getattr(lazy, "_use_lazy_graph_module", nullcontext)
    with use(True):
        yield


def _print_nothing(*_: object, **__: object) -> None:
    pass


_REASONS = (
    (
        r"Guard failed: (.*)",
        r"the program was exported for other arguments than the examples, for \1; give such ones, "
        "or export it for these",
    ),
    (
        r"Found <class '([^']*)'> in output, which is not a known type",
        r"an object of the class \1 is returned, in which no tensors are found; return tensors, "
        "or tuples, dictionaries or dataclasses of them",
    ),
    (
        r"non-fx-graphable type <class '[^']*DTensorSpec'>",
        FROM_OUTSIDE,
    ),
    (r"num_mutated_inp_runtime_indices", RESHAPED_IN_PLACE),
    (r"torch\.classes\.quantized|quantized nyi|aten::_empty_affine_quantized", EAGER_QUANTIZATION),
    (
        r"\.numpy\(\) is not supported",
        "NumPy cannot compute with tensors of which only shapes are known yet; functions of torch "
        "can, such as torch.tanh(x) for numpy.tanh(x)",
    ),
    (
        r"Unsupported functorch tracing attempt",
        "torch.cond inside of torch.vmap is not supported; torch.where(condition, a, b) chooses "
        "between tensors",
    ),
    (r"SparseTensorImpl|SparseCsrTensorImpl", SPARSE),
    (r"NestedIntNode|NestedTensorImpl", NESTED),
)
"""What torch says in its own terms, and in those of the user."""


CHOICES = (
    "torch.where(condition, a, b) chooses between tensors, torch.cond(condition, f, g, args) "
    "between functions"
)
_DATA_DEPENDENT = "data-dependent"
"""How torch says that it would have to know numbers that only a run has."""


_KEYED_BY_TENSOR = (
    "a dictionary is asked for a parameter or a tensor, which is another object while a program is "
    "traced; let names be the keys, as in dict(model.named_parameters())"
)


def reason_of(error: Exception) -> str:
    """Why torch cannot trace, in one line."""
    if isinstance(error, KeyError) and isinstance(
        next(iter(error.args), None), torch_package().Tensor
    ):
        return _KEYED_BY_TENSOR
    line = str(error).strip().partition("\n")[0]
    if _DATA_DEPENDENT in line:
        return f"what it does depends on the numbers in a tensor; {_remedy(error)}"
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, IndexError) and frames and frames[-1].name == "produce_guards_verbose":
        # It looks for the dimensions that an argument had.
        return RESHAPED_IN_PLACE
    for pattern, reason in _REASONS:
        if match := re.search(pattern, line):
            return match.expand(reason)
    if re.fullmatch(r"aten\.\w+\.\w+", line):
        # All that torch says of an operation of which it does not know the shape of the result.
        return f"'{line}': {near(line, RULES)}"
    return line or type(error).__name__


def _remedy(error: BaseException) -> str:
    """What to do instead of looking at numbers, by the function of torch that did."""
    names = {frame.name for frame in traceback.extract_tb(error.__traceback__)}
    if "_detect_is_causal_mask" in names:
        return (
            "say which masks are causal, so that torch does not look at them: tgt_is_causal=True or"
            " False (nn.Transformer), is_causal=... (encoders and decoders)"
        )
    lines = [frame.line or "" for frame in traceback.extract_tb(error.__traceback__)]
    if any(re.match(r"assert\b.*\(|torch\._assert\(", line) for line in lines):
        return "torch._assert_async(condition, message) is left out of the program, assert is not"
    if any(re.search(r"\bint\(", line) for line in lines):
        return "n.item() stays a number of the program where int(n) does not, as in x[:n.item()]"
    return CHOICES + (
        ", and torch._higher_order_ops.while_loop repeats one; Python may decide by a tensor that "
        "the model closes over instead of taking it as an argument"
    )


# --- Exporting ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TracedModel:
    """A module or function as torch has traced it for example arguments.

    `exported` takes and returns tensors in a row; the layouts say where they are in a call.
    """

    exported: Any
    call: CallLayout
    results: Layout
    on_devices: Callable[[Sequence[Any]], Any] | None = None
    """What torch computes of the tensors of a call on all devices, for a model of several."""


def trace_model(
    name: str, model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> TracedModel:
    """Trace a module, a method of one, or a function, for these example arguments.

    Containers of any kind may be arguments and results; torch sees the tensors in them alone.
    Raises `DiagnosticError` at the user's own line for what torch cannot trace.
    """
    is_module = isinstance(model, torch_package().nn.Module)
    function = model.forward if is_module else model
    owner: Any = getattr(function, "__self__", None)
    if not isinstance(owner, torch_package().nn.Module):
        owner = None
    if isinstance(owner, torch_package().fx.GraphModule):
        owner = _without_graph(owner)
    call, leaves = read_call(name, function, (args, dict(kwargs)), OPENER)
    found: list[Layout] = []

    def run(*tensors: Any) -> tuple[Any, ...]:
        args, kwargs = call.unflatten(tensors)
        # A module is called, for its hooks; a method of one is not.
        with attributes_replaced(owner, before) if is_module else nullcontext():
            returned = (model if is_module else function)(*args, **kwargs)
        layout, results = read_layout(returned, OPENER)
        found.append(layout)
        return tuple(map(_off_computed_place, results))

    # The module itself is traced, so that names of weights and of modules in messages are the
    # user's; its call is replaced while that is done.
    after: dict[str, Any] = {"forward": run, "_forward_hooks": {}, "_forward_pre_hooks": {}}
    before: dict[str, Any] = {}
    if owner is not None:
        before = own_attributes(owner, after)
    devices = _find_devices(owner, leaves)
    tensors = [
        torch_package().as_tensor(whole_of(leaf, f"argument {number}"))
        for number, leaf in enumerate(leaves)
    ]
    with ExitStack() as stack:
        if owner is not None:
            stack.enter_context(whole_weights(owner))
            stack.enter_context(attributes_replaced(owner, after))
        exported = export(_as_module(run) if owner is None else owner, tensors, devices=devices)
    if takes_seed(exported) and SEED in (*call.binding.positions, *call.binding.keywords):
        raise LocatedError(UNKNOWN_LOC, _TWO_SEEDS)

    def on_devices(tensors: Sequence[Any]) -> Any:
        assert devices is not None
        args, kwargs = call.unflatten(devices.spread_arguments(tensors))
        return (model if is_module else function)(*args, **kwargs)

    return TracedModel(exported, call, found[-1], None if devices is None else on_devices)


def _off_computed_place(result: Any) -> Any:
    """A copy of a view that begins where a number of the program says; torch cannot return that."""
    if not is_tensor(result) or result.layout != torch_package().strided:
        return result
    # The question itself is not to be traced.
    with without_modes():
        is_known = not any(map(is_symbolic, result.shape))
        is_computed = is_symbolic(result.storage_offset())
    return result.clone() if is_known and is_computed else result


def _find_devices(owner: Any, leaves: Sequence[Any]) -> Devices | None:
    weights = (
        {} if owner is None else {**dict(owner.named_parameters()), **dict(owner.named_buffers())}
    )
    return find_devices(weights, [(f"argument {n}", leaf) for n, leaf in enumerate(leaves)])


def _without_graph(module: Any) -> Any:
    """A module with the weights and modules of another, of which torch would run the graph."""
    plain = torch_package().nn.Module()
    plain.__dict__.update(module.__dict__)
    return plain


def export(
    function: Any,
    arguments: Sequence[Any] = (),
    keywords: Mapping[str, Any] | None = None,
    *,
    devices: Devices | None = None,
) -> Any:
    """A `torch.export.ExportedProgram` of a module or function, for these example arguments.

    Raises `DiagnosticError` at the user's own line for what torch cannot trace.
    """
    torch = torch_package()
    module = function if isinstance(function, torch.nn.Module) else _as_module(function)
    args, kwargs = _distinct((tuple(arguments), dict(keywords or {})))
    try:
        # Held over all of it: what refuses gradients is put in torch's place before the first
        # export, and taken away after the last.
        with _changing_torch():
            return _export_seeded(module, args, kwargs, devices)
    except LocatedError:
        raise
    except Exception as error:
        # Whatever torch or the user's own code raises is about the line that was being traced.
        raise _untraceable(error, location_of_error(error)) from error


def _export_seeded(
    module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], devices: Devices | None
) -> Any:
    """The program of a module; if it draws random numbers, a seed is an argument of it, too."""
    try:
        if devices is None:
            with gradients_refused(module):
                return take_seed(module, _export(module, args, kwargs), args, kwargs)
        lowered = lower_gradients(module, args, kwargs, devices)
    except GradientsAsked:
        exported = _export_gradients(module, args, kwargs)
        if exported is not None:
            return exported
        lowered = lower_gradients(module, args, kwargs)
    if lowered.generators:
        return _export_with_seed(lowered, args, kwargs, lowered.generators)
    with torch_package().no_grad():
        return _export(lowered, args, kwargs)


def _export_gradients(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The decomposed program of a module that computes gradients, traced once.

    None for what takes another way: sizes that depend on numbers, what torch refuses, and other
    versions of torch.
    """
    torch = torch_package()
    home: Any = import_module("torch.export._trace")
    program: Any = import_module("torch.export.exported_program")
    stateless: Any = import_module("torch.nn.utils.stateless")
    lower: Any = getattr(home, "_export_to_aten_ir", None)
    dispatchers = _dispatchers()
    splits = hasattr(program, "_split_decomp_table_to_cia_and_python_decomp")
    if lower is None or not splits or not dispatchers:
        return None
    forward, state = module.forward, dict(module.named_parameters())

    def run(*args: Any, **kwargs: Any) -> Any:
        leaves = {name: _leaf_of(tensor) for name, tensor in module.named_parameters()}
        for name, leaf in leaves.items():
            take_hooks(leaf, state[name])
        with torch.enable_grad(), stateless._reparametrize_module(module, leaves):
            results = forward(*args, **kwargs)
        return torch.utils._pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, results)

    run.__dict__["__signature__"] = inspect.signature(forward)
    with ExitStack() as stack:
        for context in (
            _tracing(),
            preparations_kept(),
            plain_gradients(),
            _dispatch_of_cpp(dispatchers),
        ):
            stack.enter_context(context)
        stack.enter_context(attributes_replaced(module, {"forward": run}))
        table = {**_decompositions(), **own_decompositions()}
        [_, functions] = program._split_decomp_table_to_cia_and_python_decomp(table)
        own = {"_export_to_aten_ir": partial(lower, decomp_table=functions)}
        stack.enter_context(attributes_replaced(home, own))
        try:
            exported = home._export(module, args, kwargs, strict=False)
        except (Error, DiagnosticError):
            raise
        except Exception:  # the other way says what is wrong
            return None
    if has_unknown_sizes(exported.graph):
        return None
    move_to_forwards(exported.graph_module)
    exported.graph_module.meta[_DECOMPOSED] = True
    return take_seed(module, exported, args, kwargs)


_DISPATCHING = ("aot_autograd", "_aot_autograd.graph_capture")


def _dispatchers() -> list[Any]:
    """Modules of torch that let its gradients in Python replace those of C++."""
    homes = (import_module(f"torch._functorch.{path}") for path in _DISPATCHING)
    return [home for home in homes if hasattr(home, "enable_python_dispatcher")]


@contextmanager
def _dispatch_of_cpp(homes: Sequence[Any]) -> Generator[None]:
    """Let gradients be those of C++: torch's in Python are of more operations, and one is wrong."""
    with ExitStack() as stack:
        for home in homes:
            replaced = attributes_replaced(home, {"enable_python_dispatcher": nullcontext})
            stack.enter_context(replaced)
        yield


def _leaf_of(tensor: Any) -> Any:
    """The tensor, whose gradient `backward` can keep."""
    return tensor.detach().requires_grad_(tensor.requires_grad)


def take_seed(module: Any, exported: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The program of a module, with a seed as a further argument if it draws random numbers.

    The module may be the program itself, for arguments like those that it was exported for.
    """
    # Most programs do not, and decomposing takes as long as exporting.
    if not is_random(exported.graph):
        return exported
    decomposed = decompose(exported)
    if not is_random(decomposed.graph):
        return exported
    if module is exported:
        module = exported.module()
    seeded = take_names(create_seeded(decomposed), module, SEED)
    specs = decomposed.graph_signature.input_specs
    objects = {spec.arg.name: decomposed.constants.get(spec.target) for spec in specs}
    generators = generators_in(decomposed.graph, objects)
    return _export_with_seed(seeded, args, kwargs, generators)


def _export_with_seed(
    module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], generators: tuple[Any, ...]
) -> Any:
    torch = torch_package()
    if SEED in kwargs:
        raise LocatedError(UNKNOWN_LOC, _TWO_SEEDS)
    with torch.no_grad():
        shape = () if len(generators) == 1 else (len(generators),)
        seed = torch.zeros(shape, dtype=torch.int32)
        exported = _export(module, args, {**kwargs, SEED: seed})
    exported.graph_module.meta[_GENERATORS] = generators
    return exported


_GENERATORS = "ttmlir.generators"
_TWO_SEEDS = (
    f"a program with random numbers is called with {SEED}=..., which is an argument of the model "
    "itself; give that another name"
)


def takes_seed(exported: Any) -> bool:
    """True for an exported program whose last input is a seed of ours."""
    return bool(generators_of(exported))


def generators_of(exported: Any) -> tuple[Any, ...]:
    """The generators of an exported program that takes a seed for each; None is torch's own."""
    return exported.graph_module.meta.get(_GENERATORS, ())


@contextmanager
def _tracing() -> Generator[None]:
    with (
        _changing_torch(),
        user_frames_kept(),
        code_written_when_called(),
        quiet(),
        idle_conversions_skipped(),
        flexible_attention_written_out(),
        warnings.catch_warnings(),
    ):
        # torch's own recurrent layers keep their weights in a list besides.
        warnings.filterwarnings("ignore", r"The tensor attributes? self\.[\w.]*_flat_weights")
        yield


def _export(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    known = KnownValues(module, dict(module.named_buffers()))
    exported = _export_with(known, module, args, kwargs)
    changed = known.decided.keys() & _written_buffers(exported)
    if changed:
        # Python went on by numbers that it may not need: a position can stay a tensor.
        again = KnownValues(module, known.buffers, changing=frozenset(changed))
        try:
            return _export_with(again, module, args, kwargs)
        except Exception as error:
            known.decided.update(dict.fromkeys(changed, location_of_error(error)))
            exported.graph_module.meta[_REMEDY] = _remedy(error)
    return exported


def _export_with(
    known: KnownValues, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    with _tracing():
        with replace_methods(), watch(known):
            exported = torch_package().export.export(module, args, kwargs, strict=False)
        if has_unknown_sizes(exported.graph):
            bounded = take_names(create_bounded(exported), module)
            with replace_methods(), watch(known):
                exported = torch_package().export.export(bounded, args, kwargs, strict=False)
        exported.graph_module.meta[_DECIDED] = known.decided
        return exported


def _written_buffers(exported: Any) -> set[str]:
    """The buffers that an exported program may write to."""
    buffers: Mapping[str, str] = exported.graph_signature.inputs_to_buffers
    found = set[str]()
    for node in exported.graph.nodes:
        schema = getattr(node.target, "_schema", None)
        if schema is None or not schema.is_mutable:
            continue
        while node.op == "call_function" and node.args and hasattr(node.args[0], "op"):
            node = node.args[0]
        if node.name in buffers:
            found.add(buffers[node.name])
    return found


def _untraceable(error: Exception, location: LocationAttr) -> LocatedError:
    return LocatedError(location, f"torch cannot trace this: {reason_of(error)}")


def _distinct(values: Any) -> Any:
    """The values with a copy of each tensor that occurs again: torch takes equal ones for one."""
    torch = torch_package()
    seen: set[int] = set()

    def distinct(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or id(leaf) not in seen:
            seen.add(id(leaf))
            return leaf
        return leaf.detach().clone()

    return torch.utils._pytree.tree_map(distinct, values)


def _as_module(function: Callable[..., Any]) -> Any:
    """A module that calls a function."""
    torch = torch_package()

    class Function(torch.nn.Module):
        def forward(self, *arguments: Any, **keywords: Any) -> Any:
            return function(*arguments, **keywords)

    return Function()


def decompose(exported: Any) -> Any:
    """The program with its operations expressed by those that have rules, as far as possible."""
    if exported.graph_module.meta.get(_DECOMPOSED):
        _check_decisions(exported, exported)
        return exported
    with (
        _changing_torch(),
        quiet(),
        code_written_when_called(),
        preparations_kept(),
        warnings.catch_warnings(),
    ):
        # torch warns about its own deprecated parts here.
        warnings.simplefilter("ignore")
        _detach_subclasses(exported)
        try:
            table = {**_decompositions(), **own_decompositions()}
            with _names_apart(exported):
                decomposed = exported.run_decompositions(table)
            _rename(decomposed, _name_again)
        except Exception as error:
            # The program was traced, but not all of it, as with torch.func.grad.
            location = location_of_trace(str(error))
            if location == UNKNOWN_LOC:
                location = location_of_here()
            raise _untraceable(error, location) from error
    _check_decisions(exported, decomposed)
    return decomposed


def _detach_subclasses(exported: Any) -> None:
    """Let weights that hold several tensors have no gradient, as integers among those have none.

    Quantized ones that `load_state_dict(assign=True)` has put into a module are said to have some.
    """
    torch = torch_package()
    is_subclass: Any = import_module("torch.utils._python_dispatch").is_traceable_wrapper_subclass
    for name, tensor in exported.state_dict.items():
        if is_subclass(tensor) and tensor.requires_grad:
            detached = torch.nn.Parameter(tensor.detach(), requires_grad=False)
            exported.state_dict[name] = detached


_APART = "ttmlir_own_"
"""Before names of weights that a module of torch.fx has itself, such as `code` and `graph`."""


@cache
def _names_of_graphs() -> frozenset[str]:
    torch = torch_package()
    return frozenset(dir(torch.fx.GraphModule)) - frozenset(dir(torch.nn.Module))


def _name_apart(name: str) -> str:
    return f"{_APART}{name}" if name.partition(".")[0] in _names_of_graphs() else name


def _name_again(name: str) -> str:
    return name.removeprefix(_APART)


@contextmanager
def _names_apart(exported: Any) -> Generator[None]:
    """Let no weight of a program have a name, while it lasts, that torch refuses in its modules."""
    _rename(exported, _name_apart)
    try:
        yield
    finally:
        _rename(exported, _name_again)


def _rename(exported: Any, change: Callable[[str], str]) -> None:
    signature = exported.graph_signature
    changes = [each for each in signature.output_specs if each.kind.name in _NAMING_WEIGHTS]
    for spec in (*signature.input_specs, *changes):
        if spec.target is not None:
            spec.target = change(spec.target)
    for table in (exported.state_dict, exported.constants):
        renamed = {change(name): value for name, value in table.items()}
        table.clear()
        table.update(renamed)


_NAMING_WEIGHTS = ("BUFFER_MUTATION", "PARAMETER_MUTATION")
"""Kinds of results whose targets are names of weights."""


def call_exported(exported: Any, buffers: Mapping[str, Any], arguments: Sequence[Any]) -> Any:
    """What a program returns with these buffers in place of its own, by their names."""
    with _names_apart(exported):
        module = exported.module()
    given = {_name_apart(name): tensor for name, tensor in buffers.items()}
    return torch_package().func.functional_call(module, given, *arguments)


_DECIDED, _DECOMPOSED, _REMEDY = "ttmlir.decided", "ttmlir.decomposed", "ttmlir.remedy"


def _check_decisions(exported: Any, decomposed: Any) -> None:
    """Refuse decisions by buffers that a program changes: the next call might decide otherwise."""
    decided: Mapping[str, LocationAttr] = exported.graph_module.meta.get(_DECIDED, {})
    for name in decomposed.graph_signature.buffers_to_mutate.values():
        if name in decided:
            remedy = exported.graph_module.meta.get(_REMEDY, CHOICES)
            reason = (
                f"what it does depends on the numbers in a tensor; the buffer '{name}', by which "
                f"Python decides, changes in each call; {remedy}"
            )
            raise LocatedError(decided[name], f"torch cannot trace this: {reason}")


@cache
def _decompositions() -> dict[Any, Any]:
    """torch's decompositions of the operations that have no rule."""
    torch = torch_package()
    table: dict[Any, Any] = dict(torch.export.default_decompositions())
    return {key: function for key, function in table.items() if rule_of(str(key)) is None}
