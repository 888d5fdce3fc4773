"""Every service in one process and in virtual time: a thousand histories of faults a minute."""
