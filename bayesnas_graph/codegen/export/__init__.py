"""Networks for other tools: source, weights, ONNX, TorchScript and torch.export."""

from bayesnas_graph.codegen.export.model import Model, model_of

__all__ = ["Model", "model_of"]
