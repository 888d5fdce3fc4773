-- Keep a lease, and hear whether a person asked the run to stop.
-- KEYS: run, lease
-- ARGV: 1 token, 2 lease ms
-- Returns 'lost', 'cancelled' or 'kept'
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'lost' end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
if redis.call('HEXISTS', KEYS[1], 'cancel') == 1 then return 'cancelled' end
return 'kept'
