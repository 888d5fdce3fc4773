-- Number the next frame of a session and keep it, with the newest of the others
-- KEYS: 1 the session, 2 its frames
-- ARGV: 1 token of the worker ('' for whoever is none), 2 frame, 3 most frames, 4 time to live ms
-- Returns the number; 0 if the turn is another worker's by now, or there is no such session
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'worker') ~= ARGV[1] then return 0 end
local number = redis.call('HINCRBY', KEYS[1], 'last', 1)
redis.call('ZADD', KEYS[2], number, number .. '\n' .. ARGV[2])
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -tonumber(ARGV[3]) - 1)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return number
