"""All programs whose kernels are mutated."""

from __future__ import annotations

import example_programs
import generated
import handwritten
from workload import Workload


def all_workloads() -> list[Workload]:
    """The examples, those written for this, and those that the compiler makes."""
    return [*example_programs.workloads(), *handwritten.workloads(), *generated.workloads()]
