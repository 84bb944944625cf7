//! LeNet-5 on MNIST, in the Caffe version used to measure compression.
//!
//! Y. LeCun, L. Bottou, Y. Bengio, P. Haffner: Gradient-Based Learning Applied to Document
//! Recognition. Proceedings of the IEEE, 1998.
//!
//! Widths of 20, 50 and 500 instead of 6, 16, 120 and 84; max pooling; one ReLU, before the last
//! layer. 431,080 parameters.

/// A convolution without padding, then pooling.
motif conv_pool(width) {
    in x
    x -> out : conv(width, 5, padding = 0, bias = true) > max_pool(2, 2)
}

/// The whole network.
network lenet5 : image(1, 28, 28) -> classes(10) {
    in x
    x -> out : conv_pool(20) > conv_pool(50) > flatten > linear(500) > relu > linear(10)
}
