-- Forget a record that stores nothing, unless somebody has announced it again meanwhile.
-- KEYS: index
-- ARGV: 1 record, 2 when it was announced
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
