"""What sees the calls of a program: settings, hooks, graphs and pictures."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import torch
from oracles.ttnn_oracle import draw

from ttmlir import ttnn
from ttmlir.ttnn.operations.operation import OBSERVERS, Operation, Recorder, observe


def place(values: torch.Tensor, device: Any) -> Any:
    """A tensor on the device in tiles."""
    return ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)


def test_calls_within_calls_are_not_seen(device: Any) -> None:
    """An operation that calls others is one call, and a trace computes it once."""

    @ttnn.register_python_operation(name="test_doubled")
    def doubled(x: Any) -> Any:
        return ttnn.add_(x, x)

    try:
        x = place(torch.ones(2, 3), device)
        with observe(Recorder()) as recorder:
            assert ttnn.test_doubled(x) is x
        assert [call.operation.name for call in recorder.calls] == ["test_doubled"]
        trace = ttnn.begin_trace_capture(device)
        ttnn.test_doubled(x)
        ttnn.end_trace_capture(device, trace)
        ttnn.execute_trace(device, trace)
        assert torch.equal(ttnn.to_torch(x), torch.full((2, 3), 8.0))
        with pytest.raises(RuntimeError, match=r"ttnn.test_doubled is there already"):
            ttnn.register_python_operation(name="ttnn.test_doubled")(doubled)
        assert not OBSERVERS.current
    finally:
        from ttmlir.ttnn.registry import operations

        operations().pop("test_doubled")


def test_settings() -> None:
    """Settings have ttnn's names; a block changes one for itself."""
    assert ttnn.CONFIG.enable_fast_runtime_mode
    assert ttnn.CONFIG.comparison_mode_pcc == 0.9999
    assert ttnn.CONFIG.report_path is None
    with ttnn.manage_config("report_name", "mine"):
        assert Path("generated/ttnn/reports/mine") == ttnn.CONFIG.report_path
    assert ttnn.CONFIG.report_name is None
    with pytest.raises(AttributeError, match="no setting 'enable_loging'; did you mean 'enable_lo"):
        ttnn.CONFIG.enable_loging = True
    with pytest.raises(AttributeError, match="no setting 'colour'; there are cache_path"):
        _ = ttnn.CONFIG.colour
    with pytest.raises(TypeError, match="enable_logging is True or False, not 'yes'"):
        ttnn.CONFIG.enable_logging = "yes"
    with pytest.raises(TypeError, match=r"comparison_mode_pcc is a number, not '0\.9'"):
        ttnn.CONFIG.comparison_mode_pcc = "0.9"
    with pytest.raises(TypeError, match="tmp_dir is a path, not None"):
        ttnn.CONFIG.tmp_dir = None
    with pytest.raises(TypeError, match="report_name is a name or None, not True"):
        ttnn.CONFIG.report_name = True


def test_settings_without_a_home() -> None:
    """A user of a container, whom the system does not know, has no home folder."""
    program = (
        "import os, pwd; os.environ.pop('HOME', None); pwd.getpwuid = {}.__getitem__; "
        "import ttmlir.ttnn as ttnn; print(ttnn.CONFIG.cache_path)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "~/.cache/ttnn\n"


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"comparison_mode_pcc": 0.5}', "0.5"),
        (
            '{"colour": 1}',
            "Error: TTNN_CONFIG_OVERRIDES: ttnn.CONFIG has no setting 'colour'",
        ),
        ("[1]", "ArgumentError: TTNN_CONFIG_OVERRIDES is a JSON object, such as"),
        ("{", "ArgumentError: TTNN_CONFIG_OVERRIDES is no JSON: Expecting"),
        ("[" * 99999, "ArgumentError: TTNN_CONFIG_OVERRIDES is no JSON: maximum recursion depth"),
        (
            '{"comparison_mode_pcc": null}',
            "TypeError: ttnn.CONFIG.comparison_mode_pcc is a num",
        ),
    ],
)
def test_settings_of_the_environment(text: str, message: str) -> None:
    """Changes of the defaults come as JSON."""
    program = "import ttmlir.ttnn as ttnn; print(ttnn.CONFIG.comparison_mode_pcc)"
    environment = {**os.environ, "TTNN_CONFIG_OVERRIDES": text}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert message in done.stdout + done.stderr
    assert (done.returncode == 0) == (message == "0.5")


def test_comparison_by_the_environment() -> None:
    """The environment switches comparison on for a program that does not name it."""
    program = (
        "import ttmlir.ttnn as ttnn; d = ttnn.open_device(); x = ttnn.ones((2, 40), device=d); "
        "ttnn.attach_golden_function(ttnn.exp, lambda x, **_: x * 0); ttnn.exp(x)"
    )
    environment = {**os.environ, "TTNN_CONFIG_OVERRIDES": '{"enable_comparison_mode": true}'}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr.startswith("warning: ttnn.exp: the result correlates")


def test_hooks(device: Any) -> None:
    """Hooks see operations, arguments and results, with the fast mode off."""
    seen: list[Any] = []

    def before(operation: Operation, args: Any, kwargs: Any) -> None:
        seen.append(("before", operation.__name__, len(args), sorted(kwargs)))

    def after(operation: Operation, args: Any, kwargs: Any, output: Any) -> None:
        seen.append(("after", operation.__name__, output.shape))

    x = place(torch.ones(2, 3), device)
    with ttnn.register_pre_operation_hook(before), ttnn.register_post_operation_hook(after):
        ttnn.exp(x)
        assert not seen
        with ttnn.manage_config("enable_fast_runtime_mode", False):
            ttnn.add(x, 1, dtype=ttnn.float32)
    assert seen == [("before", "ttnn.add", 2, ["dtype"]), ("after", "ttnn.add", [2, 3])]
    with (
        ttnn.manage_config("enable_fast_runtime_mode", False),
        ttnn.register_pre_operation_hook(lambda *given: 1),  # pyright: ignore
        pytest.raises(RuntimeError, match="a hook must return None"),
    ):
        ttnn.exp(x)


def test_comparison_mode(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Each result is held against the golden function, operands of operations in place too."""
    x = place(torch.rand(5, 40), device)
    with ttnn.manage_config("enable_comparison_mode", True):
        ttnn.concat([ttnn.exp(x), ttnn.add_(x, 1)])
        assert capsys.readouterr().err == ""
        golden = ttnn.get_golden_function(ttnn.exp)
        ttnn.attach_golden_function(ttnn.exp, lambda x, **_: golden(-x))
        try:
            ttnn.exp(x)
            text = "warning: ttnn.exp: the result correlates with that of its golden function by"
            assert text in capsys.readouterr().err
            with (
                ttnn.manage_config("comparison_mode_should_raise_exception", True),
                pytest.raises(RuntimeError, match=r"ttnn.exp: .* correlates .* than 0.9999"),
            ):
                ttnn.exp(x)
        finally:
            ttnn.attach_golden_function(ttnn.exp, golden)
    assert not OBSERVERS.current


def test_registered_operations(tmp_path: Path) -> None:
    """All operations, in the order of their names."""
    listed = ttnn.query_registered_operations()
    names = [each.__name__ for each in listed]
    assert names == sorted(names)
    assert "ttnn.exp" in names
    assert "ttnn.experimental.rotate_half" not in names
    assert len(ttnn.query_registered_operations(include_experimental=True)) > len(names)
    ttnn.dump_operations(str(tmp_path / "all.csv"))
    rows = (tmp_path / "all.csv").read_text().splitlines()
    assert len(rows) == len(names) + 1
    assert "ttnn.exp,False,True" in rows


def test_graphs(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A graph has operations, tensors and buffers, in the order of what happens."""
    x = place(torch.ones(32, 64), device)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    y = ttnn.exp(x, memory_config=ttnn.L1_MEMORY_CONFIG)
    z = ttnn.add(y, x, memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.deallocate(y)
    left = ttnn.neg(z)
    trace = ttnn.graph.end_graph_capture()
    assert [node["counter"] for node in trace] == list(range(len(trace)))
    assert (trace[0]["node_type"], trace[-1]["node_type"]) == ("capture_start", "capture_end")
    calls = ["ttnn::exp", "ttnn::add", "ttnn::deallocate", "ttnn::neg"]
    assert ttnn.graph.extract_calltrace(trace) == calls
    assert ttnn.graph.count_intermediate_and_output_tensors(trace) == (2, 1)
    [output] = ttnn.graph.extract_output_tensors(trace)
    assert output["params"]["shape"] == "ttnn.Shape([32, 64])"
    assert output["params"]["tensor_id"] == str(left.tensor_id)
    size = 32 * 64 * 4
    assert ttnn.graph.extract_peak_L1_memory_usage(trace) == 2 * size
    allocated = [node for node in trace if node["node_type"] == "buffer_allocate"]
    assert {node["params"]["size"] for node in allocated} == {str(size)}
    [info] = ttnn.graph.extract_output_info(trace)
    assert (info.shape, info.size, info.type) == ([32, 64], size, ttnn.BufferType.L1)
    # As ttnn 0.81.1: tensors, then operations, each with the numbers of those around it.
    levels = ttnn.graph.extract_levelized_graph(trace)
    assert [node["counter"] for node in levels] == list(range(8))
    names = [*(f"tensor[{each.tensor_id}]" for each in (x, y, z, left)), *calls]
    assert [node["name"] for node in levels] == names
    edges = [(node["in_edges"], node["out_edges"]) for node in levels]
    assert edges == [
        *(([], [4, 5]), ([4], [5, 6]), ([5], [7]), ([7], [])),
        *(([0], [1]), ([0, 1], [2]), ([1], []), ([2], [3])),
    ]
    assert levels[4]["output_shape"] == ["Shape([32, 64])"]
    with pytest.raises(ValueError, match="max_level is at least 1, not 0"):
        ttnn.graph.extract_levelized_graph(trace, 0)
    ttnn.graph.pretty_print(trace)
    assert "function_start name=ttnn::add, inputs=2" in capsys.readouterr().out
    with pytest.raises(RuntimeError, match="no graph is captured; call"):
        ttnn.graph.end_graph_capture()


def test_memory_reports(device: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files below the working folder, with the columns of ttnn 0.81.1."""
    monkeypatch.chdir(tmp_path)
    before = ttnn.get_memory_view(device, ttnn.BufferType.L1)
    x = place(torch.ones(32, 64), device)
    y = ttnn.exp(x, memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.dump_device_memory_state(device, "p_")
    folder = tmp_path / "generated" / "reports"
    totals = (folder / "p_memory_usage_summary.csv").read_text().splitlines()
    assert totals[0].split(", ")[1:] == [
        *("Total Allocatable Size (B)", "Total Allocated (B)", "Total Free (B)"),
        "Largest Free Block (B)",
    ]
    l1 = [int(each) for each in totals[2].split(",")[1:]]
    assert l1[0] == before.total_bytes_per_bank
    # Two tiles of float32 on as many banks.
    assert l1[1] - before.total_bytes_allocated_per_bank == 32 * 32 * 4
    free = (folder / "p_l1_usage_summary.csv").read_text().splitlines()[-1]
    assert free == f",{l1[3]},{l1[2] * before.num_banks}"
    details = (folder / "p_detailed_memory_usage.csv").read_text().splitlines()
    assert f",{y.buffer_address()},{32 * 32 * 4}" in details
    with pytest.raises(RuntimeError, match="names no folder"):
        ttnn.dump_device_memory_state(device, "../p_")


def test_pictures(device: Any, tmp_path: Path) -> None:
    """The operations that a result comes from, in Graphviz' language."""
    x = place(torch.ones(2, 3), device)
    with ttnn.tracer.trace():
        y = ttnn.add(ttnn.exp(x), x)
        ttnn.neg(x)
    text = ttnn.tracer.visualize(y, file_name=str(tmp_path / "sum.svg"))
    assert (tmp_path / "sum.dot").read_text() == text
    assert sorted(text.splitlines()) == sorted(
        [
            "digraph {",
            "  node [shape=box];",
            '  t0 [label="ttnn.add\\n[2, 3] FLOAT32"];',
            '  t1 [label="ttnn.exp\\n[2, 3] FLOAT32"];',
            '  t2 [label="ttnn.Tensor\\n[2, 3] FLOAT32"];',
            "  t1 -> t0;",
            "  t2 -> t0;",
            "  t2 -> t1;",
            "}",
        ]
    )
    with pytest.raises(RuntimeError, match=r"output is a ttnn.Tensor, or a list"):
        ttnn.tracer.visualize(3)  # pyright: ignore
    ttnn.graph.begin_graph_capture()
    ttnn.exp(x)
    text = ttnn.graph.visualize(ttnn.graph.end_graph_capture(), file_name=tmp_path / "all.png")
    assert (tmp_path / "all.dot").read_text() == text
    assert '  n2 [label="ttnn::exp\\nfunction_start\\ninputs=1"];' in text.splitlines()


def test_code(device: Any) -> None:
    """The calls that a result comes from, as a program that computes it again."""
    x, w = (place(draw((32, 32), -1, 1), device) for _ in "xw")
    with ttnn.tracer.trace():
        parts = ttnn.split(ttnn.relu(x), 16, dim=1)
        ttnn.neg(x)
        y = ttnn.concat([parts[1], w], dim=-1, memory_config=ttnn.L1_MEMORY_CONFIG)
        y = ttnn.typecast(y, ttnn.float32)
    text = ttnn.tracer.codegen(y)
    assert text.startswith("def top_level_module(tensor_0, tensor_1):\n    variable_0 = ttnn.relu(")
    assert "neg" not in text
    assert text.count("ttnn.split(") == 1
    names: dict[str, Any] = {"ttnn": ttnn}
    exec(text, names)
    assert names["top_level_module"](x, w).to_list() == y.to_list()
    with pytest.raises(RuntimeError, match=r"output is a ttnn\.Tensor"):
        ttnn.tracer.codegen(3)  # pyright: ignore


def run_in_threads(work: Callable[[int], Any]) -> list[Any]:
    """What a function returns for 0 to 3, each in a thread of its own, all at once."""
    barrier = Barrier(4)

    def run(number: int) -> Any:
        barrier.wait(60)
        return work(number)

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(run, range(4)))


NAMES = ("exp", "relu", "neg", "abs")


def test_graphs_of_threads(device: Any) -> None:
    """Each holds the calls of its thread, all of them and no others."""
    x = place(torch.ones(32, 32), device)

    def capture(number: int) -> list[str]:
        function = getattr(ttnn, NAMES[number])
        ttnn.graph.begin_graph_capture()
        for _ in range(60):
            function(x)
        return ttnn.graph.extract_calltrace(ttnn.graph.end_graph_capture())

    ttnn.graph.begin_graph_capture()
    found = run_in_threads(capture)
    assert found == [[f"ttnn::{name}"] * 60 for name in NAMES]
    assert ttnn.graph.extract_calltrace(ttnn.graph.end_graph_capture()) == []


def test_traces_of_threads(device: Any) -> None:
    """Each is replayed with its own calls; so is what `tracer` draws."""
    x = place(torch.full((32, 32), 2.0), device)

    def capture(number: int) -> tuple[int, str]:
        trace = ttnn.begin_trace_capture(device)
        with ttnn.tracer.trace():
            for _ in range(20):
                y = getattr(ttnn, NAMES[number])(x)
        ttnn.end_trace_capture(device, trace)
        return len(trace.recorder.calls), ttnn.tracer.visualize(y)

    for name, (calls, text) in zip(NAMES, run_in_threads(capture), strict=True):
        assert calls == 20
        assert f"ttnn.{name}" in text


def test_comparison_in_threads(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Every thread's results are compared, each with the golden result of its own call."""
    inputs = [place(torch.randn(32, 32) * (number + 1), device) for number in range(4)]

    def compute(number: int) -> None:
        for _ in range(20):
            getattr(ttnn, NAMES[number])(inputs[number])

    golden = ttnn.get_golden_function(ttnn.abs)
    with ttnn.manage_config("enable_comparison_mode", True):
        run_in_threads(compute)
        assert capsys.readouterr().err == ""
        ttnn.attach_golden_function(ttnn.abs, lambda x, **_: -x)
        try:
            run_in_threads(compute)
        finally:
            ttnn.attach_golden_function(ttnn.abs, golden)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[1].strip() for line in lines] == ["ttnn.abs"] * 20


def test_programs_of_threads(device: Any) -> None:
    """Each call is counted as the program of its own operation, whoever else computes."""
    x = place(torch.ones(32, 32), device)
    for _ in range(3):
        device.clear_program_cache()
        run_in_threads(lambda number: [getattr(ttnn, NAMES[number])(x) for _ in range(150)])
        assert sorted(entry[0] for entry in device.program_cache) == sorted(NAMES)


def test_threads_share_a_device() -> None:
    """That they open at the same time."""
    for _ in range(20):
        first, *others = run_in_threads(lambda _: ttnn.open_device(device_id=0))
        assert all(each is first for each in others)
        ttnn.close_device(first)
