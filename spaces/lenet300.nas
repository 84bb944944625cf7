//! LeNet-300-100 on MNIST.
//!
//! Y. LeCun, L. Bottou, Y. Bengio, P. Haffner: Gradient-Based Learning Applied to Document
//! Recognition. Proceedings of the IEEE, 1998.
//!
//! Two hidden layers, with ReLU as in all later work on compressing it. 266,610 parameters.

/// The whole network, on 28 by 28 pixel images flattened to a vector.
network lenet300 : vector(784) -> classes(10) {
    in x
    x -> out : linear(300) > relu > linear(100) > relu > linear(10)
}
