-- Put a text on a shelf, in place of an older one of its name, if the shelf has room for it
-- KEYS: 1 the shelf
-- ARGV: 1 name, 2 text, 3 most bytes of all texts together, 4 milliseconds until all are forgotten
-- Returns 1 if it is kept; 0 if there was no room
local before = redis.call('HSTRLEN', KEYS[1], ARGV[1])
local held = tonumber(redis.call('HGET', KEYS[1], '#') or '0') + #ARGV[2] - before
if held > tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2], '#', held)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
