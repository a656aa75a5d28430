"""What `python -m ttmlir doctor` prints: what is installed for a card, and whether it fits."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ttmlir.version import TTNN_VERSION, VERSION

_DEVICES = Path("/dev/tenstorrent")
_DRIVER = Path("/sys/module/tenstorrent/version")


def report(devices: Path = _DEVICES, driver: Path = _DRIVER) -> str:
    """One line for each part; the paths are where the system's driver shows cards and itself."""
    lines = [
        f"ttmlir {VERSION}, Python {platform.python_version()} on {platform.system()}",
        _library(),
        f"NumPy {_version('numpy')}",
        f"JAX {_version('jax') or 'is not installed'}",
        f"torch {_version('torch') or 'is not installed'}",
        _cards(devices, driver),
    ]
    return "\n".join(lines)


def _library() -> str:
    found = _version("ttnn")
    if found is None:
        return f"ttnn is not installed; scripts run here, and on cards with ttnn {TTNN_VERSION}"
    if found == TTNN_VERSION:
        return f"ttnn {found}: the version that scripts are written for"
    return f"ttnn {found}; scripts are written for {TTNN_VERSION}, and may call what it lacks"


def _cards(devices: Path, driver: Path) -> str:
    names = sorted(each.name for each in devices.iterdir()) if devices.is_dir() else []
    if not names:
        return f"no card: {devices} does not exist or is empty"
    kind = driver.read_text(encoding="utf-8").strip() if driver.is_file() else "of unknown version"
    return f"cards {', '.join(names)}; driver {kind}"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
