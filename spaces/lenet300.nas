//! LeNet-300-100 on MNIST.
//!
//! Y. LeCun, L. Bottou, Y. Bengio, P. Haffner: Gradient-Based Learning Applied to Document
//! Recognition. Proceedings of the IEEE, 1998.
//!
//! Two hidden layers, with ReLU as in all later work on compressing it. 266,610 weights.

/// The whole network, on images of 28 by 28 pixels written as one vector.
network lenet300 : vector(784) -> classes(10) {
    in x
    x -> out : linear(300) > relu > linear(100) > relu > linear(10)
}
