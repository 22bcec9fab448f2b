/// Trace logs in Perfetto's own format: protobuf, compressed. Called without the GIL.
#pragma once

#include "base/byte_sink.h"
#include "model/trace_log.h"

namespace proton {

void write_perfetto(const TraceLog& log, ByteSink& out);

}  // namespace proton
