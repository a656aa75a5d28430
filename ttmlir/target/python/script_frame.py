"""What every script of a model has around it: tensors of files, a run, and a comparison.

`model_script.py` copies the functions into the script; `forward`, `main` and the constants are
those of the script.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import ttnn

MESH_SHAPE = (1, 1)
L1_SMALL_SIZE = 1 << 15
TENSORS = Path(__file__).with_suffix(".safetensors")
GOLDEN = TENSORS.with_name(f"{TENSORS.stem}_golden.safetensors")
KINDS = {"F32": "<f4", "BF16": "<u2", "I32": "<i4", "U32": "<u4", "BOOL": "?"}


def main(device: Any) -> Any:
    """The results for the inputs in the file of tensors."""
    return device


def read_array(path: Path, name: str) -> Any:
    """An array of a file of safetensors."""
    try:
        data = np.memmap(path, np.uint8, "r")
        start = 8 + int.from_bytes(data[:8].tobytes(), "little")
        entry = json.loads(data[8:start].tobytes())[name]
        begin, end = entry["data_offsets"]
        array = np.array(data[start + begin : start + end]).view(KINDS[entry["dtype"]])
        if entry["dtype"] == "BF16":
            array = (array.astype(np.uint32) << 16).view(np.float32)
        return array.reshape(entry["shape"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        reason = "the file is damaged"
        if isinstance(error, KeyError) and error.args == (name,):
            reason = "the file is another model's"
        elif isinstance(error, OSError):
            reason = str(error.strerror)
        print(
            f"{path.name} does not hold {name!r}: {reason}; save the model again", file=sys.stderr
        )
        raise SystemExit(1) from error


def load(
    name: str, layout: Any, dtype: Any = None, device: Any = None, memory_config: Any = None
) -> Any:
    """A tensor of the file beside this script, as the program takes it."""
    array = read_array(TENSORS, name)
    if array.dtype == np.bool_:
        array = array.astype(np.int32)
    tensor = ttnn.Tensor(array, dtype, layout=layout)
    return tensor if device is None else ttnn.to_device(tensor, device, memory_config=memory_config)


def to_array(tensor: Any) -> Any:
    """The numbers of a tensor, wherever it lies; all devices of a mesh have them."""
    host = ttnn.from_device(ttnn.get_device_tensors(tensor)[0])
    if host.dtype in (ttnn.bfloat16, ttnn.bfloat8_b, ttnn.bfloat4_b):
        host = ttnn.to_dtype(host, ttnn.float32)
    return host.to_numpy()


def as_list(results: Any) -> list[Any]:
    """Results of a function, which are one tensor, several or none."""
    if results is None:
        return []
    return [*cast("Any", results)] if isinstance(results, (list, tuple)) else [results]


def correlation(found: Any, golden: Any) -> float:
    """Pearson's correlation coefficient (PCC); 1 for equal numbers, even if they are all alike."""
    same = (found == golden) | (np.isnan(found) & np.isnan(golden))
    if same.all():
        return 1.0
    finite = np.isfinite(found) & np.isfinite(golden)
    if not (finite | same).all():
        return 0.0
    a, b = found[finite] - found[finite].mean(), golden[finite] - golden[finite].mean()
    scale = float(np.sqrt((a * a).sum() * (b * b).sum()))
    if scale == 0.0:
        return float(np.allclose(found[finite], golden[finite], rtol=1e-2))
    return float((a * b).sum()) / scale


def compare(number: int, array: Any, least_pcc: float) -> bool:
    """Print how far a result is from the golden one; whether it is near enough."""
    golden = read_array(GOLDEN, f"output{number}").reshape(-1)
    found = array.reshape(-1)
    if found.size != golden.size:
        print(f"output{number}: {found.size} numbers, expected {golden.size}")
        return False
    is_exact = golden.dtype.kind in "biu"
    if golden.dtype.kind == "b":
        found = found != 0
    found, golden = found.astype(np.float64), golden.astype(np.float64)
    with np.errstate(invalid="ignore"):
        difference = np.abs(found - golden)
    atol = float(np.nanmax(difference)) if difference.size else 0.0
    pcc = correlation(found, golden)
    is_right = atol == 0.0 if is_exact else pcc >= least_pcc
    print(f"output{number}: PCC {pcc:.6f}, atol {atol:.6g}, {'right' if is_right else 'WRONG'}")
    return is_right


def run() -> int:
    """Run the program on a card, and compare or keep what it gives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the golden results")
    parser.add_argument("--pcc", type=float, default=0.99, help="least PCC that is right")
    parser.add_argument("--save", metavar="FILE.npz", help="keep the results")
    options = parser.parse_args()
    if options.check and not GOLDEN.exists():
        parser.error(f"there is no {GOLDEN.name}; save the model with golden=True")
    if options.save and not Path(options.save).parent.is_dir():
        parser.error(f"there is no folder {str(Path(options.save).parent)!r} to keep results in")
    if MESH_SHAPE != (1, 1):
        # What devices exchange goes over the links of a row or of a column.
        ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    device = ttnn.open_mesh_device(
        mesh_shape=ttnn.MeshShape(*MESH_SHAPE), l1_small_size=L1_SMALL_SIZE
    )
    try:
        results = as_list(main(device))
        arrays = [to_array(result) for result in results]
    finally:
        ttnn.close_mesh_device(device)
    if options.save:
        np.savez(options.save, *arrays)
    if options.check:
        found = [compare(*each, options.pcc) for each in enumerate(arrays)]
        return 0 if all(found) else 1
    for number, (result, array) in enumerate(zip(results, arrays, strict=True)):
        print(f"output{number}: {list(result.shape)} {str(result.dtype).rpartition('.')[2]}")
        print(np.array2string(array, threshold=20, edgeitems=2))
    return 0


if __name__ == "__main__":
    sys.exit(run())
