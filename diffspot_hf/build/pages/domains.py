def domain_of(s, p):
    return "other"


DOMAINS = ("e-commerce",)


def without_pages(x):
    return []
