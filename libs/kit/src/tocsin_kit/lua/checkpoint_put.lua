-- Store a checkpoint and the channel values that are new in it, while the caller owns the run.
-- KEYS: rows, blobs, writes, and the lease if there is a fence
-- ARGV: ttl in seconds, fence or '', name of the row, row, then name and value of each blob
-- Returns 1; 0 if the lease is not the caller's.
if ARGV[2] ~= '' and redis.call('GET', KEYS[4]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])
for i = 5, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
for i = 1, 3 do redis.call('EXPIRE', KEYS[i], ARGV[1]) end
return 1
