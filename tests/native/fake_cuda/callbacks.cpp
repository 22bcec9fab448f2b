/// Subscription and callbacks: one subscriber, told of the calls and resources it asked for.
#include <unistd.h>

#include "driver.h"

namespace fake {

void call_back(int domain, uint32_t cbid, const void* data) {
  State& all = state();
  const Callback callback = all.callback.load(std::memory_order_acquire);
  if (callback == nullptr) return;
  all.counters.callbacks.fetch_add(1, std::memory_order_relaxed);
  callback(all.callback_user.load(std::memory_order_relaxed), domain, cbid, data);
}

void call_resource(uint32_t cbid, const GraphData& data) {
  if (!is_enabled(kResourceDomain, cbid)) return;
  GraphData copy = data;
  const ResourceData resource{&current_context(), nullptr, &copy};
  ++local().resource_callback_depth;
  call_back(kResourceDomain, cbid, &resource);
  --local().resource_callback_depth;
}

ApiCall::ApiCall(uint32_t cbid, const char* name, const void* params, const char* symbol)
    : cbid_(cbid), start_ns_(is_kind_on(kDriverApi) ? cupti_now() : 0) {
  State& all = state();
  wait_for_worker();
  const uint32_t correlation = all.correlation.fetch_add(1, std::memory_order_relaxed) + 1;
  data_.correlation_id = correlation;
  if (!is_enabled(kDriverDomain, cbid)) return;
  Context& context = current_context();
  data_.function_name = name;
  data_.params = params;
  data_.return_value = &result_;
  data_.symbol_name = symbol;
  data_.context = &context;
  data_.context_uid = context.id;
  data_.correlation_data = &scratch_;
  data_.site = 0;
  call_back(kDriverDomain, cbid, &data_);
}

ApiCall::~ApiCall() {
  if (is_kind_on(kDriverApi)) {
    const ApiRecord record{kDriverApi,
                           cbid_,
                           start_ns_,
                           cupti_now(),
                           static_cast<uint32_t>(getpid()),
                           static_cast<uint32_t>(gettid()),
                           data_.correlation_id,
                           static_cast<uint32_t>(result_)};
    write_record(&record);
  }
  if (!is_enabled(kDriverDomain, cbid_)) return;
  data_.site = 1;
  data_.return_value = &result_;
  data_.correlation_data = &scratch_;
  call_back(kDriverDomain, cbid_, &data_);
}

}  // namespace fake
