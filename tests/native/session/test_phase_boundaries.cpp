#include "session/booking/phase_boundaries.h"

#include <memory>
#include <set>

#include "check.h"
#include "host.h"
#include "model/losses.h"

using namespace proton;

namespace {

/// Phases, of which some are cleared, as a session keeps them.
struct Phases {
  PhaseBoundaries boundaries;
  std::set<int> cleared;

  void clear(int phase) {
    cleared.insert(phase);
    boundaries.drop(phase, [&](int each) { return cleared.contains(each); });
  }
};

CorrelationId newest_id = 0;
PhaseBoundaries::Launches asked_for{};

/// A session whose launches are counted in `newest_id`, and none of which is ever done.
std::unique_ptr<Session> counted_session(DataKind data = DataKind::kTree) {
  auto session = std::make_unique<Session>(0, ContextKind::kShadow, data);
  newest_id = 0;
  session->set_launch_counter([]() noexcept { return newest_id; });
  session->device.set_launch_tracker([](CorrelationId after, CorrelationId until, bool) {
    asked_for = {after, until};
    return true;
  });
  session->host.activate();
  return session;
}

KernelEvent kernel_of(CorrelationId correlation) {
  KernelEvent event = host::kernel(kRootPath, 5);
  event.correlation = correlation;
  return event;
}

int64_t kernels_in(const Session& session, int phase) {
  const CallTree tree = host::tree(session, phase, {});
  const uint32_t row = host::row_of(tree, "k");
  return row == 0 ? 0 : std::get<int64_t>(host::metric(tree, row, "count"));
}

}  // namespace

TEST(without_boundaries_every_launch_is_of_the_latest_phase) {
  PhaseBoundaries boundaries;
  boundaries.add(0, 1);
  for (const CorrelationId id : {1u, 1u << 31, ~0u}) CHECK(boundaries.is_latest(id));
  CHECK(!boundaries.launches_of(0).has_value());
}

TEST(launches_before_the_first_boundary_are_of_the_phase_before_it) {
  PhaseBoundaries boundaries;
  boundaries.add(0, 1);
  boundaries.add(10, 2);
  CHECK(boundaries.is_latest(11));
  CHECK(!boundaries.is_latest(10));
  CHECK_EQ(boundaries.phase_of(10), 1);
  CHECK_EQ(boundaries.phase_of(11), 2);
  CHECK_EQ(boundaries.launches_of(1)->after, 0u);
  CHECK_EQ(boundaries.launches_of(1)->until, 10u);
}

TEST(a_phase_without_launches_gets_none) {
  PhaseBoundaries boundaries;
  boundaries.add(10, 1);
  boundaries.add(10, 2);
  boundaries.add(20, 3);
  CHECK_EQ(boundaries.phase_of(10), 0);
  CHECK_EQ(boundaries.phase_of(11), 2);
  CHECK(!boundaries.launches_of(1).has_value());
}

TEST(ids_wrap_between_phases) {
  PhaseBoundaries boundaries;
  boundaries.add(0xffff'fff0u, 1);
  boundaries.add(0, 2);
  boundaries.add(8, 3);
  CHECK_EQ(boundaries.phase_of(0xffff'fff0u), 0);
  CHECK_EQ(boundaries.phase_of(0xffff'fff1u), 1);
  CHECK_EQ(boundaries.phase_of(0), 1);
  CHECK_EQ(boundaries.phase_of(8), 2);
  CHECK(boundaries.is_latest(9));
  CHECK_EQ(boundaries.launches_of(2)->after, 0u);
  CHECK_EQ(boundaries.launches_of(2)->until, 8u);
}

TEST(a_phase_of_more_launches_than_ids_keeps_taking_them) {
  PhaseBoundaries boundaries;
  boundaries.add(10, 1);
  CorrelationId id = 10;
  for (int i = 0; i < 20; ++i) {  // 2^30 launches a step
    id += 1u << 30;
    CHECK(boundaries.is_latest(id));
    boundaries.follow(id);
  }
  boundaries.add(id, 2);
  CHECK_EQ(boundaries.phase_of(id), 1);
  CHECK(boundaries.is_latest(id + 1));
}

TEST(cleared_phases_leave_no_more_than_a_gap) {
  Phases phases;
  for (int phase = 1; phase <= 1000; ++phase) {
    phases.boundaries.add(static_cast<CorrelationId>(phase * 10), phase);
  }
  for (const int phase : {500, 502, 501, 503}) phases.clear(phase);
  CHECK_EQ(phases.boundaries.size(), 997u);
  CHECK_EQ(phases.boundaries.phase_of(5000), 499);
  CHECK_EQ(phases.boundaries.phase_of(5040), 500);  // cleared: of one of them
  CHECK_EQ(phases.boundaries.phase_of(5041), 504);
  for (int phase = 999; phase >= 0; --phase) phases.clear(phase);
  CHECK_EQ(phases.boundaries.size(), 1u);
  CHECK_EQ(phases.boundaries.phase_of(10), 999);
  CHECK(phases.boundaries.is_latest(10'001));
}

TEST(boundaries_do_not_grow_with_phases_that_are_cleared_one_by_one) {
  Phases phases;
  for (int phase = 1; phase <= 100'000; ++phase) {
    phases.boundaries.add(static_cast<CorrelationId>(phase), phase);
    if (phase >= 8) phases.clear(phase - 8);
    CHECK(phases.boundaries.size() <= 8u);
  }
}

TEST(events_of_hundreds_of_phases_in_flight_reach_their_own) {
  constexpr int kPhases = 1000;
  const auto session = counted_session();
  for (int phase = 0; phase < kPhases; ++phase) {
    newest_id += 2;
    session->advance_phase();
  }
  for (CorrelationId id = 1; id <= 2 * kPhases; ++id) {
    const KernelEvent event = kernel_of(id);
    session->device.on_events({&event, 1});
  }
  for (int phase = 0; phase < kPhases; ++phase) CHECK_EQ(kernels_in(*session, phase), 2);
  CHECK_EQ(kernels_in(*session, kPhases), 0);
  CHECK(session->count_losses().empty());
}

TEST(a_phase_far_back_is_asked_for_its_own_launches_only) {
  const auto session = counted_session();
  for (int phase = 0; phase < 300; ++phase) {
    newest_id += 3;
    session->advance_phase();
  }
  CHECK(!session->device.is_complete(7));
  CHECK_EQ(asked_for.after, 21u);
  CHECK_EQ(asked_for.until, 24u);
  session->advance_phase();
  CHECK(session->device.is_complete(300));  // nothing was launched in it
}

TEST(an_event_of_a_cleared_phase_is_late_and_stays_out_of_its_neighbours) {
  const auto session = counted_session();
  for (int phase = 0; phase < 100; ++phase) {
    ++newest_id;
    session->advance_phase();
  }
  for (const int phase : {0, 1, 50}) session->clear_phase(phase);
  for (const CorrelationId id : {1u, 2u, 3u, 50u, 51u, 52u}) {
    const KernelEvent event = kernel_of(id);
    session->device.on_events({&event, 1});
  }
  for (const int phase : {2, 49, 51}) CHECK_EQ(kernels_in(*session, phase), 1);
  CHECK_EQ(kernels_in(*session, 100), 3);
  CHECK_EQ(session->count_losses().at(losses::kLate), 3u);
}

TEST(a_sealed_phase_takes_nothing_more_and_stays_readable) {
  const auto session = counted_session();
  newest_id = 3;
  const KernelEvent early = kernel_of(1), late = kernel_of(2);
  session->device.on_events({&early, 1});
  session->advance_phase();
  session->device.seal_phase(0);
  session->device.on_events({&late, 1});
  ValueEvent value;
  value.capture = kRootPath;
  value.correlation = 3;
  session->device.on_values({&value, 1});
  CHECK_EQ(kernels_in(*session, 0), 1);
  CHECK_EQ(kernels_in(*session, 1), 1);
  CHECK_EQ(session->count_losses().at(losses::kLate), 2u);
}

TEST(the_current_phase_cannot_be_sealed) {
  const auto session = counted_session();
  session->device.seal_phase(0);
  const KernelEvent event = kernel_of(1);
  session->device.on_events({&event, 1});
  CHECK_EQ(kernels_in(*session, 0), 1);
  CHECK(session->count_losses().empty());
}
