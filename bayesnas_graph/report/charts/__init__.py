"""Charts of a report: plain values in, specifications of Vega-Lite out."""
