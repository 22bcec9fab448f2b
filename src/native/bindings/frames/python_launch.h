/// The Python context of a launch, asked for by a driver's callback: on any thread, mostly without
/// the GIL.
#pragma once

namespace proton::bindings {

/// Sets the core's hook.
void init_python_launch();

}  // namespace proton::bindings
