#include "files/file_text.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace proton {

namespace {

constexpr size_t kStep = 1 << 24;  // a multiple of every page size

/// Fills `pages` from the file; false where it has less, or fails.
bool fill(int file, char* pages, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t got = ::read(file, pages + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

std::optional<FileText> FileText::read(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status{};
  std::optional<FileText> found;
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<size_t>(status.st_size);
    // Not the file's own pages: reading those ends the process if somebody cuts the file short.
    void* pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) {
      FileText text(static_cast<char*>(pages), size);
      if (fill(file, text.pages_, size)) found.emplace(std::move(text));
    }
  }
  ::close(file);
  return found;
}

FileText::FileText(FileText&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)),
      size_(other.size_),
      released_(other.released_) {}

FileText::~FileText() {
  if (pages_ != nullptr) ::munmap(pages_, size_);
}

void FileText::release_before(size_t place) {
  const size_t end = place / kStep * kStep;
  if (end <= released_) return;
  ::madvise(pages_ + released_, end - released_, MADV_DONTNEED);
  released_ = end;
}

}  // namespace proton
