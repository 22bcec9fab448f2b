"""pprof files, parsed by Google's protobuf from the public definition of the format.

The classes on the package index were generated for a protobuf that is too old to stand beside
Perfetto's, so the messages are described here.
"""

from __future__ import annotations

import gzip
from typing import Any

import pytest

# message -> field -> (number, type, is repeated); types in lower case are protobuf's own
_MESSAGES: dict[str, dict[str, tuple[int, str, bool]]] = {
    "ValueType": {"type": (1, "int64", False), "unit": (2, "int64", False)},
    "Label": {
        "key": (1, "int64", False),
        "str": (2, "int64", False),
        "num": (3, "int64", False),
        "num_unit": (4, "int64", False),
    },
    "Sample": {
        "location_id": (1, "uint64", True),
        "value": (2, "int64", True),
        "label": (3, "Label", True),
    },
    "Mapping": {
        "id": (1, "uint64", False),
        "filename": (5, "int64", False),
        "has_functions": (7, "bool", False),
    },
    "Line": {"function_id": (1, "uint64", False), "line": (2, "int64", False)},
    "Location": {
        "id": (1, "uint64", False),
        "mapping_id": (2, "uint64", False),
        "address": (3, "uint64", False),
        "line": (4, "Line", True),
    },
    "Function": {
        "id": (1, "uint64", False),
        "name": (2, "int64", False),
        "system_name": (3, "int64", False),
        "filename": (4, "int64", False),
    },
    "Profile": {
        "sample_type": (1, "ValueType", True),
        "sample": (2, "Sample", True),
        "mapping": (3, "Mapping", True),
        "location": (4, "Location", True),
        "function": (5, "Function", True),
        "string_table": (6, "string", True),
        "time_nanos": (9, "int64", False),
        "duration_nanos": (10, "int64", False),
        "comment": (13, "int64", True),
        "default_sample_type": (14, "int64", False),
    },
}


def parse_pprof(content: bytes) -> Any:
    """The `Profile` message of a gzipped file; the test is skipped without protobuf."""
    descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")
    pool_module = pytest.importorskip("google.protobuf.descriptor_pool")
    factory = pytest.importorskip("google.protobuf.message_factory")
    file = descriptor_pb2.FileDescriptorProto(
        name="profile.proto", package="perftools.profiles", syntax="proto3"
    )
    for message, fields in _MESSAGES.items():
        described = file.message_type.add(name=message)
        for name, (number, kind, is_repeated) in fields.items():
            field = described.field.add(name=name, number=number, label=3 if is_repeated else 1)
            if kind in _MESSAGES:
                field.type = field.TYPE_MESSAGE
                field.type_name = f".perftools.profiles.{kind}"
            else:
                field.type = getattr(field, f"TYPE_{kind.upper()}")
    pool = pool_module.DescriptorPool()
    pool.Add(file)
    found = pool.FindMessageTypeByName("perftools.profiles.Profile")
    return factory.GetMessageClass(found).FromString(gzip.decompress(content))
