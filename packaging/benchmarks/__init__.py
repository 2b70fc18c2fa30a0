"""Benchmarks for developers: each backs a sentence of the documents.

``python packaging/benchmarks NAME …`` runs one. What users measure is ``paceline bench``, which
stands in the program itself (`paceline.bench`).
"""
