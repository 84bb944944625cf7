"""Scaling of losses against underflow of gradients in half precision, without a wait for the device in any step."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

START = 2.0**16
GROWTH, BACKOFF, INTERVAL = 2.0, 0.5, 2000


class GradientScaler:
    """The factor of a loss, kept on the device.

    An overflow of the gradients halves it, and many steps without one double it. After an overflow the step of the
    optimizer changes nothing. torch's own scaler reads in every step whether there was one; this one leaves that to
    the kernels of fused optimizers. It computes the same, and the states of both are interchangeable.
    """

    def __init__(self, device: torch.device | str, *, enabled: bool = True) -> None:
        self._enabled = enabled
        self._growth, self._backoff, self._interval = GROWTH, BACKOFF, INTERVAL
        if enabled:
            self._scale = torch.full((), START, device=device)
            self._steps = torch.full((), 0, dtype=torch.int32, device=device)  # since the factor last changed
            self._overflow = torch.full((), 0.0, device=device)  # 1 if the gradients of this step have one

    def is_enabled(self) -> bool:
        """Return whether the precision needs it; otherwise it does nothing."""
        return self._enabled

    def scale(self, loss: Tensor) -> Tensor:
        """Return the loss times the factor."""
        return loss * self._scale if self._enabled else loss

    @torch.no_grad()
    def unscale_(self, optimiser: torch.optim.Optimizer) -> None:
        """Divide the gradients by the factor, and note whether one is not finite."""
        if not self._enabled:
            return
        self._overflow.zero_()
        gradients = [parameter.grad for group in optimiser.param_groups for parameter in group["params"]]
        found = [gradient for gradient in gradients if gradient is not None]
        if found:
            torch._amp_foreach_non_finite_check_and_unscale_(found, self._overflow, self._scale.reciprocal())

    def step(self, optimiser: torch.optim.Optimizer) -> None:
        """Take an optimizer step, which changes nothing after an overflow."""
        if not self._enabled:
            optimiser.step()
        elif optimiser.defaults.get("fused"):
            _start_momentum(optimiser)
            optimiser.grad_scale, optimiser.found_inf = None, self._overflow  # type: ignore[attr-defined]
            optimiser.step()
            del optimiser.grad_scale, optimiser.found_inf  # type: ignore[attr-defined]
        elif not bool(self._overflow):  # on a CPU there is nothing to wait for
            optimiser.step()

    def update(self) -> None:
        """Adjust the factor after a step."""
        if self._enabled:
            torch._amp_update_scale_(
                self._scale, self._steps, self._overflow, self._growth, self._backoff, self._interval
            )

    def state_dict(self) -> dict[str, float]:
        """Return the state as numbers, named as torch's scaler names them."""
        if not self._enabled:
            return {}
        return {
            "scale": float(self._scale),
            "growth_factor": self._growth,
            "backoff_factor": self._backoff,
            "growth_interval": self._interval,
            "_growth_tracker": int(self._steps),
        }

    def load_state_dict(self, state: Mapping[str, float]) -> None:
        """Restore a state, also one of torch's scaler. Raises LookupError or ValueError if it is not one."""
        if not self._enabled:
            return
        scale, growth, backoff = (float(state[name]) for name in ("scale", "growth_factor", "backoff_factor"))
        interval, steps = (int(state[name]) for name in ("growth_interval", "_growth_tracker"))
        if not (0 < scale < math.inf and growth > 1 > backoff > 0 and 0 <= steps < interval):
            raise ValueError("the state of another scaler")
        self._growth, self._backoff, self._interval = growth, backoff, interval
        self._scale.fill_(scale)
        self._steps.fill_(steps)


def _start_momentum(optimiser: torch.optim.Optimizer) -> None:
    """Let momentum start at zero. A fused optimizer that skips its first step would leave it undefined."""
    if not isinstance(optimiser, torch.optim.SGD):
        return
    for group in optimiser.param_groups:
        for parameter in group["params"] if group["momentum"] else ():
            state = optimiser.state[parameter]
            if parameter.grad is not None and state.get("momentum_buffer") is None:
                state["momentum_buffer"] = torch.zeros_like(parameter)
