-- End a turn: keep it in the history, tell the last frame, and let the next one begin
-- KEYS: 1 the session, 2 its frames, 3 its history
-- ARGV: 1 turn, 2 token of the worker ('' for whoever is none), 3 entry of the history, 4 frame,
--       5 most frames, 6 most turns, 7 time to live ms
-- Returns the number of the frame; 0 if the turn is another worker's by now, or has ended
if redis.call('HGET', KEYS[1], 'turn') ~= ARGV[1] then return 0 end
if ARGV[2] ~= '' and redis.call('HGET', KEYS[1], 'worker') ~= ARGV[2] then return 0 end
local number = redis.call('HINCRBY', KEYS[1], 'last', 1)
redis.call('ZADD', KEYS[2], number, number .. '\n' .. ARGV[4])
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -tonumber(ARGV[5]) - 1)
redis.call('RPUSH', KEYS[3], ARGV[3])
redis.call('LTRIM', KEYS[3], -tonumber(ARGV[6]), -1)
redis.call('HDEL', KEYS[1], 'turn', 'until', 'cancel', 'worker', 'held', 'wants', 'said')
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[7]) end
return number
