"""Opens the explorer for documents: from the command line, and for compiled models in Python."""

from __future__ import annotations

import time
import webbrowser
from collections.abc import Sequence

from ttmlir.explorer.check import check
from ttmlir.explorer.documents import Document, document_of
from ttmlir.explorer.graph import clean_name
from ttmlir.explorer.server import ExplorerServer, open_server
from ttmlir.explorer.session import Session
from ttmlir.explorer.stock import page_files
from ttmlir.runtime.errors import InputError


class Explorer:
    """An explorer that runs beside the program that opened it; `with` closes it."""

    def __init__(self, server: ExplorerServer) -> None:
        """Answer the server's requests from now on."""
        self._server = server
        server.serve_in_background()

    @property
    def address(self) -> str:
        """What to open in the browser; who has it can use the explorer."""
        return self._server.address

    def check(self) -> list[str]:
        """What the page shows, line by line, loaded as a browser would."""
        return check(self._server)

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()

    def wait(self) -> None:
        """Answer until the user interrupts, then close."""
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            self.close()

    def __enter__(self) -> Explorer:
        """The explorer."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Where it is."""
        return f"Explorer({self.address})"


def open_explorer(
    documents: Sequence[Document], *, port: int | None = None, save_folder: str | None = None
) -> Explorer:
    """An explorer of documents.

    Raises MissingPackageError without the Model Explorer package, OSError for a port that is taken.
    """
    files = page_files()
    return Explorer(open_server(Session(documents, save_folder), files, port))


def explore(
    model: object,
    *,
    browser: bool = True,
    port: int | None = None,
    save_folder: str | None = None,
) -> Explorer:
    """Show a model in Model Explorer, in the browser; overrides recompile it.

        explorer = ttmlir.explore(compiled)
        ...
        explorer.close()

    A model that `ttmlir.load` made is shown as its file is, without overrides. With `save_folder`,
    overrides are saved there in a file that `ttmlir-opt` takes. Raises InputError for what is no
    model, `ttmlir.explorer.stock.MissingPackageError` if the Model Explorer package is not
    installed.
    """
    from ttmlir.frontend.calls.calling import CallableModel

    if not isinstance(model, CallableModel):
        raise InputError(
            "explore shows what ttmlir.compile and ttmlir.load return, not "
            f"{type(model).__name__}; the command tt-explorer shows files"
        )
    document = document_of(model, clean_name(model.name))
    explorer = open_explorer([document], port=port, save_folder=save_folder)
    if browser:
        webbrowser.open_new_tab(explorer.address)
    return explorer
