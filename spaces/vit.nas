//! The vision transformer ViT-S/16.
//!
//! A. Dosovitskiy et al.: An Image is Worth 16x16 Words: Transformers for Image Recognition at
//! Scale. ICLR 2021. The small size is that of H. Touvron et al.: Training data-efficient image
//! transformers & distillation through attention. ICML 2021.
//!
//! An image is cut into patches. A learned position is put before them, a transformer mixes all
//! positions, and the first is classified. 22,050,664 parameters; dropout is omitted.

import "std.nas"

/// The whole network. ViT-B/16 has a `width` of 768 and 12 `heads`, ViT-L/16 1024, 16 and a `depth`
/// of 24. The parameters from `patch` on describe the data.
network vit(
    width = 384,
    depth = 12,
    heads = 6,
    patch = 16,
    channels = 3,
    size = 224,
    labels = 1000
) : image(channels, size, size) -> classes(labels) {
    in x
    node patches = x : conv(width, patch, patch, bias = true) > to_sequence
    node y = patches : class_token > position_embedding > transformer_block(heads) * depth
    y -> out : layer_norm(eps = 0.000001) > at(0) > linear(labels)
}
