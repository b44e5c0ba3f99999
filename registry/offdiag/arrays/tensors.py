"""Tensors of PyTorch as numpy reads them; nothing is imported for it."""

from __future__ import annotations

from typing import Any


def readable(values: object) -> Any:
    """The values in a form that the numpy array protocol takes; anything but a tensor as it is.

    A tensor may be part of a gradient, lie on another device, or hold 16-bit floats of a kind
    that numpy does not have: those become 32-bit ones, exactly.
    """
    detach = getattr(values, "detach", None)
    if not callable(detach) or not hasattr(values, "requires_grad"):
        return values
    tensor = detach().cpu()
    return tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor
