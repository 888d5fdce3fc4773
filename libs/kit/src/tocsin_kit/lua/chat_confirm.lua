-- Answer the request that a session waits for, once
-- KEYS: the session
-- ARGV: 1 request, 2 'yes' or 'no'
-- Returns 1; 0 if the session does not wait for that, or has heard
if ARGV[1] == '' or redis.call('HGET', KEYS[1], 'wants') ~= ARGV[1] then return 0 end
local said = redis.call('HGET', KEYS[1], 'said') or ''
if string.match(said, '^[^ ]*') == ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'said', ARGV[1] .. ' ' .. ARGV[2])
return 1
