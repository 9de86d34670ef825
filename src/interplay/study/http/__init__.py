"""The participants' side of a study over HTTP and WebSockets."""
