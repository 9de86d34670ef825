"""Metrics over trace sets: scores, cross-play, interdependence, communication, prediction and BR-Prox."""
