"""The paper on interdependence: its tables and figures with our agents, beside what it printed."""
