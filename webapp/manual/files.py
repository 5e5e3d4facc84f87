"""Files of the manual to copy: units, proxies, dashboards and alerts, as they stand in ``templates/docs/files``.

They are served as they are, at ``/docs/files/NAME``, and printed by ``patchbay files NAME``. Names and paths in them
are examples, which whoever copies a file makes their own.
"""

from dataclasses import dataclass

from webapp.kit import assets


@dataclass(frozen=True, slots=True)
class File:
    """One file: its name, which is also the end of its address, and what it is, in a few words."""

    name: str
    summary: str

    @property
    def url(self) -> str:
        """Its path on this server."""
        return f"/docs/files/{self.name}"

    def read(self) -> str:
        """What stands in it."""
        return (assets.templates_dir() / "docs" / "files" / self.name).read_text("utf-8")


FILES = {
    file.name: file
    for file in (
        File("patchbay.service", "systemd: all of Patchbay on one machine"),
        File("patchbay.env", "systemd: the settings of its units"),
        File("patchbay-backup.service", "systemd: one backup; the newest 14 are kept"),
        File("patchbay-backup.timer", "systemd: a backup each night"),
        File("litestream.yml", "Litestream: a copy of the database that is a second behind"),
        File("Caddyfile", "Caddy as the proxy in front"),
        File("nginx.conf", "nginx as the proxy in front"),
        File("cluster.env", "the settings of every machine, where several share a database"),
        File("patchbay-migrate.service", "systemd: bring the schema up to date, on one of them"),
        File("patchbay-web@.service", "systemd: web processes on a port"),
        File("patchbay-worker@.service", "systemd: a worker"),
        File("haproxy.cfg", "HAProxy in front of several machines"),
        File("Containerfile", "an image, of any base with Python"),
        File("compose.yml", "containers: PostgreSQL, Valkey, HAProxy, two web processes and two workers"),
        File("roles.sh", "containers: the role that serves, made in PostgreSQL's"),
        File("prometheus.yml", "Prometheus: what to read of Patchbay"),
        File("alerts.yml", "Prometheus: alerts that matter"),
        File("dashboard.json", "Grafana: a dashboard of all that is measured"),
    )
}
