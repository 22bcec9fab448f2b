/// The memory that kernels record into: what may be taken for zero when it is used again, and what
/// is never freed.
#include "backends/device_buffer/recorder/block_pool.h"

#include "check.h"

using proton::CudaContext, proton::CudaDriver, proton::CudaResult, proton::DeviceAddress;
using proton::kCudaSuccess;
using namespace proton::device_buffer;

namespace {

unsigned long long current_context = 1;
int freed = 0;

/// A driver that hands out addresses, with no memory behind them.
CudaDriver addresses_only() {
  CudaDriver driver;
  driver.allocate = [](DeviceAddress* address, size_t bytes) {
    static DeviceAddress next = DeviceAddress{1} << 32;
    *address = next;
    next += bytes;
    return kCudaSuccess;
  };
  driver.free = [](DeviceAddress) {
    ++freed;
    return kCudaSuccess;
  };
  driver.context_id = [](CudaContext, unsigned long long* id) {
    *id = current_context;
    return kCudaSuccess;
  };
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
  const CudaDriver driver = addresses_only();
  BlockPool pool(driver, BlockPool::kMostBytes);
  CHECK(!use(pool, 1000));  // as the driver gave it
  CHECK(use(pool, 1000));
  CHECK(use(pool, 500));
  CHECK(use(pool, 1000));
  CHECK(!use(pool, 1001));  // nobody has zeroed the last one
  CHECK(use(pool, 1001));
}

TEST(a_block_that_was_left_as_it_was_is_zeroed_anew) {
  const CudaDriver driver = addresses_only();
  BlockPool pool(driver, BlockPool::kMostBytes);
  CHECK(!use(pool, 1000, false));
  CHECK(!use(pool, 500));
  CHECK(use(pool, 500));
  CHECK(!use(pool, 1000));  // its second half is still what the first launch left
  CHECK(use(pool, 1000));
}

TEST(what_launches_may_still_write_to_is_not_freed) {
  const CudaDriver driver = addresses_only();
  BlockPool pool(driver, BlockPool::kMostBytes);
  CudaResult result;
  const DeviceAddress scrap = pool.scrap(1000, result)->address;
  const DeviceAddress larger = pool.scrap(1 << 20, result)->address;
  use(pool, 1000);
  const std::vector<Block> unused = pool.take_unused();
  CHECK_EQ(unused.size(), 1u);  // the block
  CHECK_EQ(pool.size_bytes(), 0u);
  freed = 0;
  BlockPool::release(driver, unused);
  CHECK_EQ(freed, 1);
  CHECK(larger != scrap);
  CHECK_EQ(pool.scrap(1000, result)->address, larger);
}

TEST(a_context_in_the_place_of_one_that_went_gets_memory_of_its_own) {
  const CudaDriver driver = addresses_only();
  BlockPool pool(driver, BlockPool::kMostBytes);
  CudaResult result;
  const DeviceAddress before = pool.scrap(1000, result)->address;
  ++current_context;
  CHECK(pool.scrap(1000, result)->address != before);
}
