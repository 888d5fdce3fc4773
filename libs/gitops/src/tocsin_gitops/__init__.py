"""Find the one place a change belongs to, edit it byte by byte, judge it, and open it."""
