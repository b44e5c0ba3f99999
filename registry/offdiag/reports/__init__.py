"""Reports: from frozen figures to findings, sentences and documents, without reading anything."""
