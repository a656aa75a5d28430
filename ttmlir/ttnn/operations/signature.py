"""How operations are called: names, order and defaults of their arguments."""

from __future__ import annotations

import ast
import inspect
from difflib import get_close_matches
from typing import Any

from ttmlir.errors import plural

IGNORED = {
    "applied_shard_scheme": "how a card divides an image over its cores",
    "barrier_semaphore": "how data travel between devices",
    "chunks_per_sync": "how data travel between devices",
    "compute_config": "how the compute units are set; the numerics are the device's",
    "compute_kernel_config": "how the compute units are set; the numerics are the device's",
    "config_tensor_in_dram": "where a card keeps tables of its own",
    "core_grid": "which cores compute",
    "cq_id": "the command queue; here commands are done in order",
    "dram_slice_config": "in how many parts a card computes a large image",
    "fast_and_approximate_mode": "a faster approximation; functions are exact here",
    "hop_cores": "which cores pass data on",
    "inplace": "whether a card writes the result over the input",
    "input_mask": "a table that a card's kernel of group_norm needs",
    "multi_device_global_semaphore": "how data travel between devices",
    "negative_mask": "a table that a card's kernel of group_norm needs",
    "num_buffers_per_channel": "how data travel between devices",
    "num_links": "how data travel between devices",
    "num_out_blocks": "in how many parts a card computes",
    "num_workers_per_link": "how data travel between devices",
    "numeric_stable": "whether the maximum is subtracted first; it always is",
    "overlap_qk_coregrid": "which cores hold query and key",
    "queue_id": "the command queue; here commands are done in order",
    "reallocate_halo_output": "whether a card moves what lies around shards",
    "reciprocals": "a table that a card's kernel of group_norm needs",
    "slice_config": "in how many parts a card computes a large image",
    "sub_core_grids": "which cores compute",
    "sub_device_id": "which part of the device computes",
    "subdevice_id": "how data travel between devices",
    "topology": "how data travel between devices",
    "use_legacy": "an older implementation",
    "use_multicore": "whether several cores compute",
    "use_welford": "which algorithm finds the variance",
    "vector_mode": "which faces of a tile are computed",
}
"""Arguments that are taken and change nothing, and what they say on a card."""

_EVERYWHERE = ("queue_id", "cq_id")

_OTHER_NAMES = {
    "input": "input_tensor",
    "tensor": "input_tensor",
    "input_tensor_a": "input_tensor",
    "input_a": "input_tensor_a",
    "input_b": "input_tensor_b",
    "a": "input_tensor_a",
    "b": "input_tensor_b",
    "other": "input_tensor_b",
    "batch_idx": "batch_index",
    "update_idx": "update_index",
}
"""Names of operands in other versions of ttnn."""


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
            raise TypeError(
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
                raise TypeError(f"{self.name} got multiple values for argument '{name}'")
            values[name] = value
        for name in self._required:
            if values[name] is Required:
                raise TypeError(f"{self.name} is missing argument '{name}'; it takes ({self.text})")
        return values

    def _known_name(self, name: str) -> str:
        other = _OTHER_NAMES.get(name, "")
        if other in self.defaults:
            return other
        close = get_close_matches(name, self.defaults, 1)
        nearest = f"; did you mean '{close[0]}'?" if close else ""
        raise TypeError(
            f"{self.name} got an unexpected keyword argument '{name}'{nearest} It takes "
            f"({self.text})"
            if close
            else f"{self.name} got an unexpected keyword argument '{name}'; it takes ({self.text})"
        )
