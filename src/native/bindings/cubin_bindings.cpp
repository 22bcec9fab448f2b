// The Python side of cubins: `_native.Cubin`.
#include "bindings/objects/bindings.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "bindings/objects/values.h"
#include "cubin/cubin.h"
#include "cubin/elf.h"
#include "cubin/module_store.h"

namespace nb = nanobind;
using namespace nb::literals;
using proton::cubin::Cubin;
using proton::cubin::Function;

namespace proton::bindings {
namespace {

/// A cubin as Python holds it.
struct PythonCubin {
  std::shared_ptr<const Cubin> cubin;

  PythonCubin(const nb::bytes& image, const std::string& ptx) {
    const auto* data = reinterpret_cast<const std::byte*>(image.c_str());
    std::vector<std::byte> copy(data, data + image.size());
    nb::gil_scoped_release unlocked;
    Cubin::Result result = Cubin::parse(std::move(copy), ptx);
    if (!result.cubin) throw Error(ErrorKind::kUsage, result.problem);
    cubin = std::move(result.cubin);
  }

  const Function& function(const std::string& name) const {
    if (const Function* found = cubin->find(name)) return *found;
    std::string names;
    for (const Function& one : cubin->functions()) {
      names += concat(names.empty() ? "" : ", ", quote(one.name));
    }
    throw Error(ErrorKind::kUsage, concat("the cubin has no function ", quote(name), "; it has ",
                                          names.empty() ? std::string("none") : names));
  }
};

nb::list functions(const PythonCubin& self) {
  nb::list names;
  for (const Function& function : self.cubin->functions()) names.append(to_text(function.name));
  return names;
}

/// Names by where the cubin has them: few of them for many frames.
using Names = std::unordered_map<const char*, nb::object>;

nb::tuple frames_of(const Cubin& cubin, cubin::LocationId id, Names& names) {
  const auto name = [&](std::string_view bytes) {
    nb::object& known = names[bytes.data()];
    if (!known.is_valid()) known = to_text(bytes);
    return known;
  };
  nb::list frames;
  for (const cubin::Frame& frame : cubin.frames(id)) {
    frames.append(nb::make_tuple(name(frame.file), frame.line, frame.column, name(frame.function)));
  }
  return nb::tuple(frames);
}

nb::list locate(const PythonCubin& self, const std::string& name,
                const std::vector<uint64_t>& offsets) {
  const Function& function = self.function(name);
  std::unordered_map<cubin::LocationId, nb::tuple> known;  // equal places share their frames
  Names names;
  nb::list stacks;
  for (const uint64_t offset : offsets) {
    const cubin::LocationId id = self.cubin->locate(function, offset);
    const auto [entry, is_new] = known.try_emplace(id);
    if (is_new) entry->second = frames_of(*self.cubin, id, names);
    stacks.append(entry->second);
  }
  return stacks;
}

nb::bytes code(const PythonCubin& self, const std::string& name) {
  const cubin::Bytes bytes = self.cubin->code(self.function(name));
  return nb::bytes(bytes.data(), bytes.size());
}

const char* lines(const PythonCubin& self) {
  switch (self.cubin->lines()) {
    case cubin::Lines::kAbsent:
      return "absent";
    case cubin::Lines::kDamaged:
      return "damaged";
    case cubin::Lines::kPresent:
      break;
  }
  return "present";
}

/// A section of a cubin whose code nobody asks for; empty where it is none or has no such section.
nb::bytes cubin_section(const nb::bytes& image, const std::string& name) {
  cubin::Elf elf;
  const auto* data = reinterpret_cast<const std::byte*>(image.c_str());
  if (!elf.parse({data, image.size()}).empty()) return nb::bytes("", 0);
  const cubin::Bytes section = elf.data(name);
  return nb::bytes(section.data(), section.size());
}

class CubinCode : public SampledCode {
 public:
  CubinCode(std::shared_ptr<const cubin::Cubin> cubin, const cubin::Function& function)
      : cubin_(std::move(cubin)), function_(function) {}

  uint32_t architecture() const override { return cubin_->architecture(); }
  uint32_t locate(uint32_t pc) const override { return cubin_->locate(function_, pc); }

  std::vector<SourceFrame> frames(uint32_t location) const override {
    std::vector<SourceFrame> frames;
    for (const cubin::Frame& frame : cubin_->frames(location)) {
      frames.push_back({frame.file, frame.line, frame.function});
    }
    return frames;
  }

  uint32_t size() const override { return static_cast<uint32_t>(cubin_->code(function_).size()); }

  std::span<const std::byte> instruction(uint32_t pc) const override {
    const auto code = cubin_->code(function_);
    if (pc > code.size() || code.size() - pc < kInstructionBytes) return {};
    return code.subspan(pc, kInstructionBytes);
  }

 private:
  std::shared_ptr<const cubin::Cubin> cubin_;
  const cubin::Function& function_;  // of the cubin
};

}  // namespace

void add_cubin(nb::module_& module) {
  module.def("cubin_section", cubin_section, "image"_a, "name"_a);
  nb::class_<PythonCubin>(module, "Cubin")
      .def(nb::init<const nb::bytes&, const std::string&>(), "image"_a, "ptx"_a = "")
      .def_prop_ro("architecture",
                   [](const PythonCubin& self) { return self.cubin->architecture(); })
      .def_prop_ro("lines", lines)
      .def_prop_ro("has_lines", [](const PythonCubin& self) { return self.cubin->has_lines(); })
      .def_prop_ro("is_ptx_used",
                   [](const PythonCubin& self) { return self.cubin->ptx() == cubin::Ptx::kUsed; })
      .def("functions", functions)
      .def("locate", locate, "function"_a, "offsets"_a)
      .def(
          "routine",
          [](const PythonCubin& self, const std::string& name, uint64_t offset) {
            return to_text(self.cubin->routine(self.function(name), offset).name);
          },
          "function"_a, "offset"_a)
      .def("code", code, "function"_a);
}

std::shared_ptr<const SampledCode> find_sampled_code(uint64_t module, std::string_view symbol) {
  auto cubin = cubin::ModuleStore::get().find(module);
  const cubin::Function* function = cubin == nullptr ? nullptr : cubin->find(symbol);
  if (function == nullptr) return nullptr;
  return std::make_shared<CubinCode>(std::move(cubin), *function);
}

}  // namespace proton::bindings
