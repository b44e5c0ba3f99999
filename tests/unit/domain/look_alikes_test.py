"""Labels that a reader takes for one class are pointed out, others are not."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.look_alikes import (
    label_notes,
    look_alikes,
    look_alikes_in_words,
    names_alike,
    near_misses,
    shown,
)

INVISIBLE = ["\u200b", "\u200d", "\u00ad", "\ufeff", "\u2060", "\u034f", "\ufe0f"]


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ("cat", "Cat", "case"),
        ("straße", "STRASSE", "case"),
        ("dog", " dog\t", "white space"),
        ("dog", "dog\u00a0", "white space"),
        ("caf\u00e9", "cafe\u0301", "Unicode form"),
        ("A1", "\uff21\uff11", "Unicode form"),
        ("lung cancer", "lung  cancer", "white space"),
        ("lung cancer", "lung\u00a0cancer", "Unicode form"),
        ("T-cell", "T\u2013cell", "dash or quote"),
        ("-1", "\u22121", "dash or quote"),
        ("Crohn's", "Crohn\u2019s", "dash or quote"),
        ("cat", "c\u00adat", "invisible characters"),
        ("\u2764", "\u2764\ufe0f", "invisible characters"),
        ("cat", "Cat\u200b ", "invisible characters, white space, case"),
    ],
)
def test_what_looks_alike_is_named_with_the_difference(
    one: str, other: str, difference: str
) -> None:
    assert look_alikes([one, "x", other]) == ((one, other),)
    assert look_alikes_in_words([one, "x", other]) == (
        f"Classes look alike: {shown(one)} and {shown(other)} ({difference})."
    )


@pytest.mark.parametrize(
    "names", [["cat", "cats"], ["1", "01"], ["1", "1.0"], ["a b", "ab"], ["é", "e"], ["l", "1"]]
)
def test_what_a_reader_tells_apart_does_not_look_alike(names: list[str]) -> None:
    assert look_alikes(names) == ()


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        (["90", "100", "090"], "'90' and '090' (kind)"),
        (["1", "0", "1.0", "0.0"], "'1' and '1.0' (kind); '0' and '0.0' (kind)"),
        (["true", "1", "+1", " 1.", "x"], "'1' and '+1' (kind); '1' and ' 1.' (kind)"),
    ],
)
def test_classes_that_are_one_number_in_two_kinds_are_noted(names: list[str], listed: str) -> None:
    assert label_notes(names) == (f"Classes may be meant as one: {listed}.",)


@pytest.mark.parametrize("name", ["nan", "NaT", "<NA>"])
def test_a_missing_value_that_became_text_is_noted(name: str) -> None:
    assert label_notes(["cat", name]) == (
        f"{name!r} is read as a class; NumPy and pandas write missing values as this text.",
    )
    assert label_notes(["cat", "None", "na"]) == ()


def test_the_number_of_ignored_samples_is_pointed_out_among_class_numbers() -> None:
    (note,) = label_notes(["-100", "0", "1"])

    assert note.startswith("'-100' is read as a class; PyTorch ignores samples of this class.")
    assert label_notes(["-100", "-50", "0", "50"]) == ()
    assert label_notes(["-100", "cat"]) == ()


def test_only_the_first_few_are_listed() -> None:
    names = [name for letter in "abcde" for name in (letter, letter.upper())]

    (note,) = label_notes(names)

    assert "'c' and 'C' (case); and 2 more." in note


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=8),
    st.lists(st.sampled_from(INVISIBLE), max_size=2),
    st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]),
    st.sampled_from(["", " ", "\t", "\u3000"]),
)
def test_what_nobody_sees_never_makes_another_class(
    name: str, hidden: list[str], form: unicodedata._NormalizationForm, space: str
) -> None:
    disguised = unicodedata.normalize(form, space + name + space) + "".join(hidden)

    expected = [] if name == disguised else [{name, disguised}]
    assert [set(group) for group in look_alikes({name, disguised})] == expected


@given(st.lists(st.text(max_size=4), unique=True))
def test_look_alikes_are_disjoint_groups_of_the_given_names_in_their_order(
    names: list[str],
) -> None:
    groups = look_alikes(names)

    members = [name for group in groups for name in group]
    assert len(members) == len(set(members))
    assert all(len(group) > 1 for group in groups)
    assert all(list(group) == [name for name in names if name in group] for group in groups)


def test_near_misses_are_the_same_number_or_truth_value_in_another_kind() -> None:
    found = near_misses(["1", "0", "2"], ["1.0", "false", "two", "2"])

    assert [(miss.one, miss.other, miss.difference) for miss in found] == [
        ("1", "1.0", "kind"),
        ("0", "false", "kind"),
    ]


@pytest.mark.parametrize(
    "listing", ["sea|sky", "sea;sky", "sea, sky", "sea/sky", "sea + sky", "sea & sky", "sea sky"]
)
def test_a_class_that_lists_other_classes_is_noted_as_a_set(listing: str) -> None:
    (note,) = label_notes(["sea", listing, "sky"])

    assert note.startswith(f"Class {listing!r} lists other classes")
    assert "--sets" in note


@pytest.mark.parametrize("comment", ["#sea", "# sea"])
def test_a_class_that_another_one_commented_out_is_noted(comment: str) -> None:
    (note,) = label_notes(["sea", comment, "#tag"])

    assert note == f"{comment!r} is read as a class; lines with # at their start are not left out."


@pytest.mark.parametrize(
    "written", ["['sea', 'sky']", '["sea"]', "[]", "{'sea'}", "(1, 2)", "set()"]
)
def test_a_list_that_was_written_as_text_is_noted_as_a_set(written: str) -> None:
    (note,) = label_notes(["sea", written])

    assert note.startswith(f"Class {written!r} is a list written as text")


@pytest.mark.parametrize("name", ["[UNK]", "(none)", "{a}", "[", "[sea, sky]", "(1.5]"])
def test_brackets_in_a_name_alone_are_no_list(name: str) -> None:
    assert label_notes(["sea", name]) == ()


@pytest.mark.parametrize("names", [["sea|sky", "sea"], ["a|b", "a|c"], ["|", ""], ["a|a", "a"]])
def test_a_bar_in_a_name_alone_is_no_set(names: list[str]) -> None:
    assert label_notes(names) == ()


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ("pets", "Pets", "case"),
        ("pets", "pets ", "white space"),
        ("pets", "\uff50ets", "Unicode form"),
        ("pets v2", "pets-v2", "blanks or punctuation"),
        ("pets v2", "Pets_V2", "blanks or punctuation"),
        ("pets v2", "petsv2.", "blanks or punctuation"),
        ("eyes 2026-01", "eyes_2026_01", "blanks or punctuation"),
    ],
)
def test_names_that_are_easily_mistyped_are_alike(one: str, other: str, difference: str) -> None:
    (found,) = names_alike(one, ["dogs", one, other])
    (back,) = names_alike(other, [one])

    assert (found.one, found.other, found.difference) == (other, one, difference)
    assert back.difference == difference


@pytest.mark.parametrize(
    ("one", "other"),
    [("v1.0", "v10"), ("fold 1 11", "fold 11 1"), ("pets", "pet"), ("--", "..."), ("c", "c+")],
)
def test_names_that_say_something_else_are_not_alike(one: str, other: str) -> None:
    assert names_alike(one, [other]) == ()
