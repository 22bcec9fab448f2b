/// Files get their name when they are whole, and leave nothing behind when they fail.
#include "base/byte_sink.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

#include "check.h"

namespace fs = std::filesystem;
using proton::FileSink;

namespace {

/// A folder of its own for one test, removed after it.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "proton-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  size_t count() const {
    return std::distance(fs::directory_iterator(path_), fs::directory_iterator());
  }

 private:
  fs::path path_;
};

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write(const std::string& path, std::string_view bytes) {
  FileSink sink(path);
  sink.write(bytes);
  sink.commit();
}

/// The error that writing `bytes` to `path` ends in.
std::optional<std::system_error> failure(const std::string& path, std::string_view bytes) {
  try {
    write(path, bytes);
  } catch (const std::system_error& error) {
    return error;
  }
  return std::nullopt;
}

void check_failure(const std::string& path, std::string_view bytes, int code) {
  const std::optional<std::system_error> error = failure(path, bytes);
  CHECK(error.has_value());
  if (!error) return;
  CHECK_EQ(error->code().value(), code);
  CHECK(std::string(error->what()).starts_with(path + ": cannot "));
}

/// Files of this process may not grow past `bytes` while this lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

/// Root may write everything: while this lives, it is not root.
class Unprivileged {
 public:
  Unprivileged() {
    if (user_ == 0) CHECK_EQ(::seteuid(65'534), 0);
  }
  ~Unprivileged() {
    if (user_ == 0) CHECK_EQ(::seteuid(0), 0);
  }

 private:
  uid_t user_ = ::geteuid();
};

}  // namespace

TEST(memory_keeps_what_was_written) {
  proton::MemorySink sink;
  sink.write("a");
  sink.write("bc");
  CHECK_EQ(sink.take(), "abc");
}

TEST(a_file_appears_whole_on_commit) {
  const Folder folder;
  const std::string path = folder.file("run.hatchet");
  {
    FileSink sink(path);
    sink.write("one ");
    CHECK(!fs::exists(path));
    sink.write("two");
    sink.commit();
  }
  CHECK_EQ(read(path), "one two");
  CHECK_EQ(folder.count(), 1u);
}

TEST(pieces_of_every_size_arrive_in_order) {
  const Folder folder;
  const std::string path = folder.file("run");
  std::string expected;
  {
    FileSink sink(path);
    for (const size_t size : {1, 65'535, 65'536, 1, 65'537, 300'000, 0, 7}) {
      const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
      sink.write(piece);
      expected += piece;
    }
    sink.commit();
  }
  CHECK(read(path) == expected);
}

TEST(without_commit_the_old_file_stands_and_the_temporary_one_is_gone) {
  const Folder folder;
  const std::string path = folder.file("run");
  write(path, "old");
  {
    FileSink sink(path);
    sink.write(std::string(200'000, 'x'));
    CHECK_EQ(folder.count(), 2u);
  }
  CHECK_EQ(read(path), "old");
  CHECK_EQ(folder.count(), 1u);
}

TEST(readers_of_the_old_file_keep_it) {
  const Folder folder;
  const std::string path = folder.file("run");
  write(path, "old");
  std::ifstream reader(path);
  write(path, "new");
  std::string seen;
  reader >> seen;
  CHECK_EQ(seen, "old");
  CHECK_EQ(read(path), "new");
}

TEST(a_new_file_obeys_the_umask_and_a_replaced_one_keeps_its_mode) {
  const Folder folder;
  const std::string path = folder.file("run");
  const mode_t before = ::umask(027);
  write(path, "a");
  CHECK(fs::status(path).permissions() == fs::perms(0640));
  fs::permissions(path, fs::perms(0666));
  write(path, "b");
  ::umask(before);
  CHECK(fs::status(path).permissions() == fs::perms(0666));
}

TEST(a_symbolic_link_is_followed) {
  const Folder folder;
  write(folder.file("target"), "old");
  fs::create_symlink("target", folder.file("link"));
  write(folder.file("link"), "new");
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK_EQ(read(folder.file("target")), "new");
}

TEST(names_of_the_longest_length_are_written) {
  const Folder folder;
  const std::string path = folder.file(std::string(255, 'n'));
  write(path, "x");
  CHECK_EQ(read(path), "x");
}

TEST(two_writers_of_one_name_do_not_mix) {
  const Folder folder;
  const std::string path = folder.file("run");
  FileSink first(path);
  FileSink second(path);
  first.write("first");
  second.write("second");
  first.commit();
  CHECK_EQ(read(path), "first");
  second.commit();
  CHECK_EQ(read(path), "second");
  CHECK_EQ(folder.count(), 1u);
}

TEST(a_missing_folder_is_an_error_that_names_the_path) {
  const Folder folder;
  check_failure(folder.file("missing/run"), "x", ENOENT);
}

TEST(a_nul_in_the_name_is_an_error_not_the_end_of_the_name) {
  const Folder folder;
  const auto error = failure(folder.file(std::string("run\0.txt", 8)), "x");
  CHECK(error.has_value());
  CHECK_EQ(error->code().value(), EINVAL);
  CHECK(std::string(error->what()).starts_with(folder.file("run\\0.txt: cannot write")));
  CHECK_EQ(folder.count(), 0u);
}

TEST(a_folder_in_the_way_is_an_error) {
  const Folder folder;
  fs::create_directory(folder.file("run"));
  check_failure(folder.file("run"), "x", EISDIR);
  CHECK_EQ(folder.count(), 1u);
}

TEST(a_file_taken_for_a_folder_is_an_error) {
  const Folder folder;
  write(folder.file("run"), "x");
  check_failure(folder.file("run/part"), "x", ENOTDIR);
}

TEST(a_read_only_file_is_not_replaced) {
  const Unprivileged nobody;
  const Folder folder;
  const std::string path = folder.file("run");
  write(path, "old");
  fs::permissions(path, fs::perms(0444));
  check_failure(path, "new", EACCES);
  CHECK_EQ(read(path), "old");
}

TEST(a_folder_that_may_not_be_written_to_is_an_error) {
  const Unprivileged nobody;
  const Folder folder;
  fs::create_directory(folder.file("closed"));
  fs::permissions(folder.file("closed"), fs::perms(0555));
  check_failure(folder.file("closed/run"), "x", EACCES);
}

TEST(a_device_is_written_to_not_replaced) {
  write("/dev/null", "x");
  CHECK(fs::is_character_file("/dev/null"));
}

TEST(a_full_disk_is_an_error_on_a_device) { check_failure("/dev/full", "x", ENOSPC); }

TEST(a_file_that_may_not_grow_fails_and_leaves_nothing) {
  const Folder folder;
  const std::string path = folder.file("run");
  write(path, "old");
  {
    const FileSizeLimit limit(100'000);
    check_failure(path, std::string(200'000, 'x'), EFBIG);
  }
  CHECK_EQ(read(path), "old");
  CHECK_EQ(folder.count(), 1u);
}
