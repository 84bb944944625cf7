//! The recurrent cell of DARTS, unrolled over time.
//!
//! H. Liu, K. Simonyan, Y. Yang: DARTS: Differentiable Architecture Search. ICLR 2019.
//!
//! A cell has eight nodes. Each reads one earlier node and applies one of four activations, through
//! a highway connection. These are 8! * 4^8, about 2.6e9, cells. All steps share their weights and
//! their switches, and so do all candidates of a node. The output of a cell is the mean of its nodes.
//! Published for text; here the rows of an image are read one after another, and the first state is
//! a linear function of the first row instead of zero.

/// A highway connection: a gate decides how much of the state is replaced.
motif highway(gate, value, activation) {
    in s
    node change = difference(activation(value(s)), s)
    node opened = s : gate > sigmoid
    s, product(opened, change) -> out
}

/// One step: a new state, from a row and the state before.
motif step(width, nodes) {
    in x, h
    share gate = linear(width, bias = false)
    share value = linear(width, bias = false)
    node both = concat(x, h)
    node change = difference(tanh(value(both)), h)
    node opened = both : gate > sigmoid
    node start
    h, product(opened, change) -> start
    node s[nodes]
    for i in 0..nodes {
        share open = linear(width, bias = false)
        share new = linear(width, bias = false)
        start, s[0..i] -> s[i] : choose 1 {
            tanh = highway(open, new, tanh),
            relu = highway(open, new, relu),
            sigmoid = highway(open, new, sigmoid),
            identity = highway(open, new, identity),
        }
        require inputs(s[i]) == 1
    }
    out mean(s)
}

/// Row `t` of an image, in all channels.
motif row(t, channels, size) {
    in x
    node part[c in 0..channels] = x : slice_channels((c * size + t) * size, size)
    out concat(part)
}

/// The network to search. The parameters after `nodes` describe the data.
network search(
    width = 32,
    nodes = 8,
    channels = 1,
    size = 8,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    in x
    share recurrent = step(width, nodes)
    node flat = x : flatten
    node rows[t in 0..size] = flat : row(t, channels, size)
    node first = rows[0] : linear(width)
    node h[t in 0..size] = recurrent(rows[t], first) then recurrent(rows[t], h[t - 1])
    h[-1] -> out : linear(labels)
}
