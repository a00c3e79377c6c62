"""The corpus of web pages: fetched from pinned packages, frozen into files that stand alone, labelled, looked over.

`fetch.fetch` brings page packages, `freeze.freeze` makes frozen pages of them (or of any folder of HTML, or of a server
on this machine), `curate.curate` shows what the corpus holds and lacks.
"""
