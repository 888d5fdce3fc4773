-- Put the next entry behind the last one of the audit, unless its fact is there or it does not fit
-- KEYS: 1 the chain, 2 the entries by the ids of their facts
-- ARGV: 1 id of the fact, 2 number of the entry, 3 hash of the one before, 4 its hash, 5 the entry
-- Returns 1 if it is kept, 0 if its fact is there already, -1 if another entry came before it
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return 0 end
local number, hash = 0, ''
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last then
  number = tonumber(string.match(last[1], '^%d+'))
  hash = last[2][2]
end
if number + 1 ~= tonumber(ARGV[2]) or hash ~= ARGV[3] then return -1 end
redis.call('XADD', KEYS[1], ARGV[2] .. '-0', 'hash', ARGV[4], 'entry', ARGV[5])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return 1
