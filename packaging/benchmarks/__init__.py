"""Benchmarks for developers: what single parts cost, with the limits that they must keep.

``python packaging/benchmarks NAME …`` runs one. What users measure is ``paceline bench``, which
stands in the program itself (`paceline.bench`).
"""
