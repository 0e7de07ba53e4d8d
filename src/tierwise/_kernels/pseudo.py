"""The pseudo-likelihood: places are filled from the first to the last, each by a choice of label.

Among the labels that have items left, the smallest weighs 1 and any other ``exp(-theta c)``, where
``c`` is its number of items left. The item is then any of the ``c``.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled


@compiled
def log_pseudo(
    sequences: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    decay: npt.NDArray[np.float64],
    theta: float,
) -> npt.NDArray[np.float64]:
    """Log pseudo-likelihood of an ordering with these labels; ``decay[c]`` is ``exp(-theta c)``."""
    values = np.zeros(sequences.shape[0])
    left = np.empty_like(sizes)
    for row in range(sequences.shape[0]):
        left[:] = sizes
        smallest = 0
        for place in range(sequences.shape[1]):
            while left[smallest] == 0:
                smallest += 1
            total = 1.0
            for label in range(smallest + 1, sizes.shape[0]):
                if left[label] > 0:
                    total += decay[left[label]]
            label = sequences[row, place]
            if label != smallest:
                values[row] -= theta * left[label]
            values[row] -= np.log(total * left[label])
            left[label] -= 1
    return values


@compiled
def draw_pseudo(
    sizes: npt.NDArray[np.int64],
    decay: npt.NDArray[np.float64],
    n_rows: int,
    rng: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Draw label sequences from the pseudo-likelihood."""
    sequences = np.empty((n_rows, sizes.sum()), dtype=np.int64)
    left = np.empty_like(sizes)
    for row in range(n_rows):
        left[:] = sizes
        smallest = 0
        for place in range(sequences.shape[1]):
            while left[smallest] == 0:
                smallest += 1
            total = 1.0
            for label in range(smallest + 1, sizes.shape[0]):
                if left[label] > 0:
                    total += decay[left[label]]
            # Where rounding leaves a remainder after the last choice, the last possible one stands.
            remainder = rng.random() * total - 1.0
            chosen = smallest
            for label in range(smallest + 1, sizes.shape[0]):
                if remainder < 0.0:
                    break
                if left[label] > 0:
                    chosen = label
                    remainder -= decay[left[label]]
            sequences[row, place] = chosen
            left[chosen] -= 1
    return sequences
