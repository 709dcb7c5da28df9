#include "tools/bench_push_pull.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <zmq.hpp>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/strings.h"
#include "core/runtime/zmq_runtime.h"
#include "core/session/session.h"
#include "server/server_node.h"

namespace slackline {
namespace {

constexpr NodeId kClient{0x5C1E47};
constexpr NodeId kServer{0x5E4E4};
// The server as the workers know it: a connection of their own, apart from the scheduler's.
constexpr NodeId kServerOfWorkers = kLastAlias;
constexpr Duration kWarmUp = 200ms;

// Plays the scheduler to one server, and then `window` workers, each with one operation in flight.
class BenchClient : public Node {
 public:
  BenchClient(const Options& options, Duration a_repeat, int repeats)
      : options_(options), a_repeat_(a_repeat), repeats_(repeats) {
    spec_.tensors.push_back({"parameters", {options.model.timing_elements}, {}});
    gradient_ = Buffer::Allocate(options.model.timing_elements * sizeof(float));
    for (float& value : gradient_.mutable_floats()) value = 1.0f;
  }

  void OnStart(Time, Outbox&) override {}
  void OnTimer(Time now, TimerId, Outbox& out) override {
    for (Worker& worker : workers_) worker.session->OnTimer(now, out);
  }
  void OnJobDone(Time, JobId, Outbox&) override {}
  void OnInterrupt(Time, Outbox& out) override { out.Exit(Unavailable("interrupted")); }
  std::uint64_t StateDigest() const override { return 0; }

  void OnMessage(Time now, NodeId from, const Message& message, Outbox& out) override {
    if (const auto* hello = std::get_if<Hello>(&message.body))
      return Welcomed(now, from, *hello, out);
    if (const auto* heartbeat = std::get_if<Heartbeat>(&message.body)) {
      return out.SendTo(from, HeartbeatAck{1, heartbeat->state});
    }
    std::vector<SessionEvent> events;
    for (Worker& worker : workers_) {
      // Answers name the rank they are for.
      if (const auto* reply = std::get_if<PullReply>(&message.body);
          reply != nullptr && reply->rank != worker.rank)
        continue;
      if (!worker.session->OnMessage(now, from, message, out, events)) continue;
      for (SessionEvent& event : events) Carry(now, worker, event, out);
      return;
    }
  }

  const std::vector<double>& rates() const { return rates_; }
  std::vector<Duration>& latencies() { return latencies_; }

 private:
  struct Worker {
    std::uint32_t rank;
    std::optional<Session> session;
    std::uint64_t round = 0;
    Time asked{};
    std::vector<std::uint64_t> versions{};
  };

  void Welcomed(Time now, NodeId server, const Hello& hello, Outbox& out) {
    out.SendTo(server, Welcome{Role::kServer, 0});
    const ServerEntry entry{.rank = 0,
                            .node = kServerOfWorkers,
                            .address = hello.address,
                            .range = {0, options_.model.timing_elements}};
    if (workers_.empty()) {
      out.connects.push_back({kServerOfWorkers, hello.address});
      workers_.reserve(options_.cluster.workers);
      for (std::uint32_t rank = 0; rank < options_.cluster.workers; ++rank) {
        Worker& worker = workers_.emplace_back(Worker{.rank = rank});
        worker.session.emplace(
            Session::Settings{.rank = rank,
                              .retry = 1s,
                              .chunk_elements = options_.cluster.segment_bytes / sizeof(float)},
            spec_, std::vector<ServerEntry>{entry});
      }
    }
    out.SendTo(server, Roster{.epoch = 1,
                              .phase = Phase::kRunning,
                              .workers = options_.cluster.workers,
                              .rounds = 1,
                              .parameters = spec_,
                              .servers = {entry}});
    // One session after another: an answer to an opening names its rank, but all share one sender.
    workers_[0].session->Open(now, out);
  }

  void Carry(Time now, Worker& worker, SessionEvent& event, Outbox& out) {
    if (std::holds_alternative<SessionOpenedEvent>(event)) {
      worker.session->StartPull(now, 0, 0, {}, out);
      if (worker.rank + 1 < workers_.size()) workers_[worker.rank + 1].session->Open(now, out);
    } else if (auto* pulled = std::get_if<PullDoneEvent>(&event)) {
      if (worker.round > 0) Count(now, now - worker.asked, out);
      worker.asked = now;
      ++worker.round;
      worker.session->StartPushAndPull(now,
                                       {.seq = worker.round - 1,
                                        .dense = gradient_,
                                        .rows = {},
                                        .versions = std::move(pulled->content.versions),
                                        .samples = 1},
                                       worker.round, worker.round, out);
    } else if (const auto* fenced = std::get_if<SessionFencedEvent>(&event)) {
      out.Exit(fenced->status);
    }
  }

  void Count(Time now, Duration latency, Outbox& out) {
    ++operations_;
    if (!repeat_began_.has_value()) {
      if (!first_.has_value()) first_ = now;
      if (now - *first_ < kWarmUp) return;
      repeat_began_ = now;
      operations_ = 0;
      return;
    }
    latencies_.push_back(latency);
    if (now - *repeat_began_ < a_repeat_) return;
    rates_.push_back(static_cast<double>(operations_) / Seconds(now - *repeat_began_));
    repeat_began_ = now;
    operations_ = 0;
    if (static_cast<int>(rates_.size()) == repeats_) out.Exit(Status::Ok());
  }

  const Options options_;
  const Duration a_repeat_;
  const int repeats_;
  ParameterSpec spec_;
  Buffer gradient_;
  std::vector<Worker> workers_;
  std::optional<Time> first_;
  std::optional<Time> repeat_began_;
  std::uint64_t operations_ = 0;
  std::vector<double> rates_;
  std::vector<Duration> latencies_;
};

}  // namespace

Rate RateOf(std::vector<double> repeats) {
  SLACKLINE_CHECK(!repeats.empty());
  std::sort(repeats.begin(), repeats.end());
  return {repeats[repeats.size() / 2], repeats.front(), repeats.back()};
}

Result<PushPullResult> BenchPushPull(const PushPullCase& what, std::uint64_t chunk_bytes,
                                     Duration a_repeat, int repeats) {
  Options options;
  options.model.timing_elements = what.bytes / sizeof(float);
  options.cluster.workers = what.window;
  options.cluster.servers = 1;
  options.cluster.evaluate = false;
  options.cluster.max_snapshots = what.window + 1;
  options.cluster.segment_bytes = chunk_bytes;
  options.recipe.gate = "asp";
  options.recipe.rule.name = "sgd";
  options.recipe.rule.lr = 1e-6;
  SLACKLINE_ASSIGN_OR_RETURN(const auto client_runtime,
                             ZmqRuntime::Create({.self = kClient,
                                                 .run_id = "bench",
                                                 .listen = true,
                                                 .network = options.network,
                                                 .time_model = {},
                                                 .on_report = {},
                                                 .on_note = {}}));
  options.network.scheduler = client_runtime->address().substr(std::strlen("tcp://"));
  SLACKLINE_ASSIGN_OR_RETURN(const auto server_runtime,
                             ZmqRuntime::Create({.self = kServer,
                                                 .run_id = "bench",
                                                 .listen = true,
                                                 .network = options.network,
                                                 .time_model = {},
                                                 .on_report = {},
                                                 .on_note = {}}));
  ServerNode server(kServer, options, server_runtime->address());
  Status server_status;
  std::jthread server_thread([&] { server_status = server_runtime->Run(server); });
  BenchClient client(options, a_repeat, repeats);
  const Status client_status = client_runtime->Run(client);
  server_runtime->Interrupt();
  server_runtime->Interrupt();
  server_thread.join();
  SLACKLINE_RETURN_IF_ERROR(client_status);
  std::vector<Duration>& latencies = client.latencies();
  std::sort(latencies.begin(), latencies.end());
  return PushPullResult{.operations = RateOf(client.rates()),
                        .latency_p50 = latencies[latencies.size() / 2],
                        .latency_p99 = latencies[latencies.size() * 99 / 100]};
}

Result<Rate> BenchRawEcho(const PushPullCase& what, Duration a_repeat, int repeats) {
  try {
    // Lent to every message, as the real path lends its bytes: it must outlive the sockets.
    const std::vector<std::byte> bytes(what.bytes);
    zmq::context_t server_context, client_context;
    zmq::socket_t server(server_context, zmq::socket_type::router);
    server.set(zmq::sockopt::linger, 0);
    server.bind("tcp://127.0.0.1:*");
    const std::string address = server.get(zmq::sockopt::last_endpoint);
    std::jthread echo([&](const std::stop_token& stop) {
      server.set(zmq::sockopt::rcvtimeo, 100);
      zmq::message_t id, body;
      while (!stop.stop_requested()) {
        if (!server.recv(id).has_value()) continue;
        if (!server.recv(body).has_value()) continue;
        server.send(id, zmq::send_flags::sndmore);
        server.send(body, zmq::send_flags::none);
      }
    });
    zmq::socket_t client(client_context, zmq::socket_type::dealer);
    client.set(zmq::sockopt::linger, 0);
    client.set(zmq::sockopt::rcvtimeo, 10000);
    client.connect(address);
    const auto send = [&] {
      client.send(
          zmq::message_t(const_cast<std::byte*>(bytes.data()), bytes.size(), [](void*, void*) {}),
          zmq::send_flags::none);
    };
    for (std::uint32_t i = 0; i < what.window; ++i) send();
    const SteadyClock clock;
    std::vector<double> rates;
    Time began = clock.Now();
    std::uint64_t operations = 0;
    bool warm = false;
    zmq::message_t reply;
    while (static_cast<int>(rates.size()) < repeats) {
      if (!client.recv(reply).has_value())
        return DeadlineExceeded("raw echo: no answer within 10 s");
      send();
      ++operations;
      const Time now = clock.Now();
      if (now - began < (warm ? a_repeat : kWarmUp)) continue;
      if (warm) rates.push_back(static_cast<double>(operations) / Seconds(now - began));
      warm = true;
      began = now;
      operations = 0;
    }
    echo.request_stop();
    echo.join();
    client.close();
    return RateOf(rates);
  } catch (const zmq::error_t& error) {
    return Internal(StrCat("ZeroMQ: ", error.what()));
  }
}

}  // namespace slackline
