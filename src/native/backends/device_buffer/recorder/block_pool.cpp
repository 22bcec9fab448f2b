#include "backends/device_buffer/recorder/block_pool.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace proton::device_buffer {
namespace {

constexpr size_t kSmallestBytes = size_t{64} << 10;
constexpr size_t kSlabBytes = size_t{32} << 20;
constexpr unsigned kPortableMapped = 1 | 2;  // CU_MEMHOSTALLOC_PORTABLE, _DEVICEMAP

/// A power of two, or four parts of one: little is wasted, and sizes repeat.
size_t rounded(size_t bytes) {
  if (bytes <= kSmallestBytes) return kSmallestBytes;
  const size_t step = std::bit_floor(bytes) / 4;
  return (bytes + step - 1) / step * step;
}

}  // namespace

Block* BlockPool::take(size_t bytes, bool is_host, bool is_kept, CudaResult& result) {
  result = kCudaSuccess;
  size_t best = free_.size();
  for (size_t at = free_.size(); at-- > 0;) {
    const Block& block = *free_[at];
    if ((block.host != nullptr) != is_host || block.size_bytes < bytes) continue;
    if (is_kept && slabs_[block.slab].blocks > 1) continue;
    if (best == free_.size() || block.size_bytes < free_[best]->size_bytes) best = at;
    if (block.size_bytes == rounded(bytes)) break;
  }
  if (best == free_.size()) {
    if (!add_slab(rounded(bytes), is_host, is_kept, result)) return nullptr;
    best = free_.size() - 1;
  }
  Block* block = free_[best];
  free_[best] = free_.back();
  free_.pop_back();
  if (!block->is_zero || bytes > block->clean_bytes) {
    block->is_zero = false;
    block->clean_bytes = bytes;
  }
  return block;
}

size_t BlockPool::blocks_to_add(size_t block_bytes) const {
  const size_t room = most_bytes_ > size_bytes_ ? most_bytes_ - size_bytes_ : 0;
  const auto alike = static_cast<size_t>(std::ranges::count_if(
      blocks_, [&](const auto& each) { return each->size_bytes == block_bytes; }));
  return std::clamp<size_t>(alike, 1,
                            std::max<size_t>(1, std::min(room, kSlabBytes) / block_bytes));
}

/// Adds free blocks; false: the limit is reached, or there is no memory.
bool BlockPool::add_slab(size_t block_bytes, bool is_host, bool is_kept, CudaResult& result) {
  if (size_bytes_ + block_bytes > most_bytes_ && !blocks_.empty()) return false;
  size_t count = is_host || is_kept ? 1 : blocks_to_add(block_bytes);
  auto memory = allocate(count * block_bytes, is_host, result);
  if (memory == nullptr && count > 1) {
    count = 1;
    memory = allocate(block_bytes, is_host, result);
  }
  if (memory == nullptr) return false;
  size_bytes_ += count * block_bytes;
  for (size_t i = 0; i < count; ++i) {
    auto block = std::make_unique<Block>(*memory);
    block->address += i * block_bytes;
    block->size_bytes = block_bytes;
    block->clean_bytes = block->is_zero ? block_bytes : 0;
    block->slab = slabs_.size();
    free_.push_back(blocks_.emplace_back(std::move(block)).get());
  }
  slabs_.push_back({*memory, count, 0});
  return true;
}

Block* BlockPool::scrap(size_t bytes, CudaResult& result) {
  result = kCudaSuccess;
  unsigned long long context = 0;  // stays so where the driver cannot say
  driver_.context_id(nullptr, &context);
  if (context != scraps_context_) scraps_.clear();  // they went with the context of before
  scraps_context_ = context;
  if (!scraps_.empty() && scraps_.back()->size_bytes >= bytes) return scraps_.back().get();
  auto block = allocate(rounded(bytes), false, result);
  return block == nullptr ? nullptr : scraps_.emplace_back(std::move(block)).get();
}

std::unique_ptr<Block> BlockPool::allocate(size_t bytes, bool is_host, CudaResult& result) {
  const RelaxedCapture relaxed(driver_);
  auto block = std::make_unique<Block>();
  block->size_bytes = bytes;
  if (is_host) {
    void* memory = nullptr;
    result = driver_.allocate_host(&memory, bytes, kPortableMapped);
    if (result != kCudaSuccess) return nullptr;
    std::memset(memory, 0, bytes);
    block->is_zero = true;
    block->host = static_cast<std::byte*>(memory);
    result = driver_.device_address(&block->address, memory, 0);
    if (result != kCudaSuccess) driver_.free_host(memory);
  } else {
    result = driver_.allocate(&block->address, bytes);
  }
  return result == kCudaSuccess ? std::move(block) : nullptr;
}

std::vector<Block> BlockPool::take_unused() {
  std::vector<Block> unused;
  for (const Block* block : free_) ++slabs_[block->slab].free_blocks;
  const auto is_unused = [&](const Block& block) {
    const Slab& slab = slabs_[block.slab];
    return slab.free_blocks == slab.blocks;
  };
  std::erase_if(free_, [&](const Block* block) { return is_unused(*block); });
  std::erase_if(blocks_, [&](const auto& block) { return is_unused(*block); });
  for (Slab& slab : slabs_) {
    if (slab.blocks != 0 && slab.free_blocks == slab.blocks) {
      unused.push_back(slab.memory);
      size_bytes_ -= slab.memory.size_bytes;
      slab.blocks = 0;
    }
    slab.free_blocks = 0;
  }
  if (blocks_.empty()) slabs_.clear();
  return unused;
}

void BlockPool::release(const CudaDriver& driver, std::span<const Block> memory) {
  const RelaxedCapture relaxed(driver);
  for (const Block& block : memory) {
    if (block.host != nullptr) {
      driver.free_host(block.host);
    } else {
      driver.free(block.address);
    }
  }
}

}  // namespace proton::device_buffer
