/// The memory that kernels record into: what may be taken for zero when it is used again.
#include "backends/device_buffer/block_pool.h"

#include "check.h"

using namespace proton::device_buffer;

namespace {

/// A driver that hands out addresses, with no memory behind them.
Driver addresses_only() {
  Driver driver;
  driver.allocate = [](DeviceAddress* address, size_t bytes) {
    static DeviceAddress next = DeviceAddress{1} << 32;
    *address = next;
    next += bytes;
    return kCudaSuccess;
  };
  driver.free = [](DeviceAddress) { return kCudaSuccess; };
  driver.exchange_capture_mode = [](int*) { return kCudaSuccess; };
  return driver;
}

/// A launch of so many bytes that was read and whose bytes were zeroed; whether they were before.
bool use(BlockPool& pool, size_t bytes, bool is_read = true) {
  CudaResult result;
  Block* block = pool.take(bytes, false, false, result);
  const bool was_zero = block->is_zero;
  block->is_zero = is_read;
  pool.give_back(block);
  return was_zero;
}

}  // namespace

TEST(a_block_is_zero_as_far_as_somebody_zeroed_it) {
  const Driver driver = addresses_only();
  BlockPool pool(driver, BlockPool::kMostBytes);
  CHECK(!use(pool, 1000));  // as the driver gave it
  CHECK(use(pool, 1000));
  CHECK(use(pool, 500));
  CHECK(use(pool, 1000));
  CHECK(!use(pool, 1001));  // nobody has zeroed the last one
  CHECK(use(pool, 1001));
  pool.clear();
}

TEST(a_block_that_was_left_as_it_was_is_zeroed_anew) {
  const Driver driver = addresses_only();
  BlockPool pool(driver, BlockPool::kMostBytes);
  CHECK(!use(pool, 1000, false));
  CHECK(!use(pool, 500));
  CHECK(use(pool, 500));
  CHECK(!use(pool, 1000));  // its second half is still what the first launch left
  CHECK(use(pool, 1000));
  pool.clear();
}
