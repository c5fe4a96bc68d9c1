"""The pages and what stands behind them: signing in, reviewing, the interview."""
