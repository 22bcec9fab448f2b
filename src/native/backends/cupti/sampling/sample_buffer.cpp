#include "backends/cupti/sampling/sample_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "backends/cuda/own_kernels.h"
#include "base/error.h"
#include "base/text.h"

namespace proton::cupti {
namespace {

constexpr std::string_view kPrefix = "smsp__pcsamp_warps_issue_stalled_";
constexpr std::string_view kLatencySuffix = "_not_issued";
constexpr size_t kReasonLimit = 1024;  // CUPTI's numbers stay far below
constexpr size_t kBatch = 256;         // instructions that share one lock of each sink

template <typename T>
T* make_zeroed(size_t count) {
  auto* memory = static_cast<T*>(std::calloc(count, sizeof(T)));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

std::string_view name_of(const PcRecord& record) {
  return record.function_name == nullptr ? "" : record.function_name;
}

constexpr Result kMigNotSupported = 43;  // CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED

void expect_whole_gpu(const Library& library, int device) {
  char name[256] = "";
  if (library.device_name(name, sizeof(name) - 1, device) != 0) return;
  if (std::string_view(name).find(" MIG ") == std::string_view::npos) return;
  throw BackendError("cupti", concat("CUPTI cannot sample a part of a GPU (", name, ")"),
                     remedy_for(kMigNotSupported), kMigNotSupported);
}

}  // namespace

void SampleBuffer::Free::operator()(void* memory) const { std::free(memory); }

SampleBuffer::SampleBuffer(size_t capacity, size_t reason_count)
    : records_(make_zeroed<PcRecord>(capacity)),
      counts_(make_zeroed<StallCount>(capacity * reason_count)) {
  for (size_t i = 0; i < capacity; ++i) {
    records_[i].struct_size = sizeof(PcRecord);
    records_[i].stalls = counts_.get() + i * reason_count;
  }
  buffer_.struct_size = sizeof(PcBuffer);
  buffer_.capacity = capacity;
  buffer_.records = records_.get();
}

void SampleBuffer::clear() {
  buffer_.sample_count = buffer_.dropped_count = buffer_.non_user_count = 0;
  buffer_.record_count = buffer_.remaining_count = 0;
  buffer_.is_hardware_full = 0;
}

std::span<const PcRecord> SampleBuffer::records() const {
  return {records_.get(), std::min(buffer_.record_count, buffer_.capacity)};
}

ReasonTable::Numbers ReasonTable::read(const Library& library, Context context) {
  size_t count = 0;
  ReasonCount asked{sizeof(ReasonCount), nullptr, context, &count};
  library.check(library.reason_count(&asked), "cuptiPCSamplingGetNumStallReasons");
  if (count == 0) {
    throw BackendError("cupti",
                       concat("CUPTI (", library.path, ") knows no stall reasons for this GPU"),
                       "use a libcupti with its own libnvperf_host.so and libnvperf_target.so "
                       "beside it (pip install nvidia-cuda-cupti); `proton doctor` lists them");
  }
  Numbers numbers;
  numbers.all.resize(count);
  std::vector<char> text(count * kReasonNameSize);
  std::vector<char*> names(count);
  for (size_t i = 0; i < count; ++i) names[i] = text.data() + i * kReasonNameSize;
  ReasonNames named{sizeof(ReasonNames), nullptr, context, count, numbers.all.data(), names.data()};
  library.check(library.reason_names(&named), "cuptiPCSamplingGetStallReasons");
  for (size_t i = 0; i < count; ++i) {
    std::string_view name = names[i];
    const uint32_t number = numbers.all[i];
    // The others count samples, and are no reasons.
    if (!name.starts_with(kPrefix) || number >= kReasonLimit) continue;
    name.remove_prefix(kPrefix.size());
    const bool is_latency = name.ends_with(kLatencySuffix);
    if (is_latency) name.remove_suffix(kLatencySuffix.size());
    if (numbers.meanings.size() <= number) numbers.meanings.resize(number + 1);
    numbers.meanings[number] = {number_of(name), is_latency};
  }
  return numbers;
}

uint32_t ReasonTable::number_of(std::string_view name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<uint32_t>(found - names_.begin());
  names_.emplace_back(name);
  return static_cast<uint32_t>(names_.size() - 1);
}

void send_records(std::span<const PcRecord> records, const ReasonTable::Numbers& numbers,
                  std::span<const std::string> reasons, uint32_t device_id,
                  const std::function<void(const SampleBatch&)>& send) {
  const size_t width = reasons.size();
  std::vector<uint32_t> counts;
  std::vector<SampledPc> pcs;
  for (size_t first = 0; first < records.size(); first += kBatch) {
    const auto part = records.subspan(first, std::min(kBatch, records.size() - first));
    counts.assign(part.size() * width * 2, 0);
    pcs.clear();
    for (const PcRecord& record : part) {
      const std::string_view name = name_of(record);
      if (is_own_kernel(name)) continue;
      uint32_t* const samples = counts.data() + pcs.size() * width * 2;
      uint32_t* const latency = samples + width;
      for (size_t i = 0; i < record.stall_count; ++i) {
        const StallCount& count = record.stalls[i];
        if (count.reason >= numbers.meanings.size()) continue;
        const auto [reason, is_latency] = numbers.meanings[count.reason];
        if (reason < width) (is_latency ? latency : samples)[reason] += count.samples;
      }
      pcs.push_back({record.cubin_crc,
                     name,
                     static_cast<uint32_t>(record.pc_offset),
                     {samples, width},
                     {latency, width}});
    }
    send({"CUDA", device_id, reasons, pcs});
  }
}

uint64_t count_samples(std::span<const PcRecord> records, const ReasonTable::Numbers& numbers,
                       bool of_own) {
  uint64_t sum = 0;
  for (const PcRecord& record : records) {
    if (is_own_kernel(name_of(record)) != of_own) continue;
    for (size_t i = 0; i < record.stall_count; ++i) {
      const StallCount& count = record.stalls[i];
      if (count.reason >= numbers.meanings.size()) continue;
      const auto& meaning = numbers.meanings[count.reason];
      if (meaning.reason != UINT32_MAX && !meaning.is_latency) sum += count.samples;
    }
  }
  return sum;
}

void try_sampling(const Library& library) {
  int device = 0;
  Context context = nullptr;
  if (library.init(0) != 0 || library.device(&device, 0) != 0) {
    throw BackendError("cupti", "there is no CUDA device", "see whether `nvidia-smi` shows a GPU");
  }
  expect_whole_gpu(library, device);
  if (const CudaResult result = library.retain_primary_context(&context, device); result != 0) {
    throw BackendError(
        "cupti",
        concat("no CUDA context could be made on device 0: ", library.describe_cuda(result)),
        "see whether `nvidia-smi` shows a GPU with free memory");
  }
  struct Release {
    const Library& library;
    int device;
    ~Release() {
      library.set_context(nullptr);
      library.release_primary_context(device);
    }
  };
  const Release release{library, device};
  library.set_context(context);
  SamplingContext request{sizeof(SamplingContext), nullptr, context};
  library.check(library.enable_sampling(&request), "cuptiPCSamplingEnable");
  try {
    ReasonTable().read(library, context);
  } catch (...) {
    library.disable_sampling(&request);
    throw;
  }
  library.check(library.disable_sampling(&request), "cuptiPCSamplingDisable");
}

}  // namespace proton::cupti
