#include "dragoman/train.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "base/file.h"
#include "cli/command.h"
#include "dragoman/engine.h"
#include "dragoman/error.h"
#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class TrainTest : public testing::Test {
 protected:
  NamedOptions options(const std::string& model, const std::string& after) const {
    return {{"model", {toy.files / model}},
            {"train-sets", toy.setup.data.train_sets},
            {"vocabs", toy.setup.data.vocabs},
            {"dim-emb", {"16"}},
            {"enc-depth", {"1"}},
            {"dec-depth", {"1"}},
            {"transformer-heads", {"2"}},
            {"transformer-dim-ffn", {"32"}},
            {"mini-batch-words", {"60"}},
            {"no-shuffle", {}},
            {"disp-freq", {"1"}},
            {"after", {after}}};
  }

  // The same as words of a command line.
  Strings words(const NamedOptions& given) const {
    Strings words;
    for (const auto& [name, values] : given) {
      words.push_back("--" + name);
      words.insert(words.end(), values.begin(), values.end());
    }
    return words;
  }

  int run_command(const NamedOptions& given) const {
    for (const Command& command : all_commands())
      if (command.about.name == "train") {
        Strings all = words(given);
        all.insert(all.end(), {"--cpu-threads", "1", "--quiet"});
        return command.run(all);
      }
    return -1;
  }

  ToyRun toy;
  Engine engine{{.threads = 1}};
};

TEST_F(TrainTest, StoppedByAnotherThreadAndResumedGivesTheFilesOfTheCommand) {
  ASSERT_EQ(run_command(options("command", "12u")), 0);

  RunControl control;
  const auto stop_after_5 = [&](const RunMoment& now, const RunEvent& event) {
    if (std::holds_alternative<RunReport>(event) && now.updates == 5) std::thread([&] { control.stop = true; }).join();
  };
  const TrainResult stopped = train(engine, options("program", "12u"), stop_after_5, &control);
  EXPECT_EQ(stopped.reason, RunEnd::signal);
  EXPECT_EQ(stopped.updates, 5);
  const TrainResult resumed = train(engine, options("program", "12u"));
  EXPECT_EQ(resumed.reason, RunEnd::after);
  EXPECT_EQ(resumed.updates, 12);
  EXPECT_GT(resumed.epochs, 0);

  for (const auto& name_in :
       {+[](const std::string& model) { return model; }, +[](const std::string& model) { return state_path(model); }})
    EXPECT_TRUE(read_file(name_in(toy.files / "program")) == read_file(name_in(toy.files / "command")));
}

TEST_F(TrainTest, ReportsEventsToItsObserverInOrder) {
  std::vector<size_t> kinds;
  train(engine, options("m", "2u"), [&](const RunMoment&, const RunEvent& event) { kinds.push_back(event.index()); });
  const auto kind = [](const RunEvent& event) { return event.index(); };
  EXPECT_THAT(kinds, testing::ElementsAre(kind(RunStarted{}), kind(RunReport{}), kind(RunReport{}), kind(RunSave{}),
                                          kind(RunEnd{})));
}

TEST_F(TrainTest, TakesTruthValuesForOptionsThatMayStandAlone) {
  NamedOptions given = options("m", "2u");
  given.push_back({"exponential-smoothing", {"true"}});
  given.push_back({"normalize", {"False"}});
  EXPECT_EQ(train(engine, given).updates, 2);
  given.back().values = {"perhaps"};
  EXPECT_THAT([&] { train(engine, given); }, ThrowsMessage<Error>("--normalize: 'perhaps' is not a number"));
}

TEST_F(TrainTest, EndsWithWhatItsObserverThrows) {
  const auto give_up = [](const RunMoment& now, const RunEvent&) {
    if (now.updates == 1) throw Error("enough");
  };
  EXPECT_THAT([&] { train(engine, options("m", "2u"), give_up); }, ThrowsMessage<Error>("enough"));
  EXPECT_FALSE(std::filesystem::exists(toy.files / "m"));
}

TEST_F(TrainTest, NamesAllThatIsWrongWithItsOptionsAsTheCommandDoes) {
  NamedOptions wrong = options("m", "2u");
  wrong.push_back({"dim-emd", {"16"}});
  wrong.push_back({"learn-rate", {"fast"}});
  wrong.push_back({"seed", {"1"}});
  wrong.push_back({"seed", {"2"}});
  wrong.push_back({"dropout-src", {}});
  EXPECT_THAT(
      [&] { train(engine, wrong); },
      ThrowsMessage<Error>(AllOf(HasSubstr("there is no option 'dim-emd'"), HasSubstr("did you mean dim-emb"),
                                 HasSubstr("--learn-rate: 'fast' is not a number"),
                                 HasSubstr("option 'seed' is given twice"), HasSubstr("--dropout-src needs a value"))));
  EXPECT_THAT([&] { train(engine, {}); }, ThrowsMessage<Error>(HasSubstr("--model FILE is missing")));
}

TEST_F(TrainTest, RefusesOptionsOfTheEngineAndFilesThatItWouldOverwrite) {
  for (const char* option : {"cpu-threads", "devices", "processes", "comm-timeout"}) {
    NamedOptions given = options("m", "2u");
    given.push_back({option, {"2"}});
    EXPECT_THAT([&] { train(engine, given); }, ThrowsMessage<Error>(fmt::format("train() has no option --{}", option)));
  }
  for (const char* option : {"quiet", "fast-math", "profile", "dry-run"}) {
    NamedOptions given = options("m", "2u");
    given.push_back({option, {}});
    EXPECT_THAT([&] { train(engine, given); },
                ThrowsMessage<Error>(HasSubstr(fmt::format("train() has no option --{}", option))));
  }
  NamedOptions corpus = options("m", "2u");
  corpus.push_back({"log", {toy.setup.data.train_sets[0]}});
  const std::string before = read_file(toy.setup.data.train_sets[0]);
  EXPECT_THAT([&] { train(engine, corpus); }, ThrowsMessage<Error>(HasSubstr("--train-sets")));
  EXPECT_EQ(read_file(toy.setup.data.train_sets[0]), before);
}

}  // namespace
}  // namespace dragoman
