/// The writers of files: call trees as hatchet JSON and msgpack, trace logs as chrome trace JSON
/// and in Perfetto's own format (protobuf, compressed). Called without the GIL.
#pragma once

#include "base/byte_sink.h"
#include "model/call_tree.h"
#include "model/trace_log.h"

namespace proton {

void write_hatchet(const CallTree& tree, ByteSink& out);
void write_hatchet_msgpack(const CallTree& tree, ByteSink& out);

void write_chrome_trace(const TraceLog& log, ByteSink& out);

void write_perfetto(const TraceLog& log, ByteSink& out);

}  // namespace proton
