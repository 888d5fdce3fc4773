"""The parts of the HTTP edge: who may send, how much, and what is answered."""
