// The table of verbs.
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

constexpr std::size_t most_in_a_page = 4;   ///< shapes, so that it stays below a megabyte
constexpr std::size_t any_number = 64;      ///< of operands, where there is no natural limit
constexpr std::size_t many_files = 10'000;  ///< of a repository

std::vector<FlagGroup> help_only() { return {{"Output", {{"--help", "", "this page", Kind::Switch}}}}; }

constexpr std::string_view shape_operand =
    "SHAPE is a catalogue name, a path to a Hugging Face config.json, to a shape in our own TOML form or to a file of "
    "another program (Megatron, torchtitan, params.json, safetensors, GGUF: docs/formats.md), or - for stdin. Files in "
    "$XDG_CONFIG_HOME/tilewright/models, devices and profiles (or ~/.config/tilewright) add to what is "
    "built in.";

const Verb table[] = {
    {"advise",
     "SHAPE --gpu NAME",
     "where the time goes, what wastes the chip, which equal-size shape is faster",
     shape_operand,
     "tilewright advise gpt3-2.7b --gpu h200",
     {1, 1},
     advise_flags,
     run_advise},
    {"predict",
     "SHAPE --gpu NAME\nGRAPH.json --gpu NAME\ngemm|attention|moe|mla|alltoall|collective|layer|model --gpu NAME "
     "--from FILE.csv\nserving --from "
     "FILE.csv",
     "time per kernel, layer and step; tokens/s, MFU, memory",
     "SHAPE is a catalogue name, a path to a Hugging Face config.json or to a shape in our own TOML form, or - for "
     "stdin. GRAPH.json, or .json.gz, is what tilewright_capture recorded of any PyTorch program (docs/capture.md): "
     "its "
     "ops are priced and issued as they were recorded, and flags that would change them are refused.\n"
     "With --from, every row of a CSV file (- for stdin) comes back in order with the prediction's columns added; "
     "columns it does not know are passed through. Columns that must be there: gemm: layout,m,n,k,batch. moe: "
     "m,n,k,batch,topk. mla: op,n,batch,heads. alltoall: op,m,n,k,batch. collective: op,bytes,batch. attention: "
     "batch,heads,kv_heads,q_len,kv_len,head_dim,causal,pass,backend. layer and model: hidden,heads,kv_heads,ffn,mlp,"
     "layers,vocab,block,phase,batch,seq,precision,runtime,attention (a layer needs neither layers nor vocab). "
     "Optional: "
     "clock; dtype (gemm, attention); head_dim,norm,tied,kv_len,tp (layer, model); pass (layer). Where an optional "
     "column is absent, the flags decide.",
     "tilewright predict llama-3-8b --gpu h200 --phase decode --batch 32 --seq 4096\n"
     "tilewright predict data/captures/bert-base-train.json.gz --gpu h200\n"
     "printf 'layout,m,n,k,batch\\nTN,8192,10240,2560,1\\n' | tilewright predict gemm --gpu h200 --from -",
     {1, 1},
     predict_flags,
     run_predict},
    {"lint",
     "SHAPE... --gpu NAME [--format sarif] [--baseline FILE]\n--explain CODE",
     "sizing rules the shape breaks, what each costs, how to fix it",
     "A finding is a warning when it costs at least --min-cost of the step on this GPU, an error when the workload "
     "cannot run, else information. Exit code 1 when one reaches --fail-on and the baseline does not know it.\n"
     "SHAPE may be a pattern in quotes, such as 'configs/**/config.json'. docs/ci.md shows it as a gate of CI.",
     "tilewright lint gpt3-2.7b --gpu h200\n"
     "tilewright lint data/models/gpt3-1.3b.toml data/models/gpt3-2.7b.toml --gpu h200 --format github\n"
     "tilewright lint --explain TW001",
     {0, many_files},
     lint_flags,
     run_lint},
    {"search",
     "SHAPE --gpu NAME",
     "faster shapes of equal size",
     shape_operand,
     "tilewright search gpt2 --gpu h200 --fix layers --write faster",
     {1, 1},
     search_flags,
     run_search},
    {"prove",
     "SHAPE --gpu NAME",
     "the search's proposals as PyTorch training steps: promised against measured",
     "Searches as `search` does, writes the baseline and the best of each kind as one Python file that needs torch "
     "alone, and runs it on this machine's GPU where there is one: step, interval and memory, promised and measured. "
     "Without a GPU it says how to run the file. --runtime pytorch is eager, pytorch-compiled torch.compile.",
     "tilewright prove gpt3-760m --gpu h200 --no-run --out /tmp/prove.py",
     {1, 1},
     prove_flags,
     run_prove},
    {"plan",
     "SHAPE --cluster NAME --gpus N --global-batch N-tokens\nSHAPE --cluster NAME --phase decode --seq N\n"
     "SHAPE --cluster NAME --phase serve --isl N --osl N --rate X --ttft TIME --tpot TIME",
     "how to split a model over many GPUs: the fastest plans that fit, and what a run costs",
     "Every split over tensor, pipeline, context, expert and data ranks, every micro-batch, number of virtual stages, "
     "ZeRO "
     "stage and recomputation is priced; a flag that is given fixes that choice. With --phase decode or prefill: "
     "latency "
     "and throughput of serving against batch, for every tensor split within a node, at a cache of --seq tokens. With "
     "--phase serve: a load of requests under limits of latency, walked step by step (docs/serving.md).",
     "tilewright plan llama-3-70b --cluster dgx-h100 --gpus 64 --global-batch 4M-tokens\n"
     "tilewright plan llama-3-70b --cluster dgx-h100 --phase decode --seq 8192\n"
     "tilewright plan llama-3-8b --gpu h100 --phase serve --isl 2000 --osl 500 --rate 20 --ttft 500ms --tpot 30ms",
     {1, 1},
     plan_flags,
     run_plan},
    {"compare",
     "SHAPE... --gpu NAME\nSHAPE --gpu NAME,...|all [--price NAME=X,...]",
     "side by side, by component; or one shape on several GPUs: which one to use",
     "With several shapes, overrides apply to each, and the first is the baseline. With one shape and overrides, the "
     "shape as it is is compared with the shape as changed.",
     "tilewright compare gpt3-2.7b --heads 20 --gpu h200\n"
     "tilewright compare llama-3.1-8b --phase decode --batch 32 --gpu h100,h200,b200 --price h100=2.5,h200=3.1",
     {1, any_number},
     compare_flags,
     run_compare},
    {"reproduce",
     "\nNAME [--gpu NAME] [--measured FILE|--measure]\n[NAME...] --shapes KIND --gpu NAME\n--gallery FOLDER --measured "
     "FILE",
     "the paper's experiments, predicted and measured, against the published values",
     "Without NAME, the experiments there are. NAME may also be a path to an experiment in TOML (docs/formats.md). "
     "Where no GPU is named it is the paper's, an A100.",
     "tilewright reproduce wave-quantization --gpu h200 --svg waves.svg",
     {0, any_number},
     reproduce_flags,
     run_reproduce},
    {"report",
     "SHAPE... --gpu NAME -o FILE.html\nSHAPE --gpu NAME --svg NAME -o FILE.svg",
     "a page to look at: where the time goes, what wastes the chip, what each dimension does",
     "The page is one self-contained file of HTML about up to four shapes. With --svg, one of its pictures instead, "
     "for a paper: time, front, front-kv, serving, tiles, roofline, or throughput against a dimension (hidden, ffn, "
     "vocab, heads, batch, seq).",
     "tilewright report gpt3-2.7b --gpu h200 -o gpt3-2.7b.html",
     {1, most_in_a_page},
     report_flags,
     run_report},
    {"models",
     "[TEXT...]",
     "the catalogue of shapes",
     "With TEXT, those whose name contains it.",
     "tilewright models llama",
     {0, any_number},
     catalogue_flags,
     run_models},
    {"devices",
     "[TEXT...]",
     "the GPUs that are known",
     "With TEXT, those whose name contains it.",
     "tilewright devices h200",
     {0, any_number},
     catalogue_flags,
     run_devices},
    {"runtimes",
     "[TEXT...]",
     "the software that steps are predicted for, and what each rests on",
     "With TEXT, those whose name contains it. A file of your own goes into the folder runtimes beside devices, or "
     "after "
     "--runtime; docs/runtimes.md lists its keys.",
     "tilewright runtimes",
     {0, any_number},
     catalogue_flags,
     run_runtimes},
    {"profile",
     "[--budget TIME]",
     "learn how this machine's GPU runs kernels, in minutes: sample, fit, judge, install",
     "Asks the driver and CUDA what the GPU is, takes samples of peaks, products, attention, streams, clocks and "
     "launches within --budget, fits them, prints the errors on shapes that were held out beside those of simple "
     "models, and installs the profile in $XDG_CONFIG_HOME/tilewright (or ~/.config/tilewright), where --gpu local and "
     "the GPU's own name use it. The same command continues an interrupted run, or a shorter one. The program that "
     "takes the samples, tilewright-measure, is the one beside this program, on PATH, or built once where nvcc is.\n"
     "Under srun, mpirun or torchrun each process takes its share on the GPU of its rank into a file of its own, and "
     "the first fits what all took: one profile for each kind of GPU.",
     "tilewright profile --budget 5m --plan",
     {0, 0},
     profile_flags,
     run_profile},
    {"fit",
     "--samples FILE... [--device NAME] [-o FILE.toml]",
     "learn a device's profile from samples, and install it",
     "FILE is JSON Lines as `tilewright-measure` writes them, or a bulk file of products (layout,m,n,k,batch, dtype) "
     "with "
     "a column latency_us, or one of collectives (kind,ranks,bytes, stride, library). Whole shape families are held "
     "out (tags.split = judge; in CSV every fourth weight) and "
     "judge "
     "the fit; errors are printed for both. The profile is installed as `tilewright profile` does, or written to -o.",
     "tilewright fit --samples data/samples/h200/gemm-narrow.jsonl.gz --device h200 -o h200.toml",
     {0, any_number},
     fit_flags,
     run_fit},
    {"measure",
     "...\nhost",
     "take samples on the GPU of this machine, or how fast its host issues kernels",
     "Runs `tilewright-measure` with the same arguments: the one beside this program, or on PATH. It is built when the "
     "CUDA toolkit is present. `tilewright-measure --help` has its flags.\n"
     "`measure host` says how many times longer this machine's host takes than the one that runtimes were measured on, "
     "and keeps it in $XDG_CONFIG_HOME/tilewright/host.toml, where predictions find it. It asks PyTorch where python3 "
     "has a torch that sees a GPU, and times bare launches otherwise.",
     "tilewright measure gemm --layout TN --m 4096 --n 4096 --k 4096 --out gemm.jsonl",
     {0, any_number},
     help_only,
     nullptr},
    {"samples",
     "list|show|peaks FILE...\nmerge FILE... --out FILE\nspread FILE FILE",
     "handle files of samples",
     "FILE is JSON Lines as `tilewright-measure` writes them, compressed or not (docs/samples.md). list counts by op, "
     "clock and status; show prints a line a sample; peaks the best products, bandwidths and launch costs; merge keeps "
     "samples with equal keys and says so; spread tells how far two runs of the same ops differ.",
     "tilewright samples list data/samples/h200/peaks.jsonl.gz",
     {2, any_number},
     samples_flags,
     run_samples},
    {"mcp",
     "[--seconds N]",
     "the verbs as tools for agents, over stdin and stdout",
     "Speaks the Model Context Protocol: JSON-RPC, one message a line, until its input ends. An agent's client starts "
     "it "
     "and gets advise, predict, lint, search, compare, plan, explain_rule and the lists as tools, with their flags as "
     "arguments. A call is a process of its own that writes no file and is stopped after --seconds. docs/agents.md has "
     "the lines for common clients.",
     "tilewright mcp </dev/null\n"
     "printf '%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}' | tilewright mcp",
     {0, 0},
     mcp_flags,
     run_mcp},
};

}  // namespace

std::span<const Verb> verbs() { return table; }

const Verb* find_verb(std::string_view name) {
    for (const Verb& verb : table) {
        if (verb.name == name) return &verb;
    }
    return nullptr;
}

}  // namespace tilewright::cli
