"""Uses of tosa's operations that move and reduce tensors, with what NumPy makes of the inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from running.randomness import TestGenerator

RNG = TestGenerator(__name__)
_NAMES = {"float32": "f32", "int32": "i32", "bool": "i1", "int8": "i8"}


def tensor_type(array: np.ndarray) -> str:
    """The type of a tensor that holds an array."""
    return f"tensor<{'x'.join((*map(str, array.shape), _NAMES[str(array.dtype)]))}>"


def real(*shape: int) -> np.ndarray:
    """Numbers from -2 to 2."""
    return RNG.uniform(-2, 2, shape).astype(np.float32)


def program(operation: str, inputs: list[np.ndarray], result: np.ndarray) -> str:
    """A function of `%0`, `%1`, ... that gives `%r`."""
    types = [tensor_type(array) for array in inputs]
    arguments = ", ".join(f"%{number}: {type}" for number, type in enumerate(types))
    text = operation
    for number, type in enumerate(types):
        text = text.replace(f"T{number}", type)
    text = text.removesuffix("R") + tensor_type(result)
    gives = tensor_type(result)
    return f"func.func @f({arguments}) -> {gives} {{\n{text}\nreturn %r : {gives}\n}}"


_CONSTANTS = np.random.default_rng(12)
A = _CONSTANTS.uniform(-2, 2, (3, 5, 33)).astype(np.float32)
NUMBERS = _CONSTANTS.integers(-9, 9, (3, 5, 33)).astype(np.int32)
_B = _CONSTANTS.random((3, 5, 33)) < 0.8
_PERMS = '%p = "tosa.const"() <{value = dense<[2, 0, 1]> : tensor<3xi32>}> : () -> tensor<3xi32>\n'
_PADDING = (
    '%p = "tosa.const"() <{value = dense<[[0, 1], [2, 0], [0, 3]]> : tensor<3x2xi32>}>'
    " : () -> tensor<3x2xi32>\n"
)
_FILL = '%v = "tosa.const"() <{value = dense<-7> : tensor<i32>}> : () -> tensor<i32>\n'


def _numbers(name: str, *values: int) -> str:
    count = len(values)
    elements = f"dense<{list(values)}> : tensor<{count}xindex>"
    return f"{name} = tosa.const_shape {{values = {elements}}} : () -> !tosa.shape<{count}>\n"


_SHAPES = _numbers("%s", 1, 0, 2)
_SIZES = _numbers("%z", 2, 4, 31)
_NEW = _numbers("%s", 5, 99)
_COUNTS = _numbers("%s", 2, 1, 3)
_LATER_PADDING = (
    "%p = tosa.const_shape {values = dense<[0, 1, 2, 0, 0, 3]> : tensor<6xindex>}"
    " : () -> !tosa.shape<6>\n"
    '%v = "tosa.const"() <{values = dense<0.5> : tensor<1xf32>}> : () -> tensor<1xf32>\n'
)
_MARGINS = ((0, 1), (2, 0), (0, 3))
ZERO = '%z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>\n'

MOVEMENTS: list[tuple[str, list[np.ndarray], Any]] = [
    ("%r = tosa.reshape %0 {new_shape = array<i64: 5, -1>} : (T0) -> R", [A], A.reshape(5, 99)),
    (_NEW + "%r = tosa.reshape %0, %s : (T0, !tosa.shape<2>) -> R", [A], A.reshape(5, 99)),
    ("%r = tosa.reshape %0 {new_shape = array<i64>} : (T0) -> R", [A[:1, :1, :1]], A[0, 0, 0]),
    (_PERMS + "%r = tosa.transpose %0, %p : (T0, tensor<3xi32>) -> R", [A], A.transpose(2, 0, 1)),
    (
        "%r = tosa.transpose %0 {perms = array<i32: 0, 2, 1>} : (T0) -> R",
        [NUMBERS],
        NUMBERS.transpose(0, 2, 1),
    ),
    (
        "%r = tosa.concat %0, %1, %0 {axis = 1 : i32} : (T0, T1, T0) -> R",
        [A, A[:, :2]],
        np.concatenate([A, A[:, :2], A], axis=1),
    ),
    (_PADDING + "%r = tosa.pad %0, %p : (T0, tensor<3x2xi32>) -> R", [A], np.pad(A, _MARGINS)),
    (
        _PADDING + _FILL + "%r = tosa.pad %0, %p, %v : (T0, tensor<3x2xi32>, tensor<i32>) -> R",
        [NUMBERS],
        np.pad(NUMBERS, _MARGINS, constant_values=-7),
    ),
    (
        _LATER_PADDING + "%r = tosa.pad %0, %p, %v : (T0, !tosa.shape<6>, tensor<1xf32>) -> R",
        [A],
        np.pad(A, _MARGINS, constant_values=0.5),
    ),
    (
        "%r = tosa.slice %0 {start = array<i64: 1, 0, 2>, size = array<i64: 2, 4, 31>} : (T0) -> R",
        [A],
        A[1:3, 0:4, 2:33],
    ),
    (
        _SHAPES + _SIZES + "%r = tosa.slice %0, %s, %z : (T0, !tosa.shape<3>, !tosa.shape<3>) -> R",
        [A],
        A[1:3, 0:4, 2:33],
    ),
    (
        "%r = tosa.tile %0 {multiples = array<i64: 2, 1, 3>} : (T0) -> R",
        [A],
        np.tile(A, (2, 1, 3)),
    ),
    (
        _COUNTS + "%r = tosa.tile %0, %s : (T0, !tosa.shape<3>) -> R",
        [A],
        np.tile(A, (2, 1, 3)),
    ),
    ("%r = tosa.reverse %0 {axis = 1 : i32} : (T0) -> R", [A], A[:, ::-1]),
    *(
        (f"%r = tosa.{op} %0 {{axis = 1 : i32}} : (T0) -> R", [array], function(array))
        for op, array, function in (
            ("reduce_sum", A, lambda x: x.sum(1, keepdims=True)),
            ("reduce_sum", NUMBERS, lambda x: x.sum(1, keepdims=True, dtype=np.int32)),
            ("reduce_max", A, lambda x: x.max(1, keepdims=True)),
            ("reduce_min", NUMBERS, lambda x: x.min(1, keepdims=True)),
            ("reduce_prod", A, lambda x: x.prod(1, keepdims=True)),
            ("reduce_product", A, lambda x: x.prod(1, keepdims=True)),
            ("reduce_all", _B, lambda x: x.all(1, keepdims=True)),
            ("reduce_any", _B, lambda x: x.any(1, keepdims=True)),
            ("argmax", A, lambda x: x.argmax(1).astype(np.int32)),
        )
    ),
    (
        "%r = tosa.argmax %0 {axis = 2 : i32, nan_mode = PROPAGATE} : (T0) -> R",
        [NUMBERS],
        NUMBERS.argmax(2).astype(np.int32),
    ),
]
