"""What torch prepares for a program, and the next one finds: the same as without that."""

from __future__ import annotations

import logging
from importlib import import_module
from threading import Barrier, Thread
from typing import Any

import pytest

import ttmlir
from ttmlir.frontend.torch import exporting
from ttmlir.frontend.torch.decompositions import own_decompositions
from ttmlir.frontend.torch.decompositions.preparing import preparations_kept
from ttmlir.frontend.torch.training import gradients

torch: Any = import_module("torch")

# torch tells of its own deprecated parts where it decomposes.
pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec")


def program() -> Any:
    """One whose operations C++ composes of others, is kept, and is expressed by others."""

    def function(x: Any) -> Any:
        y = torch.nn.functional.scaled_dot_product_attention(x, x, x)
        return torch.nn.functional.layer_norm(y, (4,)) + torch.special.i0(y).diff().sum()

    return exporting.export(function, (torch.randn(2, 3, 5, 4),))


def kernels() -> dict[Any, Any]:
    """Those in Python, and what torch knows of results, of all operations."""
    utils, fakes = (
        import_module(f"torch.{name}") for name in ("_export.utils", "_subclasses.fake_impls")
    )
    held = {op: dict(op.py_kernels) for op in utils._collect_all_valid_cia_ops()}
    assert len(held) > 100
    return {**held, "fake": dict(fakes.op_implementations_dict)}


def test_programs_are_those_that_torch_decomposes() -> None:
    """The first time, and when it is all there."""
    exported = program()
    table = {**exporting._decompositions(), **own_decompositions()}
    wanted = str(exported.run_decompositions(table).graph)
    assert "layer_norm" in wanted
    for _ in range(3):
        assert str(exporting.decompose(exported).graph) == wanted


def test_other_tables_are_not_mistaken() -> None:
    """Those of one program say nothing of the next one's."""
    exported = program()
    tables = [torch.export.default_decompositions(), {}, exporting._decompositions()]
    wanted = [str(exported.run_decompositions(dict(table)).graph) for table in tables]
    assert len(set(wanted)) == 3
    for _ in range(2):
        with preparations_kept():
            found = [str(exported.run_decompositions(dict(table)).graph) for table in tables]
        assert found == wanted


def test_operations_have_their_own_kernels_afterwards() -> None:
    """Also where decomposing fails."""
    exported = program()
    exporting.decompose(exported)
    before = kernels()
    exporting.decompose(exported)
    assert kernels() == before

    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no")

    table = {**exporting._decompositions(), torch.ops.aten.diff.default: fail}
    for _ in range(2):
        with preparations_kept(), pytest.raises(RuntimeError, match="no"):
            exported.run_decompositions(table)
        assert kernels() == before


def test_operations_that_are_registered_in_between() -> None:
    """A library may be imported after a model was compiled."""
    x = torch.randn(3, 5)
    ttmlir.compile(lambda x: x + 1, x)
    library = torch.library.Library("ttmlir_test_preparing", "FRAGMENT")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CompositeImplicitAutograd")
    twice = torch.ops.ttmlir_test_preparing.twice.default
    exported = exporting.export(lambda x: twice(x) + 1, (x,))
    table = {**exporting._decompositions(), **own_decompositions()}
    wanted = str(exported.run_decompositions(table).graph)
    assert str(exporting.decompose(exported).graph) == wanted


def replaced() -> dict[str, Any]:
    """What is replaced in torch while a program is exported."""
    exported, traced, lazy = (
        import_module(f"torch.{name}")
        for name in ("export.exported_program", "export._trace", "fx._lazy_graph_module")
    )
    names = ("_split_decomp_table_to_cia_and_python_decomp", "_override_composite_implicit_decomp")
    return {
        **{name: getattr(exported, name) for name in names},
        "print": vars(traced).get("print"),
        "lazy": lazy._use_lazy_graph_module_flag,
        "to": torch.nn.Module.to,
        "logging": logging.root.manager.disable,
        **{name: getattr(import_module(home), name) for home, name in gradients._ENTRIES},
    }


def test_threads_leave_torch_as_it_was() -> None:
    """Several may export and decompose at the same time, and all get their programs."""
    before, count = replaced(), 3
    start, found, failed = Barrier(count), list[Any](), list[Exception]()

    def work() -> None:
        start.wait()
        try:
            for _ in range(2):
                found.append(exporting.decompose(program()))
        except Exception as error:
            failed.append(error)

    threads = [Thread(target=work) for _ in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failed
    assert len(found) == 2 * count
    assert replaced() == before
