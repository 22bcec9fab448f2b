#include "bindings/sampled_code.h"

#include "cubin/module_store.h"

namespace proton::bindings {
namespace {

constexpr size_t kInstructionBytes = 16;

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

std::shared_ptr<const SampledCode> find_sampled_code(uint64_t module, std::string_view symbol) {
  auto cubin = cubin::ModuleStore::get().find(module);
  const cubin::Function* function = cubin == nullptr ? nullptr : cubin->find(symbol);
  if (function == nullptr) return nullptr;
  return std::make_shared<CubinCode>(std::move(cubin), *function);
}

}  // namespace proton::bindings
