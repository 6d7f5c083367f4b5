"""
Microscope images
=================

Grey images of 16 bits, as microscopes and depth cameras write them, are made as TIFF files of 12 bits in a
folder per class, clustered, and the clusters of new images predicted. It takes half a minute. Run the Python
code in the folder of a clone, and type into a shell there what this page has in ``shell(...)``.
"""

# %%
# 1. The images
# -------------
# 180 images of 24x24 pixels show one large cell, one elongated cell, or several small ones, in different
# places and of different brightness, on the noise of the camera. A camera of 12 bits has values up to
# 4,095, of the 65,535 that 16 bits could hold.

# sphinx_gallery_start_ignore
from docs.extension.shell import Shell

shell = Shell()
# sphinx_gallery_end_ignore
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

rng = np.random.default_rng(0)
rows, columns = np.mgrid[:24, :24]


def spot(height: float, width: float, margin: int) -> np.ndarray:
    """A bright ellipse somewhere in the image."""
    row, column = rng.uniform(margin, 24 - margin, 2)
    return np.exp(-(((rows - row) / height) ** 2) - ((columns - column) / width) ** 2)


DRAW = {
    "large": lambda: spot(6, 6, 10),
    "long": lambda: spot(2, 9, 10),
    "small": lambda: sum(spot(2, 2, 5) for _ in range(6)),
}
for i in range(180):
    kind = list(DRAW)[i % 3]
    image = 300 + rng.uniform(2000, 3000) * DRAW[kind]() + rng.normal(0, 40, (24, 24))
    file = Path("cells", kind, f"{i:03}.tif")
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image.clip(0, 4095).astype(np.uint16)).save(file)

figure, axes = plt.subplots(1, 6, figsize=(7, 1.4))
for axis, file in zip(axes, sorted(Path("cells").glob("*/*.tif"))[::30], strict=True):
    axis.imshow(np.asarray(Image.open(file)), cmap="gray")
    axis.set_title(file.parent.name, fontsize=8)
    axis.set_axis_off()
plt.show()

# %%
# 2. Prepare
# ----------
# The log says from which values the images are scaled to [0, 1]: the smallest and the largest of all
# images, which the model remembers. Of a stack of several pages only the first is read, which would be said
# too.

place = "--results results"
data = "--set path=cells --set n_clusters=3 --set channels=1"
shell(f"python -m dekm prepare cells --raw-dir raw {place} {data}")

# %%
# 3. Cluster
# ----------
# K-means on the pixels, and DEKM, whose small autoencoder is pretrained for 80 epochs. With so few images
# K-means is better; compare the two, and with images of your own look at several seeds.

sizes = "--set channels=[8,16,32] --set n_epochs=80 --set batch_size=16"
shell(f"python -m dekm cluster cells k_means --seeds 0 --device cpu {place}")
shell(f"python -m dekm pretrain cells conv --seeds 0 --device cpu {place} {sizes}")
shell(f"python -m dekm cluster cells dekm --seeds 0 --device cpu {place} --set max_iter=15")

# %%

# sphinx_gallery_start_ignore
shell.enter()
# sphinx_gallery_end_ignore
import json

for method in ("k_means", "dekm"):
    metrics = json.loads(Path(f"results/runs/cells/{method}/seed0/metrics.json").read_text(encoding="utf-8"))
    print(f"{method:8} ACC {100 * metrics['acc']:5.1f}, NMI {100 * metrics['nmi']:5.1f}")

# %%
# 4. New images
# -------------
# New images are scaled by the range of those of the run, not by their own, so that a dark image stays dark.
# Images in other units, such as floats in [0, 1], are refused.

# sphinx_gallery_start_ignore
shell.enter()
# sphinx_gallery_end_ignore
new = Path("new")
new.mkdir()
for i in range(6):
    image = 300 + 1000 * DRAW["small"]() + rng.normal(0, 40, (24, 24))
    Image.fromarray(image.clip(0, 4095).astype(np.uint16)).save(new / f"{i}.tif")
shell("python -m dekm predict results/runs/cells/dekm/seed0 --set path=new --out new.csv")
shell("cat new.csv")

# %%
# In Python, the model takes the grey values of the camera too:

# sphinx_gallery_start_ignore
shell.enter()
# sphinx_gallery_end_ignore
from dekm import DEKM

model = DEKM.load("results/runs/cells/dekm/seed0/model.safetensors")
pixels = np.stack([np.asarray(Image.open(file)) for file in sorted(new.glob("*.tif"))])
print(pixels.dtype, model.predict(pixels), model.input_scaling_.low, model.input_scaling_.high)

# %%
# What next: :doc:`/docs/own-data` has the workflow with tables and figures for a folder of images.

# sphinx_gallery_start_ignore
shell.close()
# sphinx_gallery_end_ignore
