-- Close an incident when its run has ended; a newer run of the same incident stays open.
-- KEYS: incident
-- ARGV: 1 run id
if redis.call('HGET', KEYS[1], 'run') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'open', '0')
return 1
