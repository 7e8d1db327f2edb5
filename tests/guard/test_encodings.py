"""Files in other encodings than UTF-8: what is certain is written as the file is, all else keeps its bytes."""

from __future__ import annotations

import pytest

from sightline import EditRefused

CHINESE = "// 这是一个测试文件，用来检查编码。\nint main() { return 0; }\n// 中文注释写在这里\n"
KOREAN = "# 한국어 주석입니다.\nx = 1\n# 이 파일은 인코딩을 검사합니다.\n"
JAPANESE = "# これは日本語のコメントです。\nx = 1\n# 文字コードを調べます。\n"
RUSSIAN = "# Привет, мир. Это проверка.\nx = 1\n# Ёж и Заяц\n"
ITALIAN = "# Utilità di download con più connessioni\nx = 1\n# Limita la velocità di un file\n"
SPANISH = "# Inserta la fecha actual\nx = 1\n# ¿Qué día es, y de qué año?\n"
ARABIC = "# نظام إدارة الإصدارات الموزعة.\nx = 1\n# بعض الأوامر الفرعية\n"
HUNGARIAN = "# 1-től 3-ig, hogy kilépjen\nx = 1\n# és visszatérjen a szerkesztőbe\n"
QUOTED = "# Enter a valid “slug” of letters.\nx = 1\n"
GERMAN = "# Schlüssel für den Befehl\nx = 1\n# wird mit der Datei geöffnet\n"
FRENCH = "# L'été à Nîmes: déjà vu\nx = 1\n# garçon, où êtes-vous?\n"

CERTAIN = [
    (CHINESE, "gbk", "编码", "编号"),
    (CHINESE, "gb18030", "编码", "编号"),
    (KOREAN, "euc_kr", "파일", "글"),
    (JAPANESE, "euc_jp", "日本語", "英語"),
    (JAPANESE, "shift_jis", "日本語", "英語"),
    (JAPANESE, "iso2022_jp", "日本語", "英語"),
    (RUSSIAN, "cp1251", "Заяц", "Лиса"),
    (RUSSIAN, "koi8-r", "Заяц", "Лиса"),
    (FRENCH, "latin-1", "garçon", "élève"),
    ("# café\n", "latin-1", "café", "thé"),
    (ITALIAN, "latin-1", "più", "meno è"),  # not Czech, nor Polish
    (SPANISH, "cp1252", "año", "niño"),
    (ARABIC, "iso8859-6", "بعض", "كل"),  # not Thai
    (HUNGARIAN, "cp1250", "szerkesztőbe", "főmenübe"),  # not Portuguese
    (QUOTED, "cp1252", "“slug”", "“name”"),
    (GERMAN, "mac-roman", "Schlüssel", "Wörter"),
    (RUSSIAN, "gbk", "Заяц", "Лиса"),  # not Big5
]


@pytest.mark.parametrize(("text", "encoding", "old", "new"), CERTAIN)
@pytest.mark.parametrize("act", ["edit", "write", "patch"])
def test_a_new_character_is_written_as_the_file_is(place, s, text, encoding, old, new, act):
    place.put("a.txt", text.encode(encoding))
    assert s.read("a.txt").text == text
    after = text.replace(old, new)
    if act == "edit":
        s.edit("a.txt", old, new)
    elif act == "write":
        s.write("a.txt", after)
    else:
        number = next(n for n, line in enumerate(text.split("\n")) if old in line)
        line, put = text.split("\n")[number], after.split("\n")[number]
        s.patch(f"--- a/a.txt\n+++ b/a.txt\n@@ -{number + 1} +{number + 1} @@\n-{line}\n+{put}\n")
    assert place.bytes("a.txt") == after.encode(encoding)
    assert s.check("a.txt").state == "fresh"


UNCERTAIN = [
    b"\x93\xfa 1\nx = 1\n",  # two bytes of any East Asian encoding
    b"x = 1\n\xe0\xc1\xff\xd8\xc3 a\xf0b\n",
    "# שלום עולם\nx = 1\n".encode("cp1255"),
    b"x = 1\n\x81\x8d\x8f\x90\x9d\n",
    "# Bokmål\nx = 1\n".encode("latin-1"),  # or Slovak: no other word tells
    "# Aquest és un àlies.\nx = 1\n".encode("latin-1"),  # or Slovak
]


@pytest.mark.parametrize("data", UNCERTAIN)
def test_no_character_beyond_ascii_goes_into_a_file_whose_encoding_is_not_certain(place, s, data):
    place.put("a.txt", data)
    text = s.read("a.txt").text
    assert "�" in text
    text.encode()
    for act in (
        lambda: s.edit("a.txt", "x = 1", "x = 'é'"),
        lambda: s.write("a.txt", text.replace("x = 1", "x = 'é'")),
        lambda: s.edit_lines("a.txt", 1, 1, "é\n"),
    ):
        with pytest.raises(EditRefused) as refused:
            act()
        assert refused.value.reason == "binary"
        assert place.bytes("a.txt") == data


@pytest.mark.parametrize("data", [*UNCERTAIN, b"caf\xc3\xa9\nx = 1\n\xff tail\n"])
def test_bytes_that_are_no_text_stay_where_they_are(place, s, data):
    place.put("a.txt", data)
    text = s.read("a.txt").text
    s.edit("a.txt", "x = 1", "x = 2")
    assert place.bytes("a.txt") == data.replace(b"x = 1", b"x = 2")
    s.write("a.txt", text.replace("x = 1", "x = 3"))
    assert place.bytes("a.txt") == data.replace(b"x = 1", b"x = 3")
    number = next(n for n, line in enumerate(text.split("\n")) if "�" in line)
    line = text.split("\n")[number]
    s.edit("a.txt", f"{line}\n", f"{line} more\n")
    assert place.bytes("a.txt").split(b"\n")[number] == data.split(b"\n")[number] + b" more"
    hunk = f"@@ -{number + 1} +{number + 1} @@\n-{line} more\n+{line} less\n"
    s.patch(f"--- a/a.txt\n+++ b/a.txt\n{hunk}")
    assert place.bytes("a.txt").split(b"\n")[number] == data.split(b"\n")[number] + b" less"
    assert s.check("a.txt").state == "fresh"


def test_a_mark_without_a_place_is_refused(place, s):
    data = "é à è ü\n".encode() + b"x = 1\n\xff tail \xfe\n"
    place.put("a.txt", data)
    text = s.read("a.txt").text
    for act in (
        lambda: s.write("a.txt", text.replace("� tail", "tail")),
        lambda: s.edit("a.txt", "� tail �", "� tail"),
        lambda: s.edit_lines("a.txt", 3, 3, "� � � tail\n"),
    ):
        with pytest.raises(EditRefused, match="does not say where each") as refused:
            act()
        assert refused.value.reason == "binary"
        assert place.bytes("a.txt") == data
    s.edit("a.txt", "� tail �", "tail")
    assert place.bytes("a.txt") == "é à è ü\n".encode() + b"x = 1\ntail\n"
