"""Checkmk notifications: the macros of its core, under the names that its scripts give them."""

from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.nagios import notification


class Checkmk:
    """Reads what Nagios reads: Checkmk notifies with the same facts."""

    name = "checkmk"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert of a notification; one about planned work has none."""
        return notification(delivery.payload, "a Checkmk notification")
