//===- Interrupt.cpp ------------------------------------------------------===//

#include "Interrupt.h"

#include <csignal>

namespace vdnn::tool {

static volatile std::sig_atomic_t flag = 0;

static void handle(int) { flag = 1; }

void catchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = handle;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return flag != 0; }

} // namespace vdnn::tool
