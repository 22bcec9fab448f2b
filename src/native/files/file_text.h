/// The whole text of a file, whose pages are given back as they are read: no more of it in memory
/// than is still to come.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace proton {

class FileText {
 public:
  /// The text of the file at `path`; nothing where it cannot be read.
  static std::optional<FileText> read(const std::string& path);

  FileText(FileText&& other) noexcept;
  FileText& operator=(FileText&&) = delete;
  ~FileText();

  std::string_view view() const { return {pages_, size_}; }
  /// Give back what stands before `place`; it is not read any more.
  void release_before(size_t place);

 private:
  FileText(char* pages, size_t size) : pages_(pages), size_(size) {}

  char* pages_;
  size_t size_;
  size_t released_ = 0;
};

}  // namespace proton
