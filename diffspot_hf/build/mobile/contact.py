"""Contact sheets of a set of screen pairs, for signing its tags and boxes by eye."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from ...images import decode_rgb
from ...rows import inside, iter_jsonl

COLORS = ("#e11d48", "#2563eb", "#059669", "#d97706", "#9333ea", "#0891b2")
MARGIN, LINE = 10, 13


def contact_sheets(
    folder: str | Path, out: str | Path, *, columns: int = 4, rows: int = 2, width: int = 260
) -> list[Path]:
    """PNG files below `out`: `columns` × `rows` pairs a sheet, each side `width` px wide, boxes and notes in colour."""
    root, target = Path(folder), Path(out)
    target.mkdir(parents=True, exist_ok=True)
    listed = [row for _, row in iter_jsonl(root / "test.jsonl")]
    written = []
    for start in range(0, len(listed), columns * rows):
        cells = [_cell(root, row, width) for row in listed[start : start + columns * rows]]
        sheet = Image.new("RGB", (columns * cells[0].width, -(-len(cells) // columns) * cells[0].height), "white")
        for index, cell in enumerate(cells):
            sheet.paste(cell, (index % columns * cell.width, index // columns * cell.height))
        path = target / f"sheet-{len(written) + 1:02d}.png"
        sheet.save(path)
        written.append(path)
    return written


def _cell(root: Path, row: dict[str, Any], width: int) -> Image.Image:
    sides = [decode_rgb(inside(root, row[column]).read_bytes(), row[column]) for column in ("image_a", "image_b")]
    height = round(width * sides[0].height / sides[0].width)
    cell = Image.new("RGB", (2 * width + 3 * MARGIN, height + LINE * 9 + 2 * MARGIN), "white")
    draw = ImageDraw.Draw(cell)
    font = ImageFont.load_default(11)
    draw.text((MARGIN, 2), f"{row['id']}  ({row['bucket']})", fill="black", font=font)
    for index, (side, key) in enumerate(zip(sides, ("box_a", "box_b"), strict=True)):
        left, top = MARGIN + index * (width + MARGIN), LINE + 4
        cell.paste(side.resize((width, height), Image.Resampling.LANCZOS), (left, top))
        draw.rectangle((left - 1, top - 1, left + width, top + height), outline="#bbbbbb")
        for number, issue in enumerate(row["issues"]):
            if box := issue[key]:
                edges = (box["x"], box["y"], box["x"] + box["w"], box["y"] + box["h"])
                x0, y0, x1, y1 = (e * (width if i % 2 == 0 else height) for i, e in enumerate(edges))
                draw.rectangle((left + x0, top + y0, left + x1, top + y1), outline=COLORS[number % len(COLORS)])
    for number, issue in enumerate(row["issues"]):
        words = f"{number + 1} [{', '.join(issue['labels'])}] {issue['note']}"
        at = (MARGIN, height + LINE * (number + 2))
        draw.text(at, words[:100], fill=COLORS[number % len(COLORS)], font=font)
    return cell
