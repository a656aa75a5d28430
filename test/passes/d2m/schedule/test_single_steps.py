"""Steps of the schedule that are passes of their own: what follows them does only the rest."""

from __future__ import annotations

import pytest
from running.pass_runner import lowered, printed
from samples.ttir_text import FunctionText, tensor

from ttmlir.dialects import d2m
from ttmlir.dialects.ttcore import device_layout_of
from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.reporting import DiagnosticError

PREPARE = ("d2m-fe-pipeline", "ttcore-one-shot-bufferize", "d2m-insert-scratch-buffers")
DIVIDE = "d2m-grid-selection=override-device-shape=1,1"
FINISH = ("convert-d2m-to-ttkernel", "convert-d2m-to-ttmetal")
INTERCHANGE = "d2m-generic-apply-interchange=matmul-interchange"


def product(rows: int, columns: int, terms: int) -> str:
    """One product of matrices."""
    left, right = tensor(rows, terms), tensor(terms, columns)
    text = FunctionText([left, right])
    return text.returning(text.op("matmul", ["%arg0", "%arg1"], tensor(rows, columns)))


# On one core, there are loops over blocks of rows, of columns and of terms.
LARGE = product(512, 768, 2048)


def test_streams_before_addresses() -> None:
    """Streams get addresses as those that `d2m-allocate` inserts itself."""
    before = (*PREPARE, DIVIDE)
    module = lowered(LARGE, *before, "d2m-insert-streams")
    streams = [op for op in module.walk() if isinstance(op, d2m.StreamLayoutOp)]
    assert len(streams) == 3
    assert not any("address" in op.attributes for op in module.walk())
    whole = printed(LARGE, *before, "d2m-allocate")
    assert printed(LARGE, *before, "d2m-insert-streams", "d2m-allocate") == whole
    canonical = (*before, "d2m-insert-streams", "canonicalize", "d2m-allocate", "canonicalize")
    assert printed(LARGE, *canonical) == printed(LARGE, *before, "d2m-allocate", "canonicalize")


def test_blocks_of_streams() -> None:
    """A stream holds as many blocks as it was given, where they fit."""
    before = (*PREPARE, DIVIDE.replace("1,1", "2,2"))
    text = product(96, 160, 320)
    for count in (1, 3):
        streams = f"d2m-insert-streams=num-stream-buffers={count}"
        module = lowered(text, *before, streams, "d2m-allocate")
        found = [op for op in module.walk() if isinstance(op, d2m.StreamLayoutOp)]
        layouts = [device_layout_of(op.storage.type) for op in found]
        assert max(each.buffers for each in layouts if each is not None) == count


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("order", "taken"), [("1,0,2", "1,0,2"), ("2,1,0", "1,0,2"), ("2,0,1", "")]
)
def test_interchange_before_blocks(order: str, taken: str) -> None:
    """Rows and columns are taken in their order, terms last."""
    changed = printed(LARGE, *PREPARE, f"{INTERCHANGE}={order}", DIVIDE, "d2m-allocate", *FINISH)
    option = f" matmul-interchange={taken}" if taken else ""
    expected = printed(LARGE, *PREPARE, DIVIDE + option, "d2m-allocate", *FINISH)
    assert changed == expected


def test_interchange_of_blocks() -> None:
    """Kernels are those of the order that `d2m-grid-selection` would have taken."""
    before = (*PREPARE, DIVIDE, "d2m-allocate")
    changed = printed(LARGE, *before, f"{INTERCHANGE}=1,0,2", *FINISH)
    option = " matmul-interchange=1,0,2"
    assert changed == printed(LARGE, *PREPARE, DIVIDE + option, "d2m-allocate", *FINISH)
    assert changed != printed(LARGE, *before, *FINISH)


def test_terms_outside() -> None:
    """No kernels are made where a block would be written before all its terms are there."""
    with pytest.raises(DiagnosticError) as refused:
        lowered(LARGE, *PREPARE, DIVIDE, "d2m-allocate", f"{INTERCHANGE}=2,0,1", FINISH[0])
    assert (
        "has loops over parallel iterators within those that reduce; kernels write a block once "
        "all terms of it are there: run d2m-grid-selection, or give d2m-generic-apply-interchange "
        "an order that ends in 2"
    ) in str(refused.value)


def test_orders() -> None:
    """An order has rows, columns and terms, each once."""
    with pytest.raises(OptionError) as refused:
        lowered(LARGE, f"{INTERCHANGE}=0,1")
    assert str(refused.value) == (
        "for the --matmul-interchange option: expected an order of 0,1,2, which are rows, columns "
        "and terms; got 0,1"
    )
