/// Where writers put bytes: memory, or a file that gets its name only when it is whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace proton {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::string_view bytes) = 0;
};

class MemorySink : public ByteSink {
 public:
  void write(std::string_view bytes) override { bytes_.append(bytes); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Writes to a temporary name beside `path`; `commit` flushes, syncs and renames. Destroyed
/// without a commit, it removes the temporary file, and what stood under `path` stands untouched.
/// A symbolic link is followed; a device or pipe is written to directly, as it cannot be replaced.
/// Throws std::system_error with the errno as its code, and the path first in its text.
class FileSink : public ByteSink {
 public:
  explicit FileSink(std::string path);
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  void write(std::string_view bytes) override;
  void commit();

 private:
  void open_temporary(unsigned mode, bool keeps_mode);
  void flush();
  void write_all(std::string_view bytes);
  void sync_folder() const;
  [[noreturn]] void fail(const char* action) const;  // reports the current errno

  std::string path_;            // as given, for messages
  std::string target_path_;     // with symbolic links followed
  std::string temporary_path_;  // empty: nothing to rename or remove
  std::string buffer_;
  int descriptor_ = -1;
};

}  // namespace proton
