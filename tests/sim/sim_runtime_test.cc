#include "core/runtime/sim_runtime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/base/strings.h"
#include "tests/support/function_node.h"

namespace slackline {
namespace {

std::unique_ptr<SimRuntime> Make(SimRuntimeOptions options = {}) {
  return std::move(SimRuntime::Create(std::move(options))).value();
}

Message Text(std::string text) { return BarrierRelease{std::move(text)}; }

std::string TextOf(const Message& message) { return std::get<BarrierRelease>(message.body).name; }

// Adds a node made of functions and lets the test set them up for each life.
NodeId Add(SimRuntime& runtime, Role role, std::uint32_t rank,
           std::function<void(FunctionNode&)> set_up, Time start = 0ns) {
  return runtime.AddNode(
      role, rank,
      [set_up](NodeId) {
        auto node = std::make_unique<FunctionNode>();
        set_up(*node);
        return node;
      },
      start);
}

TEST(SimRuntime, TimersComeInOrderOfTimeAndThenOfIssue) {
  auto runtime = Make();
  std::vector<std::string> seen;
  Add(*runtime, Role::kWorker, 0, [&](FunctionNode& node) {
    node.on_start = [](Time, Outbox& out) {
      out.SetTimer(TimerId{3}, 5ms);
      out.SetTimer(TimerId{1}, 5ms);
      out.SetTimer(TimerId{2}, 1ms);
      out.SetTimer(TimerId{4}, -7ms);  // Past: due at once.
    };
    node.on_timer = [&](Time now, TimerId id, Outbox& out) {
      seen.push_back(StrCat(static_cast<std::uint64_t>(id), "@", now.count()));
      if (seen.size() == 4) out.Exit(Status::Ok());
    };
  });

  const Status status = runtime->Run();

  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(StrJoin(seen), "4@0, 2@1000000, 3@5000000, 1@5000000");
  EXPECT_EQ(runtime->now(), 5ms);
}

TEST(SimRuntime, SettingATimerAgainMovesIt) {
  auto runtime = Make();
  std::vector<Time> fired;
  Add(*runtime, Role::kWorker, 0, [&](FunctionNode& node) {
    node.on_start = [](Time, Outbox& out) {
      out.SetTimer(TimerId{1}, 2ms);
      out.SetTimer(TimerId{2}, 10ms);
      out.SetTimer(TimerId{1}, 7ms);
      out.SetTimer(TimerId{2}, 3ms);
    };
    node.on_timer = [&](Time now, TimerId, Outbox& out) {
      fired.push_back(now);
      if (fired.size() == 2) out.Exit(Status::Ok());
    };
  });

  EXPECT_TRUE(runtime->Run().ok());

  EXPECT_EQ(fired, (std::vector<Time>{3ms, 7ms}));
}

TEST(SimRuntime, ATimerMovedAMillionTimesFiresOnceAtItsLastTime) {
  auto runtime = Make();
  constexpr int kMoves = 1'000'000;
  int moves = 0;
  std::vector<Time> fired;
  std::size_t pending_max = 0;
  Add(*runtime, Role::kWorker, 0, [&](FunctionNode& node) {
    node.on_start = [](Time, Outbox& out) { out.SetTimer(TimerId{1}, 0ns); };
    node.on_timer = [&](Time now, TimerId id, Outbox& out) {
      if (id == TimerId{2}) {
        fired.push_back(now);
        return out.Exit(Status::Ok());
      }
      pending_max = std::max(pending_max, runtime->pending());
      out.SetTimer(TimerId{2}, now + 1h);
      if (++moves < kMoves) out.SetTimer(TimerId{1}, now + 1us);
    };
  });

  EXPECT_TRUE(runtime->Run().ok());

  EXPECT_EQ(fired, std::vector<Time>{1h + (kMoves - 1) * 1us});
  EXPECT_LT(pending_max, 4096u);
}

TEST(SimRuntime, MessagesCrossTheNetworkAndBearTheirSender) {
  for (const bool encode : {true, false}) {
    SCOPED_TRACE(encode);
    SimRuntimeOptions options;
    options.sim.link_latency_ms = 2;
    options.sim.encode = encode;
    auto runtime = Make(options);
    std::string seen;
    NodeId worker{};
    Add(*runtime, Role::kScheduler, 0, [&](FunctionNode& node) {
      node.on_message = [&](Time now, NodeId from, const Message& message, Outbox& out) {
        EXPECT_EQ(from, worker);
        seen += StrCat(TextOf(message), "@", now.count());
        out.SendTo(from, Text("back"));
        out.Exit(Status::Ok());
      };
    });
    worker = Add(*runtime, Role::kWorker, 0, [&](FunctionNode& node) {
      node.on_start = [](Time, Outbox& out) { out.SendTo(kSchedulerNode, Text("there")); };
      node.on_message = [&](Time now, NodeId from, const Message& message, Outbox& out) {
        EXPECT_EQ(from, kSchedulerNode);
        seen += StrCat(" ", TextOf(message), "@", now.count());
        out.Exit(Unavailable("enough"));
      };
    });

    EXPECT_TRUE(runtime->Run().ok());

    EXPECT_EQ(seen, "there@2000000 back@4000000");
    EXPECT_TRUE(runtime->ExitStatus(Role::kScheduler, 0).ok());
    EXPECT_EQ(runtime->ExitStatus(Role::kWorker, 0).message(), "enough");
    // The body of either message is a count of 4 bytes and its text.
    EXPECT_EQ(runtime->network().Total().header_bytes, 2 * (64u + 4u) + 5u + 4u);
  }
}

TEST(SimRuntime, TimingOnlyPayloadsTakeTheirTimeAndNoBytes) {
  SimRuntimeOptions options;
  options.sim.link_gbps = 1;
  auto runtime = Make(options);
  runtime->network().SetHeadersTakeTime(false);
  Time arrived{};
  const NodeId server = Add(*runtime, Role::kServer, 0, [&](FunctionNode& node) {
    node.on_message = [&](Time now, NodeId, const Message& message, Outbox& out) {
      EXPECT_TRUE(message.payload.timing_only());
      arrived = now;
      out.Exit(Status::Ok());
    };
  });
  Add(*runtime, Role::kWorker, 0, [&](FunctionNode& node) {
    node.on_start = [server](Time, Outbox& out) {
      Push push;
      push.count = 1u << 20;
      out.SendTo(server, Message(push, Buffer::TimingOnly(4u << 20)));
      out.Exit(Status::Ok());
    };
  });

  EXPECT_TRUE(runtime->Run().ok());

  EXPECT_EQ(arrived, Duration(8 * (4 << 20)));
}

TEST(SimRuntime, JobsRunAtOnceAndEndWhenTheirTimeIsUp) {
  SimRuntimeOptions options;
  options.sim.apply_ms = 3;
  options.evaluate_time = 20ms;
  TimeOptions time;
  time.speeds = {0.5};
  options.time_model = TimeModel::Create(time, 1).value();
  auto runtime = Make(options);
  bool ran = false;
  std::vector<std::string> done;
  Add(*runtime, Role::kWorker, 0, [&](FunctionNode& node) {
    node.on_start = [&](Time, Outbox& out) {
      out.jobs.push_back({JobId{1}, Job::Kind::kEvaluate, 0, 0, 1.0, {}});
      out.jobs.push_back({JobId{2}, Job::Kind::kCompute, 0, 0, 1.5, [&] { ran = true; }});
      out.jobs.push_back({JobId{3}, Job::Kind::kApply, 0, 0, 1.0, {}});
      out.SetTimer(TimerId{1}, 1ns);
    };
    node.on_timer = [&](Time, TimerId, Outbox&) { EXPECT_TRUE(ran); };
    node.on_job_done = [&](Time now, JobId id, Outbox& out) {
      done.push_back(StrCat(static_cast<std::uint64_t>(id), "@", now.count()));
      if (done.size() == 3) out.Exit(Status::Ok());
    };
  });

  EXPECT_TRUE(runtime->Run().ok());

  // Without a model of time a step takes 10 ms; here 1.5 steps at half the speed.
  EXPECT_EQ(StrJoin(done), "3@3000000, 1@20000000, 2@30000000");
}

TEST(SimRuntime, AJobWithoutDurationIsTheNextInputOfAll) {
  auto runtime = Make();
  std::string order;
  Add(*runtime, Role::kServer, 0, [&](FunctionNode& node) {
    node.on_start = [](Time, Outbox& out) {
      out.SetTimer(TimerId{1}, 1ms);
      out.SetTimer(TimerId{2}, 1ms);
    };
    node.on_timer = [&](Time, TimerId id, Outbox& out) {
      order += StrCat("t", static_cast<std::uint64_t>(id));
      if (id == TimerId{1}) out.jobs.push_back({JobId{1}, Job::Kind::kApply, 0, 0, 1.0, {}});
      if (id == TimerId{2}) out.Exit(Status::Ok());
    };
    node.on_job_done = [&](Time now, JobId, Outbox&) {
      EXPECT_EQ(now, 1ms);
      order += "j";
    };
  });

  EXPECT_TRUE(runtime->Run().ok());

  EXPECT_EQ(order, "t1jt2");
}

// Worker 0 asks the scheduler every millisecond until it has had ten answers in one life.
void AddAskers(SimRuntime& runtime, std::vector<std::string>& log) {
  Add(runtime, Role::kScheduler, 0, [](FunctionNode& node) {
    node.on_message = [](Time, NodeId from, const Message& message, Outbox& out) {
      out.SendTo(from, Text(TextOf(message)));
      if (TextOf(message) == "10") out.Exit(Status::Ok());
    };
  });
  runtime.AddNode(Role::kWorker, 0, [&log](NodeId self) {
    auto node = std::make_unique<FunctionNode>();
    auto answers = std::make_shared<int>(0);
    node->on_start = [&log, self](Time now, Outbox& out) {
      log.push_back(StrCat("life ", self, " at ", now.count()));
      out.SetTimer(TimerId{1}, now + 1ms);
    };
    node->on_timer = [answers](Time now, TimerId, Outbox& out) {
      out.SendTo(kSchedulerNode, Text(StrCat(*answers + 1)));
      out.SetTimer(TimerId{1}, now + 1ms);
    };
    node->on_message = [answers](Time, NodeId, const Message&, Outbox& out) {
      if (++*answers == 10) out.Exit(Status::Ok());
    };
    node->state_digest = [answers] { return static_cast<std::uint64_t>(*answers); };
    return node;
  });
}

TEST(SimRuntime, ACrashedProcessComesBackAsAnotherLifeAndForgets) {
  SimRuntimeOptions options;
  options.sim.crash = {"worker0:5.5:8"};
  options.sim.link_latency_ms = 0.7;
  auto runtime = Make(options);
  std::vector<std::string> log;
  AddAskers(*runtime, log);

  const Status status = runtime->Run();

  EXPECT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(log.size(), 2u);
  EXPECT_TRUE(log[1].ends_with(" at 8000000")) << log[1];
  EXPECT_NE(log[0].substr(0, 10), log[1].substr(0, 10));
  // The answer to the question of 5 ms was under way at the crash.
  EXPECT_EQ(runtime->counts().undeliverable, 1u);
  // The scheduler ends with question "10", which is asked 11 ms into the second life.
  EXPECT_EQ(runtime->now(), 8ms + 11ms + 700us);
}

TEST(SimRuntime, ACrashForGoodEndsThatProcess) {
  SimRuntimeOptions options;
  options.sim.crash = {"worker1:2"};
  auto runtime = Make(options);
  for (std::uint32_t rank : {0u, 1u}) {
    Add(*runtime, Role::kWorker, rank, [](FunctionNode& node) {
      node.on_start = [](Time, Outbox& out) { out.SetTimer(TimerId{1}, 5ms); };
      node.on_timer = [](Time, TimerId, Outbox& out) { out.Exit(Status::Ok()); };
    });
  }

  EXPECT_TRUE(runtime->Run().ok());

  EXPECT_TRUE(runtime->Exited(Role::kWorker, 0));
  EXPECT_FALSE(runtime->Exited(Role::kWorker, 1));
  EXPECT_EQ(runtime->FindNode(Role::kWorker, 1), nullptr);
}

TEST(SimRuntime, CrashAndRestartByHandLoseTimersAndJobs) {
  auto runtime = Make();
  int timers = 0, jobs = 0, starts = 0;
  Add(*runtime, Role::kWorker, 0, [&](FunctionNode& node) {
    node.on_start = [&](Time now, Outbox& out) {
      ++starts;
      out.SetTimer(TimerId{1}, now + 10ms);
      out.jobs.push_back({JobId{1}, Job::Kind::kCompute, 0, 0, 1.0, {}});
    };
    node.on_timer = [&](Time, TimerId, Outbox&) { ++timers; };
    node.on_job_done = [&](Time, JobId, Outbox&) { ++jobs; };
  });

  ASSERT_TRUE(runtime->RunUntil(5ms).ok());
  runtime->Crash(Role::kWorker, 0);
  runtime->Restart(Role::kWorker, 0);
  runtime->Restart(Role::kWorker, 0);  // It is alive: nothing happens.
  ASSERT_TRUE(runtime->RunUntil(12ms).ok());
  const int timers_of_first_life = timers, jobs_of_first_life = jobs;
  ASSERT_TRUE(runtime->RunUntil(20ms).ok());

  EXPECT_EQ(timers_of_first_life, 0);
  EXPECT_EQ(jobs_of_first_life, 0);
  EXPECT_EQ(starts, 2);
  EXPECT_EQ(timers, 1);
  EXPECT_EQ(jobs, 1);
}

TEST(SimRuntime, WhatIsSentToADeadLifeNeverReachesTheNext) {
  for (const Role role : {Role::kServer, Role::kScheduler}) {
    SCOPED_TRACE(role);
    SimRuntimeOptions options;
    options.sim.link_latency_ms = 5;
    auto runtime = Make(options);
    std::vector<std::string> seen;
    const NodeId target = Add(*runtime, role, 0, [&](FunctionNode& node) {
      node.on_message = [&](Time, NodeId, const Message& message, Outbox&) {
        seen.push_back(TextOf(message));
      };
    });
    Add(*runtime, Role::kWorker, 0, [target](FunctionNode& node) {
      node.on_start = [](Time, Outbox& out) { out.SetTimer(TimerId{1}, 0ns); };
      node.on_timer = [target](Time now, TimerId id, Outbox& out) {
        out.SendTo(target, Text(StrCat(now / 1ms)));
        if (now < 8ms) out.SetTimer(id, now + 4ms);
      };
    });

    ASSERT_TRUE(runtime->RunUntil(6ms).ok());  // 0 has arrived; 4 is under way.
    runtime->Crash(role, 0);
    ASSERT_TRUE(runtime->RunUntil(10ms).ok());  // 8 is sent to nobody.
    runtime->Restart(role, 0);
    ASSERT_TRUE(runtime->RunUntil(1s).ok());

    // The scheduler's name outlives it: what was sent while it was down finds the next life.
    EXPECT_EQ(StrJoin(seen), role == Role::kScheduler ? "0, 8" : "0");
  }
}

TEST(SimRuntime, TheVirtualDeadlineNamesWhoWaitsForWhat) {
  SimRuntimeOptions options;
  options.sim.deadline_s = 2;
  auto runtime = Make(options);
  Add(*runtime, Role::kScheduler, 0, [](FunctionNode& node) {
    node.on_start = [](Time, Outbox& out) { out.SetTimer(TimerId{1}, 1s); };
    node.on_timer = [](Time, TimerId, Outbox& out) { out.Exit(Status::Ok()); };
  });
  Add(*runtime, Role::kWorker, 7, [](FunctionNode& node) {
    node.on_start = [](Time, Outbox& out) { out.SetTimer(TimerId{1}, 0ns); };
    node.on_timer = [](Time now, TimerId id, Outbox& out) {
      Heartbeat heartbeat;
      heartbeat.statistics.waits.push_back({"gate", "worker 3 (clock 17)", 5});
      out.SendTo(kSchedulerNode, heartbeat);
      out.SetTimer(id, now + 300ms);
    };
  });

  const Status status = runtime->Run();

  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(),
            "at 2 s virtual, this is the virtual deadline; not exited: "
            "worker7 (waits for gate: worker 3 (clock 17))");
  EXPECT_EQ(runtime->now(), 2s);
}

TEST(SimRuntime, RunEndsWhenNothingIsLeftToHappen) {
  auto runtime = Make();
  Add(*runtime, Role::kServer, 2, [](FunctionNode&) {});

  const Status status = runtime->Run();

  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_NE(status.message().find("nothing is left to happen; not exited: server2"),
            std::string::npos)
      << status.message();
}

TEST(SimRuntime, RefusesFaultsOfProcessesThatAreNotThere) {
  for (const bool crash : {true, false}) {
    SimRuntimeOptions options;
    (crash ? options.sim.crash : options.sim.partition) = {"worker9:1:2"};
    auto runtime = Make(options);
    Add(*runtime, Role::kWorker, 0, [](FunctionNode&) {});

    const Status status = runtime->Run();

    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("worker9"), std::string::npos) << status.message();
  }
}

TEST(SimRuntime, AMessageThatItsCodecRefusesEndsTheRun) {
  auto runtime = Make();
  Add(*runtime, Role::kScheduler, 0, [](FunctionNode&) {});
  Add(*runtime, Role::kWorker, 0, [](FunctionNode& node) {
    node.on_start = [](Time, Outbox& out) {
      Push push;
      push.count = 3;  // And no payload.
      out.SendTo(kSchedulerNode, push);
    };
  });

  const Status status = runtime->Run();

  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_NE(status.message().find("worker0"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("push speaks of 12 payload bytes"), std::string::npos);
}

TEST(SimRuntime, TimeThatStandsStillEndsTheRun) {
  SimRuntimeOptions options;
  options.inputs_at_one_time_max = 1000;
  auto runtime = Make(options);
  Add(*runtime, Role::kScheduler, 0, [](FunctionNode& node) {
    node.on_message = [](Time, NodeId from, const Message& message, Outbox& out) {
      out.SendTo(from, message);
    };
  });
  Add(*runtime, Role::kWorker, 0, [](FunctionNode& node) {
    node.on_start = [](Time, Outbox& out) { out.SendTo(kSchedulerNode, Text("ping")); };
    node.on_message = [](Time, NodeId from, const Message& message, Outbox& out) {
      out.SendTo(from, message);
    };
  });

  const Status status = runtime->Run();

  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("stands still at 0 s: 1001 inputs"), std::string::npos)
      << status.message();
}

TEST(SimRuntime, InterruptIsTheNextInput) {
  auto runtime = Make();
  Time at{};
  Add(*runtime, Role::kWorker, 0, [&](FunctionNode& node) {
    node.on_interrupt = [&](Time now, Outbox& out) {
      at = now;
      out.Exit(Status::Ok());
    };
  });

  ASSERT_TRUE(runtime->RunUntil(3ms).ok());
  runtime->Interrupt(Role::kWorker, 0);
  EXPECT_TRUE(runtime->Run().ok());

  EXPECT_EQ(at, 3ms);
}

TEST(SimRuntime, ALateProcessStartsWhenItIsTold) {
  auto runtime = Make();
  std::vector<Time> starts;
  for (std::uint32_t rank : {0u, 1u}) {
    Add(
        *runtime, Role::kWorker, rank,
        [&](FunctionNode& node) {
          node.on_start = [&](Time now, Outbox& out) {
            starts.push_back(now);
            out.Exit(Status::Ok());
          };
        },
        rank == 0 ? 40ms : 10ms);
  }

  EXPECT_TRUE(runtime->Run().ok());

  EXPECT_EQ(starts, (std::vector<Time>{10ms, 40ms}));
}

std::uint64_t DigestOfAskers(std::uint64_t seed, bool encode) {
  SimRuntimeOptions options;
  options.seed = seed;
  options.sim.encode = encode;
  options.sim.loss = 0.2;
  options.sim.duplicate = 0.2;
  options.sim.reorder = 0.2;
  options.sim.crash = {"worker0:5.5:8"};
  options.sim.link_latency_ms = 0.3;
  auto runtime = Make(options);
  std::vector<std::string> log;
  AddAskers(*runtime, log);
  (void)runtime->RunUntil(100ms);
  return runtime->Digest();
}

TEST(SimRuntime, TheSameSeedGivesTheSameDigestAndAnotherAnother) {
  EXPECT_EQ(DigestOfAskers(1, true), DigestOfAskers(1, true));
  EXPECT_NE(DigestOfAskers(1, true), DigestOfAskers(2, true));
  EXPECT_EQ(DigestOfAskers(1, true), DigestOfAskers(1, false));
}

TEST(SimRuntime, ObserversSeeEveryInputOfTheirLifeAndItsEnd) {
  struct Recorder : InputObserver {
    explicit Recorder(std::string& seen) : text(seen) {}
    void OnInput(Time, const Input& input, const Outbox& out) override {
      text += StrCat(static_cast<int>(input.kind), ":", input.number, ":", out.sends.size(), " ");
    }
    void OnEnd(Time now, std::uint64_t digest) override {
      text += StrCat("end@", now.count(), ":", digest);
    }
    std::string& text;
  };
  auto runtime = Make();
  std::string scheduler, worker;
  runtime->ObserveWith([&](Role role, std::uint32_t, NodeId, std::uint32_t life) {
    EXPECT_EQ(life, 0u);
    return std::make_unique<Recorder>(role == Role::kScheduler ? scheduler : worker);
  });
  std::vector<std::string> log;
  AddAskers(*runtime, log);

  EXPECT_TRUE(runtime->Run().ok());

  EXPECT_TRUE(scheduler.starts_with("1:0:0 2:1:1 2:2:1 ")) << scheduler;
  EXPECT_TRUE(worker.starts_with("1:0:0 3:0:1 2:1:0 3:0:1 2:2:0 ")) << worker;
  EXPECT_TRUE(worker.ends_with("end@10000000:10")) << worker;
}

}  // namespace
}  // namespace slackline
