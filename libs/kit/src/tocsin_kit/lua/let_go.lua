-- Give a lock back, unless it is another's by now.
-- KEYS: the lock
-- ARGV: 1 token
-- Returns whether it was still ours
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
