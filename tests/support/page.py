"""Parts of a page as its readers see them: columns in place of their ids."""

from __future__ import annotations

from array import array
from typing import Any

from proton.render.page.pack import TYPES, Columns


class ReadableColumns(Columns):
    """Columns that can be read back."""

    def read(self, name: str) -> list[Any]:
        """The numbers of the column called `name`."""
        dtype, offset, length = self.table[name]
        assert isinstance(offset, int)
        found = array(TYPES[str(dtype)])
        content = b"".join(self.pieces)[offset:]
        found.frombytes(content[: int(length) * found.itemsize])
        return list(found)
