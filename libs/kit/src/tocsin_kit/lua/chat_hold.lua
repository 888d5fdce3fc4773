-- Hold the turn of a session as its only worker, or hold it on
-- KEYS: the session
-- ARGV: 1 turn, 2 token, 3 now ms, 4 until when ms, 5 until when a turn may last that begins now ms
-- Returns 'new', 'again' for a turn that another worker left, 'ours', 'busy', or 'over' if it ended
if redis.call('HGET', KEYS[1], 'turn') ~= ARGV[1] then return 'over' end
local worker = redis.call('HGET', KEYS[1], 'worker')
local held = tonumber(redis.call('HGET', KEYS[1], 'held') or '0')
if worker and worker ~= ARGV[2] and held > tonumber(ARGV[3]) then return 'busy' end
redis.call('HSET', KEYS[1], 'worker', ARGV[2], 'held', ARGV[4])
if not worker then
  redis.call('HSET', KEYS[1], 'until', ARGV[5])
  return 'new'
end
if worker == ARGV[2] then return 'ours' end
return 'again'
