-- Store what a task wrote after a checkpoint, while the caller owns the run.
-- KEYS: rows, blobs, writes, and the lease if there is a fence
-- ARGV: ttl in seconds, fence or '', then name, value and '1' to replace or '0' to keep, of each write
-- Returns 1; 0 if the lease is not the caller's.
if ARGV[2] ~= '' and redis.call('GET', KEYS[4]) ~= ARGV[2] then return 0 end
for i = 3, #ARGV, 3 do
  redis.call(ARGV[i + 2] == '1' and 'HSET' or 'HSETNX', KEYS[3], ARGV[i], ARGV[i + 1])
end
for i = 1, 3 do redis.call('EXPIRE', KEYS[i], ARGV[1]) end
return 1
