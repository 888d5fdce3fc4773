-- Close an incident when its run has ended; a newer run of the same incident stays open.
-- KEYS: 1 incident, 2 its alerts by their last delivery
-- ARGV: 1 run id, 2 fingerprint of an alert whose episode is not this run's ('' for none),
--       3 from when on, in ms, the same episodes open a new run ('' for never)
-- Returns whether the incident's latest run is this one, and that alert, if any, still fires
local key, order = KEYS[1], KEYS[2]
if redis.call('HGET', key, 'run') ~= ARGV[1] then return 0 end
redis.call('HSET', key, 'open', '0')
redis.call('HDEL', key, 'told')
if ARGV[3] ~= '' then redis.call('HSET', key, 'reopens', ARGV[3]) end
if ARGV[2] == '' then return 1 end
local field = 'alert:' .. ARGV[2]
local number, status = string.match(redis.call('HGET', key, field) or '', '^(%d+)|(%a+)|')
if status == 'resolved' then return 0 end
if number and number == redis.call('HGET', key, 'number') then
  redis.call('HINCRBY', key, 'alerts', -1)
  redis.call('HINCRBY', key, 'firing', -1)
end
redis.call('HDEL', key, field)
redis.call('ZREM', order, ARGV[2])
return 1
