"""The score model of a reviewer: a score, an unexplained residual, a threshold that grows with the gap."""
