#include "base/byte_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace proton {

namespace {

constexpr size_t kBufferBytes = 64 * 1024;
constexpr mode_t kPermissionBits = 07777;

/// The folder part of `path` with its slash; empty for the current folder.
std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::string follow_links(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;  // a name that is still free
  std::string target = resolved;
  ::free(resolved);
  return target;
}

}  // namespace

FileSink::FileSink(std::string path) : path_(std::move(path)), target_path_(path_) {
  buffer_.reserve(kBufferBytes);
  if (const size_t nul = path_.find('\0'); nul != std::string::npos) {
    path_.replace(nul, 1, "\\0");  // the system, and whoever shows the message, would stop there
    errno = EINVAL;
    fail("cannot write to a name with a NUL in it");
  }
  struct stat present{};
  if (::stat(path_.c_str(), &present) != 0) {
    if (errno != ENOENT) fail("cannot look at the file");
    open_temporary(0666, false);
    return;
  }
  if (S_ISDIR(present.st_mode)) {
    errno = EISDIR;
    fail("cannot write");
  }
  if (!S_ISREG(present.st_mode)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot open for writing");
    return;
  }
  // A rename would replace a read-only file without asking.
  if (::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) fail("cannot write");
  target_path_ = follow_links(path_);
  open_temporary(present.st_mode & kPermissionBits, true);
}

FileSink::~FileSink() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
}

void FileSink::open_temporary(unsigned mode, bool keeps_mode) {
  static std::atomic<unsigned> counter{0};
  // A short name of its own: appending to the target's could pass the limit on name lengths.
  const std::string stem = folder_of(target_path_) + ".proton-" + std::to_string(::getpid()) + "-";
  do {
    temporary_path_ = stem + std::to_string(counter++) + ".tmp";
    descriptor_ = ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) {
    temporary_path_.clear();
    fail("cannot create a file in its folder");
  }
  // The umask took bits away from what the old file had. File systems without permissions refuse;
  // the new file then has their only mode.
  if (keeps_mode) (void)!::fchmod(descriptor_, mode);
}

void FileSink::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() >= kBufferBytes) {
    write_all(bytes);
  } else {
    buffer_.append(bytes);
  }
}

void FileSink::commit() {
  flush();
  // Devices and pipes answer that they cannot be synced: nothing is lost by that.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) {
    fail("cannot write to the disk");
  }
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0 && errno != EINTR) fail("cannot finish writing");
  if (temporary_path_.empty()) return;
  if (::rename(temporary_path_.c_str(), target_path_.c_str()) != 0) {
    fail("cannot rename the finished file");
  }
  temporary_path_.clear();
  sync_folder();
}

void FileSink::flush() {
  write_all(buffer_);
  buffer_.clear();
}

void FileSink::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

/// Makes the new name survive a power cut. The file is whole under its name already, so a folder
/// that cannot be synced is no failure.
void FileSink::sync_folder() const {
  const std::string folder = folder_of(target_path_);
  const int descriptor =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)!::fsync(descriptor);
  ::close(descriptor);
}

void FileSink::fail(const char* action) const {
  throw std::system_error(errno, std::generic_category(), path_ + ": " + action);
}

}  // namespace proton
