-- Open an approval; opening the same one again changes nothing.
-- KEYS: approval
-- ARGV: time to live ms, then field and value in pairs
if redis.call('HEXISTS', KEYS[1], 'state') == 1 then return 0 end
for i = 2, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
