"""Custom calls on the road to ttir: kernels, what users register, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from samples.framework_functions import build_add, build_exp
from samples.generic_programs import exp_program
from xdsl.dialects.builtin import StringAttr

import ttmlir
from ttmlir.bridge import NumPyKernel
from ttmlir.compiler import compile_to_ttnn, lower
from ttmlir.mlir.printing import attribute_text
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.program import CustomKernel, KernelTensor, write_custom_kernel
from ttmlir.runtime import Tensor, open_device, read_binary, submit

TTIR = "stablehlo-to-ttir-pipeline{spelling=2024}"
TTNN = f"{TTIR},ttir-to-ttnn-backend-pipeline"
TYPE = "tensor<5x70xf32>"
NUMBERS = np.random.default_rng(0).uniform(-1, 1, (5, 70)).astype(np.float32)


def exp_kernel(shape: tuple[int, ...] = (5, 70), layout: str = "tile") -> CustomKernel:
    """The exponential of a tensor of three tiles."""
    return CustomKernel(
        name="exp",
        tensors=(
            KernelTensor(name="x", role="in", shape=shape, element="f32", layout=layout),
            KernelTensor(name="y", role="out", shape=shape, element="f32", memory="l1"),
        ),
        program=exp_program(3),
    )


def call(config: str, target: str = "tt.kernel", types: str = f"({TYPE}) -> {TYPE}") -> str:
    """A function of one custom call, which stands on line 2."""
    text = attribute_text(StringAttr(config))
    source, _, result = types.partition(" -> ")
    return (
        f"func.func @main(%x: {source[1:-1]}) -> {result} {{\n"
        f"  %0 = stablehlo.custom_call @{target}(%x) {{backend_config = {text}}} : {types}\n"
        f"  return %0 : {result}\n}}"
    )


def run(data: bytes, *arrays: np.ndarray) -> np.ndarray:
    """The first result of a file."""
    binary = read_binary(data, "x.ttnn")
    return submit(open_device(), binary, 0, [Tensor.from_numpy(a) for a in arrays])[0].to_numpy()


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("options", ["", "{sharding-pass-enabled=true}", "{enable-grid-set=false}"])
def test_a_kernel_gets_into_the_file(options: str) -> None:
    """Whatever else the pipeline does with tensors."""
    text = call(write_custom_kernel(exp_kernel()))
    pipeline = f"{TTIR},ttir-to-ttnn-backend-pipeline{options}"
    np.testing.assert_allclose(
        run(compile_to_ttnn(text, pipeline), NUMBERS), np.exp(NUMBERS), rtol=1e-6
    )


def test_kernels_stay_out_of_runs_in_l1() -> None:
    """Operations around them do not, and move their tensors to where kernels find them."""
    text = call(write_custom_kernel(exp_kernel()))
    text = text.replace("  %0 =", "  %s = stablehlo.sine %x : tensor<5x70xf32>\n  %0 =")
    text = text.replace("(%x) {", "(%s) {").replace(
        "return %0", "%c = stablehlo.cosine %0 : tensor<5x70xf32>\n  return %c"
    )
    pipeline = f"{TTIR},ttir-to-ttnn-backend-pipeline{{sharding-pass-enabled=true}}"
    wanted = np.cos(np.exp(np.sin(NUMBERS)))
    np.testing.assert_allclose(
        run(compile_to_ttnn(text, pipeline), NUMBERS), wanted, rtol=1e-5, atol=1e-6
    )


def test_tensors_lie_where_the_kernel_finds_them() -> None:
    """Layout and memory of each tensor are asked for by the operation's constraints."""
    text = call(write_custom_kernel(exp_kernel(layout="row_major")))
    ttir = str(lower(text, TTIR))
    assert (
        "[#tt.operand_constraint<dram|scalar|interleaved>, #tt.operand_constraint<l1|tile|" in ttir
    )
    ttnn = str(lower(text, TTNN))
    generic = next(line for line in ttnn.splitlines() if '"ttnn.generic"' in line)
    assert (
        "memref<5x70xf32, #tt.memory_space<dram>>, interleaved" in generic.rpartition(") -> ()")[0]
    )
    assert "tt.tile<32x32, f32>, #tt.memory_space<l1>>, interleaved" in generic


def test_kernels_write_to_tensors_of_their_own() -> None:
    """Not to arguments, nor to what others use."""
    text = attribute_text(StringAttr(write_custom_kernel(exp_kernel())))
    constraints = (
        "operand_constraints = ["
        + ", ".join(["#tt.operand_constraint<dram|tile|interleaved>"] * 2)
        + "]"
    )
    properties = f"<{{config = {text}, operandSegmentSizes = array<i32: 1, 1>, {constraints}}}>"
    module = f"""func.func @main(%x: {TYPE}, %o: {TYPE}) -> ({TYPE}, {TYPE}, {TYPE}) {{
      %e = tensor.empty() : {TYPE}
      %0 = "ttir.custom_kernel"(%x, %o) {properties} : ({TYPE}, {TYPE}) -> {TYPE}
      %1 = "ttir.custom_kernel"(%o, %e) {properties} : ({TYPE}, {TYPE}) -> {TYPE}
      %2 = "ttir.custom_kernel"(%x, %e) {properties} : ({TYPE}, {TYPE}) -> {TYPE}
      return %0, %1, %2 : {TYPE}, {TYPE}, {TYPE}
    }}"""
    binary = read_binary(compile_to_ttnn(module), "x.ttnn")
    tensors = [Tensor.from_numpy(NUMBERS), Tensor.from_numpy(NUMBERS / 2)]
    results = [each.to_numpy() for each in submit(open_device(), binary, 0, tensors)]
    for result, source in zip(results, (NUMBERS, NUMBERS / 2, NUMBERS), strict=True):
        np.testing.assert_allclose(result, np.exp(source), rtol=1e-6)


def refusal(text: str, pipeline: str = TTIR) -> str:
    """The message with which a program is refused."""
    with pytest.raises(DiagnosticError) as caught:
        lower(text, pipeline, file_name="x.mlir")
    return str(caught.value)


WRONG = [
    ("", "'tt.kernel' has no kernel: its backend_config is a text with the program of kernels"),
    ("{", "backend_config: the text is no JSON: Expecting property name"),
    ('{"version": 9}', "backend_config: version is 9; this reader knows 1"),
    (
        write_custom_kernel(exp_kernel((70, 5))),
        "operand #0 is tensor<5x70xf32>, but 'x' of the kernel 'exp' is tensor<70x5xf32>",
    ),
]


@pytest.mark.parametrize(("config", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_no_kernel_is_refused_with_its_place(config: str, message: str) -> None:
    """The place is that of the call, the message that of the text."""
    found = refusal(call(config))
    assert found.startswith(
        "x.mlir:2:8: error: failed to legalize operation 'stablehlo.custom_call': "
    )
    assert message in found


def test_ttir_kernels_are_verified() -> None:
    """The same of text in ttir."""
    for config, message in WRONG[1:]:
        text = attribute_text(StringAttr(config))
        properties = (
            f"config = {text}, operandSegmentSizes = array<i32: 1, 1>, operand_constraints = []"
        )
        module = f"""func.func @main(%x: {TYPE}) {{
          %e = tensor.empty() : {TYPE}
          %0 = "ttir.custom_kernel"(%x, %e) <{{{properties}}}> : ({TYPE}, {TYPE}) -> {TYPE}
          return
        }}"""
        expected = message.replace("backend_config", "'ttir.custom_kernel' op config")
        assert expected in refusal(module, "")


@pytest.fixture
def target() -> Iterator[str]:
    """A target that is forgotten after the test."""
    yield "my.target"
    ttmlir.unregister_custom_call("my.target")


def test_checks_of_equinox_say_how_to_do_without_them() -> None:
    """Those of diffrax and its like raise errors in Python."""
    types = f": ({TYPE}) -> {TYPE}\n"
    text = call("", "xla_ffi_python_cpu_callback").replace(types, f"{types[:-1]} loc(#place)\n")
    text += '\n#place = loc(callsite("site-packages/equinox/_errors.py":9:1 at "ode.py":3:1))'
    with pytest.raises(DiagnosticError, match=r"an error of equinox\.error_if; start Python"):
        lower(text, TTIR)


def test_unknown_targets_say_how_to_register_them() -> None:
    """By the name of the target."""
    message = refusal(call("", "my.target"))
    assert "the code of 'my.target' is not part of the program" in message
    assert "ttmlir.register_custom_call('my.target', kernel=...) gives it a kernel" in message


@pytest.mark.parametrize(
    ("target", "words", "message"),
    [
        ("fill_cache", "", "'ttir.fill_cache' op expected 2 operands, but found 1"),
        ("sparse_matmul", "", "'ttir.sparse_matmul' op expected 3 operands, but found 1"),
        (
            "scaled_dot_product_attention_decode",
            'has_attention_mask = "True"',
            "_decode' has 1 operands, and needs 4 and one each for has_attention_mask",
        ),
        (
            "chunked_scaled_dot_product_attention",
            "",
            "_attention' needs 'scale' in mhlo.frontend_attributes",
        ),
    ],
)
def test_calls_of_the_library_without_their_operands(target: str, words: str, message: str) -> None:
    """The call is refused, where it stands; that is no mistake of the conversion."""
    text = call("", f"tt.{target}").replace(
        "{backend_config = ", f"{{mhlo.frontend_attributes = {{{words}}}, backend_config = "
    )
    said = refusal(text, "stablehlo-to-ttir-pipeline")
    assert said.startswith("x.mlir:2:8: error: ")
    assert message in said
    assert "mistake in ttmlir" not in said


def test_a_registered_kernel_takes_part(target: str) -> None:
    """A framework's kernel, for whatever tensors the call has."""
    ttmlir.register_custom_call(target, kernel=NumPyKernel("exp", build_exp, grid=(2,)))
    for shape in ((5, 70), (40, 3)):
        type_ = f"tensor<{shape[0]}x{shape[1]}xf32>"
        text = call("", target, f"({type_}) -> {type_}")
        numbers = NUMBERS.ravel()[: shape[0] * shape[1]].reshape(shape)
        np.testing.assert_allclose(
            run(compile_to_ttnn(text, TTNN), numbers), np.exp(numbers), rtol=1e-6
        )


def test_a_registered_function_makes_kernels(target: str) -> None:
    """From operands, results and the text of the call."""
    seen: list[str] = []

    def make(tensors: Sequence[KernelTensor], config: str) -> CustomKernel:
        seen.append(config)
        return exp_kernel(tensors[0].shape)

    ttmlir.register_custom_call(target, kernel=make)
    np.testing.assert_allclose(
        run(compile_to_ttnn(call("axis=1", target), TTNN), NUMBERS), np.exp(NUMBERS), rtol=1e-6
    )
    assert seen == ["axis=1"]


CONSTANT = """func.func @main() -> tensor<2x3xf32> {
  %c = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = stablehlo.custom_call @my.target(%c) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}"""


def test_a_registered_function_of_numpy_computes_constants(target: str) -> None:
    """When the program is compiled: no file holds Python."""
    ttmlir.register_custom_call(target, numpy=lambda x: np.cumsum(x, axis=1))
    wanted = [[1, 3, 6], [4, 9, 15]]
    assert run(compile_to_ttnn(CONSTANT, TTNN)).tolist() == wanted


def test_functions_of_numpy_are_refused_where_numbers_are_not_known(target: str) -> None:
    """With the way out."""
    ttmlir.register_custom_call(target, numpy=np.exp)
    message = refusal(call("", target))
    assert "operand #0 of 'my.target' is no constant, and no file holds Python" in message
    assert "kernel=..." in message


def test_mistakes_of_registered_functions_are_about_the_call(target: str) -> None:
    """A wrong shape, a wrong kernel."""
    ttmlir.register_custom_call(target, numpy=lambda x: x.T)
    assert "x.mlir:3:8: error" in refusal(CONSTANT)
    assert "'my.target', as it was registered, fails: result #0 has shape (3, 2)" in refusal(
        CONSTANT
    )
    ttmlir.register_custom_call(target, kernel=NumPyKernel("add", build_add))
    message = refusal(call("", target))
    assert "'my.target', as it was registered, fails: " in message


def test_registrations_have_a_meaning() -> None:
    """At least one, and not for the target that needs none."""
    with pytest.raises(ValueError, match="'x' has nothing that computes it: give a kernel"):
        ttmlir.register_custom_call("x")
    with pytest.raises(ValueError, match=r"calls of 'tt\.kernel' carry their kernel"):
        ttmlir.register_custom_call("tt.kernel", numpy=np.exp)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("lapack_sgetrf_ffi", "LU factors"),
        ("lapack_dsyevd_ffi", "eigenvalues and eigenvectors of a symmetric matrix"),
        ("lapack_sgesdd", "singular values and vectors"),
        ("blas_strsm", "solutions of a triangular system"),
    ],
)
def test_calls_of_lapack_are_named_by_what_they_are(target: str, words: str) -> None:
    """What is computed, that it is the host that does it, and what to do."""
    with pytest.raises(DiagnosticError) as caught:
        lower(call("", target), TTIR)
    text = str(caught.value)
    assert f"{words} ('{target}') has no algorithm here; compute them on the host" in text
