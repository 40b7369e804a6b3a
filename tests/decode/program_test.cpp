#include <gmock/gmock.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

#include "base/line_reader.h"
#include "tests/decode/tiny_translator.h"
#include "tests/read_lines.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

/// `dragoman translate` with a pipe at each end.
class TranslateProgram {
 public:
  explicit TranslateProgram(const std::string& model) {
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) throw std::runtime_error("no pipes");
    process_ = fork();
    if (process_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      for (const int end : {in[0], in[1], out[0], out[1]}) close(end);
      execl(DRAGOMAN_PROGRAM, "dragoman", "translate", "--quiet", "--max-length-add", "3", "-m", model.c_str(),
            nullptr);
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  ~TranslateProgram() {
    if (process_ > 0) kill(process_, SIGKILL), waitpid(process_, nullptr, 0);
    close_input();
    close(out_);
  }

  bool send(const std::string& text) { return write(in_, text.data(), text.size()) == ssize_t(text.size()); }
  void close_input() {
    if (in_ >= 0) close(std::exchange(in_, -1));
  }
  /// The next line, as soon as it is available; "timeout" after half a minute.
  std::string line() {
    std::string line;
    for (char c = 0;; line += c) {
      pollfd end{out_, POLLIN, 0};
      if (poll(&end, 1, 30'000) != 1) return "timeout";
      if (read(out_, &c, 1) != 1) return "end";
      if (c == '\n') return line;
    }
  }
  int exit_code() {
    int status = -1;
    waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_;
  int in_ = -1, out_ = -1;
};

class Program : public testing::Test {
 protected:
  Program() {
    std::signal(SIGPIPE, SIG_IGN);  // a program that ends early fails one test instead of ending the test run
    TinyModel().save(model);
  }
  TemporaryFolder folder;
  const std::string model = folder / "m.safetensors";
};

TEST_F(Program, AnswersEveryLineWhileThePipeStaysOpen) {
  TranslateProgram program(model);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(program.send("Where is the castle?\n"));
    EXPECT_THAT(program.line(), testing::AllOf(testing::Ne("timeout"), testing::Ne("end")));
    ASSERT_TRUE(program.send("\n"));
    EXPECT_EQ(program.line(), "");
    ASSERT_TRUE(program.send("a\nb\n\nc"));  // the last line is incomplete
    for (int i = 0; i < 3; ++i) EXPECT_THAT(program.line(), testing::Ne("timeout"));
    ASSERT_TRUE(program.send("\n"));
    EXPECT_THAT(program.line(), testing::Ne("timeout"));
  }
  program.close_input();
  EXPECT_EQ(program.line(), "end");
  EXPECT_EQ(program.exit_code(), 0);
}

TEST_F(Program, EndsQuietlyWhenItsOutputIsClosed) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string command = "yes 'Where is the castle?' 2>/dev/null | { " DRAGOMAN_PROGRAM
                              " translate --max-length-add 3 -m '" +
                              model + "' 2>'" + (folder / "errors") + "'; echo $? >'" + (folder / "code") +
                              "'; } | head -3 >'" + (folder / "head") + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_EQ(folder.content_of("code"), "0\n");
  EXPECT_EQ(folder.content_of("errors"), "");
  EXPECT_EQ(read_lines(folder / "head").size(), 3u);
}

}  // namespace
}  // namespace dragoman
