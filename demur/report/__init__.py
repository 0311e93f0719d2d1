"""Reports that are read: one HTML file for a run or several, and the same page served for runs of any size."""

from demur.report.serve import ReportServer, serve_run
from demur.report.write import write_report

__all__ = ["ReportServer", "serve_run", "write_report"]
