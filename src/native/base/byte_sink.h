/// Where writers put bytes: memory, or a file that gets its name only when it is whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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
/// without a commit, it removes the temporary file. Throws std::system_error, path named.
class FileSink : public ByteSink {
 public:
  explicit FileSink(std::string path);
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  void write(std::string_view bytes) override;
  void commit();

 private:
  void flush();

  std::string path_;
  std::string temporary_path_;
  std::string buffer_;
  int descriptor_ = -1;
};

}  // namespace proton
