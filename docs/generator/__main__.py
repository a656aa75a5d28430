"""Write the generated pages: `python docs/generator`, which `make docs` calls."""

from __future__ import annotations

from pathlib import Path

from pages import PAGES

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Write every page that has changed and say which."""
    for name, page in PAGES.items():
        path = ROOT / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        new = page(old)
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"wrote {name}")


if __name__ == "__main__":
    main()
