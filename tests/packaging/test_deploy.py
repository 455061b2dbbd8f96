"""How the service is deployed, as far as a machine without a container daemon can tell."""

import fnmatch
import os
import pwd
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
KUBERNETES = {
    part["kind"]: part for part in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8"))
}
CAN_BECOME = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("setpriv") is not None


def _is_sent(path):
    """Whether a file is sent to whoever builds the image: the last line that matches it decides."""
    sent = True
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        pattern = line.lstrip("!")
        if line and not line.startswith("#"):
            parts = [path, *map(str, Path(path).parents)]
            names = [*parts, *(part.rpartition("/")[2] for part in parts)] if pattern.startswith("**/") else parts
            if any(fnmatch.fnmatchcase(name, pattern.removeprefix("**/")) for name in names):
                sent = line.startswith("!")
    return sent


def test_no_secret_lies_in_an_image():
    """Keys, passwords and ledgers of a checkout stay outside; what the wheel is made of comes in."""
    for path in ("deploy/ledger.key", "deploy/database.password", "ledger.key", "releases.db", "releases.db.service",
                 "src/utmost/ledger.key", ".git/config", "tests/conftest.py", ".env", "releases.db.key"):  # fmt: skip
        assert not _is_sent(path), path
    for path in (
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "man/utmost.1",
        "src/utmost/__init__.py",
        "deploy/start",
        "deploy/requirements.txt",
    ):
        assert _is_sent(path), path
        assert (ROOT / path).exists()
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert "COPY . /opt/utmost" in dockerfile
    assert "rm -rf /opt/utmost" in dockerfile
    assert "--require-hashes -r /opt/utmost/deploy/requirements.txt" in dockerfile


def test_everything_in_the_image_has_its_hash_and_is_what_the_package_asks_for():
    packaging = pytest.importorskip("packaging.requirements")
    text = (DEPLOY / "requirements.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    assert all(len(line) > 1 and all(part.startswith("--hash=sha256:") for part in line[1:]) for line in lines)
    pinned = dict(line[0].split("==") for line in lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for asked in (
        *project["dependencies"],
        *(one for extra in ("server", "postgres", "tables", "excel") for one in extras[extra]),
    ):
        wanted = packaging.Requirement(asked)
        if wanted.name != "utmost":
            assert wanted.specifier.contains(pinned[wanted.name.lower()]), asked


def test_every_service_is_restarted_limited_and_its_log_turned():
    for name, service in COMPOSE["services"].items():
        assert service["restart"] == "unless-stopped", name
        assert {"mem_limit", "cpus", "pids_limit"} <= set(service), name
        assert {"max-size", "max-file"} <= set(service["logging"]["options"]), name
        assert "no-new-privileges:true" in service["security_opt"], name
    assert [name for name, service in COMPOSE["services"].items() if "ports" in service] == ["proxy"]


def test_the_proxy_alone_is_believed_about_who_asks():
    """Behind the bridge it has an address of the network, and the service believes those of the network."""
    (network,) = COMPOSE["networks"]["inside"]["ipam"]["config"]
    service = COMPOSE["services"]["service"]
    assert service["environment"]["FORWARDED_ALLOW_IPS"] == network["subnet"]
    assert "--behind-proxy" in service["command"]
    assert all(one["networks"] == ["inside"] for one in COMPOSE["services"].values())
    assert "reverse_proxy service:8000" in (DEPLOY / "Caddyfile").read_text(encoding="utf-8")


def test_the_command_line_takes_what_the_service_is_started_with(monkeypatch):
    """The options that compose and systemd pass are ones that `utmost serve` knows."""
    from running import command_named

    known = {option for one in command_named("serve").params for option in (*one.opts, *one.secondary_opts)}
    unit = (DEPLOY / "utmost.service").read_text(encoding="utf-8")
    (line,) = (line for line in unit.splitlines() if line.startswith("ExecStart="))
    pod = KUBERNETES["Deployment"]["spec"]["template"]["spec"]["containers"][0]["command"]
    words = (*COMPOSE["services"]["service"]["command"], *line.split(), *pod)
    passed = [word for word in words if word.startswith("--")]
    assert passed
    assert set(passed) <= known


@pytest.mark.skipif(not CAN_BECOME, reason="only root can hand secrets to another user")
def test_secrets_reach_the_user_that_serves_and_no_other(tmp_path):
    """The entrypoint, with a program that looks around: another user, the key readable by that user alone, the
    password in the environment and in no file. The mounted files belong to somebody else, with mode 0600."""
    place = Path("/tmp") / f"utmost-deploy-{os.getpid()}"
    mounted, own = place / "secrets", place / "own"
    mounted.mkdir(parents=True)
    place.chmod(0o755)
    try:
        for name, text in (("ledger", "ab" * 32), ("database", "s3cret=")):
            (mounted / name).write_text(text + "\n")
            os.chown(mounted / name, 1234, 1234)
            (mounted / name).chmod(0o600)
        program = place / "looks"
        program.write_text(
            '#!/bin/sh\nid -un; stat -c "%U %a" "$UTMOST_LEDGER_KEY_FILE"; cat "$UTMOST_LEDGER_KEY_FILE"\n'
            'echo "$PGPASSWORD"; ls "$UTMOST_RUN"\n'
            'cat "$UTMOST_SECRETS/database" 2>/dev/null || echo closed; echo "$HOME"; echo "$@"\n'
        )
        program.chmod(0o755)
        given = {"UTMOST_SECRETS": mounted, "UTMOST_RUN": own, "UTMOST_USER": "nobody", "UTMOST_PROGRAM": program}
        home = pwd.getpwnam("nobody").pw_dir
        for key in ("ab", "cd"):  # a second start, where the directory outlives the first
            (mounted / "ledger").write_text(key * 32 + "\n")
            started = subprocess.run(
                [DEPLOY / "start", "serve", "--host", "0.0.0.0"],
                env={**os.environ, "HOME": "/root", **{name: str(value) for name, value in given.items()}},
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )
            assert started.returncode == 0, started.stderr
            assert started.stdout.splitlines() == [
                "nobody", "nobody 400", key * 32, "s3cret=", "ledger", "closed", home, "serve --host 0.0.0.0",
            ]  # fmt: skip
        (mounted / "ledger").unlink()
        subprocess.run([DEPLOY / "start"], env={**os.environ, **{k: str(v) for k, v in given.items()}}, check=False)
        assert not (own / "ledger").exists()
    finally:
        shutil.rmtree(place)


def test_the_settings_that_are_deployed_are_settings(tmp_path):
    """Those of the file, and those in the manifest, are read as `utmost serve --check` reads them."""
    from utmost.service import Settings

    assert Settings.of_environment({}, file=DEPLOY / "serve.toml").behind_proxy
    (tmp_path / "serve.toml").write_text(KUBERNETES["ConfigMap"]["data"]["serve.toml"], encoding="utf-8")
    settings = Settings.of_environment({}, file=tmp_path / "serve.toml")
    assert (settings.workers, settings.host, settings.demo) == (4, "0.0.0.0", False)


def test_a_pod_is_one_and_may_nothing_else():
    """No root, no privilege, nothing writable but the witness and memory; secrets by name; each volume is there."""
    pod = KUBERNETES["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert KUBERNETES["Deployment"]["spec"]["replicas"] == 1
    assert KUBERNETES["Deployment"]["spec"]["plan"] == {"type": "Recreate"}
    assert pod["securityContext"]["runAsNonRoot"]
    assert not pod["automountServiceAccountToken"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    secrets = {name["name"] for name in container["env"] if "valueFrom" in name}
    assert secrets == {"UTMOST_LEDGER_KEY", "PGPASSWORD"}
    assert KUBERNETES["Service"]["spec"]["selector"] == KUBERNETES["Deployment"]["spec"]["selector"]["matchLabels"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_the_unit_is_a_box(tmp_path):
    """systemd itself reads the unit without a complaint, and gives its exposure at most 2 of 10."""
    unit = tmp_path / "utmost.service"
    text = (DEPLOY / "utmost.service").read_text(encoding="utf-8").replace("/opt/utmost/bin/utmost", "/bin/true")
    unit.write_text(text, encoding="utf-8")
    run = {"capture_output": True, "text": True, "check": False, "timeout": 60}
    read = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], **run)
    assert "utmost.service:" not in read.stderr, read.stderr
    rated = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", unit], **run)
    assert rated.returncode == 0, rated.stdout
