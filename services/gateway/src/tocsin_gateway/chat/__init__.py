"""Chats with agents: questions go to the bus, frames come from the store, nothing stays here."""
