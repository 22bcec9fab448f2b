/// Trace logs as chrome trace JSON. Called without the GIL.
#pragma once

#include "base/byte_sink.h"
#include "model/trace_log.h"

namespace proton {

void write_chrome_trace(const TraceLog& log, ByteSink& out);

}  // namespace proton
