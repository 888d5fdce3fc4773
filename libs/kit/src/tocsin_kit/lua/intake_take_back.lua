-- Let the alerts of an incident belong to their run again; a newer run of it keeps them.
-- KEYS: 1 incident
-- ARGV: 1 run id
if redis.call('HGET', KEYS[1], 'run') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'open', '1')
return 1
