-- Give a lease back without a result.
-- KEYS: run, lease
-- ARGV: 1 service, 2 event id, 3 token, 4 'counted' or 'uncounted', 5 the cause ('' for none)
-- Returns whether the lease was still ours
if redis.call('GET', KEYS[2]) ~= ARGV[3] then return 0 end
redis.call('DEL', KEYS[2])
local event = ARGV[1] .. ':' .. ARGV[2]
if ARGV[4] == 'uncounted' then redis.call('HINCRBY', KEYS[1], 'attempts:' .. event, -1) end
if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'error:' .. event, ARGV[5]) end
return 1
