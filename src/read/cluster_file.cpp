// The keys of a cluster file: a GPU by name, what joins it to its node and to other nodes.
#include "read/document.h"
#include "read/fields.h"
#include "tilewright/cluster.h"
#include "tilewright/read.h"

namespace tilewright {
namespace {

constexpr read::Range node_sizes{1, 1 << 20};

Network read_network(const read::Value& table, read::Report& report) {
    read::Fields fields(table, "[network]", report);
    Network network;
    network.kind = fields.text("kind").value_or(network.kind);
    network.bandwidth = {fields.required_positive("bandwidth_bytes_per_s")};
    fields.reject_unknown();
    return network;
}

}  // namespace

Result<Cluster> read_cluster(std::string_view bytes, const std::string& where) {
    const Result<read::Value> root = read::read_toml(bytes, where);
    if (!root) return root.problems();
    read::Report report{where, {}};
    read::Fields fields(*root, "", report);
    Cluster cluster;
    cluster.name = read::name_from(where);
    cluster.full_name = fields.text("full_name").value_or(cluster.name);
    cluster.source = fields.text("source").value_or("");
    fields.require("gpu", "the name of a GPU; `tilewright devices` lists them");
    cluster.gpu = fields.text("gpu").value_or("");
    cluster.node_size = fields.required_integer("node_size", node_sizes);
    cluster.link = fields.text("link").value_or("");
    cluster.link_bandwidth = {fields.required_positive("link_bandwidth_bytes_per_s")};
    if (const auto price = fields.positive("price_per_gpu_hour")) cluster.price_per_gpu_hour = *price;
    fields.require("network", "a table with bandwidth_bytes_per_s; docs/formats.md shows it");
    if (const read::Value* network = fields.table("network")) cluster.network = read_network(*network, report);
    fields.reject_unknown();
    if (!report.clean()) return report.by_line();
    report.adopt(validate(cluster), [&](const std::string& field) {
        return fields.line_of(std::string_view(field).substr(0, field.find('.')));
    });
    if (!report.clean()) return report.by_line();
    return cluster;
}

}  // namespace tilewright
