"""System descriptor files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttmlir.layout.system import default_system_desc, system_desc_from_table, system_desc_to_table
from ttmlir.schema import FlatbufferError, load_schema
from ttmlir.schema.versions import load_system_desc, pack_system_desc

GOLDEN = Path(__file__).parents[1] / "golden"


def test_the_default_system_is_that_of_tt_mlir() -> None:
    """A file of tt-mlir with its default system; ours says the same and who has written it."""
    golden = load_system_desc((GOLDEN / "one_chip.ttsys").read_bytes(), "one_chip.ttsys").root
    assert system_desc_from_table(golden.system_desc) == default_system_desc()
    data = pack_system_desc(system_desc_to_table(default_system_desc()), "n150")
    ours = load_system_desc(data, "ours.ttsys").root
    assert ours.producer.startswith("ttmlir-py ")
    assert ours.as_dict() == golden.as_dict() | {"producer": ours.producer}


def test_two_chips_and_their_links() -> None:
    """A system of two chips that are linked, there and back."""
    golden = load_system_desc((GOLDEN / "two_chips.ttsys").read_bytes(), "two_chips.ttsys").root
    system = system_desc_from_table(golden.system_desc)
    assert (system.num_chips, len(system.chip_descs)) == (2, 2)
    ours = load_system_desc(pack_system_desc(system_desc_to_table(system)), "ours.ttsys").root
    assert ours.system_desc.as_dict() == golden.system_desc.as_dict()


def test_other_files_are_refused() -> None:
    """Programs, and descriptors without a descriptor."""
    with pytest.raises(FlatbufferError) as error:
        load_system_desc((GOLDEN / "add.ttnn").read_bytes(), "add.ttnn")
    assert str(error.value) == (
        "add.ttnn: expected a system description, got a program (TTNN); give a .ttsys file, as "
        "ttrt query --save-artifacts writes one"
    )
    with pytest.raises(FlatbufferError) as error:
        load_system_desc(b"no description", "x.ttsys")
    assert str(error.value) == (
        "x.ttsys: it is no system description; give a .ttsys file, as ttrt query --save-artifacts "
        "writes one"
    )
    empty = load_schema("Common/system_desc.fbs").pack({"product_identifier": "x"})
    with pytest.raises(FlatbufferError, match=r"SystemDescRoot\.system_desc: the system desc"):
        load_system_desc(empty, "empty.ttsys")


def test_descriptions_of_other_schemas() -> None:
    """They are described again: there is no program to compile."""
    schema = load_schema("Common/system_desc.fbs")
    root = {"version": (0, 0, 9000), "ttmlir_git_hash": "5" * 64, "product_identifier": "x"}
    with pytest.raises(FlatbufferError, match=r"describe the machine again with ttrt query --save"):
        load_system_desc(schema.pack(root), "new.ttsys")
