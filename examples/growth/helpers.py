"""Functions of growth: what one pass does, when it is enough, and how it is told."""


def double(start, item, **rest):
    """One pass: twice the number of the pass before."""
    return 2 * (start if item is None else item)


def big_enough(it):
    """Whether the loop may stop, and what to tell the next pass if not."""
    if it.output > 1000:
        return True
    return False, f"{it.output} is not enough"


def sentence(start, grow, **rest):
    """The result, as a sentence."""
    return f"{start} has to be doubled {len(grow)} times to be more than 1000: {grow[-1]}."
