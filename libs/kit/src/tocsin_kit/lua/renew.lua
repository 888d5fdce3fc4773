-- Keep a lease, and hear whether the run ended meanwhile, or a person asked it to stop.
-- KEYS: run, lease
-- ARGV: 1 token, 2 lease ms, 3 states that are not terminal
-- Returns 'lost', 'cancelled' or 'kept'
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'lost' end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
if redis.call('HEXISTS', KEYS[1], 'cancel') == 1 then return 'cancelled' end
local state = redis.call('HGET', KEYS[1], 'state')
if state and not string.find(',' .. ARGV[3] .. ',', ',' .. state .. ',', 1, true) then return 'cancelled' end
return 'kept'
