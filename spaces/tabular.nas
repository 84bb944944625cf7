//! Multilayer perceptrons and residual networks for vectors of features.
//!
//! Y. Gorishniy, I. Rubachev, V. Khrulkov, A. Babenko: Revisiting Deep Learning Models for Tabular
//! Data. NeurIPS 2021.
//!
//! The paper tunes the number of blocks, their widths and their dropout, for multilayer perceptrons
//! and for residual networks. Here both are in one space, and all blocks are alike. A search chooses
//! the numbers, where a block is normalised, and whether it is residual. The perceptrons of the paper
//! have no norms. Here there is always one: during a search the candidates are added up, and without
//! norms the sums would grow from block to block. The paper tunes the hidden width as a multiple of
//! the width; here it is chosen by itself.

/// The first layer of a block, with its norm before it, as in the residual networks of the paper.
motif norm_first(hidden) {
    in x
    x -> out : bn > linear(hidden) > relu
}

/// The same with the norm after it.
motif norm_last(hidden) {
    in x
    x -> out : linear(hidden) > bn > relu
}

/// A block. Without its shortcut, it is two layers of a perceptron.
cell block(width, hidden, drop) {
    in x
    x -> out : choose exactly 1 { norm_first(hidden), norm_last(hidden) }
        > dropout(drop)
        > linear(width)
    x -> out : optional identity
}

/// The network to search. The first parameters are the numbers to choose from: widths of blocks and of
/// their hidden layers, numbers of blocks, and probabilities of dropout. The others describe the data.
network search(
    widths = [64, 128, 256, 512],
    depths = [1, 2, 4],
    drops = [0, 0.1, 0.25, 0.5],
    features = 64,
    labels = 10
) : vector(features) -> classes(labels) {
    in x
    let width = choose { w for w in widths }
    let hidden = choose { w for w in widths }
    let drop = choose { p for p in drops }
    let depth = choose { n for n in depths }
    node y = x : linear(width) > block(width, hidden, drop) * depth
    y -> out : bn > relu > linear(labels)
}
