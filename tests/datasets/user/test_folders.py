from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dekm.datasets.user.folders import visible_files
from dekm.errors import InputError
from dekm.files import files_digest
from tests.helpers.own_data import prepare, save_image
from tests.helpers.upstream import write


def test_class_folders_of_images_give_labels_and_one_size(tmp_path):
    save_image(tmp_path / "faces/b/1.png", (5, 7), (255, 0, 0))
    save_image(tmp_path / "faces/b/2.pgm", (6, 4), 51, mode="L")
    save_image(tmp_path / "faces/a/1.png", (5, 5), (0, 0, 255))
    write(tmp_path / "faces/README", b"not an image")
    X, y, facts = prepare(tmp_path, {"path": str(tmp_path / "faces"), "image_size": [4, 6], "channels": 3})
    assert X.shape == (3, 4, 6, 3)
    assert y.tolist() == [0, 1, 1]
    assert facts["kind"] == "images"
    np.testing.assert_allclose(X[:, 2, 2], [[0, 0, 1], [1, 0, 0], [0.2, 0.2, 0.2]], rtol=1e-6)


def test_files_that_are_not_images_are_named_and_hidden_ones_are_not(tmp_path, caplog):
    save_image(tmp_path / "faces/a/1.png", (4, 4), 0)
    save_image(tmp_path / "faces/b/1.png", (4, 4), 0)
    hidden = ("a/.DS_Store", "a/Thumbs.db", "b/desktop.ini", ".git/config", ".cache/1.png", ".notes.txt")
    for name in ("a/notes.doc", *hidden):
        write(tmp_path / "faces" / name, b"")
    assert len(prepare(tmp_path, {"path": str(tmp_path / "faces")})[0]) == 2
    (message,) = caplog.messages
    assert message.startswith(f"{tmp_path / 'faces'}: ignored, not ending with .bmp, ")
    assert message.endswith(": a/notes.doc")


def test_many_ignored_files_are_one_line(tmp_path, caplog):
    write(tmp_path / "texts/1.txt", b"cat dog")
    write(tmp_path / "texts/2.txt", b"dog")
    for i in range(8):
        write(tmp_path / f"texts/{i}.json", b"")
    prepare(tmp_path, {"path": str(tmp_path / "texts")})
    (message,) = caplog.messages
    assert message.endswith(": 0.json, 1.json, 2.json, 3.json, 4.json and 3 more")


def test_a_folder_without_other_files_is_read_without_a_warning(tmp_path, caplog):
    for i in range(2):
        save_image(tmp_path / f"flat/{i}.png", (4, 4), 0)
    prepare(tmp_path, {"path": str(tmp_path / "flat")})
    assert caplog.messages == []


def test_a_flat_folder_of_images_has_no_labels(tmp_path):
    for i in range(3):
        save_image(tmp_path / f"flat/{i}.png", (9, 8), 40 * i, mode="L")
    X, y, _ = prepare(tmp_path, {"path": str(tmp_path / "flat"), "channels": 1})
    assert X.shape == (3, 8, 9, 1)
    assert y is None


def test_images_of_several_sizes_need_an_image_size(tmp_path):
    save_image(tmp_path / "flat/1.png", (9, 8), 0, mode="L")
    save_image(tmp_path / "flat/2.png", (8, 9), 0, mode="L")
    with pytest.raises(InputError, match=r"2.png: shape \(9, 8\) differs .*; set image_size"):
        prepare(tmp_path, {"path": str(tmp_path / "flat")})


def test_an_image_that_cannot_be_read_is_an_error_that_names_it(tmp_path):
    write(tmp_path / "flat/1.png", b"<html>")
    with pytest.raises(InputError, match=r"1.png is not a readable image"):
        prepare(tmp_path, {"path": str(tmp_path / "flat")})


DEEP = {"I;16.png": np.uint16, "I;16.tif": np.uint16, "I.tif": np.int32, "F.tif": np.float32}


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("channels", [1, 3])
def test_grey_images_of_more_than_eight_bits_are_scaled_by_their_range(tmp_path, name, channels, caplog):
    values = np.random.default_rng(0).integers(400, 60_000, (5, 8, 9)).astype(DEEP[name])
    (tmp_path / "flat").mkdir()
    for i, pixels in enumerate(values):
        Image.fromarray(pixels).save(tmp_path / f"flat/{i}{Path(name).suffix}")
    block = {"path": str(tmp_path / "flat"), "channels": channels}
    X, _, facts = prepare(tmp_path, block)
    expected = (values - values.min()) / float(np.ptp(values))
    np.testing.assert_allclose(X, np.stack([expected] * channels, axis=-1), atol=1e-6)
    assert (facts["scaling"]["kind"], facts["scaling"]["high"]) == ("range", values.max())
    assert "which are scaled to [0, 1]" in caplog.text
    assert prepare(tmp_path, block | {"image_size": 4})[0].shape == (5, 4, 4, channels)
    save_image(tmp_path / "flat/9.png", (9, 8), 0, mode="L")
    with pytest.raises(InputError, match=r"9\.png has 8 bits per pixel, .*flat/0.* more: .* one depth"):
        prepare(tmp_path, block | {"skip_damaged": True})


def test_a_sound_image_that_cannot_be_read_is_not_called_damaged(tmp_path):
    save_image(tmp_path / "flat/1.tif", (4, 4), 0, mode="L")
    whole = (tmp_path / "flat/1.tif").read_bytes()
    bits = whole.index(b"\x02\x01\x03\x00")  # the tag of the bits per sample
    write(tmp_path / "flat/1.tif", whole[: bits + 8] + b"\x0b" + whole[bits + 9 :])
    for skip in (False, True):
        with pytest.raises(
            InputError, match="1 of 1 images have a form that cannot be read; convert"
        ) as caught:
            prepare(tmp_path, {"path": str(tmp_path / "flat"), "skip_damaged": skip})
        assert "skip_damaged" not in str(caught.value)


def test_colour_of_sixteen_bits_is_read_as_eight_which_is_said(tmp_path, caplog):
    import struct
    import zlib

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 16, 2, 0, 0, 0))
    rows = chunk(b"IDAT", zlib.compress((b"\0" + b"\x80\x01" * 12) * 4))
    for i in range(2):
        write(tmp_path / f"flat/{i}.png", b"\x89PNG\r\n\x1a\n" + header + rows + chunk(b"IEND", b""))
    X, _, _ = prepare(tmp_path, {"path": str(tmp_path / "flat")})
    assert np.unique(X).tolist() == [np.float32(128) / np.float32(255)]
    assert "16 bits per channel of colour were read as 8: 0.png, 1.png" in caplog.text


def test_an_image_of_too_many_pixels_is_an_error_before_it_is_decoded(tmp_path):
    save_image(tmp_path / "flat/1.png", (9000, 9000), 0, mode="L")
    with pytest.raises(InputError, match="9000x9000 is more than"):
        prepare(tmp_path, {"path": str(tmp_path / "flat"), "image_size": 8})


def test_a_damaged_image_is_told_from_a_large_one_whatever_its_path(tmp_path):
    folder = tmp_path / "a is more than b"
    save_image(folder / "1.png", (4, 4), 0, mode="L")
    save_image(folder / "2.png", (4, 4), 9, mode="L")
    write(folder / "3.png", b"no image")
    X, _, _ = prepare(tmp_path, {"path": str(folder), "skip_damaged": True})
    assert len(X) == 2


def test_images_at_several_depths_are_an_error(tmp_path):
    save_image(tmp_path / "flat/1.png", (4, 4), 0, mode="L")
    save_image(tmp_path / "flat/a/1.png", (4, 4), 0, mode="L")
    with pytest.raises(InputError, match="all files should be in"):
        prepare(tmp_path, {"path": str(tmp_path / "flat")})


@pytest.mark.parametrize(
    "option",
    [{"image_size": 0}, {"image_size": [3]}, {"channels": 2}, {"image_size": "3"}, {"skip_damaged": 1}],
)
def test_an_image_option_of_another_value_is_an_error_that_names_it(tmp_path, option):
    save_image(tmp_path / "flat/1.png", (4, 4), 0, mode="L")
    with pytest.raises(InputError, match=next(iter(option))):
        prepare(tmp_path, {"path": str(tmp_path / "flat"), **option})


@pytest.fixture
def linked(tmp_path):
    """A folder whose classes are links, with links that lead nowhere or in a circle."""
    for name in ("cats", "dogs"):
        for i in range(2):
            save_image(tmp_path / f"store/{name}/{i}.png", (4, 4), 40 * i, mode="L")
        (tmp_path / "faces").mkdir(exist_ok=True)
        (tmp_path / "faces" / name).symlink_to(tmp_path / "store" / name)
    save_image(tmp_path / "faces/own/0.png", (4, 4), 9, mode="L")
    save_image(tmp_path / "other.png", (4, 4), 9, mode="L")
    (tmp_path / "faces/own/1.png").symlink_to(tmp_path / "other.png")
    (tmp_path / "faces/own/2.png").symlink_to(tmp_path / "nowhere.png")
    (tmp_path / "faces/own/circle").symlink_to(tmp_path / "faces")
    return tmp_path / "faces"


def test_links_to_folders_and_files_are_followed_and_others_are_named(linked, caplog):
    X, y, facts = prepare(linked.parent, {"path": str(linked)})
    assert len(X) == 6
    assert y.tolist() == [0, 0, 1, 1, 2, 2]
    assert facts["class_names"] == ["cats", "dogs", "own"]
    (message,) = caplog.messages
    assert "a link that is broken or leads to a folder above it" in message
    assert message.endswith(": own/2.png, own/circle")


def test_the_digest_of_a_folder_changes_with_a_file_behind_a_link(linked):
    before = files_digest(visible_files(linked))
    save_image(linked.parent / "store/cats/0.png", (5, 5), 9, mode="L")
    assert files_digest(visible_files(linked)) != before


def test_a_folder_may_be_a_link_itself(linked):
    (linked.parent / "link").symlink_to(linked)
    assert len(visible_files(linked.parent / "link")) == 6


def test_transparent_pixels_become_white_which_is_said(tmp_path, caplog):
    save_image(tmp_path / "flat/1.png", (4, 4), (0, 0, 0, 0), mode="RGBA")
    save_image(tmp_path / "flat/2.png", (4, 4), (10, 20, 30, 255), mode="RGBA")
    save_image(tmp_path / "flat/3.png", (4, 4), (0, 128), mode="LA")
    X, _, _ = prepare(tmp_path, {"path": str(tmp_path / "flat")})
    pixels = (X[:, 0, 0] * 255).round().astype(int).tolist()
    assert pixels == [[255, 255, 255], [10, 20, 30], [127, 127, 127]]
    (message,) = caplog.messages
    assert message.endswith("transparent pixels became white: 1.png, 3.png")


def test_further_pages_are_named_and_jfif_is_jpeg(tmp_path, caplog):
    save_image(tmp_path / "flat/1.jpg", (4, 4), 0, mode="L")
    (tmp_path / "flat/1.jpg").rename(tmp_path / "flat/1.jfif")
    pages = [Image.new("L", (4, 4), level) for level in (51, 204)]
    for name in ("2.tif", "3.gif"):
        pages[0].save(tmp_path / "flat" / name, save_all=True, append_images=pages[1:])
    X, _, _ = prepare(tmp_path, {"path": str(tmp_path / "flat"), "channels": 1})
    np.testing.assert_allclose(X[:, 0, 0, 0], [0, 0.2, 0.2], atol=1e-6)
    (message,) = caplog.messages
    assert message.endswith("only the first page or frame was read: 2.tif, 3.gif")


def test_all_damaged_images_are_listed_at_once_and_can_be_left_out(tmp_path, caplog):
    for name in ("a/1.png", "b/1.png", "b/2.png"):
        save_image(tmp_path / "faces" / name, (4, 4), 0)
    write(tmp_path / "faces/a/2.png", b"<html>")
    write(tmp_path / "faces/b/0.png", b"")
    block = {"path": str(tmp_path / "faces")}
    with pytest.raises(InputError, match=r"2 of 5 images cannot be read\. Set skip_damaged") as caught:
        prepare(tmp_path, block)
    lines = str(caught.value).splitlines()
    assert [line.split()[0] for line in lines[1:]] == [
        f"{tmp_path}/faces/{name}.png" for name in ("a/2", "b/0")
    ]
    X, y, _ = prepare(tmp_path, block | {"skip_damaged": True})
    assert len(X) == 3
    assert y.tolist() == [0, 1, 1]
    assert caplog.messages[-1].endswith("left out, because they cannot be read: a/2.png, b/0.png")


def test_a_folder_of_damaged_images_only_is_an_error(tmp_path):
    for i in range(2):
        write(tmp_path / f"flat/{i}.png", b"")
    with pytest.raises(InputError, match="2 of 2 images cannot be read"):
        prepare(tmp_path, {"path": str(tmp_path / "flat"), "skip_damaged": True})
