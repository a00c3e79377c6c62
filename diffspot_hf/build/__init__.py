"""Makers of image pairs: web pages (DiffSpot), mobile screens (Scry), photographs (DiCoBench), and the page corpus."""
