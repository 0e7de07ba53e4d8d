"""The report: everything about rankings on one page."""
