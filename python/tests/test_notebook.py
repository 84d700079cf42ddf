"""The notebook runs from its folder, and its cells show what they are there for."""

from __future__ import annotations

import unittest
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parent.parent / "notebooks" / "first-look.ipynb"


class Notebook(unittest.TestCase):
    def test_every_cell_runs_and_shows_something(self) -> None:
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        for cell in notebook.cells:
            self.assertFalse(cell.get("outputs"), "outputs are not kept in the sources")
        folder = {"metadata": {"path": str(NOTEBOOK.parent)}}
        client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources=folder)
        client.execute()
        pictures = 0
        for cell in notebook.cells:
            if cell.cell_type == "code":
                self.assertTrue(cell.outputs, cell.source)
                pictures += any("image/png" in output.get("data", {}) for output in cell.outputs)
        self.assertEqual(pictures, 3)


if __name__ == "__main__":
    unittest.main()
