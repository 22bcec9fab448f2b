/// What libcupti has from 13.0 on; not linked into the libraries that play an older one.
#include <cstring>

#include "driver.h"

using namespace fake;

FAKE_EXPORT(cuptiSubscribe_v2, void** subscriber, Callback callback, void* user,
            SubscriberParams* params) {
  FAKE_ENTER(cuptiSubscribe_v2);
  if (subscriber == nullptr) return kInvalidParameter;
  State& all = state();
  if (all.is_subscribed.exchange(true)) {
    if (params != nullptr && params->old_name != nullptr && params->old_name_size > 0) {
      const std::lock_guard lock(all.mutex);
      std::strncpy(params->old_name, all.subscriber_name.c_str(), params->old_name_size - 1);
      params->old_name[params->old_name_size - 1] = '\0';
    }
    return kMultipleSubscribers;
  }
  if (params != nullptr && params->name != nullptr) {
    if (std::strlen(params->name) > 53) violate("a subscriber's name longer than 53 characters");
    const std::lock_guard lock(all.mutex);
    all.subscriber_name = params->name;
  }
  all.callback_user.store(user);
  all.callback.store(callback, std::memory_order_release);
  *subscriber = &all.callback;
  return 0;
}
