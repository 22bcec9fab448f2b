/// The rules of CUPTI as the fake driver keeps them: what the backend's tests rely on.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "check.h"
#include "fake_cuda/fake.h"
#include "fake_cuda/records.h"

using namespace fake;

namespace {

template <typename... Arguments>
int call(const char* name, Arguments... arguments) {
  return find<int (*)(Arguments...)>(name)(arguments...);
}

struct Seen {
  std::mutex mutex;
  std::vector<std::vector<uint8_t>> buffers;
  std::vector<std::thread::id> threads;
  std::vector<std::pair<uint32_t, int>> calls;  // correlation id, site
  std::vector<uint32_t> resources;
  size_t buffer_bytes = 4096;
  bool is_refusing = false;
} seen;

void request(uint8_t** buffer, size_t* size, size_t* max_records) {
  *max_records = 0;
  *buffer = nullptr;
  *size = 0;
  if (seen.is_refusing) return;
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, seen.buffer_bytes));
  *size = seen.buffer_bytes;
}

void done(void*, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  const std::lock_guard lock(seen.mutex);
  seen.buffers.emplace_back(buffer, buffer + valid);
  seen.threads.push_back(std::this_thread::get_id());
  std::free(buffer);
}

void on_call(void*, int domain, uint32_t cbid, const void* data) {
  const std::lock_guard lock(seen.mutex);
  if (domain == kResourceDomain) {
    seen.resources.push_back(cbid);
    return;
  }
  const auto& given = *static_cast<const CallbackData*>(data);
  seen.calls.emplace_back(given.correlation_id, given.site);
}

void* subscriber = nullptr;

int flush(uint32_t flag = 0) { return call("cuptiActivityFlushAll", flag); }

void begin() {
  flush(1);  // what the test before left
  FAKE(fake_reset)();
  seen.buffers.clear();
  seen.threads.clear();
  seen.calls.clear();
  seen.resources.clear();
  seen.buffer_bytes = 4096;
  seen.is_refusing = false;
  call("cuptiSubscribe", &subscriber, &on_call, static_cast<void*>(nullptr));
  call("cuptiActivityRegisterCallbacks", &request, &done);
  call("cuptiActivityEnable", uint32_t{kConcurrentKernel});
}

std::vector<const uint8_t*> records() {
  std::vector<const uint8_t*> all;
  for (auto& buffer : seen.buffers) {
    uint8_t* record = nullptr;
    while (call("cuptiActivityGetNextRecord", buffer.data(), buffer.size(), &record) == 0) {
      all.push_back(record);
    }
  }
  return all;
}

std::vector<KernelRecord> kernels() {
  std::vector<KernelRecord> all;
  for (const uint8_t* record : records()) {
    KernelRecord kernel{};
    std::memcpy(&kernel, record, offsetof(KernelRecord, access_policy));
    if (kernel.kind == kConcurrentKernel) all.push_back(kernel);
  }
  return all;
}

}  // namespace

TEST(only_one_subscriber_is_let_in) {
  begin();
  void* second = nullptr;
  CHECK_EQ(call("cuptiSubscribe", &second, &on_call, static_cast<void*>(nullptr)), 39);
  CHECK_EQ(call("cuptiUnsubscribe", subscriber), 0);
  CHECK_EQ(call("cuptiSubscribe", &second, &on_call, static_cast<void*>(nullptr)), 0);
}

TEST(a_holder_is_named_from_13_on) {
  begin();
  call("cuptiUnsubscribe", subscriber);
  FAKE(fake_set_holder)("Kineto");
  const auto subscribe =
      find<int (*)(void**, Callback, void*, SubscriberParams*)>("cuptiSubscribe_v2", true);
  CHECK_EQ(subscribe != nullptr, FAKE(fake_cupti_version)() >= 130000);
  if (subscribe == nullptr) return;
  char name[64] = "";
  SubscriberParams params{32, "test", name, sizeof name, 0, {}};
  CHECK_EQ(subscribe(&subscriber, &on_call, nullptr, &params), 39);
  CHECK_EQ(std::string(name), "Kineto");
}

TEST(only_enabled_calls_are_told_on_entry_and_exit) {
  begin();
  FAKE(fake_launch)("k", 10, nullptr);
  CHECK(seen.calls.empty());
  call("cuptiEnableCallback", 1u, subscriber, int{kDriverDomain}, uint32_t{kLaunchKernel});
  const uint32_t id = FAKE(fake_launch)("k", 10, nullptr);
  CHECK_EQ(seen.calls.size(), 2u);
  CHECK(seen.calls[0] == (std::pair<uint32_t, int>{id, 0}));
  CHECK(seen.calls[1] == (std::pair<uint32_t, int>{id, 1}));
  call("cuptiEnableCallback", 0u, subscriber, int{kDriverDomain}, uint32_t{kLaunchKernel});
  FAKE(fake_launch)("k", 10, nullptr);
  CHECK_EQ(seen.calls.size(), 2u);
}

TEST(records_have_the_size_of_the_version) {
  begin();
  FAKE(fake_launch)("k", 10, nullptr);
  FAKE(fake_launch)("k", 10, nullptr);
  flush();
  const uint32_t version = FAKE(fake_cupti_version)();
  CHECK_EQ(seen.buffers.size(), 1u);
  CHECK_EQ(seen.buffers[0].size(), 2u * (version >= 130400 ? 248 : version >= 130000 ? 216 : 208));
}

TEST(a_kernel_record_says_what_was_launched) {
  begin();
  void* function = FAKE(fake_function)("gemm", 1234);
  FAKE(fake_function_resources)(function, 96, 1024, 16);
  void* stream = FAKE(fake_stream_create)();
  CHECK_EQ(call("cuLaunchKernel", function, 2u, 3u, 4u, 128u, 1u, 1u, 2048u, stream,
                static_cast<void**>(nullptr), static_cast<void**>(nullptr)),
           0);
  flush();
  const KernelRecord kernel = kernels().at(0);
  CHECK_EQ(std::string(kernel.name), "gemm");
  CHECK_EQ(kernel.end - kernel.start, 1234u);
  CHECK_EQ(kernel.grid[2], 4);
  CHECK_EQ(kernel.block[0], 128);
  CHECK_EQ(kernel.registers_per_thread, 96);
  CHECK_EQ(kernel.static_shared_memory, 1024);
  CHECK_EQ(kernel.dynamic_shared_memory, 2048);
  CHECK(kernel.stream_id != 7);
}

TEST(nothing_is_recorded_of_a_kind_that_is_off) {
  begin();
  FAKE(fake_memcpy)(1, 100, 10, nullptr);
  call("cuptiActivityEnable", uint32_t{kMemcpy});
  FAKE(fake_memcpy)(1, 200, 10, nullptr);
  flush();
  const auto all = records();
  CHECK_EQ(all.size(), 1u);
  CHECK_EQ(reinterpret_cast<const MemcpyRecord*>(all[0])->bytes, 200u);
  CHECK_EQ(call("cuptiActivityEnable", uint32_t{kKernel}), 14);
  CHECK_EQ(call("cuptiActivityEnable", 77u), 21);
}

TEST(full_buffers_come_from_the_worker_and_the_rest_from_the_flushing_thread) {
  begin();
  for (int i = 0; i < 60; ++i) FAKE(fake_launch)("k", 1, nullptr);
  FAKE(fake_work)();
  CHECK(FAKE(fake_counter)("worker_completions") >= 3);
  const size_t by_worker = seen.threads.size();
  for (const auto& id : seen.threads) CHECK(id != std::this_thread::get_id());
  flush();
  CHECK_EQ(seen.threads.size(), by_worker + 1);
  CHECK(seen.threads.back() == std::this_thread::get_id());
  CHECK_EQ(kernels().size(), 60u);
  CHECK_EQ(FAKE(fake_counter)("buffers_held"), 0);
}

TEST(threads_have_buffers_of_their_own_from_13_on) {
  begin();
  std::thread([] { FAKE(fake_launch)("a", 1, nullptr); }).join();
  std::thread([] { FAKE(fake_launch)("b", 1, nullptr); }).join();
  flush();
  CHECK_EQ(seen.buffers.size(), FAKE(fake_cupti_version)() >= 130000 ? 2u : 1u);
}

TEST(refused_buffers_drop_records_and_count_them) {
  begin();
  seen.is_refusing = true;
  for (int i = 0; i < 5; ++i) FAKE(fake_launch)("k", 1, nullptr);
  size_t dropped = 0;
  call("cuptiActivityGetNumDroppedRecords", static_cast<void*>(nullptr), 0u, &dropped);
  CHECK_EQ(dropped, 5u);
  call("cuptiActivityGetNumDroppedRecords", static_cast<void*>(nullptr), 0u, &dropped);
  CHECK_EQ(dropped, 0u);
  seen.is_refusing = false;
  FAKE(fake_launch)("k", 1, nullptr);
  flush();
  CHECK_EQ(kernels().size(), 1u);
}

TEST(records_may_come_out_of_order) {
  begin();
  FAKE(fake_set_option)("reverse_records", 1);
  for (int i = 0; i < 4; ++i) FAKE(fake_launch)("k", 1, nullptr);
  flush();
  const auto all = kernels();
  CHECK_EQ(all.size(), 4u);
  for (size_t i = 1; i < all.size(); ++i) CHECK(all[i].correlation_id < all[i - 1].correlation_id);
}

TEST(unfinished_work_waits_for_a_synchronisation_or_comes_without_times) {
  begin();
  FAKE(fake_set_option)("hold", 1);
  FAKE(fake_launch)("k", 50, nullptr);
  flush();
  CHECK(seen.buffers.empty());
  CHECK_EQ(call("cuCtxSynchronize"), 0);
  flush();
  CHECK_EQ(kernels().at(0).end - kernels().at(0).start, 50u);
  seen.buffers.clear();
  FAKE(fake_launch)("k", 50, nullptr);
  flush(1);
  CHECK_EQ(kernels().at(0).end, 0u);
}

TEST(nodes_are_told_when_created_and_cloned_and_records_name_the_clone) {
  begin();
  for (uint32_t cbid : {kNodeCreated, kNodeCloned}) {
    call("cuptiEnableCallback", 1u, subscriber, int{kResourceDomain}, cbid);
  }
  void* graph = FAKE(fake_graph_create)();
  void* node = FAKE(fake_graph_add_kernel)(graph, FAKE(fake_function)("k", 5));
  FAKE(fake_graph_add_kernel)(graph, FAKE(fake_function)("m", 5));
  void* exec = FAKE(fake_graph_instantiate)(graph);
  CHECK(seen.resources == (std::vector<uint32_t>{13, 13, 13, 20, 13, 20}));
  const uint32_t id = FAKE(fake_graph_launch)(exec, nullptr);
  flush();
  const auto all = kernels();
  CHECK_EQ(all.size(), 2u);
  CHECK_EQ(all[0].correlation_id, id);
  CHECK_EQ(all[1].correlation_id, id);
  CHECK_EQ(all[0].graph_id, FAKE(fake_graph_id)(exec));
  CHECK(all[0].graph_node_id != FAKE(fake_node_id)(node));
  CHECK(all[0].graph_node_id != all[1].graph_node_id);
}

TEST(captured_launches_become_nodes_and_leave_no_record) {
  begin();
  void* stream = FAKE(fake_stream_create)();
  void* other = FAKE(fake_stream_create)();
  FAKE(fake_capture_begin)(stream);
  FAKE(fake_capture_join)(stream, other);
  FAKE(fake_launch)("a", 1, stream);
  FAKE(fake_launch)("b", 1, other);
  void* graph = FAKE(fake_capture_end)(stream);
  FAKE(fake_launch)("c", 1, other);
  void* exec = FAKE(fake_graph_instantiate)(graph);
  FAKE(fake_graph_launch)(exec, stream);
  flush();
  const auto all = kernels();
  CHECK_EQ(all.size(), 3u);
  CHECK_EQ(std::string(all.at(0).name), "c");
}

TEST(children_and_conditional_bodies_run_as_often_as_told) {
  begin();
  void* child = FAKE(fake_graph_create)();
  FAKE(fake_graph_add_kernel)(child, FAKE(fake_function)("inner", 1));
  void* graph = FAKE(fake_graph_create)();
  FAKE(fake_graph_add_child)(graph, child);
  void* body = nullptr;
  FAKE(fake_graph_add_conditional)(graph, 3, &body);
  FAKE(fake_graph_add_kernel)(body, FAKE(fake_function)("looped", 1));
  FAKE(fake_graph_launch)(FAKE(fake_graph_instantiate)(graph), nullptr);
  flush();
  std::map<std::string, int> counts;
  for (const KernelRecord& kernel : kernels()) ++counts[kernel.name];
  CHECK_EQ(counts["inner"], 1);
  CHECK_EQ(counts["looped"], 3);
}

TEST(graph_level_tracing_replaces_the_nodes_records) {
  begin();
  call("cuptiActivityEnable", uint32_t{kGraphTrace});
  void* graph = FAKE(fake_graph_create)();
  for (int i = 0; i < 3; ++i) FAKE(fake_graph_add_kernel)(graph, FAKE(fake_function)("k", 7));
  const uint32_t id = FAKE(fake_graph_launch)(FAKE(fake_graph_instantiate)(graph), nullptr);
  flush();
  const auto all = records();
  CHECK_EQ(all.size(), 1u);
  const auto& record = *reinterpret_cast<const GraphRecord*>(all[0]);
  CHECK_EQ(record.kind, 51u);
  CHECK_EQ(record.correlation_id, id);
  CHECK_EQ(record.end - record.start, 21u);
}

TEST(a_function_fails_when_told_and_only_so_often) {
  begin();
  CHECK_EQ(FAKE(fake_set_failure)("cuptiActivityFlushAll", 999, 1, 2), 0);
  CHECK_EQ(flush(), 0);
  CHECK_EQ(flush(), 999);
  CHECK_EQ(flush(), 999);
  CHECK_EQ(flush(), 0);
  CHECK_EQ(FAKE(fake_set_failure)("no_such_function", 1, 0, 1), -1);
}

TEST(a_refused_launch_is_told_but_leaves_no_record) {
  begin();
  call("cuptiEnableCallback", 1u, subscriber, int{kDriverDomain}, uint32_t{kLaunchKernel});
  FAKE(fake_set_failure)("cuLaunchKernel", 719, 0, 1);
  CHECK_EQ(FAKE(fake_launch)("k", 1, nullptr), 0u);
  flush();
  CHECK_EQ(seen.calls.size(), 2u);
  CHECK(kernels().empty());
}

TEST(work_in_a_destroyed_context_is_refused) {
  begin();
  void* context = FAKE(fake_context_create)(0);
  CHECK(FAKE(fake_launch)("k", 1, nullptr) != 0);
  CHECK_EQ(FAKE(fake_context_destroy)(context), 0);
  CHECK_EQ(FAKE(fake_launch)("k", 1, nullptr), 0u);
  CHECK_EQ(call("cuCtxSynchronize"), 709);
}

TEST(clocks_differ_by_what_was_set) {
  begin();
  uint64_t first = 0;
  uint64_t second = 0;
  call("cuptiGetTimestamp", &first);
  FAKE(fake_set_option)("clock_offset_ns", 1'000'000'000'000);
  call("cuptiGetTimestamp", &second);
  CHECK(second - first >= 1'000'000'000'000);
  FAKE(fake_set_option)("gpu_skew_ns", 1'000'000'000'000);
  FAKE(fake_launch)("k", 1, nullptr);
  flush();
  CHECK(kernels().at(0).start - second >= 1'000'000'000'000);
}

TEST(broken_rules_are_noted) {
  begin();
  call(
      "cuptiActivityRegisterCallbacks", &request,
      +[](void*, uint32_t, uint8_t* buffer, size_t, size_t) {
        call("cuptiActivityFlushAll", 0u);
        call("cuCtxSynchronize");
        std::free(buffer);
      });
  FAKE(fake_launch)("k", 1, nullptr);
  flush();
  CHECK_EQ(FAKE(fake_counter)("violations"), 2);
  const std::string text = FAKE(fake_violations)();
  CHECK(text.find("cuptiActivityFlushAll called inside a buffer callback") != std::string::npos);
  CHECK(text.find("cuCtxSynchronize called inside a buffer callback") != std::string::npos);
}

TEST(work_that_uses_freed_memory_is_noted) {
  begin();
  void* memory = nullptr;
  CHECK_EQ(call("cuMemAlloc_v2", &memory, size_t{4096}), 0);
  void* const last = static_cast<char*>(memory) + 4095;
  const auto set = [&] {
    return call("cuMemsetD8Async", last, static_cast<unsigned char>(0), size_t{1},
                static_cast<void*>(nullptr));
  };
  CHECK_EQ(set(), 0);
  CHECK_EQ(FAKE(fake_counter)("violations"), 0);
  CHECK_EQ(call("cuMemFree_v2", memory), 0);
  CHECK_EQ(set(), 0);
  CHECK_EQ(std::string(FAKE(fake_violations)()), "work on the GPU used memory that was freed\n");
}

TEST(a_forked_child_gets_errors_and_the_call_is_noted) {
  begin();
  const pid_t child = fork();
  if (child == 0) {
    const bool is_right =
        flush() == 15 && call("cuCtxSynchronize") == 3 && FAKE(fake_counter)("violations") == 2;
    _exit(is_right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK_EQ(FAKE(fake_counter)("violations"), 0);
}

TEST(sixteen_threads_lose_no_record) {
  begin();
  seen.buffer_bytes = 1 << 16;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([] {
      void* function = FAKE(fake_function)("k", 1);
      FAKE(fake_launch_many)(function, 2000, FAKE(fake_stream_create)());
    });
  }
  for (auto& thread : threads) thread.join();
  flush();
  std::set<uint32_t> ids;
  for (const KernelRecord& kernel : kernels()) ids.insert(kernel.correlation_id);
  CHECK_EQ(ids.size(), 32000u);
  CHECK_EQ(FAKE(fake_counter)("violations"), 0);
}
