// SignalWatch: ctrl-C and SIGTERM as a call on a thread of its own, without a handler and so
// without a global.
#ifndef SLACKLINE_CORE_BASE_SIGNALS_H_
#define SLACKLINE_CORE_BASE_SIGNALS_H_

#include <csignal>
#include <functional>
#include <thread>

namespace slackline {

class SignalWatch {
 public:
  // Calls `on_signal` once for every SIGINT or SIGTERM. Threads made later do not see them; make it
  // before any that would.
  explicit SignalWatch(std::function<void()> on_signal);
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();  // Signals mean what they meant before.

 private:
  void Watch(const std::function<void()>& on_signal) const;

  sigset_t before_{};
  int signals_ = -1;  // A signalfd.
  int stop_ = -1;     // An eventfd.
  std::jthread thread_;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_BASE_SIGNALS_H_
