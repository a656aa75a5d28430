"""The columns of tt-metal's table of operations, `ops_perf_results.csv`.

Source: tt-metal of 2024, tt_metal/tools/profiler/process_ops_logs.py.
"""

from __future__ import annotations

PROCESSORS = {
    "BRISC": "BRISC",
    "NCRISC": "NCRISC",
    "TRISC0": "UNPACK",
    "TRISC1": "MATH",
    "TRISC2": "PACK",
}
"""Processors of a core as the profiler names them, and what they do."""

PROFILER_COLUMNS = (
    "OP CODE",
    "OP TYPE",
    "GLOBAL CALL COUNT",
    "DEVICE ID",
    "ATTRIBUTES",
    "MATH FIDELITY",
    "CORE COUNT",
    "PARALLELIZATION STRATEGY",
    "HOST START TS",
    "HOST END TS",
    "HOST DURATION [ns]",
    "DEVICE FW START CYCLE",
    "DEVICE FW END CYCLE",
    "DEVICE FW DURATION [ns]",
    "DEVICE KERNEL DURATION [ns]",
    *(f"DEVICE {processor} KERNEL DURATION [ns]" for processor in PROCESSORS),
    "DEVICE ERISC KERNEL DURATION [ns]",
    "DEVICE COMPUTE CB WAIT FRONT [ns]",
    "DEVICE COMPUTE CB RESERVE BACK [ns]",
)
"""Those that come before the columns of the tensors."""
