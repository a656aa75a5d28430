"""Matches the arguments of a call with the parameters of a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn, SupportsIndex

from ttmlir.dialects.ttkernel import CBType
from ttmlir.frontend.pykernel.compilation import Parameter, RuntimeArgument
from ttmlir.frontend.pykernel.errors import KernelTypeError, KernelValueError
from ttmlir.frontend.pykernel.source import FunctionSource
from ttmlir.frontend.pykernel.types import Arguments, CircularBuffer, CompileTimeValue

ParameterKind = Literal["CircularBuffer", "CompileTimeValue", ""]
"""The annotation of a parameter; run-time arguments have none."""


def bind(
    source: FunctionSource,
    annotations: Mapping[str, object],
    args: Sequence[object],
    constants: Mapping[str, object],
) -> dict[str, Parameter]:
    """What each parameter of a kernel is for a call with these arguments.

    An argument without annotation is read when the kernel runs: one number is common to all cores,
    a list has numbers for each. Its value takes no part.
    """
    return _Binding(source, annotations).bind(args, constants)


def parameter_kinds(
    source: FunctionSource, annotations: Mapping[str, object]
) -> dict[str, ParameterKind]:
    """What each parameter of a kernel is, in order."""
    binding = _Binding(source, annotations)
    return {name: binding.annotation(name) for name in binding.names}


@dataclass(frozen=True)
class _Binding:
    source: FunctionSource
    annotations: Mapping[str, object]

    @property
    def names(self) -> list[str]:
        """The parameters in order."""
        spec = self.source.node.args
        if spec.vararg is not None or spec.kwarg is not None:
            self.source.refuse(self.source.node, "a kernel has a fixed number of parameters")
        names = [each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
        if names[:1] == ["self"]:
            self.source.refuse(
                self.source.node,
                "a kernel gets no 'self', in a class neither: leave it out, and pass what the "
                "kernel needs as arguments",
            )
        return names

    def bind(self, args: Sequence[object], constants: Mapping[str, object]) -> dict[str, Parameter]:
        """What each parameter is."""
        names = self.names
        if len(args) > len(names):
            self._refuse_value(f"takes {len(names)} arguments, not {len(args)}")
        given = dict(zip(names, args, strict=False))
        for name, value in constants.items():
            if name not in names:
                self._refuse_value(f"has no parameter '{name}'; it has {', '.join(names)}")
            if name in given:
                self._refuse_value(f"gets '{name}' twice")
            given[name] = value
        return self._classify(names, given)

    def _classify(self, names: Sequence[str], given: Mapping[str, object]) -> dict[str, Parameter]:
        parameters: dict[str, Parameter] = {}
        counts = {True: 0, False: 0}
        for name in names:
            annotation = self.annotation(name)
            if annotation == "":
                value = given.get(name, 0)
                is_common = not isinstance(value, (list, tuple, Arguments))
                if isinstance(value, Arguments):
                    is_common = value.is_common
                parameters[name] = RuntimeArgument(counts[is_common], is_common)
                counts[is_common] += 1
                continue
            value = given.get(name, self.source.defaults.get(name))
            if value is None:
                self._refuse_value(f"needs '{name}', which was not provided into the kernel call")
            if annotation == "CircularBuffer":
                parameters[name] = self._buffer(name, value)
            else:
                parameters[name] = self._constant(name, value)
        return parameters

    def annotation(self, name: str) -> ParameterKind:
        """What a parameter is annotated as."""
        annotation = self.annotations.get(name)
        if annotation is None:
            return ""
        if annotation is CircularBuffer or annotation is CompileTimeValue:
            return "CircularBuffer" if annotation is CircularBuffer else "CompileTimeValue"
        text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
        match str(text).rpartition(".")[2]:
            case "CircularBuffer":
                return "CircularBuffer"
            case "CompileTimeValue" | "CompiledValue":
                return "CompileTimeValue"
            case _:
                shown = text or repr(annotation)
                self._refuse_type(
                    f"has the annotation '{shown}' at '{name}'; a parameter of a kernel is a "
                    "CircularBuffer, a CompileTimeValue, or has no annotation and is read when the "
                    "kernel runs"
                )

    def _buffer(self, name: str, value: object) -> CBType:
        described: object = getattr(value, "cb_type", value)
        if not isinstance(described, CircularBuffer):
            self._refuse_type(
                f"needs a circular buffer for '{name}', not {value!r}; create_cb makes one"
            )
        return described.type

    def _constant(self, name: str, value: object) -> int | bool:
        match value:
            case bool():
                return value
            case SupportsIndex():
                return value.__index__()
            case _:
                self._refuse_type(f"ct_args must be int or bool, and '{name}' is {value!r}")

    def _refuse_value(self, message: str) -> NoReturn:
        source = self.source
        place, text = source.location(source.node), f"kernel '{source.name}' {message}"
        raise KernelValueError(place, text, source.file, source.text)

    def _refuse_type(self, message: str) -> NoReturn:
        source = self.source
        place, text = source.location(source.node), f"kernel '{source.name}' {message}"
        raise KernelTypeError(place, text, source.file, source.text)
