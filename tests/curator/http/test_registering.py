"""An owner registers tables over HTTP; no name of a file leads out of the folder of imports."""

from pathlib import Path
from typing import Any

import pytest

Service = Any
SECRET = "Zyxwvut"
BODY = {
    "columns": {
        "patient": {"type": "integer"},
        "ward": {"type": "text", "keys": ["A", "B"]},
        "cost": {"type": "number", "lower": 0, "upper": 100},
    },
    "unit": "patient",
    "budget": {"epsilon": "1/3", "delta": 1e-6},
    "purposes": [{"name": "care", "budget": {"epsilon": 0.25}, "expires": "2099-01-01T00:00:00Z"}],
    "retention": "2099-12-31",
}


def registered(service: Service, **more: Any) -> Any:
    return service.ask("POST", "/data-sets", by="olga", json={**BODY, **more})


def sent(service: Service, content: bytes, kind: str = "text/csv") -> Any:
    headers = {"Content-Type": kind}
    return service.ask("POST", "/uploads", by="olga", content=content, headers=headers)


def test_an_upload_becomes_a_data_set_and_is_gone(bare: Service) -> None:
    content = f"patient,ward,cost,name\n1,A,50,{SECRET}\n2,C,500,{SECRET}\n".encode()
    upload = sent(bare, content).json()["upload"]
    answer = registered(bare, name="uploaded", upload=upload)
    assert answer.status_code == 201, answer.text
    body = answer.json()
    assert body["budget"]["epsilon"] == "1/3"
    assert body["affected"]["rows_kept"] == 2, "exact numbers are for the owner"
    assert not list(bare.curator.settings.incoming_folder.iterdir())
    kept = b"".join(path.read_bytes() for path in bare.curator.settings.data_folder.iterdir())
    assert SECRET.encode() not in kept, "a column that is not needed never arrives (G1)"
    again = registered(bare, name="second", upload=upload)
    assert again.status_code == 404, "an upload is used once"
    public = bare.ask("GET", "/data-sets/uploaded", by="ann").json()
    assert "affected" not in public


@pytest.mark.parametrize(
    "name",
    [
        "../secret.csv", "/etc/passwd", "..\\secret.csv", "a/../../secret.csv", "link.csv",
        "~/secret.csv", "C:\\x.csv", "*.csv", "%2e%2e/secret.csv", "secret.csv\0.csv", ".",
        "folder",
    ],
)  # fmt: skip
def test_no_name_leads_out_of_the_folder_of_imports(bare: Service, name: str) -> None:
    imports: Path = bare.curator.settings.imports_folder
    outside = imports.parent / "secret.csv"
    outside.write_text("patient,ward,cost\n1,A,5\n")
    (imports / "folder").mkdir(exist_ok=True)
    if not (imports / "link.csv").is_symlink():
        (imports / "link.csv").symlink_to(outside)
    answer = registered(bare, name="stolen", file=name)
    assert answer.status_code == 422, answer.text
    assert str(imports) not in answer.text
    assert bare.ask("GET", "/data-sets/stolen", by="olga").status_code == 404


@pytest.mark.parametrize("upload", ["../curator.db", "..", "../../x.csv", "a/b.csv", "../no.csv"])
def test_no_upload_leads_elsewhere_or_tells_whether_a_file_is_there(
    bare: Service, upload: str
) -> None:
    (bare.curator.settings.folder / "x.csv").write_text("patient,ward,cost\n1,A,5\n")
    nowhere = registered(bare, name="stolen", upload=f"{'0' * 32}.csv")
    for one in (upload, "../x.csv"):
        answer = registered(bare, name="stolen", upload=one)
        assert (answer.status_code, answer.text) == (404, nowhere.text)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"columns": {}}, "columns"),
        ({"unit": "nobody"}, "nobody"),
        ({"budget": {"epsilon": -1}}, "epsilon"),
        ({"budget": {"epsilon": "x"}}, "epsilon"),
        ({"purposes": []}, "purposes"),
        ({"columns": {"a": {"type": "colour"}}}, "type"),
        ({"columns": {"a": {"type": "date", "keys": ["never"]}}}, "2024-01-31"),
        ({"columns": {"a": {"type": "number", "lower": 2, "upper": 1}}}, "lower"),
        ({"columns": {"absent": {"type": "text"}}, "unit": None}, "absent"),
    ],
)
def test_a_wrong_declaration_is_refused_with_what_is_wrong(
    bare: Service, changed: dict[str, Any], words: str
) -> None:
    (bare.curator.settings.imports_folder / "fine.csv").write_text("patient,ward,cost\n1,A,5\n")
    answer = registered(bare, name="wrong", file="fine.csv", **changed)
    assert answer.status_code == 422, answer.text
    assert words in answer.json()["detail"]


def test_an_upload_of_another_kind_or_too_large_leaves_nothing(making: Any) -> None:
    from letalone.curator.http.middleware import BodyLimits

    service = making(data=False, bodies=BodyLimits(upload_bytes=100))
    assert sent(service, b"x", kind="text/html").status_code == 422
    assert sent(service, b"x" * 101).status_code == 413

    def chunks() -> Any:
        for _ in range(11):
            yield b"x" * 10

    assert sent(service, chunks()).status_code == 413
    assert not list(service.curator.settings.incoming_folder.iterdir())


def test_a_data_set_can_be_renewed_thawed_and_retired(bare: Service) -> None:
    imports: Path = bare.curator.settings.imports_folder
    (imports / "fine.csv").write_text("patient,ward,cost\n1,A,5\n")
    assert registered(bare, name="life", file="fine.csv").status_code == 201
    assert bare.ask("POST", "/data-sets/life/version", by="olga").json()["version"] == 2
    renewed = bare.ask("POST", "/data-sets/life/rows", by="olga", json={"file": "fine.csv"})
    assert renewed.json()["version"] == 3
    bare.curator.ledger.freeze("life", "a test")
    thawed = bare.ask("POST", "/data-sets/life/thaw", by="olga", json={"why": "looked at it"})
    assert thawed.json()["frozen"] is False
    purpose = {"name": "planning", "budget": {"epsilon": 0.1}}
    added = bare.ask("POST", "/data-sets/life/purposes", by="olga", json=purpose)
    assert [one["name"] for one in added.json()["purposes"]] == ["care", "planning"]
    path = "/data-sets/life/purposes/planning/withdrawal"
    left = bare.ask("POST", path, by="stan", json={"why": "done"}).json()
    assert [one["name"] for one in left["purposes"]] == ["care"]
    gone = bare.ask("POST", "/data-sets/life/retirement", by="olga", json={"why": "over"})
    assert gone.json()["retired"] is True
    assert registered(bare, name="LIFE", file="fine.csv").status_code == 409


def test_an_address_is_refused_unless_its_host_is_allowed_and_no_password_is_echoed(
    bare: Service,
) -> None:
    address = f"postgresql://u:{SECRET}@db.example/clinic/visits"
    refused = registered(bare, name="visits on a server", address=address)
    assert (refused.status_code, "--source-host" in refused.text) == (422, True)
    both = registered(bare, name="two", address=address, file="x.csv")
    assert (both.status_code, "one of upload, file and address" in both.text) == (422, True)
    analyst = bare.ask("POST", "/data-sets", by="ann", json={**BODY, "name": "x", "address": "y"})
    assert analyst.status_code == 403
    assert SECRET not in refused.text + both.text + bare.log.getvalue()
