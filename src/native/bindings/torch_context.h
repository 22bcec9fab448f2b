/// torch's observer as part of the process: what module.cpp sets up.
#pragma once

namespace proton::bindings {

/// Sets the hooks of the core that concern operators.
void init_torch_context();

/// In a forked child, safe in a pthread_atfork handler.
void forget_torch();

}  // namespace proton::bindings
