#include "backends/device_buffer/block_pool.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace proton::device_buffer {
namespace {

constexpr size_t kSmallestBytes = size_t{64} << 10;
constexpr unsigned kPortableMapped = 1 | 2;  // CU_MEMHOSTALLOC_PORTABLE, _DEVICEMAP

/// A power of two, or four parts of one: little is wasted, and sizes repeat.
size_t rounded(size_t bytes) {
  if (bytes <= kSmallestBytes) return kSmallestBytes;
  const size_t step = std::bit_floor(bytes) / 4;
  return (bytes + step - 1) / step * step;
}

}  // namespace

Block* BlockPool::take(size_t bytes, bool is_host, CudaResult& result) {
  result = kCudaSuccess;
  size_t best = free_.size();
  for (size_t at = free_.size(); at-- > 0;) {
    const Block& block = *free_[at];
    if ((block.host != nullptr) != is_host || block.size_bytes < bytes) continue;
    if (best == free_.size() || block.size_bytes < free_[best]->size_bytes) best = at;
    if (block.size_bytes == rounded(bytes)) break;
  }
  if (best != free_.size()) {
    Block* block = free_[best];
    free_[best] = free_.back();
    free_.pop_back();
    return block;
  }
  const size_t size = rounded(bytes);
  if (size_bytes_ + size > most_bytes_ && !blocks_.empty()) return nullptr;
  auto block = allocate(size, is_host, result);
  if (block == nullptr) return nullptr;
  size_bytes_ += size;
  return blocks_.emplace_back(std::move(block)).get();
}

Block* BlockPool::scrap(size_t bytes, CudaResult& result) {
  result = kCudaSuccess;
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

void BlockPool::release(Block& block) {
  if (block.host != nullptr) {
    driver_.free_host(block.host);
  } else {
    driver_.free(block.address);
  }
}

bool BlockPool::clear() {
  const RelaxedCapture relaxed(driver_);
  for (Block* block : free_) {
    release(*block);
    size_bytes_ -= block->size_bytes;
    std::erase_if(blocks_, [&](const auto& each) { return each.get() == block; });
  }
  free_.clear();
  for (const auto& block : scraps_) release(*block);
  scraps_.clear();
  return blocks_.empty();
}

}  // namespace proton::device_buffer
