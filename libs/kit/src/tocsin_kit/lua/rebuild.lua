-- After facts.lua.
-- Write a record as the stream of facts tells it, unless the record is as new.
-- KEYS: 1 run
-- ARGV: 1 state, 2 version, 3 created ms, 4 updated ms, 5 time to live ms, then facts as in note.lua
-- Returns whether it was written
local known = redis.call('HMGET', KEYS[1], 'created', 'version')
if known[1] and tonumber(known[2] or '0') >= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[1], 'version', ARGV[2], 'created', ARGV[3], 'updated', ARGV[4])
for i = 6, #ARGV, 3 do keep(KEYS[1], ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1
