//! LeNet-300-100 on the 8x8 digits of scikit-learn, for short measurements.

/// Two hidden layers, on a flattened image.
network digits300 : vector(64) -> classes(10) {
    in x
    x -> out : linear(300) > relu > linear(100) > relu > linear(10)
}
