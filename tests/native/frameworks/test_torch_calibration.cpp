// The layout of torch's objects: found, or refused with a reason; never guessed.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "base/error.h"
#include "check.h"
#include "observed.h"

using observed::calibrate;

namespace {

std::string refusal(int operators = 16, int threads = 3) {
  try {
    calibrate(operators, threads);
    return "";
  } catch (const proton::BackendError& error) {
    return error.what();
  }
}

fake_torch::Layout random_layout(std::mt19937& random, size_t decoys) {
  std::vector<size_t> places(fake_torch::kPlaces);
  for (size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::shuffle(places.begin(), places.end(), random);
  fake_torch::Layout layout{places[0], places[1], places[2], {}};
  for (size_t i = 0; i < decoys; ++i) {
    const bool of_thread = random() % 2 == 0;
    layout.decoys.push_back({places[3 + i], of_thread, static_cast<int>(random() % 5)});
  }
  return layout;
}

}  // namespace

TEST(fields_are_found_wherever_they_stand) {
  std::mt19937 random{1};
  for (int i = 0; i < 100; ++i) {
    const fake_torch::Layout layout = random_layout(random, 0);
    fake_torch::set_layout(layout);
    const proton::RecordFields fields = calibrate();
    CHECK_EQ(fields.number, layout.number);
    CHECK_EQ(fields.forward_thread, layout.forward_thread);
  }
}

TEST(fields_among_decoys_are_found_or_refused_and_never_wrong) {
  std::mt19937 random{2};
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    const fake_torch::Layout layout = random_layout(random, random() % 6);
    fake_torch::set_layout(layout);
    proton::Calibration calibration(observed::library());
    observed::run_calls(calibration);
    try {
      const proton::RecordFields fields = calibration.fields();
      CHECK_EQ(fields.number, layout.number);
      CHECK_EQ(fields.forward_thread, layout.forward_thread);
    } catch (const proton::BackendError& error) {
      ++refused;
      CHECK_HAS(error.what(), "the layout of its RecordFunction is not certain");
    }
  }
  CHECK(refused > 10);
  CHECK(refused < 290);
}

TEST(two_fields_that_hold_the_number_are_refused) {
  fake_torch::set_layout({.decoys = {{7, false, 0}}});
  CHECK_EQ(refusal(),
           "the layout of its RecordFunction is not certain: 2 fields can be the sequence number");
}

TEST(two_fields_that_hold_the_thread_are_refused) {
  fake_torch::set_layout({.decoys = {{7, true, 0}, {9, true, 0}}});
  CHECK_EQ(refusal(),
           "the layout of its RecordFunction is not certain: 3 fields can be the thread of the "
           "forward operator");
}

TEST(torch_that_keeps_no_number_is_refused) {
  fake_torch::Layout layout;
  layout.name = layout.number;  // written over
  fake_torch::set_layout(layout);
  CHECK_EQ(refusal(),
           "the layout of its RecordFunction is not certain: no field can be the sequence number");
}

TEST(calls_that_were_not_reported_are_refused) {
  fake_torch::set_layout({.reports_nodes = false});
  CHECK_EQ(refusal(),
           "its observers reported 16 of at least 8 operators and nodes of 0 of at least 3 "
           "threads");
  fake_torch::set_layout({});
  CHECK_EQ(refusal(4, 3),
           "its observers reported 4 of at least 8 operators and nodes of 3 of at least 3 threads");
}

TEST(calls_of_other_threads_do_not_disturb_a_calibration) {
  fake_torch::set_layout({});
  std::atomic<bool> is_done{false};
  std::thread other([&] {
    fake_torch::set_next_number(777);
    while (!is_done) fake_torch::run_node("MulBackward0", fake_torch::op("aten::mul"));
  });
  const proton::RecordFields fields = calibrate();
  is_done = true;
  other.join();
  CHECK_EQ(fields.number, 25);
  CHECK_EQ(fields.forward_thread, 38);
}

TEST(calibrations_register_callbacks_once_and_leave_them_off) {
  fake_torch::set_layout({});
  calibrate();
  const size_t registered = fake_torch::registered();
  calibrate();
  CHECK_EQ(fake_torch::registered(), registered);
  CHECK_EQ(fake_torch::enabled(), 0);
}

TEST(torch_that_lacks_a_function_is_refused) {
  void* library = dlopen(FAKE_TORCH_OLD_PATH, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != nullptr);
  try {
    proton::TorchLibrary::open(FAKE_TORCH_OLD_PATH);
    CHECK(false);
  } catch (const proton::BackendError& error) {
    CHECK_EQ(std::string(error.what()),
             "this torch has no function _ZN2at15sequence_number4peekEv");
    CHECK_EQ(error.remedy(), "use a version of torch that Proton was tested with");
  }
}

TEST(torch_that_is_not_loaded_is_refused) {
  try {
    proton::TorchLibrary::open("/nowhere/libtorch_cpu.so");
    CHECK(false);
  } catch (const proton::BackendError& error) {
    CHECK_EQ(std::string(error.what()), "'/nowhere/libtorch_cpu.so' is not loaded");
  }
}
