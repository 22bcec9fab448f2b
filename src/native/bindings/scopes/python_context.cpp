#include "bindings/scopes/python_context.h"

#include <unordered_map>
#include <vector>

#include "base/termination.h"
#include "base/text.h"
#include "bindings/objects/names.h"
#include "bindings/objects/python_objects.h"
#include "bindings/scopes/current.h"
#include "session/scopes/process.h"

namespace proton::bindings {
namespace {

/// A place in a code object. The first two positions stand for frames of proton itself.
struct Position {
  PyCodeObject* code;
  int offset;
};
constexpr uint32_t kUser = ~0u;

std::string package_folder;
std::vector<Position> positions;
std::unordered_map<PyCodeObject*, uint32_t> code_origins;  // counted code -> kUser or a position
std::unordered_map<uint64_t, uint32_t> position_index;     // of (code, offset)

std::string text_of(PyObject* text) {
  bool is_exact;
  return to_utf8(text, is_exact);
}

/// `proton.model.library_files.is_library_file`, imported when it is first asked.
bool is_library_file(PyObject* file) {
  if (termination::is_rescuing()) {  // no Python runs there: what tells most of them
    return text_of(file).find("-packages/") != std::string::npos;
  }
  static PyObject* test = nullptr;
  if (test == nullptr) {
    const Reference module(PyImport_ImportModule("proton.model.library_files"));
    if (module) test = PyObject_GetAttrString(module.get(), "is_library_file");
  }
  const Reference answer(test == nullptr ? nullptr : PyObject_CallOneArg(test, file));
  if (!answer) PyErr_Clear();  // the interpreter is ending: the frame is shown
  return answer && answer.get() == Py_True;
}

uint32_t origin_of(PyCodeObject* code) {
  auto [found, is_new] = code_origins.try_emplace(code, kUser);
  if (is_new) {
    Py_INCREF(code);
    const std::string file = text_of(code->co_filename);
    if (file.starts_with(package_folder)) {
      found->second = file == package_folder + "cli/target.py" ? kLauncher : kInternal;
    }
  }
  return found->second;
}

}  // namespace

uint32_t intern_position(PyCodeObject* code, int offset) {
  if (positions.empty()) positions.resize(2, {nullptr, 0});
  auto [found, is_new] = position_index.try_emplace(position_key(code, offset), kInternal);
  if (is_new) {
    found->second = origin_of(code);
    if (found->second == kUser) {
      found->second = static_cast<uint32_t>(positions.size());
      positions.push_back({code, offset});
    }
  }
  return found->second;
}

PathId path_below(PathId parent, uint32_t position) {
  if (position == kLauncher) return kRootPath;
  if (position == kInternal) return parent;
  return process.paths.child(parent, FrameId::python(position));
}

PathId capture_frames_of(PyThreadState* state) {
  std::vector<proton_frame> stack;  // innermost first
  PyFrameObject* frame = PyThreadState_GetFrame(state);
  while (frame != nullptr) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    stack.push_back({code, PyFrame_GetLasti(frame)});
    Py_DECREF(code);  // alive as long as its frame is
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  PathId path = kRootPath;
  for (auto it = stack.rbegin(); it != stack.rend(); ++it) {
    path = path_below(path, intern_position(it->code, it->offset));
  }
  return path;
}

namespace {

/// Where the stack cannot be read directly.
PathId capture_slowly() { return capture_frames_of(PyThreadState_Get()); }

PathId capture_frames(ThreadState& thread) {
  auto& [stack, epoch] = *static_cast<FrameCache*>(frame_cache(thread));
  if (stack.is_busy()) return capture_slowly();
  if (epoch != process.epoch) {
    stack.clear();
    epoch = process.epoch;
  }
  if (!stack.read(PyThreadState_Get())) return capture_slowly();
  try {
    return stack.path([](PathId above, const proton_frame& frame) {
      return path_below(above, intern_position(frame.code, frame.offset));
    });
  } catch (...) {
    stack.clear();
    throw;
  }
}

std::string frame_text(uint32_t position) {
  if (position >= positions.size() || positions[position].code == nullptr) return "?";
  const auto [code, offset] = positions[position];
  // Making texts can start a garbage collection, which can clear these tables.
  const Reference held(Py_NewRef(reinterpret_cast<PyObject*>(code)));
  return concat(text_of(code->co_filename), ":", PyCode_Addr2Line(code, offset), "@",
                text_of(code->co_name));
}

bool is_library_frame(uint32_t position) {
  if (position >= positions.size() || positions[position].code == nullptr) return false;
  const Reference file(Py_NewRef(positions[position].code->co_filename));
  return is_library_file(file.get());
}

}  // namespace

void clear_frame_tables() {
  auto codes = std::move(code_origins);
  code_origins.clear();
  position_index.clear();
  positions.clear();
  for (auto& [code, unused] : codes) Py_DECREF(code);
}

void init_python_context(const std::string& package) {
  package_folder = package;
  process.hooks.capture_frames = capture_frames;
  process.hooks.frame_text = frame_text;
  process.hooks.is_library_frame = is_library_frame;
}

}  // namespace proton::bindings
