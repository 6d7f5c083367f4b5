"""The two files of prepared data in a folder."""


def files(folder):
    """Arguments `data` and `facts` of the functions of `dekm.datasets.prepared`."""
    return {"data": folder / "data.npz", "facts": folder / "facts.json"}
