/// Whole passes over columns of numbers, for readers of large traces: what takes Python a second
/// for a million rows. Columns have less than 2^32 rows.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace proton::columns {

using Times = std::span<const double>;
using Numbers = std::span<const uint32_t>;
using Column = std::variant<Times, Numbers>;

inline constexpr uint32_t kNone = UINT32_MAX;  // no place

/// The places of the rows in the order of the first column, among equals of the next, and so on.
/// What is equal in all of them stays in the order given. The columns are of one length.
std::vector<uint32_t> order_by(std::span<const Column> columns);

/// Rows that are equal in all columns stand together, groups in the order of their first row.
struct Groups {
  std::vector<uint32_t> places;
  std::vector<uint32_t> bounds;  // where groups begin in `places`, and the end
};
Groups group_by(std::span<const Column> columns);

/// The times as whole numbers; false where one is more than a thousandth away, or does not fit.
bool to_whole(Times times, std::vector<uint32_t>& whole);

/// Work of a device by start: what is known of each piece, one column each.
struct DeviceWork {
  Times start_ns;
  Times end_ns;
  Times launched_ns;  // the start of the call that launched it; NaN where that is not known
  Numbers thread;     // which of the blocking calls are of the thread that launched it; kNone
};
/// Calls of one thread by start.
struct Calls {
  Times start_ns;
  Times end_ns;
};
/// All work of a device with several streams, by end; none where there is one stream.
struct WorkByEnd {
  Times end_ns;
  std::span<const uint8_t> cause;  // what waiting for it is called
};

/// Gaps by start; a gap of two causes is two neighbours.
struct Gaps {
  enum Cause : uint8_t { kHost, kCopy, kStream, kLaunch, kUnknown };
  std::vector<double> start_ns;
  std::vector<double> end_ns;
  std::vector<uint8_t> cause;

  void add(double from_ns, double to_ns, uint8_t why) {
    if (to_ns <= from_ns) return;
    start_ns.push_back(from_ns);
    end_ns.push_back(to_ns);
    cause.push_back(why);
  }
};

/// The gaps between pieces of work, cut by cause as `analysis/idle_time.py` says.
Gaps cut_gaps(const DeviceWork& work, std::span<const Calls> blocking, const WorkByEnd& elsewhere);

}  // namespace proton::columns
