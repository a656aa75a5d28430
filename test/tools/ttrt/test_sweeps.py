"""Commands on many files at once: processes, clusters, and going on after an interruption."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster
from running.swept_commands import BrokenRun, FragileRun, SlowRun

from ttmlir.runtime.ttrt import sweeps as journals
from ttmlir.runtime.ttrt.sweeps import Case, run_on_cluster
from ttmlir.tools.ttrt import main

Capture = pytest.CaptureFixture[str]
GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs in a folder `programs` has files in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTRT_LOGGER_LEVEL", raising=False)
    Path("programs").mkdir()
    for name in ("add.ttnn", "two_functions.ttnn", "chain.ttm"):
        shutil.copy(GOLDEN / name, "programs")


def run(*arguments: str) -> int:
    """Exit status of the command."""
    return main(list(arguments))


def entries(path: str = "r.json") -> list[dict[str, Any]]:
    """The results in a file, without times and folders."""
    kept = ("file_path", "result", "exception", "program_index", "case", "numerics")
    found = json.loads(Path(path).read_text())
    return [{name: each.get(name) for name in kept} for each in found]


def test_processes_give_what_one_process_gives(capsys: Capture) -> None:
    """In the same order, whoever is done first."""
    assert run("run", "programs", "--golden", "--result-file", "one.json") == 0
    assert run("run", "programs", "--golden", "--jobs", "2", "--result-file", "r.json") == 0
    assert entries() == entries("one.json")
    assert len(entries()) == 4
    assert not Path("r.json.journal").exists()
    assert "golden ok" in capsys.readouterr().err


def test_all_combinations(capsys: Capture) -> None:
    """Of every file with every value; each entry says which."""
    sweep = ("--sweep", "numerics=exact,device", "--sweep", "seed=3,4")
    assert run("run", "programs/add.ttnn", *sweep, "--result-file", "r.json") == 0
    cases = [each["case"] for each in entries()]
    assert cases == [
        {"numerics": numerics, "seed": seed} for numerics in ("exact", "device") for seed in (3, 4)
    ]
    assert [each["numerics"] for each in entries()] == ["exact", "exact", "device", "device"]
    assert "[numerics=device,seed=4] programs/add.ttnn: program 0" in capsys.readouterr().err


def test_failures_do_not_stop_the_rest(capsys: Capture) -> None:
    """A file that cannot be read is an error, the others pass."""
    Path("programs/bad.ttnn").write_text("no program")
    assert run("run", "programs", "--jobs", "2", "--quiet", "--result-file", "r.json") == 1
    assert sorted(each["result"] for each in entries()) == ["error", *["pass"] * 4]
    assert "programs/bad.ttnn: neither a TTNN nor" in capsys.readouterr().err


def test_perf_and_check_are_swept_too(capsys: Capture) -> None:
    """Tables of times are in folders of their own."""
    Path("programs/deep").mkdir()
    shutil.copy(GOLDEN / "add.ttnn", "programs/deep")
    sweep = ("--sweep", "numerics=exact,device")
    assert run("perf", "programs/add.ttnn", "programs/deep", "--jobs", "2", *sweep) == 0
    tables = sorted(map(str, Path("ttrt-artifacts").rglob("*.csv")))
    assert len(tables) == 4
    assert tables[0].endswith("numerics=device/add.ttnn/perf/ops_perf_results.csv")
    shown = capsys.readouterr().out
    assert all(f"times of all operations: {Path.cwd() / table}" in shown for table in tables)
    assert run("check", "programs", "--jobs", "2", "--sweep", "board=n300,default") == 1
    assert "matches board 'default'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sweep", "numerics"), "--sweep numerics: give an option of the command and its values"),
        (("--sweep", "colour=red"), "--sweep colour=red: give an option of the command"),
        (("--sweep", "jobs=1,2"), "--sweep jobs=1,2: give an option of the command"),
        (("--sweep", "numerics=exact,most"), "--numerics is 'most'; supported are 'exact', "),
        (("--sweep", "seed=1,x"), "--sweep: --seed must be a number, got 'x'"),
        (("--sweep", "seed=-1"), "--seed must be at least 0, got -1"),
        (("--sweep", "golden=1"), "--sweep: --golden has no values"),
        (("--sweep", "seed=1", "--sweep", "seed=2"), "the values of seed were given before"),
        (("--jobs", "2", "--outputs", "o.npz"), "--outputs is for one run of one file"),
        (("--jobs", "0"), "--jobs must lie between 1 and 1024, got 0"),
        (("--cluster", "nowhere"), "--cluster nowhere: no Dask scheduler answers there"),
    ],
)
def test_what_cannot_be_swept(
    arguments: tuple[str, ...], message: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what can be."""
    monkeypatch.setattr("ttmlir.runtime.ttrt.sweeps._TIMEOUT", 0.5)
    assert run("run", "programs/add.ttnn", *arguments) == 1
    assert message in capsys.readouterr().err


def test_standard_input_is_for_one_process(capsys: Capture) -> None:
    """It can be read only once."""
    assert run("run", "-", "--jobs", "2") == 1
    assert "standard input cannot be read by several processes" in capsys.readouterr().err


def test_a_pipe_is_for_one_process(capsys: Capture) -> None:
    """As standard input is: several processes cannot read it, nor one process twice."""
    os.mkfifo("pipe.ttnn")
    assert run("run", "pipe.ttnn", "--sweep", "seed=0,1") == 1
    assert "pipe.ttnn: a pipe cannot be read by several processes; give files" in (
        capsys.readouterr().err
    )


def test_of_a_foreign_file_only_the_beginning_is_read() -> None:
    """Its size is that of a disk; nothing but the first bytes says what it is."""
    with Path("programs/foreign.ttnn").open("wb") as file:
        file.truncate(1 << 40)
    assert run("run", "programs", "--jobs", "2", "--result-file", "r.json") == 1
    found = {each["file_path"]: each["result"] for each in entries()}
    assert found["programs/foreign.ttnn"] == "error"
    assert found["programs/add.ttnn"] == "pass"


def test_an_interrupted_sweep_goes_on(capsys: Capture) -> None:
    """What is in the journal is not run again; a line that was cut off is."""
    sweep = ("--sweep", "seed=0,1,2", "--result-file", "r.json")

    def stop_after_two(self: Any, case: str, results: Any) -> bool:
        if len(self.done) == 2:
            raise KeyboardInterrupt
        return add(self, case, results)

    add = journals.Journal.add
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journals.Journal, "add", stop_after_two)
        with pytest.raises(KeyboardInterrupt):
            run_in_process(SlowRun, "programs/add.ttnn", sweep=("seed=0,1,2",))
    path = Path("r.json.journal")
    assert len(path.read_text().split()) > 2
    with path.open("a") as file:
        file.write('{"case": "x", "res')
    capsys.readouterr()
    assert run_in_process(SlowRun, "programs/add.ttnn", sweep=("seed=0,1,2",)) == 0
    assert "2 of 3 cases were done before" in capsys.readouterr().err
    assert [each["case"] for each in entries()] == [{"seed": seed} for seed in range(3)]
    assert not path.exists()
    # Other arguments, or another file, are other cases.
    assert run("run", "programs/add.ttnn", *sweep, "--numerics", "device") == 0
    assert "done before" not in capsys.readouterr().err


def run_in_process(command: Any, *paths: str, **arguments: Any) -> int:
    """The exit status of a command of the tests."""
    return command(args={"binary": paths, "result_file": "r.json", **arguments})()


def test_a_process_that_dies_takes_nobody_along(capsys: Capture) -> None:
    """Its case is an error, and all others end once."""
    for number in range(4):
        shutil.copy(GOLDEN / "add.ttnn", f"programs/a{number}.ttnn")
    shutil.copy(GOLDEN / "add.ttnn", "programs/deadly.ttnn")
    assert run_in_process(FragileRun, "programs", jobs=2) == 1
    found = entries()
    assert [each["result"] for each in found].count("pass") == 8
    [failure] = [each for each in found if each["result"] != "pass"]
    assert failure["file_path"] == "programs/deadly.ttnn"
    assert "the process that ran it died" in failure["exception"]


def test_a_mistake_of_a_command_is_an_error_of_its_case(capsys: Capture) -> None:
    """It is said whose it is."""
    shutil.copy(GOLDEN / "add.ttnn", "programs/odd.ttnn")
    assert run_in_process(BrokenRun, "programs", jobs=2) == 1
    [failure] = [each for each in entries() if each["result"] != "pass"]
    assert failure["exception"] == (
        "programs/odd.ttnn: this is a mistake of ttrt: ZeroDivisionError: integer division or "
        "modulo by zero"
    )


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_whose_worker_is_killed() -> None:
    """Every case ends once in the results, none is lost and none is there twice."""
    seeds = range(16)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster, set_as_default=False) as client,  # The command has one of its own.
    ):
        victim = sorted(client.run(os.getpid).values())[0]

        def kill() -> None:
            time.sleep(0.6)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        listed = ",".join(map(str, seeds))
        status = run_in_process(
            SlowRun,
            "programs/add.ttnn",
            "programs/chain.ttm",
            cluster=cluster.scheduler_address,
            sweep=(f"seed={listed}",),
        )
        killer.join()
        assert status == 0
        assert victim not in client.run(os.getpid).values()
    found = [(each["file_path"], each["case"]["seed"]) for each in entries()]
    assert found == [
        (f"programs/{name}", seed) for name in ("add.ttnn", "chain.ttm") for seed in seeds
    ]
    assert {each["result"] for each in entries()} == {"pass"}


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_and_a_file_that_is_gone() -> None:
    """It is an error in the results, and the others are run."""
    gone = Case(("ttrt", "Run"), "programs/gone.ttnn", {}, {})
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        [(case, done)] = run_on_cluster([gone], cluster.scheduler_address)
    assert case is gone
    assert done == "No such file or directory"


def test_without_dask(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert run("run", "programs", "--cluster", "tcp://127.0.0.1:1") == 1
    assert 'pip install "ttmlir-py[cluster]" installs it' in capsys.readouterr().err
