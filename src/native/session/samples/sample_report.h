/// From the samples of a phase to what a file shows: samples of a symbol divided over the contexts
/// it was launched from, and the `sampling` object with the instructions of kernels. Takes no lock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/call_tree.h"
#include "model/value.h"
#include "session/booking/sample_table.h"
#include "session/samples/sample_copy.h"
#include "session/samples/sample_lines.h"
#include "session/samples/share_split.h"

namespace proton {

/// Where a symbol ran, and how long.
struct SampleContext {
  uint32_t row = 0;  // whatever the caller tells contexts apart by
  int64_t time_ns = 0;
  bool is_included = true;  // false: its samples are counted, not shown
};

/// By reason. Kept apart so that each can be divided, and a part never has more latency samples
/// than samples.
struct SampleCounts {
  explicit SampleCounts(size_t reason_count) : hidden(reason_count), latency(reason_count) {}

  uint64_t samples(size_t reason) const { return hidden[reason] + latency[reason]; }
  uint64_t total() const;
  uint64_t total_latency() const;

  std::vector<uint64_t> hidden;   // in whose cycle some warp issued
  std::vector<uint64_t> latency;  // in whose cycle none did
};

/// The metric of a reason: `stalled_` and the name it has in files of Triton's proton, or else the
/// hardware's.
std::string sample_metric(const std::string& reason);

struct ReportLimits {
  size_t whole_instructions = 16384;  // of kernels that are listed whole
  size_t kernel_instructions = 256;   // of one of the others, its hottest
  size_t instructions = 1536;         // of all of the others
  bool with_line_totals = false;      // for files without nodes
};

/// Stands above kernels that were sampled but never timed: those of a graph that is one event, and
/// those that ran when the session began or ended.
inline constexpr const char* kSampledUntimed = "<sampled without a timed launch>";

/// Source files that samples of a phase lie in, as compilers name them.
std::vector<std::string> sampled_files(const Session& session, int phase);

/// Functions whose code nobody has, as (module, symbol). Reads the code of all others, which may
/// take a while, and which snapshots then need not do; best without the GIL.
std::vector<std::pair<uint64_t, std::string>> missing_code(const Session& session, int phase);

class SampleReport {
 public:
  /// The copy must outlive the report.
  SampleReport(const SampleCopy& copy, const ReportLimits& limits);

  /// The contexts of a symbol on a device: at least one. `timed` are the places where it was timed.
  using Contexts = std::function<std::vector<SampleContext>(NameId symbol, uint32_t device,
                                                            const std::vector<uint32_t>& timed)>;
  /// Samples of one line (or of none) in one context.
  using Take = std::function<void(uint32_t row, LineId line, const SampleCounts& counts)>;

  /// Divides all samples: every sample of an included context is taken once.
  void divide(const Contexts& contexts, const Take& take);

  const SampleLines& lines() const { return lines_; }

  /// Puts what is known about the sampling into `summary`, before what the host says about it.
  /// Once, after `divide`.
  void describe(Summary& summary);

 private:
  static constexpr uint32_t kNotSampled = UINT32_MAX;
  struct Instruction {
    uint32_t pc;
    uint32_t row;  // of SampleRows::instructions, or kNotSampled
    LineId line;
    uint64_t samples;
  };
  /// A function of a module, as it stands in the object.
  struct Kernel {
    SampledFunction function;
    const SampledCode* code;
    uint64_t samples = 0;
    size_t context_count = 0;
    bool has_lines = false;
    size_t instruction_count = 0;  // 0: not known
    bool is_whole = false;
    std::vector<Instruction> listed = {};
    std::vector<std::pair<LineId, SampleCounts>> totals = {};  // by line, when they are asked for
  };
  /// Functions of one symbol on one device: they share their contexts.
  struct Group {
    NameId symbol;
    uint32_t device;
    std::vector<uint32_t> functions;
    std::vector<uint32_t> timed;  // numbers in the copy's
  };
  /// The lines of a group, each with its counts.
  struct LineCounts {
    std::unordered_map<LineId, size_t> index;
    std::vector<LineId> lines;
    std::vector<SampleCounts> counts;
    SampleCounts& at(LineId line, size_t reason_count);
  };

  std::vector<Group> groups() const;
  void divide_group(const Group& group, std::vector<SampleContext> contexts, const Take& take);
  void add_function(uint32_t function, size_t context_count, ShareSplit* included,
                    LineCounts& counts);
  SampleCounts counts_of(const SampledInstruction& instruction) const;
  void keep_included(SampleCounts& counts, ShareSplit& included);
  void divide_lines(const LineCounts& lines, const std::vector<SampleContext>& contexts,
                    const Take& take) const;
  LineId line_at(const Kernel& kernel, uint32_t pc, KeyIndex& known);
  void choose_instructions();
  size_t whole_count(const Kernel& kernel) const;
  void list_whole(Kernel& kernel);
  void keep_hottest(Kernel& kernel) const;
  void drop_coldest();
  Value kernel_value(const Kernel& kernel, const std::vector<LineId>& numbers) const;
  Value instruction_value(const Kernel& kernel, const Instruction& instruction,
                          const std::vector<LineId>& numbers) const;
  Value line_totals_value(const Kernel& kernel, const std::vector<LineId>& numbers) const;
  std::vector<LineId> number_lines() const;

  const SampleCopy& copy_;
  const ReportLimits limits_;
  const size_t reason_count_;
  SampleLines lines_;
  std::vector<std::vector<uint32_t>> rows_of_function_;
  std::vector<Kernel> kernels_;
  /// Counts of instructions of which only a part is included, by row of the table.
  std::unordered_map<uint32_t, SampleCounts> partial_;
  uint64_t total_ = 0;
  uint64_t left_out_ = 0;
  bool is_split_ = false;
};

}  // namespace proton
