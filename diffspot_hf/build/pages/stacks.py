def stack_pages(root):
    return {}
