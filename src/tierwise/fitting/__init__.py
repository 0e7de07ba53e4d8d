"""Fits of tiers and theta at given sizes: maximum likelihood, bootstrap, imputation."""
