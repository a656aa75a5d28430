"""The explorer in a real browser: `make explorer-test`, on machines with Debian's Chromium.

Not collected with the other tests, which need no browser. With `EXPLORER_SCREENSHOTS=FOLDER` the
pictures of docs/explorer.md are taken.
"""

from __future__ import annotations

import io
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from selenium import webdriver
from selenium.common.exceptions import (
    ElementNotInteractableException,
    NoSuchElementException,
    StaleElementReferenceException,
)
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from ttmlir.explorer.documents import open_documents
from ttmlir.explorer.server import Explorer, open_explorer

LAYERS = Path(__file__).parent / "Inputs" / "layers.mlir"
FLAGS = (
    *("--headless=new", "--no-sandbox", "--window-size=1400,900", "--hide-scrollbars"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-quic", "--no-first-run"),
)
PATIENCE = 30
"""Seconds until a page that does not come is given up."""
NOT_YET = (
    *(IndexError, StopIteration, StaleElementReferenceException),
    *(ElementNotInteractableException, NoSuchElementException),
)
"""What is raised while a page is being drawn."""

TOP_OF_GRAPH = 110
"""Pixels above the graph."""
DARKEST = (0xD0, 0, 0)
"""Of the operation that takes longest, and of the part that it is of a layer."""

T = TypeVar("T")


def wait_for(what: Callable[[], T]) -> T:
    """What a function gives as soon as that is something."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            if found := what():
                return found
        except NOT_YET:
            pass
        assert time.monotonic() < end, "the page does not show what it should"
        time.sleep(0.2)


class Page:
    """The page of Model Explorer, and what a user does with it."""

    def __init__(self, browser: Any) -> None:
        """Use a browser."""
        self.browser = browser

    def open(self, explorer: Explorer) -> None:
        """Open the address and wait for the graph and its data."""
        self.browser.get(explorer.address)
        wait_for(lambda: "NODE DATA PROVIDERS" in self.text())
        wait_for(lambda: "time on" in self.text())

    def text(self) -> str:
        """All that is written on the page, the graph itself left out."""
        return str(self.browser.find_element(By.TAG_NAME, "body").text)

    def with_text(self, text: str) -> Any:
        """The innermost visible element that says exactly this."""
        path = f"//*[normalize-space(text())='{text}']"
        return [each for each in self.browser.find_elements(By.XPATH, path) if each.is_displayed()][
            -1
        ]

    def click(self, text: str) -> None:
        """Click what says this."""
        wait_for(lambda: self.with_text(text).click() is None)

    def select(self, label: str) -> None:
        """Search for a node with this label and select the first that is found."""
        box = wait_for(
            lambda: self.browser.find_elements(
                By.CSS_SELECTOR, "input[placeholder*='Search nodes']"
            )
        )[0]
        box.send_keys(Keys.CONTROL, "a")
        box.send_keys(label)
        path = (
            f"//search-bar//span[contains(@class, 'node-label') and normalize-space(.)='{label}']"
        )
        found = wait_for(lambda: self.browser.find_elements(By.XPATH, path))[0]
        keys = ActionChains(self.browser)
        keys.key_down(Keys.ALT).click(found).key_up(Keys.ALT).perform()
        box.send_keys(Keys.ESCAPE)

    def run(self, provider: str, choices: dict[str, str]) -> None:
        """Run an entry of the panel with these choices."""
        self.click("Add per-node data")
        wait_for(lambda: self._entry(provider).click() is None)
        dialog = wait_for(
            lambda: self.browser.find_element(By.TAG_NAME, "run-ndp-extension-dialog")
        )
        for editor, value in choices.items():
            row = wait_for(
                lambda editor=editor: dialog.find_element(
                    By.CSS_SELECTOR, f"[data-editor-id='{editor}']"
                )
            )
            if fields := row.find_elements(By.TAG_NAME, "select"):
                Select(fields[0]).select_by_value(value)
            else:
                row.find_element(By.TAG_NAME, "input").send_keys(value)
        self.click("Run")

    def _entry(self, provider: str) -> Any:
        path = f"//div[contains(@class, 'name') and contains(text(), '{provider}')]"
        found = self.browser.find_elements(By.XPATH, path)
        return next(each for each in found if each.is_displayed())

    def graph(self) -> Any:
        """A picture of the graph without the bars around it."""
        from PIL import Image

        picture = Image.open(io.BytesIO(self.browser.get_screenshot_as_png())).convert("RGB")
        return picture.crop((0, TOP_OF_GRAPH, 1020, 640))

    def colours(self, least: int = 200) -> set[tuple[int, int, int]]:
        """The colours of the graph that many pixels have."""
        graph = self.graph()
        counts = graph.getcolors(graph.width * graph.height) or []
        return {colour for count, colour in counts if count > least}

    def expand_first_layer(self) -> None:
        """Click the sign of the topmost layer that has a bar of colours along its lower edge."""
        graph = self.graph()
        places = ((x, y) for y in range(graph.height) for x in range(graph.width))
        x, y = next(place for place in places if graph.getpixel(place) == DARKEST)
        keys = ActionChains(self.browser)
        keys.w3c_actions.pointer_action.move_to_location(x + 20, y + TOP_OF_GRAPH - 14).click()
        keys.perform()

    def picture(self, name: str) -> None:
        """Take a picture for the guide, if that is asked for."""
        folder = os.environ.get("EXPLORER_SCREENSHOTS")
        if folder:
            from PIL import Image

            time.sleep(1)
            picture = Image.open(io.BytesIO(self.browser.get_screenshot_as_png())).convert("RGB")
            small = picture.quantize(64)
            small.save(Path(folder) / f"{name}.png", optimize=True)


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """A page in a fresh browser."""
    options = webdriver.ChromeOptions()
    options.binary_location = _program("chromium")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(_program("chromedriver"))
    browser = webdriver.Chrome(options=options, service=service)
    try:
        yield Page(browser)
    finally:
        browser.quit()


def _program(name: str) -> str:
    path = shutil.which(name)
    assert path is not None, f"{name} is missing: apt-get install chromium chromium-driver"
    return path


def test_a_user_sees_times_and_changes_a_layout(page: Page, tmp_path: Path) -> None:
    """Loads a model, expands a layer, sees the colours, changes a layout and sees it change."""
    documents = open_documents([str(LAYERS)])
    with open_explorer(documents, save_folder=str(tmp_path)) as explorer:
        page.open(explorer)
        assert "layers.mlir (ttnn)" in page.text()
        assert "estimated time" in page.text()
        page.picture("explorer-layers")
        closed = page.colours()

        # All layers open: the operations in them have the colours of their times.
        page.browser.find_element(By.CSS_SELECTOR, "[class*='expand-all']").click()
        opened = wait_for(lambda: page.colours() - closed)
        assert any(red > 200 and blue < 120 for red, _, blue in opened), "nothing is yellow or red"
        page.picture("explorer-times")

        page.select("matmul")
        wait_for(lambda: "encoder/fc1/linear" in page.text())
        assert "dram" in page.text()
        page.picture("explorer-node")

        page.run(
            "Change layouts",
            {
                "operation": "encoder/fc1/linear",
                "memory_space": "l1",
                "memory_layout": "height_sharded",
                "grid": "2x1",
            },
        )
        wait_for(lambda: "encoder/fc1/linear = 2x1:l1:height_sharded took effect" in page.text())
        page.picture("explorer-override")
        page.select("matmul")
        wait_for(lambda: "height_sharded" in page.text())
    saved = (tmp_path / "layers.overrides").read_text()
    assert "encoder/fc1/linear=2x1:l1:height_sharded" in saved


def test_a_layer_is_expanded_alone(page: Page) -> None:
    """By its sign: its operations are shown with their colours, other layers stay closed."""
    with open_explorer(open_documents([str(LAYERS)])) as explorer:
        page.open(explorer)
        # The bars of closed layers are small.
        large = 3000
        assert all(blue > 100 for _, _, blue in page.colours(large))
        page.expand_first_layer()
        wait_for(lambda: "LAYER INFO" in page.text())
        shown = page.text()
        assert "encoder" in shown
        assert "relu" in shown
        opened = wait_for(lambda: {each for each in page.colours(large) if each[2] < 100})
        assert len(opened) == 1, "relu alone is an operation of this layer"


def test_text_of_a_file_runs_nothing(page: Page, tmp_path: Path) -> None:
    """Names with HTML and scripts are shown as they are spelled."""
    name = "<img src=x onerror=document.title='bad'><script>document.title='bad'</script>"
    text = LAYERS.read_text().replace("encoder/fc1/linear", name.replace("/", "|"))
    hostile = tmp_path / "hostile.mlir"
    hostile.write_text(text)
    with open_explorer(open_documents([str(hostile)])) as explorer:
        page.open(explorer)
        page.select("matmul")
        wait_for(lambda: "onerror" in page.text())
        assert page.browser.title == "Model Explorer"


def test_no_other_host_is_asked(page: Page) -> None:
    """All that the page loads comes from the explorer, or is refused by its policy."""
    with open_explorer(open_documents([str(LAYERS)])) as explorer:
        page.open(explorer)
        loaded = page.browser.execute_script(
            "return performance.getEntriesByType('resource').filter(e => e.responseEnd > 0 && "
            "e.transferSize > 0).map(e => e.name)"
        )
        origin = explorer.address.partition("/?")[0]
        assert loaded
        assert [each for each in loaded if not each.startswith((origin, "blob:"))] == []
