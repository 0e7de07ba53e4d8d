"""The numbers and figures of the paper, computed again: one module a study.

``python -m studies`` runs all of them and writes ``docs/reproduction.md``; see
Piancastelli and Friel, Clustered Mallows Model.
"""
