/// Call trees as hatchet JSON and msgpack bytes. Called without the GIL.
#pragma once

#include "base/byte_sink.h"
#include "model/call_tree.h"

namespace proton {

void write_hatchet(const CallTree& tree, ByteSink& out);
void write_hatchet_msgpack(const CallTree& tree, ByteSink& out);

}  // namespace proton
