// The command line of `adit` for a program with models of its own:
//
//   int main(int argc, char** argv) {
//     return adit::run_command(argc, argv, {{"radon", "radon in the houses of 85 counties", make_radon}});
//   }
//
//   ./radon sample --chains 8 --output run     progress, Ctrl-C, files, report
//   ./radon sample --output run --resume       goes on where it was stopped
//   ./radon summary run
//
// Where the program has one model, `sample` needs no name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <adit/model.hpp>

#pragma GCC visibility push(default)
namespace adit {

struct CommandModel {
  std::string name;             // a word: letters, digits, - and _
  std::string doc;              // one line for `sample --list`
  std::function<Model()> make;  // called once the device is open, which is the default device then
};

// Every command of `adit`, with these models. Gives the exit status: 0 done, 1 an error, 2 the words make no
// sense, 130 stopped by Ctrl-C. Errors become one line on standard error; none is thrown.
int run_command(int argc, char** argv, std::vector<CommandModel> models);

}  // namespace adit
#pragma GCC visibility pop
