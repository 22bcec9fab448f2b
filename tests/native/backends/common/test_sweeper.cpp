// The thread that sweeps every so many launches, and when it is woken.
#include "backends/common/sweeper.h"

#include <semaphore>

#include "check.h"

namespace {

std::counting_semaphore<8> swept(0);

bool has_swept() { return swept.try_acquire_for(std::chrono::seconds(60)); }

}  // namespace

TEST(a_sweep_comes_every_so_many_launches_and_when_it_is_asked_for) {
  auto& sweeper = *new proton::Sweeper;  // never freed: the thread never ends
  sweeper.wake();                        // nobody is there yet
  sweeper.start([] { swept.release(); });
  sweeper.on_launch(1);
  sweeper.on_launch(proton::Sweeper::kEvery - 1);
  sweeper.on_launch(proton::Sweeper::kEvery);
  CHECK(has_swept());
  sweeper.on_launch(proton::Sweeper::kEvery + 1);
  sweeper.on_launch(5);  // of a thread that was interrupted
  CHECK(!swept.try_acquire());
  sweeper.wake();
  CHECK(has_swept());
  CHECK(!swept.try_acquire());
}
