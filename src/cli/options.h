// The flags that verbs share, and the question they ask: a valid shape, workload and device with its profile, or every
// problem in them.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/catalogue.h"
#include "cli/terminal.h"
#include "tilewright/answer.h"
#include "tilewright/served.h"

namespace tilewright::cli {

FlagGroup device_flags();
FlagGroup workload_flags();
FlagGroup serving_workload_flags();  ///< the same, with a load among the phases
FlagGroup shape_flags();
FlagGroup output_flags();  ///< --json and --help

/// By this software, with the master weights that it trains with unless --master says otherwise.
void run_by(Workload& workload, RuntimeId runtime, const Arguments& arguments);

/// Sets what the flags say; values are checked later, by `validate`.
void apply_workload_flags(const Arguments& arguments, Workload& workload);

/// Overrides dimensions and switches; the name grows by the flags used, so that it stays a command line.
void apply_shape_flags(const Arguments& arguments, Shape& shape);

/// Whether --assume is given.
Assume assume_of(const Arguments& arguments);

/// True when any shape flag is given.
bool overrides_shape(const Arguments& arguments);

/// The device of --gpu, --device-file or --cluster, with the profile of --profile.
Result<FoundDevice> device_of(const Arguments& arguments);

/// A field's flag: "kv_heads" -> "--kv-heads".
std::string flag_of(std::string_view field);

/// Which overrides apply to a shape named on the command line.
enum class Overrides { Apply, Ignore };

/// Reads the shape named `name` and applies the flags; what a reader assumed is warned about. The shape and the
/// workload are each valid, but may not fit each other.
Result<Question> make_question(const Arguments& arguments, const std::string& name, const Session& session,
                               Overrides overrides = Overrides::Apply);

/// Problems of shape and workload together.
Problems misfit(const Arguments& arguments, const Question& question);

/// The same, and experts over more GPUs than there are: a plan would still find them.
Problems cannot_run(const Arguments& arguments, const Question& question);

/// A shape as it was named, and whether overrides apply to it.
struct Asked {
    std::string name;
    Overrides overrides = Overrides::Apply;
};

/// A question for each shape, none with a misfit; or the problems of all, each once.
Result<std::vector<Question>> make_questions(const Arguments& arguments, const std::vector<Asked>& shapes,
                                             const Session& session);

/// As the checkpoint is stored, when it is served and nothing else is asked for.
void take_formats(const Arguments& arguments, const Formats& stored, Question& question);

/// A mode or format that the device lacks is a problem, or a warning that says what it runs as.
Problems check_formats(Question& question, const Session& session);

FlagGroup load_flags();  ///< of `plan --phase serve`

/// Whether --phase serve is asked for.
bool serves_load(const Arguments& arguments);

/// A problem for each of `flags` that is given.
Problems refuse_flags(const Arguments& arguments, std::span<const char* const> flags, const std::string& when);

/// Flags that a load has no use for, or those of a load without one.
Problems check_load_flags(const Arguments& arguments);

Result<ServeQuestion> serve_question(const Arguments& arguments, Question question);

}  // namespace tilewright::cli
