// Another program: started without a shell, its standard output read line by line.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace egc::data {

class ChildProcess {
 public:
  // Throws kSystem where it cannot be started.
  explicit ChildProcess(const std::vector<std::string>& arguments);
  ~ChildProcess();  // ends it, if it has not ended
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Calls f for every line until the output ends.
  void for_each_line(const std::function<void(std::string_view)>& f);
  // Its exit code; 128 and the number of the signal that ended it.
  int wait();

 private:
  pid_t pid_ = 0;
  int output_ = -1;
};

// Throws kSystem also where it ends with an error.
void for_each_output_line(const std::vector<std::string>& arguments,
                          const std::function<void(std::string_view)>& f);

}  // namespace egc::data
