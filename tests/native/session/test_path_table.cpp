#include "session/scopes/path_table.h"

#include "check.h"

using namespace proton;

TEST(a_path_is_its_parent_and_a_frame) {
  PathTable paths;
  const PathId a = paths.child(kRootPath, FrameId::scope(7));
  const PathId b = paths.child(a, FrameId::python(7));
  CHECK_EQ(paths.child(kRootPath, FrameId::scope(7)), a);
  CHECK(paths.child(kRootPath, FrameId::state(7)) != a);
  CHECK_EQ(paths.parent(b), a);
  CHECK_EQ(paths.depth(b), 2);
  CHECK_EQ(paths.frame(b).number(), 7);
  CHECK(paths.frame(b).kind() == FrameKind::kPython);
  CHECK(paths.frame(kRootPath).kind() == FrameKind::kRoot);
}

TEST(the_frames_of_a_path_come_innermost_first) {
  PathTable paths;
  const PathId a = paths.child(kRootPath, FrameId::scope(1));
  const PathId b = paths.child(a, FrameId::state(2));
  const std::vector<FrameId> frames = paths.frames(b);
  CHECK_EQ(frames.size(), 2);
  CHECK_EQ(frames[0].number(), 2);
  CHECK_EQ(frames[1].number(), 1);
  CHECK(paths.frames(kRootPath).empty());
  CHECK(paths.frames(b + 1).empty());  // of before the table was cleared
}
