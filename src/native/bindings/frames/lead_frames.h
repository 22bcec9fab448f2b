/// The Python frames of the lead, for threads that have none of their own (autograd's, a
/// library's): their work is that of the code which the lead runs.
#pragma once

#include "model/ids.h"

namespace proton::bindings {

/// Any thread but the lead, with or without the GIL; waits for milliseconds, on a busy machine
/// for 1 s at most. Where the lead stands, with its state; where that cannot be found out in time,
/// where it was seen last.
PathId path_of_lead() noexcept;

/// In a forked child, safe in a pthread_atfork handler.
void forget_lead_frames();

}  // namespace proton::bindings
