"""Tables that are pasted from a page or from a paper."""

from io import StringIO

import pytest

import tierwise as tw

MARKDOWN = """Our leaderboard:

| Rank | Model | Arena Elo | 95% CI | Votes | MMLU | MT-bench |
|---|:---|---:|---:|---|---|---|
| 1 | [x](https://x.org) | **1287** | +4/-3 | 12,345 | 88.7 | 9.1 |
| 2 | y \\| z | 1271 | +5/-4 | 8,210 | 88.9 | - |

| a | b |
|---|---|
| 1 | 2 |
"""
LATEX = r"""
\begin{table}[t] \caption{Accuracy (\%)}
\begin{tabular}{l*{2}{r}c}
\toprule
 & \multicolumn{2}{c}{Trees} & \\ \cmidrule(lr){2-3}
Data & RF & XG\_Boost & SVM \\
\midrule  % the first is \textbf{ours}
iris & \textbf{90.1} $\pm$ 0.6 & 90.9 $\pm$
  0.8 & 87.6\,\% \\[2pt]
wine & $90.9_{0.8}$ & \underline{87.5} & 86.0\\
\bottomrule
\end{tabular}
\end{table}
"""


def test_a_table_of_a_page_is_read():
    read = tw.read_scores(StringIO(MARKDOWN), "higher")
    assert read.items == ("x", "y | z")
    assert read.to_orderings() == [["x", "y | z"], ["y | z", "x"], ["x"]]
    assert "Format: Markdown" in str(read.reading)
    assert "Only the first table of the text is read." in read.reading.remarks


def test_a_table_of_a_paper_is_read():
    read = tw.read_scores(StringIO(LATEX.replace(r"\,\%", "")), "higher", items_in="columns")
    assert read.items == ("Trees RF", "Trees XG_Boost", "SVM")
    assert read.to_orderings() == [
        ["Trees XG_Boost", "Trees RF", "SVM"],
        ["Trees RF", "Trees XG_Boost", "SVM"],
    ]


def test_messages_name_the_line_of_the_text():
    with pytest.raises(tw.InputError, match=r"line 8.*'SVM' is 'best'"):
        tw.read_scores(StringIO(LATEX.replace(r"87.6\,\%", "best")), "higher", items_in="columns")
    with pytest.raises(tw.InputError, match="line 6 has 8 cells, but the header has 7 columns"):
        tw.read_scores(StringIO(MARKDOWN.replace("y \\|", "y |")), "higher")


@pytest.mark.parametrize("frame", [True, False])
def test_what_pandas_writes_is_read(frame):
    text = "|    | task | x | y |\n|---:|:-----|--:|--:|\n|  0 | a | 1 | 2 |\n|  1 | b | 2 | 1 |\n"
    if not frame:
        text = (
            text.replace("|    ", "").replace("|---:", "").replace("|  0 ", "").replace("|  1 ", "")
        )
    assert tw.read_scores(StringIO(text), "higher").to_orderings() == [["y", "x"], ["x", "y"]]


def test_votes_in_a_table_of_a_page_are_read():
    text = "model_a | model_b | winner\n--- | --- | ---\nx | y | model_a\ny | z | tie\n"
    assert tw.read(StringIO(text)) == tw.read(
        StringIO(text.replace(" | ", ",").replace("---,---,---\n", ""))
    )


def test_lists_of_json_objects_are_read():
    lines = '{"model_a": "x", "model_b": "y", "winner": "x"}\n'
    listed = StringIO(f"[\n  {lines},\n {lines}]\n")
    assert tw.read(listed) == tw.read(StringIO(lines * 2))


def test_bars_between_items_are_still_rankings():
    assert tw.read(StringIO("ranking\na | b\nb | a\n")).to_orderings() == [["a", "b"], ["b", "a"]]
