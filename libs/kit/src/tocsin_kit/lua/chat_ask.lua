-- Make a turn the one of its session, unless another is under way
-- KEYS: the session
-- ARGV: 1 who asks, 2 turn, 3 now ms, 4 until when the turn counts as under way ms, 5 time to live ms
-- Returns 'ok', also for the very same turn again; 'busy'; 'unknown' for a session of nobody or another
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 'unknown' end
local turn = redis.call('HGET', KEYS[1], 'turn') or ''
local till = tonumber(redis.call('HGET', KEYS[1], 'until') or '0')
if turn == ARGV[2] then return 'ok' end
if turn ~= '' and till > tonumber(ARGV[3]) then return 'busy' end
redis.call('HDEL', KEYS[1], 'cancel', 'worker', 'held', 'wants', 'said')
redis.call('HSET', KEYS[1], 'turn', ARGV[2], 'until', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 'ok'
