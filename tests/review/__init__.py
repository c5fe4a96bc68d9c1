"""Tests of what people are asked."""
