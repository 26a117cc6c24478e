#include "read/defaults.h"

namespace tilewright::read {

Shape with_stand_ins(Shape shape) {
    const auto fill = [](std::int64_t& size, std::int64_t stand_in) {
        if (size == 0) size = stand_in;
    };
    if (shape.experts && (shape.experts->count == 0 || shape.experts->active == 0 || shape.experts->ffn == 0)) {
        shape.experts.reset();
    }
    const bool latent_refused = shape.latent && (shape.latent->kv_rank == 0 || shape.latent->nope_dim == 0 ||
                                                 shape.latent->rope_dim == 0 || shape.latent->v_dim == 0);
    if (latent_refused) shape.latent.reset();
    fill(shape.heads, shape.kv_heads > 0 ? shape.kv_heads : 1);
    fill(shape.kv_heads, shape.heads);
    if (shape.hidden == 0 || latent_refused) fill(shape.head_dim, 1);
    fill(shape.hidden, 1);
    fill(shape.ffn, 1);
    fill(shape.vocab, 1);
    fill(shape.layers, shape.experts ? shape.experts->dense_layers + 1 : 1);
    if (shape.head_dim == 0 && shape.hidden % shape.heads == 0) shape.head_dim = shape.hidden / shape.heads;
    return shape;
}

std::string name_from(const std::string& where) {
    if (where == "-") return "stdin";
    const std::size_t slash = where.find_last_of('/');
    const std::string file = slash == std::string::npos ? where : where.substr(slash + 1);
    const std::size_t dot = file.find_last_of('.');
    return dot == std::string::npos || dot == 0 ? file : file.substr(0, dot);
}

}  // namespace tilewright::read
