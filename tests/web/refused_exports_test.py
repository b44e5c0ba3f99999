"""An export with a parameter that does not exist is refused before it is computed."""

from __future__ import annotations

import pytest

from support.pages import PageClient

RUNS = "r_aaaaaaaaaaaa,r_bbbbbbbbbbbb"
RUN = "/runs/r_aaaaaaaaaaaa"


@pytest.mark.parametrize(
    "path",
    [
        f"/compare.csv?runs={RUNS}",
        f"/compare.md?runs={RUNS}",
        f"/compare/examples.csv?runs={RUNS}&class=a",
        f"/whatif.csv?runs={RUNS}",
        "/whatif/decisions.csv?run=r_aaaaaaaaaaaa",
        f"{RUN}.json?norm=row",
        f"{RUN}/matrix.csv?layout=grid",
        f"{RUN}/curves.csv?part=points",
        f"{RUN}/examples.json?true=a",
        f"{RUN}/slices.csv?across=a",
        f"{RUN}/label-costs.json?others=1:1",
        f"{RUN}/advice.json?about=a",
        "/datasets/nowhere.json?project=default",
        "/datasets/nowhere/noise.json?share=5",
        "/datasets/nowhere/methods.csv?metric=mcc",
        "/datasets/nowhere/suspects.csv?class=a&against=2",
    ],
)
def test_an_unknown_parameter_is_refused_before_anything_is_looked_up(
    client: PageClient, path: str
) -> None:
    assert client.get(path).status_code == 404

    refused = client.get(f"{path}&colour=red")

    assert refused.status_code in (400, 422)
    assert "colour" in refused.text
