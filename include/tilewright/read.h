// Bytes -> values. Every reader takes any bytes and gives a value or all problems found, with their lines.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/cluster.h"
#include "tilewright/profile.h"
#include "tilewright/result.h"
#include "tilewright/runtime.h"
#include "tilewright/sample.h"
#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright {

/// A shape as read, with what the reader had to assume.
struct ShapeFile {
    Shape shape;
    std::optional<Workload> workload;  ///< when the file states one
    std::vector<std::string> assumed;  ///< one line each; shown as warnings
    std::vector<KeyPlace> places;      ///< where the file states what
    Formats stored;                    ///< how the checkpoint keeps its weights, for serving it
};

/// Whether a reader may go on where a file says things that it does not understand.
enum class Assume { No, Yes };

/// Our TOML form, a Hugging Face config.json, Llama's params.json, Megatron's arguments, a torchtitan job, or the
/// header of a safetensors or GGUF file, told apart by content. `where` is the name used in problems.
Result<ShapeFile> read_shape(std::string_view bytes, const std::string& where, Assume assume = Assume::No);

/// A workload as read, with what was taken and what was ignored.
struct WorkloadFile {
    Workload workload;
    std::vector<std::string> assumed;
};

/// How a model is run: our [workload] table, DeepSpeed's JSON, torchtitan's TOML, Megatron's arguments.
Result<WorkloadFile> read_workload(std::string_view bytes, const std::string& where);

/// Our TOML form of a data sheet.
Result<Device> read_device(std::string_view bytes, const std::string& where);

/// Our TOML form of a cluster.
Result<Cluster> read_cluster(std::string_view bytes, const std::string& where);

/// Our TOML form of a runtime (docs/runtimes.md).
Result<Runtime> read_runtime(std::string_view bytes, const std::string& where);

/// "300", "4M", "1.5T": k, M, B (or G) and T are thousands of each other.
std::optional<double> read_amount(std::string_view text);

/// Sequences of a batch: "1024", or "4M-tokens", which `seq` divides; of tokens k and M are 2^10 and 2^20, as batches
/// are made.
Result<std::int64_t> read_batch(std::string_view text, std::int64_t seq, const std::string& where);

/// Samples as JSON Lines. Their sizes are checked against the columns of their op. A last line without a newline that
/// does not parse is a torn one; any other bad line is a problem.
Result<SampleFile> read_samples(std::string_view text, const std::string& where);

/// Names built in, sorted.
std::vector<std::string> model_names();
std::vector<std::string> device_names();
std::vector<std::string> cluster_names();

/// A built-in by name (devices also by alias: "h100"); an unknown name is answered with the nearest ones. Names of
/// models forgive: case, punctuation, the owner, the checkpoint's own spelling and endings such as -Instruct.
Result<Shape> find_model(std::string_view name);
Result<Device> find_device(std::string_view name);
Result<Cluster> find_cluster(std::string_view name);

/// What is known of a device's kernels: its fitted profile, that of a sibling (evidence `transferred`), or the assumed
/// one.
Profile find_profile(const Device& device);

/// A profile with what others' tables say: kernels that stream memory, where it knows none, and engines' kernels.
Profile completed(Profile profile, const Device& device);

/// The laws of the serving engines' kernels on it, its own or others'.
std::shared_ptr<const ServingKernels> serving_kernels(const Device& device);

/// What is known of a device before any of its samples: a relative's profile carried over, or the assumed one.
Profile unmeasured_profile(const Device& device);

/// The constants of engines' kernels on it (data/engines): its own, a relative's, or the mean over all GPUs.
EngineKernels engine_kernels(const Device& device);

}  // namespace tilewright
