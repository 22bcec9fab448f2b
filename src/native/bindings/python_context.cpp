#include "bindings/python_context.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "bindings/current.h"
#include "bindings/names.h"
#include "session/process.h"

namespace proton::bindings {
namespace {

/// A place in a code object. Position 0 stands for every frame of proton itself.
struct Position {
  PyCodeObject* code;
  int offset;
};

std::string package_folder;
std::vector<Position> positions;
std::unordered_map<PyCodeObject*, bool> internal_codes;  // counted code -> is it proton's own
std::unordered_map<uint64_t, uint32_t> position_index;   // of (code, offset)
constexpr uint32_t kInternal = 0;

std::string text_of(PyObject* text) {
  bool is_exact;
  return to_utf8(text, is_exact);
}

bool is_internal(PyCodeObject* code) {
  auto [found, is_new] = internal_codes.try_emplace(code, false);
  if (is_new) {
    Py_INCREF(code);
    found->second = text_of(code->co_filename).starts_with(package_folder);
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
  if (positions.empty()) positions.push_back({nullptr, 0});
  auto [found, is_new] = position_index.try_emplace(key_of(code, offset), kInternal);
  if (is_new && !is_internal(code)) {
    found->second = static_cast<uint32_t>(positions.size());
    positions.push_back({code, offset});
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
  static std::vector<Position> stack;  // under the GIL, and nothing below calls Python
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
    if (position != kInternal) path = process.paths.child(path, FrameId::python(position));
    known.push_back({frame.code, frame.offset, path});
  }
  return path;
}

std::string frame_text(uint32_t position) {
  const auto& [code, offset] = positions[position];
  return concat(text_of(code->co_filename), ":", PyCode_Addr2Line(code, offset), "@",
                text_of(code->co_name));
}

}  // namespace

void clear_frame_tables() {
  auto codes = std::move(internal_codes);
  internal_codes.clear();
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
