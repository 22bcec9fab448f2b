// What our callback costs a launching thread, and what a record costs the thread that decodes it,
// on the fake driver, with the driver's own time left out:
//   g++ -O2 -std=c++20 -Isrc/native benchmarks/launch_cost.cpp src/native/backends/cupti/*.cpp \
//     src/native/session/*.cpp src/native/base/*.cpp -o build/launch_cost -ldl -lpthread
//   build/launch_cost build/native/fake_cuda/libfake_cuda.so
#include <cstdio>
#include <cstring>
#include <vector>

#include "backends/cupti/activities.h"
#include "backends/cupti/hub.h"
#include "base/clock.h"
#include "session/recording.h"
#include "session/session.h"

using namespace proton;

namespace {

constexpr int kLaunches = 1'000'000;  // fewer than the table holds: none has to move aside

template <typename Work>
double measure(int count, Work work) {
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const int64_t start = now_ns();
    work();
    best = std::min(best, static_cast<double>(now_ns() - start) / count);
  }
  return best;
}

/// One subscription a round, as no records come that would mark launches as read.
double measure_launches(Session& session) {
  cupti::Hub& hub = cupti::Hub::get();
  cupti::CallbackData data{};
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    hub.start(session, {}, 0);
    hub.set_active(session, true);
    const int64_t start = now_ns();
    for (int i = 1; i <= kLaunches; ++i) {
      data.correlation_id = static_cast<uint32_t>(i);
      data.site = cupti::kEnterSite;
      hub.on_launch(data);
      data.site = cupti::kExitSite;
      hub.on_launch(data);
    }
    best = std::min(best, static_cast<double>(now_ns() - start) / kLaunches);
    hub.stop(session);
  }
  return best;
}

double measure_records(Session& session) {
  constexpr int kRecords = 512;
  std::vector<KernelEvent> events(kRecords);
  cupti::KernelRecord record{};
  record.kind = cupti::kConcurrentKernelActivity;
  record.name = "kernel";
  record.grid_x = record.block_x = 1;
  cupti::NamePool names;
  cupti::ClockMap clock;
  return measure(kRecords * 1000, [&] {
    for (int round = 0; round < 1000; ++round) {
      for (int i = 0; i < kRecords; ++i) {
        record.start = 1000 + i;
        record.end = record.start + 5000 + i;
        cupti::decode(&record, names, clock, events[i]);
        events[i].context = kRootPath;
      }
      session.on_events(events);
    }
  });
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  process.threads.create();
  cupti::Hub& hub = cupti::Hub::get();
  hub.set_source(context_source());
  hub.load(arguments[1], arguments[1]);
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.activate();
  std::printf("callback, enter and exit: %.1f ns a launch\n", measure_launches(session));
  std::printf("decode and book:          %.1f ns a record\n", measure_records(session));
}
