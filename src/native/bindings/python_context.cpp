#include "bindings/python_context.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "bindings/current.h"
#include "bindings/names.h"
#include "session/process.h"

namespace proton::bindings {
namespace {

/// A place in a code object. The first two positions stand for frames of proton itself.
struct Position {
  PyCodeObject* code;
  int offset;
};
constexpr uint32_t kUser = ~0u;
constexpr uint32_t kInternal = 0;  // left out of the path
constexpr uint32_t kLauncher = 1;  // runs the target of the `proton` command: paths start above it

std::string package_folder;
std::vector<Position> positions;
std::unordered_map<PyCodeObject*, uint32_t> code_origins;  // counted code -> kUser or a position
std::unordered_map<uint64_t, uint32_t> position_index;     // of (code, offset)

std::string text_of(PyObject* text) {
  bool is_exact;
  return to_utf8(text, is_exact);
}

uint32_t origin_of(PyCodeObject* code) {
  auto [found, is_new] = code_origins.try_emplace(code, kUser);
  if (is_new) {
    Py_INCREF(code);
    const std::string file = text_of(code->co_filename);
    if (file.starts_with(package_folder)) {
      found->second = file == package_folder + "cli/launch.py" ? kLauncher : kInternal;
    }
  }
  return found->second;
}

/// Code objects are 16-byte aligned and kept alive, so that (code, offset) fits one exact key as
/// long as offsets stay below 2^20; longer functions share their last position.
uint64_t key_of(PyCodeObject* code, int offset) {
  const auto limited = static_cast<uint64_t>(offset < 0 ? 0 : std::min(offset, (1 << 20) - 1));
  return (reinterpret_cast<uint64_t>(code) >> 4) << 20 | limited;
}

uint32_t intern_position(PyCodeObject* code, int offset) {
  if (positions.empty()) positions.resize(2, {nullptr, 0});
  auto [found, is_new] = position_index.try_emplace(key_of(code, offset), kInternal);
  if (is_new) {
    found->second = origin_of(code);
    if (found->second == kUser) {
      found->second = static_cast<uint32_t>(positions.size());
      positions.push_back({code, offset});
    }
  }
  return found->second;
}

/// The stack of now, innermost frame first.
void read_stack(std::vector<Position>& stack) {
  stack.clear();
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame != nullptr) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    stack.push_back({code, PyFrame_GetLasti(frame)});
    Py_DECREF(code);  // alive as long as its frame is
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
}

PathId capture_frames(ThreadState& thread) {
  // Kept for its memory, but taken out while in use: making frame objects can start a garbage
  // collection, and that can come back here.
  static std::vector<Position> spare;
  std::vector<Position> stack = std::move(spare);
  read_stack(stack);
  auto& cache = *static_cast<FrameCache*>(frame_cache(thread));
  if (cache.epoch != process.epoch) {
    cache.frames.clear();
    cache.epoch = process.epoch;
  }
  auto& known = cache.frames;
  const size_t depth = stack.size();
  size_t common = 0;
  while (common < known.size() && common < depth) {
    const Position& frame = stack[depth - 1 - common];
    if (known[common].code != frame.code || known[common].offset != frame.offset) break;
    ++common;
  }
  known.resize(common);
  PathId path = common == 0 ? kRootPath : known.back().path;
  for (size_t i = common; i < depth; ++i) {
    const Position& frame = stack[depth - 1 - i];
    const uint32_t position = intern_position(frame.code, frame.offset);
    if (position == kLauncher) {
      path = kRootPath;
    } else if (position != kInternal) {
      path = process.paths.child(path, FrameId::python(position));
    }
    known.push_back({frame.code, frame.offset, path});
  }
  spare = std::move(stack);
  return path;
}

std::string frame_text(uint32_t position) {
  const auto& [code, offset] = positions[position];
  return concat(text_of(code->co_filename), ":", PyCode_Addr2Line(code, offset), "@",
                text_of(code->co_name));
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
}

}  // namespace proton::bindings
