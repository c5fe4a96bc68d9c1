"""Why a decision came out as it did, and which reviews shaped it."""
