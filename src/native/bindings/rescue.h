/// Journals that a forked child writes when a signal ends the process and the GIL cannot be had.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "bindings/objects/session_object.h"

namespace proton::bindings {

/// Files of the phases that were left and are in none: those that are not `written` become
/// `<stem>.part_<phase><suffix>`, or the same with `spare_stem` where that is somebody else's.
struct RescueParts {
  std::string stem;
  std::string spare_stem;
  std::string suffix;
  std::string format;
  std::vector<int> written;
};

/// Under the GIL: what the journal of `session` would begin with, from the last time that Python
/// looked. `facts` is a JSON object without its closing brace, to which the phase is added.
void prepare_rescue(PySession& session, std::string path, std::string facts,
                    nanobind::object header, RescueParts parts);

/// In the child alone (termination::Rescue): writes the journal of every session that is prepared.
void write_rescue(int signal);

}  // namespace proton::bindings
