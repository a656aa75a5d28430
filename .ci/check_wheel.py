#!/usr/bin/env python3
"""Checks that a wheel holds what an installed project needs besides modules."""

import sys
import zipfile

REQUIRED = (
    *("ttmlir/py.typed", "ttrt/py.typed", "LICENSE", "TTNN/binary.fbs", "Common/types.fbs"),
    *("ttmlir/tools/ttmlir_opt.py", "ttmlir/tools/opt/passes.json"),
)

names = zipfile.ZipFile(sys.argv[1]).namelist()
missing = [path for path in REQUIRED if not any(name.endswith(path) for name in names)]
foreign = [name for name in names if name.startswith(("test/", "demo/", "tools/", "typings/"))]
if missing or foreign:
    sys.exit(f"the wheel lacks {missing} and should not hold {foreign}")
print(f"{len(names)} files in the wheel")
