-- Close an incident when its run has ended; a newer run of the same incident stays open.
-- KEYS: incident
-- ARGV: 1 run id, 2 fingerprint of an alert whose episode is not this run's ('' for none),
--       3 from when on, in ms, the same episodes open a new run ('' for never)
-- Returns whether the incident's latest run is this one
if redis.call('HGET', KEYS[1], 'run') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'open', '0')
if ARGV[3] ~= '' then redis.call('HSET', KEYS[1], 'reopens', ARGV[3]) end
if ARGV[2] ~= '' then redis.call('HDEL', KEYS[1], 'episode:' .. ARGV[2]) end
return 1
