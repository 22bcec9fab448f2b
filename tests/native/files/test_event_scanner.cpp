/// Events of chrome traces as columns.
#include "files/event_scanner.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "check.h"
#include "files/file_text.h"

using namespace proton;

namespace {

const std::string kSpan = R"({"ph":"X","name":"a \" b","ts":1.5,"dur":2,"args":{"scope_id":4}})";
const std::string kOther = R"({"ph":"X","name":"a \" b","ts":9,"dur":1,"args":{"scope_id":5}})";

}  // namespace

TEST(events_that_differ_in_times_only_are_one_shape) {
  EventScanner scanner;
  CHECK(scanner.scan("{\"x\":[1,{}], \"traceEvents\":[" + kSpan + " ,\n" + kOther + "]}"));
  CHECK_EQ(scanner.outside, std::string(R"({"x":[1,{}],"traceEvents":[]})"));
  CHECK_EQ(scanner.shapes.size(), size_t{1});
  CHECK_EQ(std::string(scanner.heads.texts()[0]), std::string(R"({"ph":"X","name":"a \" b"})"));
  CHECK_EQ(std::string(scanner.arguments.texts()[0]), std::string("{}"));
  const auto found = scanner.bind({{EventRole::kSpan, 0, 0}});
  CHECK_EQ(found->start_ns[0], 1500.0);
  CHECK_EQ(found->duration_ns[1], 1000.0);
}

TEST(call_stacks_stand_apart_from_other_arguments) {
  EventScanner scanner;
  CHECK(scanner.scan(R"([{"args":{"call_stack":["a"],"x":1},"ph":"X"},
                         {"args":{"x":1,"call_stack":["b"]},"ph":"X"}, {"ph":"X"}])"));
  CHECK_EQ(scanner.heads.texts().size(), size_t{1});
  CHECK_EQ(std::string(scanner.arguments.texts()[0]), std::string(R"({"x":1})"));
  CHECK_EQ(std::string(scanner.stacks.texts()[1]), std::string(R"(["b"])"));
  CHECK_EQ(scanner.shapes.size(), size_t{3});
  CHECK_EQ(scanner.shapes[2].arguments, EventScanner::kNoText);
  EventScanner other;
  CHECK(!other.scan(R"([{"args":{"call_stack":[],"call_stack":[]}}])"));
  EventScanner twice;
  CHECK(!twice.scan(R"([{"args":{},"args":{}}])"));
}

TEST(ends_of_flows_belong_to_the_spans_around_them) {
  EventScanner scanner;
  CHECK(
      scanner.scan(R"([{"ph":"X","ts":1,"dur":5},{"ph":"s","id":3,"ts":2},{"ph":"f","id":3,"ts":5},
                         {"ph":"f","id":4,"ts":5}])"));
  const auto found = scanner.bind(
      {{EventRole::kSpan, 0, 0}, {EventRole::kSource, 0, 0}, {EventRole::kTarget, 0, 0}});
  CHECK_EQ(found->flows.size(), size_t{1});
  CHECK_EQ(found->unbound, uint64_t{1});
}

TEST(text_that_is_cut_off_is_refused_at_any_length) {
  const std::string text = "{\"traceEvents\":[" + kSpan + "]}";
  for (size_t size = 0; size < text.size(); ++size) {
    EventScanner scanner;
    CHECK(!scanner.scan(std::string_view(text).substr(0, size)));
  }
}

TEST(a_file_is_read_whole_and_its_pages_are_given_back) {
  std::string path = "/tmp/event_scanner_XXXXXX";
  std::FILE* file = ::fdopen(::mkstemp(path.data()), "w");
  const std::string part(1 << 20, 'x');
  for (int i = 0; i < 40; ++i) std::fwrite(part.data(), 1, part.size(), file);
  std::fclose(file);
  auto text = FileText::read(path);
  CHECK(text.has_value());
  CHECK_EQ(text->view().size(), 40 * part.size());
  text->release_before(33 * part.size());
  CHECK_EQ(text->view()[35 * part.size()], 'x');
  CHECK_EQ(text->view()[0], '\0');
  std::remove(path.c_str());
  CHECK(!FileText::read(path).has_value());
}
