"""All programs whose kernels are mutated."""

from __future__ import annotations

import example_programs
import fused_programs
import generated
import handwritten
import python_operations
from workload import Workload


def all_workloads() -> list[Workload]:
    """The examples, those written for this, those that the compiler makes, and those in Python."""
    return [
        *(*example_programs.workloads(), *handwritten.workloads()),
        *(*generated.workloads(), *fused_programs.workloads(), *python_operations.workloads()),
    ]
