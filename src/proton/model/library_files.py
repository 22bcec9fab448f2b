"""Which files are code of installed packages: said once, for recording and for reading.

Sessions of tier `blame` and `ops` leave frames of such files out; viewers can hide them in others.
"""

from __future__ import annotations

import re
from functools import cache

# A file is a library's by where it lies. torch, Triton and Proton run from source trees as well:
# there the folders tell that a program is unlikely to have in this order.
_LIBRARY = re.compile(
    r"(?:.*/)?(?:"
    r"(?:site|dist)-packages/"
    r"|lib(?:32|64)?/(?:python|pypy)\d[.\d]*t?/"  # the standard library
    r"|python\d\d+t?(?:/lib|\.zip)/"  # the same on Windows, and packed
    r"|torchinductor_[^/]*/"  # what torch.compile wrote, and the same in a folder of another name
    r"|(?P<hash>[a-z2-7]{2})/c(?P=hash)[a-z2-7]{49}\.py"
    r"|triton/(?:backends|compiler|language|profiler|runtime)/|triton/knobs\.py"
    r"|torch/(?:_[a-z]\w*(?:/|\.py)|(?:autograd|fx|optim)/|nn/(?:modules/|functional\.py))"
    r"|src/proton/(?:backends|cli|inkernel|runtime)/"
    r").*"
    r"|<(?:frozen |eval_with_key>|decorator-gen-|__array_function__ |attrs generated ).*",
    re.DOTALL | re.IGNORECASE,
)


@cache
def is_library_file(file: str) -> bool:
    """Whether a Python file is of an installed package or of the standard library."""
    return _LIBRARY.fullmatch(file.replace("\\", "/")) is not None
