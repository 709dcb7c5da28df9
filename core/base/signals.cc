#include "core/base/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>

#include "core/base/check.h"

namespace slackline {

SignalWatch::SignalWatch(std::function<void()> on_signal) {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGINT);
  sigaddset(&watched, SIGTERM);
  SLACKLINE_CHECK(pthread_sigmask(SIG_BLOCK, &watched, &before_) == 0);
  signals_ = signalfd(-1, &watched, SFD_CLOEXEC);
  stop_ = eventfd(0, EFD_CLOEXEC);
  SLACKLINE_CHECK(signals_ >= 0 && stop_ >= 0);
  thread_ = std::jthread([this, on_signal = std::move(on_signal)] { Watch(on_signal); });
}

SignalWatch::~SignalWatch() {
  const std::uint64_t one = 1;
  SLACKLINE_CHECK(write(stop_, &one, sizeof one) == sizeof one);
  thread_.join();
  close(signals_);
  close(stop_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void SignalWatch::Watch(const std::function<void()>& on_signal) const {
  for (;;) {
    pollfd waiting[] = {{.fd = signals_, .events = POLLIN, .revents = 0},
                        {.fd = stop_, .events = POLLIN, .revents = 0}};
    if (poll(waiting, 2, -1) < 0) continue;  // Interrupted.
    if (waiting[1].revents != 0) return;
    signalfd_siginfo info;
    if (read(signals_, &info, sizeof info) == sizeof info) on_signal();
  }
}

}  // namespace slackline
