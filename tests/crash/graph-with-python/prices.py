def total(prices, **kwargs):
    return sum(prices)


def shout(comment, **kwargs):
    return comment.upper() + "!"
