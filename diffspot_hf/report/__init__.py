"""Figures for people: tables in the terminal and in Markdown."""
