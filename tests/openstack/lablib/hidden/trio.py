"""Stands before Debian's trio, which Selenium brings: libraries import it where it is, and then fail under
eventlet."""

raise ImportError("trio is hidden from the services of the lab")
