"""The generated pages by file name: functions from the old text to the new one."""

from __future__ import annotations

from collections.abc import Callable

from card_table import with_card_table
from cost_tables import with_cost_tables
from coverage_page import coverage_page
from cpp_page import cpp_page
from frontends_page import frontends_page
from kernel_calls_page import kernel_calls_page
from markdown_text import wrap_page
from metalium_names_page import metalium_names_page
from models_page import models_page
from mutation_table import with_mutation_table
from ops_page import ops_page
from passes_page import passes_page, passes_record
from sanitizer_page import sanitizer_page
from support_page import support_page
from ttnn_page import ttnn_page

_WRITERS: dict[str, Callable[[str], str]] = {
    "docs/card.md": with_card_table,
    "docs/cost.md": with_cost_tables,
    "docs/cpp.md": lambda old: cpp_page(),
    "docs/developing.md": with_mutation_table,
    "docs/frontends.md": lambda old: frontends_page(),
    "docs/kernel_calls.md": lambda old: kernel_calls_page(),
    "docs/kernel_coverage.md": lambda old: coverage_page(),
    "docs/metalium_names.md": lambda old: metalium_names_page(),
    "docs/models_table.md": lambda old: models_page(),
    "docs/ops.md": lambda old: ops_page(),
    "docs/passes.md": lambda old: passes_page(),
    "docs/sanitizer.md": lambda old: sanitizer_page(),
    "docs/support.md": lambda old: support_page(),
    "docs/ttnn_names.md": lambda old: ttnn_page(),
}


def _wrapped(writer: Callable[[str], str]) -> Callable[[str], str]:
    return lambda old: wrap_page(writer(old))


PAGES = {
    **{name: _wrapped(writer) for name, writer in _WRITERS.items()},
    "tools/opt/passes.json": lambda old: passes_record(),
}
