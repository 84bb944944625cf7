//! The space of AutoFormer on ImageNet: vision transformers of different depths and widths.
//!
//! M. Chen, H. Peng, J. Fu, H. Ling: AutoFormer: Searching Transformers for Visual Recognition.
//! ICCV 2021.
//!
//! The depth is chosen, and in each block the number of heads, with 64 channels each, and the width
//! of its two dense layers. These are the numbers of AutoFormer-T. As published, smaller networks
//! use a part of the weights of the largest. The width of the embedding is not chosen here but a
//! parameter, because norms over a chosen width are not possible: published are 192, 216 and 240.
//! Positions have learned embeddings only, without the relative ones of the paper.

import "std.nas"

/// Self-attention with a chosen number of heads.
motif chosen_attention(heads = choose { 3, 4 }, head = 64) {
    in x
    let inner = heads * head
    node query = x : linear(inner)
    node key = x : linear(inner)
    node value = x : linear(inner)
    attention(head_width = head)(query, key, value) -> out : linear(channels(x))
}

/// A block of a transformer. Its heads and the ratio of its dense layers are chosen.
motif block(head = 64) {
    in x
    node y
    x -> y
    x -> y : layer_norm(eps = 0.000001) > chosen_attention(head = head)
    y -> out
    y -> out : layer_norm(eps = 0.000001) > transformer_mlp(ratio = choose { 7 / 2, 4 })
}

/// The network to search. `fewest` blocks are always there, and up to two more. The parameters from
/// `patch` on describe the data.
network search(
    width = 192,
    head = 64,
    fewest = 12,
    patch = 16,
    channels = 3,
    size = 224,
    labels = 1000
) : image(channels, size, size) -> classes(labels) {
    in x
    let more = choose { 0, 1, 2 }
    node patches = x : conv(width, patch, patch, bias = true) > to_sequence
    node y = patches : class_token > position_embedding > block(head) * fewest > block(head) * more
    y -> out : layer_norm(eps = 0.000001) > at(0) > linear(labels)
}
