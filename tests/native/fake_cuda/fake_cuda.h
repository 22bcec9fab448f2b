/// The control side of the fake driver: what tests call to make "GPU work" happen, to make calls
/// fail and to look at what was done. Plain C, for C++ tests and for ctypes. Besides these the
/// library exports the names of libcuda and libcupti that programs and profilers call.
///
/// Work is done on the calling thread and in the context current there, as in CUDA. All functions
/// may be called from any thread, but fake_reset only while nothing else runs.
#pragma once

#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- kernels and copies ---- */

/// A kernel to launch with cuLaunchKernel: its name and how long it runs. Never freed.
void* fake_function(const char* name, uint64_t duration_ns);
/// Registers per thread, static shared memory and local memory per thread of a kernel.
void fake_function_resources(void* function, int registers, int static_shared_bytes,
                             int local_bytes);
/// Launches by name in one call: grid 1, block 32. The correlation id; 0 if it was refused.
uint32_t fake_launch(const char* name, uint64_t duration_ns, void* stream);
/// `count` launches of one function in a loop, for benchmarks. The last correlation id.
uint32_t fake_launch_many(void* function, uint64_t count, void* stream);
/// `kind` is CUPTI's: 1 host to device, 2 device to host, 8 device to device.
uint32_t fake_memcpy(int kind, uint64_t bytes, uint64_t duration_ns, void* stream);
uint32_t fake_memset(int value, uint64_t bytes, uint64_t duration_ns, void* stream);
uint32_t fake_memcpy_peer(int from_device, int to_device, uint64_t bytes, uint64_t duration_ns,
                          void* stream);
/// A migration of pages that no call asked for: no correlation id. `kind`: 1, 2 or 8, of CUPTI's
/// unified memory counters.
void fake_unified_memory(int kind, uint64_t bytes, uint64_t duration_ns, int from, int to);

/// From now on launches of the kernel write these bytes to the buffer they are given.
void fake_function_records(void* function, const void* bytes, uint64_t size);
/// Launches a kernel that records into `buffer`, as it does in every replay where it is captured.
uint32_t fake_launch_recording(void* function, void* buffer, void* stream);

/* ---- streams, contexts, devices ---- */

void* fake_stream_create(void);
void* fake_context_create(int device);  ///< makes it current on the calling thread
int fake_context_destroy(void* context);
int fake_device_reset(int device);  ///< destroys the primary context, as cudaDeviceReset does

/* ---- graphs ---- */

void* fake_graph_create(void);
/// Nodes run in the order in which they were added. Each returns the node.
void* fake_graph_add_kernel(void* graph, void* function);
void* fake_graph_add_memcpy(void* graph, int kind, uint64_t bytes, uint64_t duration_ns);
void* fake_graph_add_memset(void* graph, uint64_t bytes, uint64_t duration_ns);
void* fake_graph_add_child(void* graph, void* child);  ///< a clone of `child`
/// A conditional node; its empty body graph is stored in `body`. It runs `runs` times a launch.
void* fake_graph_add_conditional(void* graph, int runs, void** body);
void* fake_graph_clone(void* graph);
void fake_graph_destroy(void* graph);
void* fake_graph_instantiate(void* graph);
uint32_t fake_graph_launch(void* exec, void* stream);
/// As if a kernel had launched it: records without a correlation id.
void fake_graph_launch_on_device(void* exec, void* stream);
/// The exec runs what the nodes of `graph` say from now on. 0, or 910 where they differ in shape.
int fake_graph_exec_update(void* exec, void* graph);
void fake_graph_exec_destroy(void* exec);
/// From now on work on `stream` becomes nodes; a second stream may join the same graph.
void fake_capture_begin(void* stream);
void fake_capture_join(void* stream, void* other);
void* fake_capture_end(void* stream);  ///< the graph
/// The ids that CUPTI's records will carry.
uint64_t fake_node_id(void* node);
uint32_t fake_graph_id(void* graph_or_exec);

/* ---- modules and sampling of their instructions ---- */

/// From now on each launch of `kernel` in a context that is sampled adds to the instruction at
/// `pc`: so many samples of a reason (`long_scoreboard`), of which `latency` ones were taken while
/// nothing was issued. 0, or -1 for a reason there is not. fake_clear forgets it.
int fake_sample(const char* kernel, uint64_t pc, const char* reason, uint32_t samples,
                uint32_t latency);
/// A module in the current context; its kernels are launched with cuLaunchKernel. Other kernels
/// are sampled as part of a module whose cubin nobody has, with the crc 1.
void* fake_module_load(const void* cubin, uint64_t bytes);
void* fake_module_function(void* module, const char* name, uint64_t duration_ns);
void fake_module_unload(void* module);
uint64_t fake_cubin_crc(const void* cubin, uint64_t bytes);
/// Contexts for which sampling is enabled, or has been started.
int64_t fake_sampled_contexts(int is_started);
/// The exponent that was asked for; 0: the context is not sampled.
uint32_t fake_sampling_period(void* context);

/* ---- how the driver behaves ---- */

/// Options (all 0 unless said):
///   device_count (1), driver_version (13000), compute_capability (90), is_mig
///   clock_offset_ns, clock_drift_ppb   CUPTI's clock against CLOCK_MONOTONIC
///   gpu_skew_ns           records' times against CUPTI's clock
///   hold                  work stays incomplete until fake_complete or a synchronisation
///   per_thread_buffers    1 as in CUPTI 13; 0 as before (default: by version)
///   reverse_records       records of a buffer are delivered last first
///   reverse_buffers       full buffers are delivered last first (at a flush or fake_work)
///   manual_worker         full buffers wait for fake_work or a flush
///   queue_limit (8)       buffers that may wait to be handed back before launches wait for
///                         them: a fake launch takes no time, and would outrun any reader
///   drop_next             so many records are dropped, as for want of memory on the device
///   silent_nodes          destroyed graphs do not tell of their nodes
///   scribble              buffers are filled with rubbish when they are handed over, or must be
///                         zero where the profiler said so
///   flush_delay_ns, completion_delay_ns, launch_delay_ns
///   switch_delay_ns       of calls that switch sampling on or off
///   late_samples          samples come only after a stop
///   zero_reasons          no stall reasons, as with a stranger's libnvperf
///   hardware_samples      so many fit into the hardware's buffer, then none until a start
///   drop_samples          so many (instruction, reason) counts are dropped
///   memory_bytes          the most that one allocation may have
///   free_delay_ns         that freeing memory waits for the device
///   non_user_samples      that each launch adds for kernels that are not the program's
/// 0, or -1 for an option there is not.
int fake_set_option(const char* name, int64_t value);
/// `function` (any exported cu* or cupti* name) returns `code` after `skip` more calls, `times`
/// times (-1: for ever). 0, or -1 for a function there is not.
int fake_set_failure(const char* function, int code, int64_t skip, int64_t times);
/// Both can be said by the environment, too, for processes that a test cannot reach:
/// FAKE_CUDA_SETTINGS=option=value,function=code,...
/// Another tool holds CUPTI's subscription under this name; NULL lets go.
void fake_set_holder(const char* name);
/// The next call has the correlation id after this one.
void fake_set_correlation(uint32_t id);
void fake_complete(void);  ///< all work done so far is finished
void fake_work(void);      ///< delivers every full buffer on CUPTI's worker thread, and waits

/// The floor of benchmarks: a profiler that does nothing with kernels (1) or walks over their
/// records (2); 0 ends it.
int fake_null_profiler(int level);

/* ---- what was seen ---- */

/// Calls of an exported function, or one of: callbacks, records, delivered, dropped,
/// buffers_requested, buffers_completed, worker_completions, flush_completions, buffers_held,
/// correlation, enabled_callbacks, enabled_kinds, is_subscribed, has_hw_trace, flush_period_ms,
/// violations. -1: no such counter.
int64_t fake_counter(const char* name);
/// Broken rules of CUPTI, one a line, oldest first: what a real driver answers with a crash, a
/// deadlock or wrong records.
const char* fake_violations(void);
uint32_t fake_cupti_version(void);
/// Forgets what the last test set and counted: options, failures, the holder, counters, broken
/// rules. What a profiler did once for the process (callbacks, its subscription) stays.
void fake_clear(void);
/// As if freshly loaded; graphs, streams and contexts of before are void.
void fake_reset(void);

#if defined(__cplusplus)
}
#endif
