-- Take a thing for a run, unless another one holds it.
-- KEYS: the thing
-- ARGV: 1 who asks, 2 the holder that may be replaced ('' for none), 3 time to live ms
-- Returns who holds it now
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] and held ~= ARGV[2] then return held end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return ARGV[1]
