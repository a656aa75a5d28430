"""Parameters of torch's modules as tensors of ttnn, as `ttnn.model_preprocessing`.

parameters = preprocess_model_parameters(initialize_model=lambda: model, device=device)
y = ttnn.linear(x, parameters.layers[0].weight, bias=parameters.layers[0].bias)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ttmlir.errors import Error, MissingNameError, UsageError
from ttmlir.ttnn.errors import locate_error
from ttmlir.ttnn.operations.moves import to_device
from ttmlir.ttnn.tensor.conversion import from_torch
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import MeshDevice


class ParameterDict(dict[str, Any]):
    """Parameters by name, which are attributes, too."""

    def __getattr__(self, name: str) -> Any:
        """A parameter; AttributeError lists those that there are."""
        try:
            return self[name]
        except KeyError:
            raise MissingNameError(f"no parameter {name!r}; there are {', '.join(self)}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a parameter."""
        self[name] = value

    def __delattr__(self, name: str) -> None:
        """Forget a parameter."""
        del self[name]


class ParameterList(list[Any]):
    """Parameters of the modules in a list."""


class ModuleArgs(ParameterDict):
    """What modules were called with, by their names."""


def make_parameter_dict(values: Any) -> Any:
    """Dictionaries within a value as dictionaries of parameters."""
    if isinstance(values, dict):
        given: dict[str, Any] = {**values}
        return ParameterDict({name: make_parameter_dict(each) for name, each in given.items()})
    if isinstance(values, list | tuple):
        listed: list[Any] = [*values]
        return ParameterList(make_parameter_dict(each) for each in listed)
    return values


def _convert(values: Any, dtype: DataType | None, layout: Layout, mapper: Any = None) -> Any:
    try:
        return from_torch(values.detach(), dtype, layout=layout, mesh_mapper=mapper)
    except Error as error:
        raise locate_error(error, "ttnn.model_preprocessing") from error


def preprocess_linear_weight(
    weight: Any,
    *,
    dtype: DataType | None,
    layout: Layout = Layout.TILE,
    weights_mesh_mapper: Any = None,
) -> Any:
    """The weight (out, in) of a linear layer as ttnn multiplies by it: (in, out)."""
    return _convert(weight.T.contiguous(), dtype, layout, weights_mesh_mapper)


def preprocess_linear_bias(
    bias: Any,
    *,
    dtype: DataType | None,
    layout: Layout = Layout.TILE,
    weights_mesh_mapper: Any = None,
) -> Any:
    """The bias of a linear layer as a row."""
    return _convert(bias.reshape(1, -1), dtype, layout, weights_mesh_mapper)


def preprocess_layernorm_parameter(
    parameter: Any, *, dtype: DataType | None, layout: Layout = Layout.TILE
) -> Any:
    """A parameter of a layer normalisation as a row."""
    return _convert(parameter.reshape(1, -1), dtype, layout)


def preprocess_embedding_weight(
    weight: Any, *, dtype: DataType | None, layout: Layout = Layout.ROW_MAJOR
) -> Any:
    """The table of an embedding."""
    return _convert(weight, dtype, layout)


def fold_batch_norm2d_into_conv2d(conv: Any, bn: Any) -> tuple[Any, Any]:
    """Weight and bias (1, 1, 1, O), in torch, of a convolution with the normalisation behind it."""
    if not bn.track_running_stats:
        raise UsageError("BatchNorm2d must have track_running_stats=True to be folded into Conv2d")
    factor = (bn.running_var + bn.eps).rsqrt()
    factor = factor if bn.weight is None else bn.weight * factor
    bias = -bn.running_mean if conv.bias is None else conv.bias - bn.running_mean
    bias = bias * factor
    bias = bias if bn.bias is None else bias + bn.bias
    return conv.weight * factor[:, None, None, None], bias.reshape(1, 1, 1, -1)


def _default_parameters(module: Any) -> dict[str, Any]:
    """The parameters of the modules whose form in ttnn is another; none for all others."""
    nn: Any = import_module("torch").nn
    if not isinstance(module, nn.Module):
        raise UsageError(f"a model is a torch.nn.Module, not {module!r}")
    own: dict[str, Any] = dict(module.named_parameters(recurse=False))
    if isinstance(module, nn.Linear):
        converters = {"weight": preprocess_linear_weight, "bias": preprocess_linear_bias}
    elif isinstance(module, nn.LayerNorm):
        converters = dict.fromkeys(own, preprocess_layernorm_parameter)
    elif isinstance(module, nn.Embedding):
        converters = {"weight": preprocess_embedding_weight}
    else:
        return {}
    return {name: converters[name](each, dtype=DataType.BFLOAT16) for name, each in own.items()}


@dataclass
class _Conversion:
    """What `preprocess_model_parameters` was asked for."""

    convert_to_ttnn: Callable[[Any, str], bool] | None
    custom_preprocessor: Callable[..., Any] | None
    module_args: Any

    def convert(self, module: Any, name: str, args: Any) -> Any:
        """The parameters of a module and of those within it."""
        custom = self._custom(module, name, args)
        if custom:
            return make_parameter_dict(custom)
        wanted = self.convert_to_ttnn is None or self.convert_to_ttnn(module, name)
        found = _default_parameters(module) if wanted else {}
        if found:
            return ParameterDict(found)
        children = list(module.named_children())
        for child_name, child in children:
            inner = f"{name}.{child_name}" if name else child_name
            below = args.get(child_name) if isinstance(args, ModuleArgs) else None
            found[child_name] = self.convert(child, inner, below)
        if children and all(child_name.isdigit() for child_name, _ in children):
            return ParameterList(found.values())
        for own, parameter in module.named_parameters(recurse=False):
            found[own] = _as_bfloat16(parameter) if wanted else parameter
        return ParameterDict(found)

    def _custom(self, module: Any, name: str, args: Any) -> Any:
        function = self.custom_preprocessor
        if function is None:
            return None
        takes_args = len(inspect.signature(function).parameters) > 2
        return function(module, name, args) if takes_args else function(module, name)


def _as_bfloat16(parameter: Any) -> Any:
    """A parameter in rows: floating point in bfloat16, integers as they are."""
    dtype = DataType.BFLOAT16 if parameter.is_floating_point() else None
    return _convert(parameter, dtype, Layout.ROW_MAJOR)


def _placed(values: Any, device: MeshDevice) -> Any:
    """Tensors within a value on a device."""
    match values:
        case Tensor():
            return to_device(values, device)
        case ParameterDict():
            return ParameterDict({name: _placed(each, device) for name, each in values.items()})
        case ParameterList():
            return ParameterList(_placed(each, device) for each in values)
        case _:
            return values


def preprocess_model_parameters(
    *,
    initialize_model: Callable[[], Any],
    convert_to_ttnn: Callable[[Any, str], bool] | None = None,
    custom_preprocessor: Callable[..., Any] | None = None,
    device: MeshDevice | None = None,
    prefix: str = "",
    run_model: Callable[[Any], Any] | None = None,
    model_name: str | None = None,
    version: str | None = None,
) -> Any:
    """The parameters of a module of torch by their names, on a device if there is one.

    Weights of linear layers are turned; all are bfloat16. `convert_to_ttnn(module, name)` is False
    for modules whose parameters stay torch's; `custom_preprocessor(module, name)`, which may take
    the arguments of `infer_ttnn_module_args` as a third argument, gives parameters of its own, or
    nothing. `model_name` and `version` name an entry of a cache, which is not kept here.
    """
    model = initialize_model()
    args = None if run_model is None else infer_ttnn_module_args(model=model, run_model=run_model)
    conversion = _Conversion(convert_to_ttnn, custom_preprocessor, args)
    found = conversion.convert(model, prefix, args)
    try:
        return found if device is None else _placed(found, device)
    except Error as error:
        raise locate_error(error, "ttnn.model_preprocessing") from error


def preprocess_model(
    *,
    initialize_model: Callable[[], Any],
    convert_to_ttnn: Callable[[Any, str], bool] | None = None,
    custom_preprocessor: Callable[..., Any] | None = None,
    device: MeshDevice | None = None,
    prefix: str = "",
    run_model: Callable[[Any], Any] | None = None,
    model_name: str | None = None,
    version: str | None = None,
    reader_patterns_cache: dict[Any, Any] | None = None,
) -> Any:
    """As `preprocess_model_parameters`; with `run_model` parameters know the images of their run.

    Those of convolutions and poolings have their `ttnn_module_args`. `reader_patterns_cache` is for
    tables of a card, of which there are none here.
    """
    model = initialize_model()
    found = preprocess_model_parameters(
        initialize_model=lambda: model,
        convert_to_ttnn=convert_to_ttnn,
        custom_preprocessor=custom_preprocessor,
        device=device,
        prefix=prefix,
        run_model=run_model,
    )
    if run_model is not None:
        _add_args(found, infer_ttnn_module_args(model=model, run_model=run_model))
    return found


def _add_args(parameters: Any, args: Any) -> None:
    """Give the parameters of modules what is known of these."""
    if isinstance(args, Conv2dArgs | MaxPool2dArgs):
        parameters["ttnn_module_args"] = args
        return
    for name, inner in args.items():
        is_list = isinstance(parameters, ParameterList)
        _add_args(parameters[int(name) if is_list else name], inner)


class Conv2dArgs(ParameterDict):
    """What a convolution is, and the image that it met."""


class MaxPool2dArgs(ParameterDict):
    """What a pooling is, and the image that it met."""


def infer_ttnn_module_args(
    *, model: Any, run_model: Callable[[Any], Any], device: Any = None
) -> Any:
    """The arguments of convolutions and poolings, by the names of modules, seen in a run."""
    torch: Any = import_module("torch")
    found = ModuleArgs()
    hooks: list[Any] = []

    def watch(path: str, describe: Callable[[Any, Any], Any]) -> Callable[..., None]:
        def hook(module: Any, inputs: tuple[Any, ...]) -> None:
            *outer, last = path.split(".") if path else [""]
            place = found
            for name in outer:
                place = place.setdefault(name, ModuleArgs())
            place[last] = describe(module, inputs[0])

        return hook

    for path, module in model.named_modules():
        if isinstance(module, torch.nn.Conv2d):
            hooks.append(module.register_forward_pre_hook(watch(path, _describe_conv2d)))
        elif isinstance(module, torch.nn.MaxPool2d):
            hooks.append(module.register_forward_pre_hook(watch(path, _describe_max_pool2d)))
    try:
        run_model(model)
    finally:
        for hook in hooks:
            hook.remove()
    return found


def _describe_conv2d(module: Any, image: Any) -> Conv2dArgs:
    names = "in_channels out_channels kernel_size stride padding dilation groups padding_mode"
    own = {name: getattr(module, name) for name in names.split()}
    batch, _, height, width = image.shape
    size = {"batch_size": batch, "input_height": height, "input_width": width}
    types = {"dtype": DataType.BFLOAT16, "weights_dtype": DataType.BFLOAT16}
    return Conv2dArgs({**own, **size, **types})


def _describe_max_pool2d(module: Any, image: Any) -> MaxPool2dArgs:
    names = "kernel_size stride padding dilation"
    own = {name: getattr(module, name) for name in names.split()}
    batch, channels, height, width = image.shape
    size = {"batch_size": batch, "input_height": height, "input_width": width}
    return MaxPool2dArgs({**own, **size, "channels": channels, "dtype": DataType.BFLOAT16})
