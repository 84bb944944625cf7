//! LeNet-300-100 on the digits of 8 by 8 pixels that come with scikit-learn, for short measurements.

/// Two hidden layers, on an image that is written as one vector.
network digits300 : vector(64) -> classes(10) {
    in x
    x -> out : linear(300) > relu > linear(100) > relu > linear(10)
}
