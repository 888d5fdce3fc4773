"""What a change would come to, told from what is known before it is made: all of it pure."""
