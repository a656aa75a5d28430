"""What each call of a transcript gives, with whatever `ttnn` is given: facts as one line of text.

A transcript has sections that begin with `# `, and lines of a program that begin with `>>> `, each
with the answer below it: nothing for a statement, else the facts of its value, or `error: ` and the
message, of which only `error: ` is compared. Run by a Python that has a real ttnn and a device, or
a mock of one, this file writes the answers anew:

    python test/support/running/ttnn_answers.py test/ttnn/Inputs/answers.txt
    python test/support/running/ttnn_answers.py test/ttnn/Inputs/mesh_answers.txt 1 2
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

Step = tuple[str, str]
Raised = type[Exception] | tuple[type[Exception], ...]
"""A line of a program, and the answer below it."""


def read_sections(text: str) -> Iterator[tuple[str, list[Step]]]:
    """The sections of a transcript by their titles; what comes before the first is left out."""
    for part in re.split(r"^# ", text, flags=re.M)[1:]:
        title, _, body = part.partition("\n")
        yield (
            title,
            [
                (step.partition("\n")[0], step.partition("\n")[2].strip())
                for step in re.split(r"^>>> ", body, flags=re.M)[1:]
            ],
        )


class Program:
    """The names that lines of a section see: `ttnn`, `np`, `device`, `tensor`, and their own.

    The device may be a mesh: `tensor` copies to all devices, `split` divides.
    """

    def __init__(self, ttnn: Any, device: Any) -> None:
        """Begin a section."""
        self._ttnn = ttnn
        self.names: dict[str, Any] = {"ttnn": ttnn, "np": np, "device": device, "tensor": self.make}
        self.names["shard"] = self.shard
        self.names["split"] = self.split

    def make(
        self,
        shape: Any,
        dtype: Any = None,
        layout: Any = None,
        memory: Any = None,
        host: bool = False,
    ) -> Any:
        """A tensor of ones, in tiles of bfloat16 in DRAM of the device unless it is said."""
        ttnn, device = self._ttnn, None if host else self.names["device"]
        dtype = ttnn.bfloat16 if dtype is None else dtype
        layout = ttnn.TILE_LAYOUT if layout is None else layout
        array = np.ones(shape, np.float32 if "FLOAT" in str(dtype) else np.int32)
        made = ttnn.Tensor(array, dtype, None, layout)
        return made if device is None else ttnn.to_device(made, device, memory_config=memory)

    def split(self, dim: int, *args: Any, **others: Any) -> Any:
        """A tensor divided over all devices along a dimension; the rest as for `tensor`."""
        mapper = self._ttnn.shard_tensor_to_mesh_mapper(self.names["device"], dim)
        whole = self.make(*args, **others, host=True)
        return self._ttnn.distribute_tensor(whole, mapper, self.names["device"])

    def shard(self, kind: str, rows: int, columns: int, x: int, y: int) -> Any:
        """Shards in the L1 of x times y cores."""
        ttnn = self._ttnn
        cores = ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(x - 1, y - 1))
        spec = ttnn.ShardSpec(
            ttnn.CoreRangeSet({cores}), [rows, columns], ttnn.ShardOrientation.ROW_MAJOR
        )
        layout = getattr(ttnn.TensorMemoryLayout, f"{kind}_SHARDED")
        return ttnn.MemoryConfig(layout, ttnn.BufferType.L1, spec)

    def answer(self, line: str, refusals: Raised = Exception) -> str:
        """Run a line; the facts of what it gives, or of one of the exceptions that refuse it."""
        try:
            try:
                code = compile(line, "<transcript>", "eval")
            except SyntaxError:
                exec(compile(line, "<transcript>", "exec"), self.names)
                return ""
            return describe(eval(code, self.names))
        except NameError:
            raise
        except refusals as error:
            return f"error: {shorten(str(error))}"


def shorten(message: str) -> str:
    """The message itself: of C++ what stands below `info:`, without places and traces."""
    found = re.search(r"info:\n(.*?)(\nbacktrace|\Z)", message, re.S)
    lines = (found[1] if found else message).strip().splitlines() or [""]
    return lines[0][:160]


def describe(value: Any) -> str:
    """Shape, padded shape if it is another, data type, layout and memory of tensors."""
    if isinstance(value, list | tuple):
        listed: list[Any] = [*value]
        if any(hasattr(each, "padded_shape") for each in listed):
            return "; ".join(map(describe, listed))
    if not hasattr(value, "padded_shape"):
        return str(value)
    shape: list[int] = list(value.shape)
    padded: list[int] = list(value.padded_shape)
    parts = [str(shape), f"padded to {padded}" if padded != shape else ""]
    parts += [each.rpartition(".")[2] for each in (str(value.dtype), str(value.layout))]
    if str(value.storage_type()).endswith("HOST"):
        return " ".join(filter(None, (*parts, "host")))
    memory = value.memory_config()
    parts += [str(memory.buffer_type).rpartition(".")[2]]
    parts += [str(memory.memory_layout).rpartition(".")[2]]
    spec = memory.shard_spec
    if spec is not None:
        box: Any = spec.grid.bounding_box().grid_size()
        parts += [str([int(extent) for extent in spec.shape]), f"on {box.x}x{box.y}"]
    return " ".join(filter(None, parts))


def main(path: str, *mesh: str) -> None:
    """Write the answers of the installed ttnn into a transcript; on a mesh of rows and columns."""
    ttnn: Any = import_module("ttnn")
    text = Path(path).read_text()
    device: Any
    if mesh:
        ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
        device = ttnn.open_mesh_device(ttnn.MeshShape(*map(int, mesh)))
    else:
        device = ttnn.open_device(device_id=0, l1_small_size=32768)
    written = [re.split(r"^# ", text, maxsplit=1, flags=re.M)[0]]
    for title, steps in read_sections(text):
        program = Program(ttnn, device)
        written.append(f"# {title}\n")
        for line, _ in steps:
            answer = program.answer(line)
            written.append(f">>> {line}\n" + (f"{answer}\n" if answer else ""))
        written.append("\n")
    Path(path).write_text("".join(written).rstrip() + "\n")
    ttnn.close_device(device)


if __name__ == "__main__":
    main(*sys.argv[1:])
