"""How operations are called: names, order, defaults and types of their arguments."""

from __future__ import annotations

import ast
import builtins
import inspect
import numbers
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from difflib import get_close_matches
from types import UnionType
from typing import Any, Literal, SupportsIndex, Union, cast, get_args, get_origin

import numpy as np

from ttmlir.errors import ArgumentTypeError, plural

IGNORED = {
    "ag_global_semaphores": "how data travel between devices",
    "applied_shard_scheme": "how a card divides an image over its cores",
    "barrier_semaphore": "how data travel between devices",
    "barrier_semaphores": "how data travel between devices",
    "chunks_per_sync": "how data travel between devices",
    "compute_config": "how the compute units are set; the numerics are the device's",
    "compute_kernel_config": "how the compute units are set; the numerics are the device's",
    "config_tensor_in_dram": "where a card keeps tables of its own",
    "core_grid": "which cores compute",
    "cq_id": "the command queue; here commands are done in order",
    "dram_slice_config": "in how many parts a card computes a large image",
    "fast_and_approximate_mode": "a faster approximation; functions are exact here",
    "fp32_dest_acc": "how the compute units are set; the numerics are the device's",
    "hop_cores": "which cores pass data on",
    "inplace": "whether a card writes the result over the input",
    "input_mask": "a table that a card's kernel of group_norm needs",
    "intermediate_memory_config": "where a card keeps data on the way",
    "intermediate_tensor": "where a card keeps data on the way",
    "multi_device_global_semaphore": "how data travel between devices",
    "negative_mask": "a table that a card's kernel of group_norm needs",
    "num_buffers_per_channel": "how data travel between devices",
    "num_links": "how data travel between devices",
    "num_out_blocks": "in how many parts a card computes",
    "num_preferred_links": "how data travel between devices",
    "num_workers_per_link": "how data travel between devices",
    "numeric_stable": "whether the maximum is subtracted first; it always is",
    "overlap_qk_coregrid": "which cores hold query and key",
    "queue_id": "the command queue; here commands are done in order",
    "reallocate_halo_output": "whether a card moves what lies around shards",
    "reciprocals": "a table that a card's kernel of group_norm needs",
    "rs_global_semaphores": "how data travel between devices",
    "slice_config": "in how many parts a card computes a large image",
    "sub_core_grids": "which cores compute",
    "sub_device_id": "which part of the device computes",
    "subdevice_id": "how data travel between devices",
    "topology": "how data travel between devices",
    "use_broadcast": "how data travel between devices",
    "use_l1_small_for_semaphores": "how data travel between devices",
    "use_legacy": "an older implementation",
    "use_multicore": "whether several cores compute",
    "use_noc1_only": "how data travel between devices",
    "use_optimal_ccl_for_llama": "how data travel between devices",
    "use_welford": "which algorithm finds the variance",
    "vector_mode": "which faces of a tile are computed",
}
"""Arguments that are taken and change nothing, and what they say on a card."""

_EVERYWHERE = ("queue_id", "cq_id")

_OTHER_NAMES = {
    "input": ("input_tensor",),
    "tensor": ("input_tensor",),
    "input_tensor": ("input_tensor_a",),
    "input_tensor_a": ("input_tensor",),
    "input_a": ("input_tensor_a",),
    "input_b": ("input_tensor_b",),
    "a": ("input_tensor_a",),
    "b": ("input_tensor_b",),
    "other": ("input_tensor_b",),
    "scalar": ("input_tensor_c", "other_tensor", "input_tensor_b"),
    "batch_idx": ("batch_index",),
    "update_idx": ("update_index",),
}
"""Names of operands in other versions of ttnn, and in other forms of a call."""


class Required:
    """Stands for the default of an argument that has none."""


class Signature:
    """The arguments of an operation; `text` is written as in a `def`."""

    def __init__(self, name: str, text: str) -> None:
        """Read the text; ignored arguments need no default."""
        self.name = name
        self.text = text
        arguments = ast.parse(f"def f({text}): pass").body[0]
        assert isinstance(arguments, ast.FunctionDef), "the text is a list of arguments"
        args = arguments.args
        self.positional = tuple(each.arg for each in args.args)
        missing = len(args.args) - len(args.defaults)
        defaults = [*[Required] * missing, *map(ast.literal_eval, args.defaults)]
        self.defaults: dict[str, Any] = dict(zip(self.positional, defaults, strict=True))
        for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            ignored = None if each.arg in IGNORED else Required
            self.defaults[each.arg] = ignored if default is None else ast.literal_eval(default)
        self._required = [name for name, value in self.defaults.items() if value is Required]

    def describe(self) -> inspect.Signature:
        """The same as Python describes the arguments of a function."""
        parameter = inspect.Parameter
        return inspect.Signature(
            [
                parameter(
                    name,
                    parameter.POSITIONAL_OR_KEYWORD
                    if name in self.positional
                    else parameter.KEYWORD_ONLY,
                    default=parameter.empty if value is Required else value,
                )
                for name, value in self.defaults.items()
            ]
        )

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Values by the names of all arguments; TypeError for what the operation does not take."""
        values = self.defaults.copy()
        if len(args) > len(self.positional):
            raise ArgumentTypeError(
                f"{self.name} takes {plural(len(self.positional), 'positional argument')} but "
                f"{len(args)} "
                f"were given; its arguments are ({self.text})"
            )
        for name, value in zip(self.positional, args, strict=False):
            values[name] = value
        for name, value in kwargs.items():
            if name not in values:
                if name in _EVERYWHERE:
                    continue
                name = self._known_name(name)
            if name in self.positional[: len(args)]:
                raise ArgumentTypeError(f"{self.name} got multiple values for argument '{name}'")
            values[name] = value
        for name in self._required:
            if values[name] is Required:
                raise ArgumentTypeError(
                    f"{self.name} is missing argument '{name}'; it takes ({self.text})"
                )
        return values

    def find_wrong(self, values: Mapping[str, Any], find: FindType, *, only_common: bool) -> str:
        """Which bound value is none of its argument's type, and what it is; else nothing.

        Types are those of `COMMON_TYPES`, and of defaults unless `only_common`.
        """
        for name, value in values.items():
            default = self.defaults[name]
            # Where a dimension has a number for its default, it is one.
            is_one = name == "dim" and isinstance(default, int)
            annotation = None if is_one else COMMON_TYPES.get(name)
            if (
                annotation is None
                and not only_common
                and isinstance(default, bool | int | float | str)
            ):
                annotation = type(default)
            wrong = _contradict(name, value, _resolve(annotation, globals(), find))
            if wrong and not (value is None and default is None):
                return wrong
        return ""

    def _known_name(self, name: str) -> str:
        for other in _OTHER_NAMES.get(name, ()):
            if other in self.defaults:
                return other
        close = get_close_matches(name, self.defaults, 1)
        nearest = f"; did you mean '{close[0]}'? It" if close else "; it"
        raise ArgumentTypeError(
            f"{self.name} got an unexpected keyword argument '{name}'{nearest} takes ({self.text})"
        )


# --- Types of arguments ---------------------------------------------------------------------------
# They are looked at after a call failed, so that calls without mistakes take no time for them.

_EXTENTS = "int | Sequence[int]"
_VALUE = "Tensor | float"
COMMON_TYPES = {
    **dict.fromkeys(("dtype", "output_dtype"), "DataType"),
    "layout": "Layout",
    "memory_config": "MemoryConfig",
    **dict.fromkeys(("output_tensor", "persistent_output_tensor", "bias_tensor"), "Tensor"),
    "device": "MeshDevice",
    **dict.fromkeys(("dim", "dims", "dilation", "kernel_size", "padding", "stride"), _EXTENTS),
    **dict.fromkeys(("batch_size", "channels", "head_size", "in_channels", "input_h"), "int"),
    **dict.fromkeys(("input_height", "input_length", "input_w", "input_width"), "int"),
    **dict.fromkeys(("axis", "groups", "out_channels", "sliding_window_size"), "int"),
    **dict.fromkeys(("batch_index", "update_index"), "int"),
    **dict.fromkeys(("num_groups", "num_heads", "num_kv_heads", "token_index"), "int"),
    "scale_factor": _EXTENTS,
    **dict.fromkeys(("angle", "exponent", "fill_value", "negative_slope"), "float"),
    **dict.fromkeys(("eps", "lower_limit", "threshold", "upper_limit", "value"), "float"),
    **dict.fromkeys(("beta", "max", "min", "scale", "in_scale", "out_scale"), _VALUE),
    **dict.fromkeys(("zero_point", "in_zero_point", "out_zero_point"), _VALUE),
    "coeffs": "Sequence[float]",
    "ops_chain": "list[object] | tuple[object, ...]",
    "out": "Tensor | tuple[Tensor, Tensor]",
    "weight": "Tensor | float | Sequence[float]",
}
"""Types of arguments that are the same everywhere, where they are given and have no other."""
_NUMBERS: dict[Any, Any] = {
    float: numbers.Real | np.number,
    int: SupportsIndex,
    bool: bool | np.bool_,
}
"""What is taken for a number, by the type of an annotation."""
_WORDS: dict[object, str] = {
    bool: "True or False",
    int: "an integer",
    float: "a number",
    str: "a text",
    type(None): "None",
}
_EXAMPLES = {
    "DataType": "a ttnn.DataType, such as ttnn.bfloat16",
    "Layout": "a ttnn.Layout, such as ttnn.TILE_LAYOUT",
    "MemoryConfig": "a ttnn.MemoryConfig, such as ttnn.L1_MEMORY_CONFIG",
    "MeshDevice": "what ttnn.open_device returns",
}


def find_wrong_argument(
    function: Callable[..., Any], named: Iterable[tuple[str, Any]], find: FindType
) -> str:
    """Which of the arguments of a call contradicts its annotation, and what it is; else nothing.

    Without an annotation, arguments of the names in `COMMON_TYPES` are of those types.
    """
    annotations = getattr(function, "__annotations__", {})
    names = getattr(inspect.unwrap(function), "__globals__", {})
    for name, value in named:
        annotation = annotations.get(name, COMMON_TYPES.get(name))
        wrong = _contradict(name, value, _resolve(annotation, names, find))
        if wrong and not (value is None and name not in annotations):
            return wrong
    return ""


def find_large_number(named: Iterable[tuple[str, Any]], bits: int) -> str:
    """Which argument of a call is, or has, an integer that so many bits do not hold; else nothing.

    NumPy refuses those with errors of several kinds.
    """
    for name, value in named:
        listed = cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)
        for each in listed:
            if isinstance(each, int) and each.bit_length() > bits:
                return f"{name} is too large: {spell_value(each)}"
    return ""


def _contradict(name: str, value: object, hint: Any) -> str:
    """What a value is not; nothing if it is of the type, or if there is none."""
    return "" if fits(value, hint) else f"{name} is {_describe(hint)}, not {spell_value(value)}"


FindType = Callable[[str], Any]
"""The type of ttnn with a name; KeyError if there is none."""


class _Names(dict[str, Any]):
    """Names of annotations; those of ttnn's types are known where a module only checks types."""

    def __init__(self, known: Mapping[str, Any], find: FindType) -> None:
        super().__init__(known)
        self._find = find

    def __missing__(self, name: str) -> Any:
        return self._find(name)


def _resolve(annotation: object, names: Mapping[str, Any], find: FindType) -> Any:
    """The type that an annotation says; `object` for what only type checkers know."""
    if annotation is None:
        return object
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, {}, _Names({**vars(builtins), **names}, find))  # Of a source file.
    except (NameError, KeyError, TypeError):
        return object


def fits(value: object, hint: Any) -> bool:
    """Whether a value is of a type; where that cannot be told, it is."""
    for kind, protocol in ((None, type(None)), *_NUMBERS.items()):
        if hint is kind:
            if kind is bool and isinstance(value, int | np.integer):
                return value in (0, 1)
            return isinstance(value, protocol) and (kind is not int or _is_index(value))
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in parts)
    if origin is Literal:
        return value in parts
    if inspect.isclass(origin):
        return _fits_collection(value, origin, parts)
    return not inspect.isclass(hint) or _is_a(value, hint)


def _fits_collection(value: object, origin: type, parts: tuple[Any, ...]) -> bool:
    if isinstance(value, str) and origin is not type:
        # A text is a sequence of texts to Python, which nobody means.
        return False
    if not isinstance(value, origin) and not (origin is tuple and isinstance(value, list)):
        return False
    if not isinstance(value, Sized) or not parts or isinstance(parts[0], list):
        return True
    if getattr(cast("object", value), "shape", None) == ():
        # An array or a tensor without dimensions is one number.
        return False
    elements: Sequence[object] = list(cast("Iterable[object]", value))
    if origin is tuple and parts[-1] is not Ellipsis:
        return len(elements) == len(parts) and all(map(fits, elements, parts))
    return all(fits(each, parts[0]) for each in elements)


def _is_index(value: object) -> bool:
    """Whether a value is an integer; arrays and tensors are if they have one."""
    try:
        operator.index(cast("SupportsIndex", value))
    except Exception:
        # Arrays and tensors of several numbers, or of fractions, raise what their package has.
        return False
    return True


def _is_a(value: object, kind: type) -> bool:
    try:
        return isinstance(value, kind)
    except TypeError:
        # A protocol, of which only type checkers know what it is.
        return True


def _describe(hint: Any) -> str:
    """A type in words; that an argument may be missing is not said."""
    if hint in _WORDS:
        return _WORDS[hint]
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Callable:
        return "a function"
    if origin in (Union, UnionType):
        return " or ".join(_describe(each) for each in parts if each is not type(None))
    if origin is Literal:
        return " or ".join(map(repr, parts))
    if origin is not None:
        inner = f" of {_describe(parts[0]).split(' ', 1)[-1]}s" if parts[:1] != (Any,) else ""
        kind = origin.__name__.lower()
        return (
            f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}{inner}"
            if len(parts)
            else origin.__name__
        )
    name = getattr(hint, "__name__", str(hint))
    return _EXAMPLES.get(name, f"a ttnn.{name}")


def spell_value(value: object) -> str:
    """A value as a program says it, or its type where that is long."""
    text = repr(value)
    return text if len(text) <= _LONGEST and "\n" not in text else spell_type(value)


def spell_type(value: object) -> str:
    """The type of a value, as a program says it."""
    kind: type[object] = type(value)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


_LONGEST = 60
